"""Build what is published: sdist and wheel of kate-text, and kate-text-lite, the same files without the compiler.

    make dist                                             # build and twine into .venv, then this
    python packaging/build_distributions.py dist

kate-text-lite loads, encodes, searches and serves; it does not fit. Its wheel holds the files of kate-text's, byte by
byte, and another METADATA: another name, and no numba (which brings LLVM). Install one of the two, not both.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAME, LITE = "kate-text", "kate-text-lite"
LEFT_OUT = ("numba",)


def main(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], check=True)
    [wheel] = folder.glob("kate_text-*.whl")
    lite_wheel(wheel)
    subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *map(str, folder.iterdir())], check=True
    )


def lite_wheel(wheel: Path) -> Path:
    """The wheel of kate-text-lite, made from that of kate-text, beside it."""
    _, version, tags = wheel.stem.split("-", 2)
    info, lite_info = f"kate_text-{version}.dist-info", f"kate_text_lite-{version}.dist-info"
    target = wheel.with_name(f"kate_text_lite-{version}-{tags}.whl")
    rows = []
    with zipfile.ZipFile(wheel) as given, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for entry in given.infolist():
            name, data = entry.filename, given.read(entry)
            if name.startswith(f"{info}/"):
                name = f"{lite_info}/{name.removeprefix(f'{info}/')}"
            if name == f"{lite_info}/RECORD":
                continue
            if name == f"{lite_info}/METADATA":
                data = lite_metadata(data.decode()).encode()
            made.writestr(zipfile.ZipInfo(name, entry.date_time), data, zipfile.ZIP_DEFLATED)
            rows.append(f"{name},sha256={_digest(data)},{len(data)}")
        record = f"{lite_info}/RECORD"
        made.writestr(record, "\n".join([*rows, f"{record},,"]) + "\n")
    return target


def lite_metadata(metadata: str) -> str:
    """METADATA under the other name, without the packages that are left out.

    >>> print(lite_metadata("Name: kate-text\\nRequires-Dist: numba>=0.60\\nRequires-Dist: numpy>=1.26\\n\\nnumba\\n"))
    Name: kate-text-lite
    Requires-Dist: numpy>=1.26
    <BLANKLINE>
    numba
    <BLANKLINE>
    """
    head, _, description = metadata.partition("\n\n")
    left_out = tuple(f"Requires-Dist: {name}" for name in LEFT_OUT)
    lines = [line for line in head.split("\n") if not line.startswith(left_out)]
    lines = [f"Name: {LITE}" if line == f"Name: {NAME}" else line for line in lines]
    # extras name the distribution that they belong to
    lines = [line.replace(f"Requires-Dist: {NAME}[", f"Requires-Dist: {LITE}[") for line in lines]
    return "\n".join(lines) + "\n\n" + description


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist"))
