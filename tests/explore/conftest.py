"""What tests of the page have in common: parts in a folder and node to ask them; one page in one browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import kate
from explore.browsed_corpus import browsed_corpus
from explore.opened_page import OpenedPage, start_chromium
from kate.explore import page
from kate.explore.encoder_parts import encoder_parts
from kate.text.documents import Documents

PAGE_TESTS = Path(__file__).parent / "page"


class PageFinder:
    """The page's search over some documents, asked in node."""

    def __init__(self, model, documents, folder, whole_texts=True):
        documents = documents if isinstance(documents, Documents) else Documents.from_texts(documents)
        folder.mkdir(parents=True, exist_ok=True)
        made = encoder_parts(model, documents)
        self.folder, self.notes = folder, made.notes
        for name, data in made.parts.items():
            (folder / name).write_bytes(data)
        if whole_texts:
            titles = documents.titles or [None] * len(documents)
            texts = [
                text if title is None else f"{title}\n\n{text}"
                for title, text in zip(titles, documents.texts, strict=True)
            ]
            (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")

    def ask(self, questions):
        """The answers to (call, arguments...)."""
        asked = json.dumps([{"call": call, "arguments": given} for call, *given in questions])
        done = subprocess.run(
            [node(), PAGE_TESTS / "answer.js", self.folder],
            input=asked,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def node():
    found = shutil.which("node")
    if found is None:
        pytest.skip("the page's modules are tested with Node.js, which is not installed")
    return found


@pytest.fixture
def page_finder(tmp_path):
    node()
    return lambda model, documents, **settings: PageFinder(model, documents, tmp_path / "parts", **settings)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="session")
def window(folder: Path) -> Any:
    found = start_chromium(folder)
    yield found
    found.quit()


@pytest.fixture(scope="session")
def model(folder: Path) -> kate.TextModel:
    found = kate.TextModel(n_components=12, max_epochs=4, random_state=0, min_df=1).fit(
        browsed_corpus()["text"]
    )
    found.save(folder / "model")
    return found


@pytest.fixture(scope="session")
def shared(window: Any, model: kate.TextModel, folder: Path) -> OpenedPage:
    page(model, browsed_corpus(), folder / "corpus.html", n_topics=5, title="Reports & <b>years</b>")
    return OpenedPage(window, folder / "corpus.html")


@pytest.fixture
def opened(shared: OpenedPage) -> Any:
    """The page that most tests share; after each nothing was complained of and nothing fetched."""
    shared.faults(), shared.requests()
    yield shared
    assert shared.faults() == []
    asked = [one for one in shared.requests() if not one.startswith(("data:", "blob:", "about:"))]
    assert {one.partition("#")[0] for one in asked} <= {shared.address}
