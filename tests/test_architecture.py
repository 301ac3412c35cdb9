"""Who may import whom, what an import may load, and one meaning for each name: docs/architecture.md, kept true."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import kate

SOURCE = Path(kate.__file__).parent

# A room: the other rooms that it may import, inside functions too. Every room may ask `kate` for the version, and all
# raise errors of one family.
# Drawn downwards: nothing of the product imports research.
MAY_IMPORT = {
    "errors": set(),
    "spelling": set(),
    "threads": set(),
    "competition": set(),
    "extras": set(),
    "notebook_html": set(),
    "progress": set(),
    "sparse_arrays": set(),
    "unit_rows": set(),
    "storage": set(),
    "engines": {"extras", "threads"},
    "text": {"extras", "notebook_html", "spelling", "storage", "threads"},
    "streaming": {"progress", "storage", "text", "threads"},
    "topics": {"notebook_html", "spelling", "text"},
    "model": {
        "competition",
        "engines",
        "extras",
        "notebook_html",
        "progress",
        "spelling",
        "storage",
        "streaming",
        "text",
        "threads",
        "topics",
    },
    "search": {"model", "notebook_html", "progress", "spelling", "storage", "text", "threads", "topics"},
    "cluster": {
        "engines",
        "extras",
        "model",
        "progress",
        "search",
        "storage",
        "streaming",
        "text",
        "threads",
    },
    "spark": {"extras", "model", "storage"},
    "adapters": {"model", "search", "storage"},
    "explore": {"model", "search", "spelling", "storage", "text", "threads", "topics"},
    "serve": {"explore", "model", "search", "storage", "threads", "topics"},
    "plot": {"extras", "storage", "text", "topics"},
    "demo": {"explore", "model", "plot", "search", "storage", "text", "topics"},
}
RESEARCH_MAY_IMPORT = {
    "metrics": {"topics"},
    "report": {"storage"},
    "datasets": {"demo", "spelling", "storage", "text"},
    "rivals": {"engines", "model", "storage", "text", "threads"},
    "registry": {"model", "rivals", "spelling", "storage"},
    "evaluation": {
        *("datasets", "engines", "metrics", "model", "registry", "spelling", "storage", "text", "topics"),
    },
    "reproduce": {
        *("datasets", "evaluation", "model", "registry", "report", "spelling", "storage", "streaming"),
        *("text", "threads"),
    },
}
# One family of errors, the command that brings a missing package, SciPy's sparse arrays, and vectors of length 1.
FOR_ALL = ("errors", "extras", "sparse_arrays", "unit_rows")
TIES_IT_TOGETHER = {"__init__", "__main__", "cli"}

MODULES = sorted(SOURCE.rglob("*.py"))


def room_of(module: str) -> str:
    """The room of a module's dotted name; a room of the laboratory is named as research.ROOM."""
    parts = module.split(".")[1:]
    if len(parts) > 1 and parts[0] == "research":
        return f"research.{parts[1]}"
    return parts[0] if parts else "__init__"


def imports_of(path: Path) -> set[str]:
    """Our rooms that a file imports, inside functions too."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "kate":
            whole = node.module in {"kate", "kate.research"}
            named = [f"{node.module}.{alias.name}" for alias in node.names] if whole else [node.module]
            rooms |= {room_of(name) for name in named}
        elif isinstance(node, ast.Import):
            rooms |= {room_of(alias.name) for alias in node.names if alias.name.split(".")[0] == "kate"}
    found = {room: SOURCE / room.replace(".", "/") for room in rooms}
    return {room for room, place in found.items() if place.exists() or place.with_suffix(".py").exists()}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_rooms_import_only_what_they_may(path):
    module = ".".join(["kate", *path.relative_to(SOURCE).with_suffix("").parts])
    room = room_of(module.removesuffix(".__init__"))
    if room in TIES_IT_TOGETHER or module == "kate.research.__init__":
        return
    if room.startswith("research."):
        own = RESEARCH_MAY_IMPORT[room.removeprefix("research.")]
        allowed = {f"research.{name}" if name in RESEARCH_MAY_IMPORT else name for name in own}
    else:
        assert room in MAY_IMPORT, f"{room} is new: say in docs/architecture.md and here what it may import"
        allowed = MAY_IMPORT[room]
    stray = imports_of(path) - allowed - {room, "__init__", *FOR_ALL}
    assert not stray, f"{path.name} imports {sorted(stray)}"


def test_nothing_of_the_product_may_import_research():
    assert not [room for room in MAY_IMPORT.values() if room & set(RESEARCH_MAY_IMPORT)]


def test_a_class_name_means_one_thing():
    homes = defaultdict(list)
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(SOURCE)))
    assert not {name: places for name, places in homes.items() if len(places) > 1}


def test_a_module_name_means_one_thing():
    homes = defaultdict(list)
    for path in MODULES:
        if path.stem != "__init__":
            homes[path.stem].append(str(path.relative_to(SOURCE)))
    assert not {name: places for name, places in homes.items() if len(places) > 1}


# What does the same in several places may have the same name there.
SAME_EVERYWHERE = {
    "compete": "the competition: its definition, and the kernels that are tested against it",
    "is_kept": "whether dropout keeps an entry: on the CPU and on a GPU",
    "activate": "the activation of a layer",
    "load": "kate.load; in the kernels the instruction, beside store",
    "prepare": "of each data set",
    "DATASET": "of each data set",
}


def public_assignments(path: Path) -> list[tuple[str, str]]:
    """`Rows = NDArray[np.int64]` and `FORMAT = 2` at the top of a module: names, and what they stand for."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            pairs = [(target, getattr(node, "value", None))]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            found += [(name.id, value) for name, value in pairs if isinstance(name, ast.Name) and value]
    public = [(name, value) for name, value in found if not name.startswith("_") and name != "logger"]
    return [(name, ast.unparse(value).replace("npt.", "")) for name, value in public]


def test_a_function_name_means_one_thing():
    """Commands are left out: they have the names of what they call."""
    homes = defaultdict(list)
    for path in MODULES:
        if path.parent.name != "cli":
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    homes[node.name].append(str(path.relative_to(SOURCE)))
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert not {name: places for name, places in twice.items() if name not in SAME_EVERYWHERE}


def test_a_type_or_constant_means_one_thing():
    meanings = defaultdict(lambda: defaultdict(list))
    for path in MODULES:
        for name, meaning in public_assignments(path):
            meanings[name][meaning].append(str(path.relative_to(SOURCE)))
    twice = {name: dict(found) for name, found in meanings.items() if len(found) > 1}
    assert not {name: found for name, found in twice.items() if name not in SAME_EVERYWHERE}


def loaded_by(code: str) -> set[str]:
    program = f"{code}\nimport sys\nprint(*sys.modules)"
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(output.stdout.split())


def test_import_kate_loads_nothing_heavy():
    heavy = {"torch", "matplotlib", "gensim", "sklearn", "numba", "polars", "scipy"}
    assert not loaded_by("import kate") & heavy


def test_fitting_needs_no_torch_matplotlib_or_gensim():
    code = "import numpy as np, kate; kate.KATE(2, max_epochs=1).fit(np.eye(4)); kate.TextModel; kate.Counts"
    loaded = loaded_by(f"{code}; kate.plot.trends")
    assert not loaded & {"torch", "matplotlib", "gensim", "tomotopy"}
    assert not [name for name in loaded if name.startswith("kate.research")]


def test_every_public_name_is_there():
    for name in kate.__all__:
        assert getattr(kate, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'; it has"):
        _ = kate.nonsense


def test_the_page_tells_every_room_and_names_only_what_is_there():
    root = SOURCE.parents[1]
    page = (root / "docs/architecture.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in MODULES if path.name == "__init__.py"} - {
        "kate",
        "cpu",
        "gpu",
        "neural",
        "today",
    }
    told = set(re.findall(r"\*{1,2}(\w+)\*{1,2}", page))
    assert not rooms - told
    assert not {path.stem for path in SOURCE.glob("[a-z]*.py")} - set(re.findall(r"(\w+)\.py", page))
    files = {
        path.name for part in ("src", "tests", "docs", "benchmarks") for path in (root / part).rglob("*.*")
    }
    assert not {Path(name).name for name in re.findall(r"[\w/]+\.(?:py|js|css|toml)\b", page)} - files
    paths = re.findall(r"`((?:\w+/)+\w+\.py)`", page)
    assert paths and all((root / path).exists() or list(SOURCE.rglob(path)) for path in paths)
