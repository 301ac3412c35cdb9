"""Who may import whom, and what an import may load: docs/architecture.md, kept true."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import kate

SOURCE = Path(kate.__file__).parent

MAY_IMPORT = {  # a layer of ours: the other layers of ours that it may import
    "files": set(),
    "competition": set(),
    "train": set(),
    "engines": set(),
    "nn": set(),
    "tasks": set(),
    "text": {"files"},
    "datasets": {"files", "text"},
    "models": {"competition", "engines", "files", "nn", "tasks", "text", "train"},
    "search": {"files", "models", "text"},
    "report": {"files", "models", "text"},
    "evaluation": {"datasets", "files", "models", "tasks", "text"},
}
TIES_IT_TOGETHER = {"__init__", "__main__", "cli", "demo", "reproduce"}


def layer_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def imports_of(path: Path) -> set[str]:
    """Our layers that a file imports, inside functions too."""
    layers = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "kate":
            named = [f"kate.{alias.name}" for alias in node.names] if node.module == "kate" else [node.module]
            layers |= {layer_of(name) for name in named}
        elif isinstance(node, ast.Import):
            layers |= {layer_of(alias.name) for alias in node.names if alias.name.split(".")[0] == "kate"}
    return {layer for layer in layers if (SOURCE / layer).exists() or (SOURCE / f"{layer}.py").exists()}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_layers_import_only_what_they_may(path):
    layer = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if layer in TIES_IT_TOGETHER:
        return
    assert layer in MAY_IMPORT, f"{layer} is new: say in docs/architecture.md and here what it may import"
    stray = imports_of(path) - MAY_IMPORT[layer] - {layer, "__init__"}
    assert not stray, f"{path.name} imports {sorted(stray)}"


def loaded_by(code: str) -> set[str]:
    program = f"{code}\nimport sys\nprint(*sys.modules)"
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(output.stdout.split())


def test_import_kate_loads_nothing_heavy():
    heavy = {"torch", "matplotlib", "gensim", "sklearn", "numba", "polars", "scipy"}
    assert not loaded_by("import kate") & heavy


def test_fitting_needs_no_torch_matplotlib_or_gensim():
    code = "import numpy as np, kate; kate.KATE(2, max_epochs=1).fit(np.eye(4)); kate.TextModel; kate.Counts"
    assert not loaded_by(code) & {"torch", "matplotlib", "gensim", "tomotopy"}


def test_every_public_name_is_there():
    for name in kate.__all__:
        assert getattr(kate, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'; it has"):
        _ = kate.nonsense
