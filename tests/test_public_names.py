"""The names of ``kate``: imported lazily, and typed all the same."""

import ast
from pathlib import Path

import kate


def typed_names() -> dict[str, str]:
    """Name → module of the imports that type checkers and editors see."""
    tree = ast.parse(Path(kate.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in imports for alias in node.names}


def test_every_name_is_typed_and_comes_from_where_the_types_say():
    assert typed_names() == kate._HOMES


def test_all_lists_them():
    assert set(kate.__all__) == {"__version__", *kate._HOMES}
    assert dir(kate) == sorted(kate.__all__)


def test_errors_can_be_caught_by_the_public_names(tmp_path):
    caught = []
    attempts = {
        kate.NotFittedError: lambda: kate.TextModel(2).encode(["gold"]),
        kate.FolderError: lambda: kate.load(tmp_path),
    }
    for error, attempt in attempts.items():
        try:
            attempt()
        except error:
            caught.append(error)
    assert caught == list(attempts)
