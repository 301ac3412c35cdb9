"""docs/elsewhere.md: every recipe is run where its library is installed."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "elsewhere.md").read_text(encoding="utf-8")
FIRST, *RECIPES = re.split(r"^## ", PAGE, flags=re.MULTILINE)
NEEDED = {"LangChain": "langchain_core", "LanceDB": "lancedb", "Qdrant": "qdrant_client", "DuckDB": "duckdb"}


def code_of(part):
    return "\n".join(re.findall(r"```python\n(.*?)```", part, flags=re.DOTALL))


def test_every_recipe_is_known():
    assert [recipe.split("\n")[0] for recipe in RECIPES] == list(NEEDED)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.split("\n")[0])
def test_a_recipe_runs(recipe):
    package = NEEDED[recipe.split("\n")[0]]
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    assert "assert" in code_of(recipe)
    exec(compile(code_of(FIRST) + code_of(recipe), "docs/elsewhere.md", "exec"), {})
