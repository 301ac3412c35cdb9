"""Check the pinned packages: that all are pinned and fit pyproject.toml, and that none is yanked or has a known hole.

    python packaging/check_pins.py --index URL   # asks a package index, such as PyPI, about every pin
    python packaging/check_pins.py --offline     # the two files alone

Prints a line for each thing that is wrong. Ends with 0 if there is none, with 1 if there is one, and with 3 if the
files are in order but somebody could not be asked about yanked releases or advisories: that is no clean bill.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

__all__ = ["holes", "pins_of", "problems_of_files", "yanked"]

ROOT = Path(__file__).resolve().parents[1]
WRONG, NOT_ASKED = 1, 3
# Why a requirement may be without a pin.
UNPINNED = {"triton": "each of torch's CUDA builds asks for one version of it"}


def pins_of(lines: list[str]) -> tuple[dict[str, Version], list[str]]:
    """The version of each package, and what is wrong with the lines."""
    pins: dict[str, Version] = {}
    problems = []
    for number, line in enumerate(lines, 1):
        written = line.partition("#")[0].strip()
        if not written:
            continue
        try:
            pin = Requirement(written)
            [clause] = pin.specifier
        except (InvalidRequirement, ValueError):
            clause = None
        if clause is None or clause.operator != "==" or "*" in clause.version:
            problems.append(f"constraints.txt, line {number}: {written!r} is no pin such as numpy==2.3.1")
            continue
        name = canonicalize_name(pin.name)
        if name in pins:
            problems.append(f"constraints.txt, line {number}: {name} is pinned twice")
        pins[name] = Version(clause.version)
    return pins, problems


def problems_of_files(project: Mapping[str, object], pins: Mapping[str, Version]) -> list[str]:
    """What the requirements of a ``[project]`` table say against the pins."""
    own = canonicalize_name(str(project["name"]))
    extras: Mapping[str, list[str]] = project.get("optional-dependencies", {})  # type: ignore[assignment]
    required: list[str] = project.get("dependencies", [])  # type: ignore[assignment]
    problems = []
    for where, written in [
        *(("dependencies", one) for one in required),
        *((f"extra {extra}", one) for extra, some in extras.items() for one in some),
    ]:
        requirement = Requirement(written)
        name = canonicalize_name(requirement.name)
        if name == own or (name in UNPINNED and name not in pins):
            continue
        if name not in pins:
            problems.append(f"{where}: {name} has no pin in constraints.txt")
        elif not requirement.specifier.contains(pins[name], prereleases=True):
            problems.append(f"{where}: the pin {name}=={pins[name]} is not {requirement.specifier}")
    return problems


def yanked(name: str, version: Version, index: str) -> list[str]:
    """Whether all files of a release were taken back, as the list of the package's files says (PEP 503)."""
    listed = FileList()
    listed.feed(_fetched(f"{index}/simple/{name}/").decode())
    reasons = [reason for file, reason in listed.files if _version_of(file) == version]
    if not reasons:
        raise ValueError(f"{index} has no file of {name} {version}")
    told = [reason for reason in reasons if reason is not None]
    if len(told) < len(reasons):
        return []
    return [f"{name}=={version} is yanked: {told[0] or 'no reason given'}"]


def holes(name: str, version: Version, index: str) -> list[str]:
    """The advisories against a release, as PyPI's JSON has them."""
    found = json.loads(_fetched(f"{index}/pypi/{name}/{version}/json"))
    if not isinstance(found, dict) or "vulnerabilities" not in found:
        raise ValueError(f"{index} says nothing of advisories")
    problems = []
    for hole in found["vulnerabilities"]:
        if not hole.get("withdrawn"):
            names = ", ".join([hole["id"], *hole.get("aliases", [])])
            mended = ", ".join(hole.get("fixed_in", [])) or "no version yet"
            problems.append(f"{name}=={version} has a known hole ({names}), mended in {mended}")
    return problems


class FileList(HTMLParser):
    """The files on a page of an index, each with the reason for which it was taken back, or None."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "a" and found.get("href"):
            file = unquote(urlsplit(str(found["href"])).path.rpartition("/")[2])
            self.files.append((file, (found["data-yanked"] or "") if "data-yanked" in found else None))


def _version_of(file: str) -> Version | None:
    try:
        return parse_wheel_filename(file)[1] if file.endswith(".whl") else parse_sdist_filename(file)[1]
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None


def _fetched(address: str) -> bytes:
    request = urllib.request.Request(
        address, headers={"User-Agent": "check_pins", "Accept": "text/html, */*"}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return bytes(answer.read())


def asked_of_all(
    question: Callable[[str, Version, str], list[str]], pins: Mapping[str, Version], index: str
) -> tuple[list[str], list[str]]:
    """What is wrong with the pins, and those of which the index could not be asked, with the reason."""
    wrong: list[str] = []
    unknown: list[str] = []

    def one(name: str) -> None:
        try:
            wrong.extend(question(name, pins[name], index))
        except (OSError, ValueError) as error:
            unknown.append(f"{name}=={pins[name]} ({error})")

    names = sorted(pins)
    for name in names[:3]:
        one(name)
    if len(unknown) == len(names[:3]):  # nobody there: do not wait two hundred times
        return wrong, [*unknown, *(f"{name}=={pins[name]}" for name in names[3:])]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(one, names[3:]))
    return sorted(wrong), sorted(unknown)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--offline", action="store_true", help="check the two files alone")
    where.add_argument("--index", metavar="URL", help="a service that answers as PyPI does")
    parser.add_argument(
        "--folder", type=Path, default=ROOT, help="where pyproject.toml and constraints.txt are"
    )
    given = parser.parse_args(arguments)
    pins, problems = pins_of((given.folder / "constraints.txt").read_text(encoding="utf-8").splitlines())
    project = tomllib.loads((given.folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    problems += problems_of_files(project, pins)
    told = ["the index was not asked"] if given.offline else []
    is_known = True
    for subject, question in QUESTIONS.items() if pins and not given.offline else ():
        found, unknown = asked_of_all(question, pins, given.index)
        problems += found
        is_known &= not unknown
        told.append(f"{subject}: asked of {len(pins) - len(unknown)} pins")
        if unknown:
            print(
                f"NOT CHECKED for {subject}: {given.index} did not tell of {len(unknown)} pins, such as {unknown[0]}; "
                "run this again where it can be reached"
            )
    for problem in problems:
        print(problem)
    print(f"{len(pins)} pins, {len(problems)} things wrong; {'; '.join(told)}")
    return WRONG if problems else 0 if is_known else NOT_ASKED


QUESTIONS = {"yanked releases": yanked, "advisories": holes}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
