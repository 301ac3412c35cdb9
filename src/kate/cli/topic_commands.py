"""The commands that show topics and neurons, and change topics. Neither loads scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import kate
from kate.cli.corpus_arguments import AS_THEY_COME, CorpusArguments, with_corpus_options
from kate.cli.options import AsJson, ModelFolder
from kate.cli.output import harmless, print_json, print_table, say
from kate.cli.topic_tables import (
    print_documents,
    print_topics,
)
from kate.errors import quoted
from kate.storage.bounded_files import read_json
from kate.storage.json_values import as_json as plain

if TYPE_CHECKING:
    from kate.model.text_model import TextModel
    from kate.text.documents import Documents
    from kate.topics.topic_set import Topics

__all__ = ["NumberOfTopics", "add_to"]

NumberOfTopics = Annotated[
    int | None,
    typer.Option(
        "-n",
        "--number",
        min=1,
        metavar="N",
        help="How many topics; by default those that you changed, or as many as the data suggest.",
    ),
]


class TopicOrder(StrEnum):
    SHARE = "share"
    COHERENCE = "coherence"
    COVERAGE = "coverage"
    TOPIC = "topic"


def add_to(app: typer.Typer) -> None:
    for command in (topics, neurons):
        app.command()(command)


@with_corpus_options
def topics(
    model: ModelFolder,
    number: NumberOfTopics = None,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="Words per topic.")] = 10,
    sort: Annotated[TopicOrder, typer.Option(help="The order of the topics.")] = TopicOrder.SHARE,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Show only so many topics.")] = None,
    tree: Annotated[bool, typer.Option("--tree", help="Show how the topics join to larger ones.")] = False,
    documents: Annotated[
        list[str] | None,
        typer.Option(metavar="CORPUS", help="Show documents of the topic --topic, the most typical first."),
    ] = None,
    topic: Annotated[int | None, typer.Option(min=0, metavar="N", help="The topic for --documents.")] = None,
    top_documents: Annotated[int, typer.Option(min=1, metavar="N", help="How many documents.")] = 10,
    apply: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Make the changes of a file instead of those made so far."),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last change back.")] = False,
    merge: Annotated[
        list[str] | None, typer.Option(metavar="3,7", help="Make one topic of several; repeatable.")
    ] = None,
    split: Annotated[
        list[int] | None, typer.Option(metavar="5", help="Make two topics of one; repeatable.")
    ] = None,
    drop: Annotated[
        list[int] | None, typer.Option(metavar="9", help="Leave a topic out; repeatable.")
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(metavar='3="law"', help="Name a topic; repeatable.")
    ] = None,
    as_json: AsJson = False,
    reading: CorpusArguments = AS_THEY_COME,
) -> None:
    """Show the topics of a model, their words and documents, and change them.

    A topic is a set of documents. Share: of all documents. Coherence: how much its words occur together (NPMI).
    Coverage: how many of its documents hold one of its first ten words.

    Changes are written into the model folder, and all commands use the changed topics from then on. They are made in
    this order: --apply, --undo, --merge, --split, --drop, --rename. The file of --apply is saved by the page of kate
    explore, or the topic_edits.json of a model folder, or written by hand.

    \b
    Example:
      kate topics model -n 2 --sort coherence
      kate topics model -n 20 --merge 3,7 --rename 3="law"
      kate topics model --documents reviews.csv --topic 3
      kate topics model --apply edits.json
    """
    if (documents is None) != (topic is None):
        raise typer.BadParameter("--documents and --topic are given together", param_hint="--topic")
    loaded = kate.load(model)
    changes = _Changes(apply, undo, merge or [], split or [], drop or [], rename or [])
    if changes.any:
        found = changes.made(loaded, model, number)
        number = None
    else:
        found = loaded.topics(number)
    if documents is not None and topic is not None:
        # the topic is looked for before the documents are read, which may take long
        _ = found[topic]
        corpus = reading.documents(documents)
        _show_documents(found, topic, corpus, top_documents, as_json)
    elif tree:
        node = loaded.topic_tree(number)
        print_json(node.as_dict()) if as_json else typer.echo("\n".join(_harmless_lines(node.lines())))
    else:
        _show_topics(found, sort, top, limit, as_json)


def _harmless_lines(lines: Any) -> list[str]:
    return [" " * (len(line) - len(line.lstrip())) + harmless(line) for line in lines]


class _Changes:
    """The changes that the options ask for."""

    def __init__(
        self,
        apply: Path | None,
        undo: bool,
        merge: Sequence[str],
        split: Sequence[int],
        drop: Sequence[int],
        rename: Sequence[str],
    ) -> None:
        self.apply, self.undo, self.split, self.drop = apply, undo, split, drop
        self.merge = [_numbers(given) for given in merge]
        self.rename = [_named(given) for given in rename]

    @property
    def any(self) -> bool:
        return bool(self.apply or self.undo or self.merge or self.split or self.drop or self.rename)

    def made(self, loaded: TextModel, folder: Path, number: int | None) -> Topics:
        """The changed topics; the model folder holds the changes if all could be made."""
        from kate.model.model_folder import write_topic_edits
        from kate.topics.topic_edits import TopicEdits

        found = loaded.topics(number)
        if self.apply is not None:
            found = _applied(found, self.apply)
        if self.undo:
            found = found.undo()
        for numbers in self.merge:
            found = found.merge(*numbers)
        for one in self.split:
            found = found.split(one)
        for one in self.drop:
            found = found.drop(one)
        for one, name in self.rename:
            found = found.rename(one, name)
        edits = TopicEdits.from_dict(found.edits())
        write_topic_edits(folder, edits if edits.steps else None)
        return found


def _numbers(given: str) -> list[int]:
    parts = [part.strip() for part in given.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise typer.BadParameter(
            f"{quoted(given)} are not numbers of topics such as 3,7", param_hint="--merge"
        )
    return [int(part) for part in parts]


def _named(given: str) -> tuple[int, str]:
    number, equals, name = given.partition("=")
    if not equals or not number.strip().isdecimal():
        raise typer.BadParameter(f'{quoted(given)} is not of the form 3="law"', param_hint="--rename")
    return int(number), name


def _applied(found: Topics, path: Path) -> Topics:
    """The topics with the changes of a file, which a stranger may have written."""
    try:
        given = read_json(path)
    except ValueError as error:
        raise ValueError(
            f"{path} is not JSON ({error}); expected the changes of topics, as the page of kate explore saves them"
        ) from None
    try:
        return found.apply(given)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _show_topics(found: Topics, sort: TopicOrder, top: int, limit: int | None, as_json: bool) -> None:
    shown = found.sorted_by(sort.value)[:limit]
    if as_json:
        rows = [topic.as_dict() for topic in shown]
        for row in rows:
            row |= {"words": row["words"][:top], "weights": row["weights"][:top]}
        print_json(
            {
                "n_topics": len(found),
                "reason": found.reason,
                "coherence": found.coherence,
                "coverage": found.coverage,
                "diversity": found.diversity,
                "topics": rows,
            }
        )
        return
    print_topics(shown, top)
    if found.reason is not None:
        other = "" if len(found) == 1 else "; -n N gives any other number"
        say(f"{len(found)} {'topic' if len(found) == 1 else 'topics'}: {found.reason}{other}")


def _show_documents(found: Topics, topic: int, corpus: Documents, top: int, as_json: bool) -> None:
    frame = found.documents(topic, corpus.frame, top, text="text")
    if as_json:
        print_json(plain(frame.to_dicts(), strict=False))
        return
    if frame.is_empty():
        say(f"no document of the corpus belongs to topic {topic}, {found[topic].name}")
        return
    print_documents(frame, [row[0] or row[1] for row in frame.select("title", "id").rows()], frame["text"])


def neurons(
    model: ModelFolder,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="Words per pole.")] = 10,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Show only so many poles.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the neurons of a model as the paper does: by their strongest weights.

    Every neuron has two poles, one for each sign: 17+ and 17-.

    \b
    Example:
      kate neurons model --limit 20
    """
    shown = kate.load(model).neurons(top)[:limit]
    if as_json:
        print_json(shown.as_dicts())
        return
    print_table(("pole", "words"), [(pole.name, ", ".join(pole.words)) for pole in shown], right=("pole",))
