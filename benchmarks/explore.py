"""The page of kate explore: its size, when it is ready, frames a second, and whether it finds what Python finds.

    KATE_DATA=... python benchmarks/explore.py pages FOLDER        # size, seconds, and when it is ready in Chromium
    KATE_DATA=... python benchmarks/explore.py queries FOLDER      # 500 queries: vectors, the ten best
    KATE_DATA=... python benchmarks/explore.py frames FOLDER       # 200,000 points are moved, zoomed, cut, chosen

FOLDER keeps models and pages, so that a second run only measures. Prints JSON lines. Queries are two to five words that
stand side by side in a document (500 of each corpus); the page's half of them runs in Node.js. Pages are opened from a
file by Debian's Chromium; "drawn_by" says with what it draws: SwiftShader is software, without a graphics card. The
200,000 documents are pieces of 24 words of 20 Newsgroups. "refresh" is how often an empty page is drawn in the same
window: more frames than that nothing can have.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import kate
from kate.demo.speeches import paragraphs
from kate.explore import page
from kate.explore.encoder_parts import encoder_parts
from kate.model.text_answers import UnknownWordError
from kate.search.building import query_vector

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "explore"))
from choose_join import documents_of, model_of
from opened_page import OpenedPage, start_chromium

REPOSITORY = Path(__file__).parents[1]
N_QUERIES = 500
N_POINTS = 200_000
N_PIECE = 24  # words
OPENINGS = 5
CHANGES = {
    "cut": "cut=12",
    "topic": "cut=12&topics=3",
    "lasso": "lasso=0.1_0.1..0.6_0.1..0.6_0.6..0.1_0.6",
    "search": "q=space+shuttle",
    "document": "doc=77",
}
SCRIPT = (Path(__file__).parent / "explore_frames.js").read_text(encoding="utf-8")
CORPORA = ("sotu", "bbc", "20news", "reviews")


def say(**facts: Any) -> None:
    print(json.dumps(facts, ensure_ascii=False), flush=True)


def corpus_of(name: str) -> kate.Documents:
    if name != "sotu":
        return documents_of(name)
    found = paragraphs()
    texts, ids, titles = ([getattr(one, field) for one in found] for field in ("text", "id", "title"))
    return kate.Documents.from_texts(texts, ids, [one.party for one in found], titles)


def pieces() -> kate.Documents:
    """Pieces of 24 words of 20 Newsgroups, from the first post on."""
    texts, labels = [], []
    posts = documents_of("20news")
    for text, label in zip(posts.texts, posts.labels or [], strict=True):
        words = text.split()
        for start in range(0, len(words) - N_PIECE + 1, N_PIECE):
            texts.append(" ".join(words[start : start + N_PIECE]))
            labels.append(label)
    chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[:N_POINTS])
    return kate.Documents.from_texts([texts[i] for i in chosen], labels=[labels[i] for i in chosen])


def page_of(folder: Path, name: str, documents: kate.Documents) -> tuple[Path, float | None]:
    """The page of a corpus, and the seconds that it took if it was made now."""
    path = folder / f"{name}.html"
    if path.is_file():
        return path, None
    model = model_of(folder, name, documents)
    began = time.perf_counter()
    page(model, documents, path)
    return path, time.perf_counter() - began


def opened(folder: Path, path: Path) -> OpenedPage:
    import tempfile

    window = start_chromium(Path(tempfile.mkdtemp(dir=folder)))
    window.set_script_timeout(120)
    return OpenedPage(window, path)


def drawn_by(found: OpenedPage) -> str:
    return found.run(
        "const gl = document.createElement('canvas').getContext('webgl2');"
        "return gl ? gl.getParameter(gl.getExtension('WEBGL_debug_renderer_info').UNMASKED_RENDERER_WEBGL) : 'Canvas'"
    )


def pages(folder: Path, options: argparse.Namespace) -> None:
    for name in options.corpora:
        documents = corpus_of(name)
        path, seconds = page_of(folder, name, documents)
        found = opened(folder, path)
        marks: dict[str, list[float]] = {"kate-map": [], "kate-words": []}
        before = sum(computed(found.window).values())
        for _ in range(OPENINGS):
            found.open(size=(1440, 900))
            for mark in found.run("return performance.getEntriesByType('mark').map((one) => one.toJSON())"):
                if mark["name"] in marks:
                    marks[mark["name"]].append(mark["startTime"] / 1000)
        seconds_of_one = (sum(computed(found.window).values()) - before) / OPENINGS
        heap = found.run("return performance.memory.usedJSHeapSize")
        by = drawn_by(found)
        found.window.quit()
        say(
            benchmark="pages",
            corpus=name,
            n_documents=len(documents),
            megabytes=round(path.stat().st_size / 1e6, 2),
            megabytes_of_text=round(sum(len(text.encode()) for text in documents.texts) / 1e6, 2),
            made_in_seconds=None if seconds is None else round(seconds, 1),
            map_ready_seconds=round(statistics.median(marks["kate-map"]), 2),
            words_ready_seconds=round(statistics.median(marks["kate-words"]), 2),
            computed_seconds=round(seconds_of_one, 2),
            load=round(os.getloadavg()[0], 1),
            heap_megabytes=round(heap / 1e6),
            drawn_by=by,
        )


def queries(folder: Path, options: argparse.Namespace) -> None:
    for name in options.corpora:
        documents = corpus_of(name)
        model = model_of(folder, name, documents)
        asked = queries_of(documents)
        index = kate.Index.build(model, documents)
        place = {one: row for row, one in enumerate(documents.ids)}
        expected = [[place[one] for one in found_by(index, query)] for query in asked]
        answers = answers_of(folder / f"{name}.parts", model, documents, asked)
        vectors, found = answers[: len(asked)], [one.get("rows", []) for one in answers[len(asked) :]]
        apart = []
        for query, vector in zip(asked, vectors, strict=True):
            ours = query_vector(model, query)
            apart.append(0.0 if ours is None else float(np.abs(ours - np.asarray(vector)).max()))
        pairs = list(zip(expected, found, strict=True))
        say(
            benchmark="queries",
            corpus=name,
            n_queries=len(asked),
            largest_difference=max(apart),
            same_ten=sum(set(one) == set(other) for one, other in pairs) / len(pairs),
            same_ten_in_order=sum(one == other for one, other in pairs) / len(pairs),
            same_best=sum(one[:1] == other[:1] for one, other in pairs) / len(pairs),
        )


def found_by(index: kate.Index, query: str) -> list[str]:
    """The ten best; none where no document has a word of the query: the page says the same."""
    try:
        return [hit.id for hit in index.search(query)]
    except UnknownWordError:
        return []


def queries_of(documents: kate.Documents) -> list[str]:
    """Two to five words that stand side by side; only letters, so that nothing in them is an operator."""
    dice = np.random.default_rng(1)
    found: list[str] = []
    while len(found) < N_QUERIES:
        words = documents.texts[int(dice.integers(len(documents)))].split()
        length = int(dice.integers(2, 6))
        if len(words) <= length:
            continue
        start = int(dice.integers(len(words) - length))
        query = " ".join("".join(filter(str.isalpha, word)) for word in words[start : start + length]).strip()
        if query:
            found.append(query)
    return found


def answers_of(folder: Path, model: kate.TextModel, documents: kate.Documents, asked: list[str]) -> list[Any]:
    """What the page's modules answer in Node.js: vectors, then rankings."""
    folder.mkdir(exist_ok=True)
    for name, data in encoder_parts(model, documents).parts.items():
        (folder / name).write_bytes(data)
    questions = [{"call": "encode", "arguments": [query]} for query in asked]
    questions += [{"call": "search", "arguments": [query]} for query in asked]
    command = ["node", str(REPOSITORY / "tests/explore/page/answer.js"), str(folder)]
    done = subprocess.run(command, input=json.dumps(questions), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def frames(folder: Path, options: argparse.Namespace) -> None:
    path, seconds = page_of(folder, f"points-{N_POINTS}", pieces())
    for drawing, switch in (("WebGL", ""), ("Canvas", "?canvas")):
        found = opened(folder, path)
        found.address += switch
        window = found.window
        window.get("about:blank")
        refresh = window.execute_async_script(SCRIPT, "movement", "nothing")["rate"]
        found.open(size=(1440, 900))
        assert found.run("return document.querySelector('.map').dataset.drawing") == drawing
        moved = {name: movement(window, name) for name in ("pan", "zoom", "point")}
        taken = {
            name: round(window.execute_async_script(SCRIPT, "change", to)) for name, to in CHANGES.items()
        }
        say(
            benchmark="frames",
            n_points=N_POINTS,
            megabytes=round(path.stat().st_size / 1e6, 1),
            made_in_seconds=None if seconds is None else round(seconds),
            drawing=drawing,
            drawn_by=drawn_by(found),
            screen="1440x900",
            cores=os.cpu_count(),
            load=round(os.getloadavg()[0], 1),
            refresh=round(refresh, 1),
            **{measure: {name: one[measure] for name, one in moved.items()} for measure in moved["pan"]},
            milliseconds_of_a_change=taken,
        )
        window.quit()


def movement(window: Any, name: str) -> dict[str, float]:
    """Frames a second, the slowest twentieth of them, and what the processes of the browser computed for each.

    A machine that has other work to do shows fewer frames; what a frame takes to compute hardly changes.
    """
    before = computed(window)
    told = window.execute_async_script(SCRIPT, "movement", name)
    after = computed(window)
    return {
        "frames_per_second": round(told["rate"], 1),
        "slow_frame_ms": round(told["slow"]),
        "computed_ms_of_a_frame": round(
            1000 * (sum(after.values()) - sum(before.values())) / told["frames"], 1
        ),
        "of_the_page": round(1000 * (after["renderer"] - before["renderer"]) / told["frames"], 1),
    }


def computed(window: Any) -> dict[str, float]:
    """Seconds that the processes of a browser have computed, by their kind."""
    parents, of_kind = {}, dict[int, tuple[str, float]]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            told = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_text().replace("\0", " ").split()
        except OSError:  # it has ended
            continue
        kind = next((one.removeprefix("--type=") for one in command if one.startswith("--type=")), "browser")
        parents[int(folder.name)] = int(told[1])
        of_kind[int(folder.name)] = (kind, (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK"))
    found = {"renderer": 0.0, "gpu-process": 0.0, "browser": 0.0}
    for one, (kind, seconds) in of_kind.items():
        above = one
        while above in parents and above != window.service.process.pid:
            above = parents[above]
        if above == window.service.process.pid:
            found[kind] = found.get(kind, 0.0) + seconds
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("pages", "queries", "frames"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    {"pages": pages, "queries": queries, "frames": frames}[options.what](options.folder, options)


if __name__ == "__main__":
    main()
