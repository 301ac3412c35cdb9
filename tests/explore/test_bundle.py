"""The bundle of the page: made of the sources that are here, and of nothing with another licence."""

import hashlib
import json
from importlib import resources
from pathlib import Path

import pytest

ROOM = Path(str(resources.files("kate.explore")))
KEPT = json.loads((ROOM / "bundle" / "sources.json").read_text(encoding="utf-8"))


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_bundle_is_not_older_than_its_sources():
    if not (ROOM / "page" / "main.js").is_file():
        pytest.skip("an installed Kate has the bundle alone")
    changed = [
        name
        for name, known in KEPT["sources"].items()
        if not (ROOM / "page" / name).is_file() or sha256(ROOM / "page" / name) != known
    ]
    assert changed == [], "the bundle is older than these sources: run make page and commit what it makes"


def test_the_bundle_is_what_was_made():
    for name, known in KEPT["made"].items():
        assert sha256(ROOM / "bundle" / name) == known, f"{name} was changed by hand: run make page"


def test_licences_name_everything_that_is_bundled():
    written = (ROOM / "bundle" / "LICENSES.txt").read_text(encoding="utf-8")
    script = (ROOM / "bundle" / "explorer.js").read_text(encoding="utf-8")
    stemmers = (ROOM / "bundle" / "STEMMERS-LICENSE.txt").read_text(encoding="utf-8").strip()
    # whoever gets a page gets the licences: they are the head of its script
    assert script.startswith(f"/*! {written}*/")
    assert stemmers in written and "Snowball" in stemmers and "Redistributions" in stemmers
    outside = {
        name.split("node_modules/")[-1].split("/")[0] for name in KEPT["sources"] if "node_modules" in name
    }
    assert all(name in written for name in outside)
    assert "GPL" not in written
    assert "</script" not in script.lower()
    assert "<!--" not in script
