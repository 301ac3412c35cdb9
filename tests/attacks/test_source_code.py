"""What the source may not hold: pickle, eval, shells; archives that are unpacked to disk; addresses without need."""

from __future__ import annotations

import ast
import io
import tarfile
from pathlib import Path

import pytest

import kate
from kate.research.datasets.archives import files_in

SOURCE = Path(kate.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
_FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "imp", "pty"}
_FORBIDDEN_CALLS = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "os.execv", "yaml.load", "tempfile.mktemp",
    "torch.load", "pd.read_pickle", "pandas.read_pickle", "shutil.unpack_archive",
}  # fmt: skip
# Methods of whatever object that unpack an archive to disk, or read pickles.
_FORBIDDEN_METHODS = {"extractall", "unpack_archive", "read_pickle"}


def called(node: ast.Call) -> str:
    return ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""


def faults(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in _FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in _FORBIDDEN_MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.Call):
            name = called(node)
            options = {option.arg: option.value for option in node.keywords}
            method, how = name.rpartition(".")[2], options.get("filter")
            # a model that was packed here goes to its workers in a tar, and "data" lets nothing leave the folder
            is_kept_in = method == "extractall" and isinstance(how, ast.Constant) and how.value == "data"
            if name in _FORBIDDEN_CALLS or (method in _FORBIDDEN_METHODS and not is_kept_in):
                found.append(name)
            for option in ("shell", "allow_pickle"):
                value = options.get(option)
                if value is not None and not (isinstance(value, ast.Constant) and value.value is False):
                    found.append(f"{name}({option}=...)")
    return found


def test_the_source_has_no_pickle_no_eval_and_no_shell() -> None:
    """Only workers of one Ray cluster speak pickle with each other, as Ray itself does; no file is read so."""
    found = {path.relative_to(SOURCE).as_posix(): faults(path) for path in MODULES}
    talk = {path: what for path, what in found.items() if path.startswith("cluster/")}
    assert all(set(what) <= {"pickle"} for what in talk.values())
    assert not {path: what for path, what in found.items() if what and path not in talk}


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from joblib import load",
        "eval('1')",
        "run('ls', shell=True)",
        "archive.extractall(p)",
        "np.load(p, allow_pickle=x)",
    ],
)
def test_the_check_finds_what_it_looks_for(tmp_path: Path, code: str) -> None:
    (tmp_path / "some.py").write_text(code)
    assert faults(tmp_path / "some.py")


def test_an_archive_is_never_unpacked_outside(tmp_path: Path) -> None:
    """Names with .., absolute names, links and devices: read from front to back, nothing is written."""
    path = tmp_path / "here" / "evil.tar.gz"
    path.parent.mkdir()
    with tarfile.open(path, "w:gz") as archive:
        for name in ("../outside", "/tmp/kate-outside-of-all", "a/../../b", "plain"):
            member = tarfile.TarInfo(name)
            member.size = 4
            archive.addfile(member, io.BytesIO(b"data"))
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            member = tarfile.TarInfo("link")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    assert dict(files_in(path))["plain"] == b"data"
    assert [str(one.relative_to(tmp_path)) for one in sorted(tmp_path.rglob("*"))] == [
        "here",
        "here/evil.tar.gz",
    ]
    assert not Path("/tmp/kate-outside-of-all").exists()
