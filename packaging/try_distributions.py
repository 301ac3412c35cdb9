"""Install the built wheels into clean environments, without the constraints file, and use them as a stranger would.

    python packaging/try_distributions.py dist python3.11 python3.12 python3.13     # after make dist

Prints one JSON line per environment: the size of what was installed beside pip, and the seconds of the demo.
kate-text runs the demo from the wheel; kate-text-lite loads the model that it left, encodes and searches, and refuses
to fit with the command that brings the compiler. A failure ends with its exit code and what was printed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main(folder: Path, pythons: list[str]) -> None:
    [whole], [lite] = folder.glob("kate_text-*.whl"), folder.glob("kate_text_lite-*.whl")
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        for python in pythons:
            venv = environment(home / f"{Path(python).name}-{len(list(home.iterdir()))}", python, str(whole))
            size, installed = megabytes(venv), packages(venv)
            run(venv, "-m", "pip", "install", "--quiet", f"{whole}[demo]")
            start = time.perf_counter()
            run(venv, "-m", "kate", "demo", "-o", str(home / "kate-demo"))
            facts = {"python": python, "wheel": whole.name, "megabytes": size, "packages": installed}
            print(json.dumps(facts | {"demo_seconds": round(time.perf_counter() - start, 1)}), flush=True)

            venv = environment(home / f"lite-{Path(python).name}", python, str(lite))
            found = run(
                venv, "-m", "kate", "search", str(home / "kate-demo" / "index"), "gold and silver", "--json"
            )
            assert json.loads(found), found
            run(
                venv,
                "-m",
                "kate",
                "encode",
                str(home / "kate-demo" / "model"),
                str(texts(home)),
                "-o",
                str(home / "v.npy"),
            )
            refused = subprocess.run(
                [str(venv / "bin" / "python"), "-m", "kate", "fit", str(texts(home)), "-o", str(home / "model")],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert refused.returncode != 0 and "pip install kate-text" in refused.stderr, refused.stderr
            facts = {
                "python": python,
                "wheel": lite.name,
                "megabytes": megabytes(venv),
                "packages": packages(venv),
            }
            print(json.dumps(facts), flush=True)


def environment(folder: Path, python: str, wheel: str) -> Path:
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    run(folder, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    return folder


def run(venv: Path, *arguments: str) -> str:
    done = subprocess.run(
        [str(venv / "bin" / "python"), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def texts(home: Path) -> Path:
    file = home / "texts.txt"
    file.write_text("a treaty of peace\nsilver and gold\n" * 20)
    return file


def megabytes(venv: Path) -> int:
    """Of everything in the environment but pip and setuptools, which every environment has."""
    [site] = (venv / "lib").glob("python*/site-packages")
    not_ours = ("pip", "setuptools", "_distutils", "pkg_resources")
    files = [file for file in site.rglob("*") if file.is_file()]
    files = [file for file in files if not file.relative_to(site).parts[0].startswith(not_ours)]
    return round(sum(file.stat().st_size for file in files) / 1e6)


def packages(venv: Path) -> int:
    return len(json.loads(run(venv, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check")))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or [sys.executable])
