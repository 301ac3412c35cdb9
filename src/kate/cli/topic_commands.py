"""The commands about topics: topics (show and change them), neurons, label, trends. None loads scikit-learn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import kate
from kate.cli.options import (
    AsJson,
    Corpus,
    Encoding,
    Format,
    IdField,
    LabelField,
    ModelFolder,
    OnError,
    OnErrorOption,
    Quiet,
    TextField,
    TitleField,
    read_documents,
)
from kate.cli.output import harmless, print_json, print_table, say
from kate.cli.topic_tables import (
    print_documents,
    print_over_time,
    print_topics,
    require_table_name,
    write_table,
)
from kate.storage.files import whole_file
from kate.storage.json_values import as_json as plain

if TYPE_CHECKING:
    from kate.model.text_model import TextModel
    from kate.text.documents import Documents
    from kate.topics.topic_set import Topics

__all__ = ["add_to"]

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


class PeriodLength(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"


def add_to(app: typer.Typer) -> None:
    for command in (topics, neurons, label, trends):
        app.command()(command)


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
    text: TextField = None,
    id: IdField = None,  # noqa: A002 - the name of the option
    label: LabelField = None,
    title: TitleField = None,
    format: Format = None,  # noqa: A002 - the name of the option
    encoding: Encoding = "utf-8",
    on_error: OnErrorOption = OnError.RAISE,
) -> None:
    """Show the topics of a model, their words and documents, and change them.

    A topic is a set of documents. Share: of all documents. Coherence: how much its words occur together (NPMI).
    Coverage: how many of its documents hold one of its first ten words.

    Changes are written into the model folder, and all commands use the changed topics from then on. They are made in
    this order: --apply, --undo, --merge, --split, --drop, --rename. The file of --apply is the topic_edits.json of a
    model folder, or written by hand.

    \b
    Example:
      kate topics model -n 2 --sort coherence
      kate topics model -n 20 --merge 3,7 --rename 3="law"
      kate topics model --documents reviews.csv --topic 3
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
        corpus = read_documents(documents, text, id, label, title, format, encoding, on_error)
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
            found = found.apply(_read_json(self.apply))
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
        raise typer.BadParameter(f"{given!r} are not numbers of topics such as 3,7", param_hint="--merge")
    return [int(part) for part in parts]


def _named(given: str) -> tuple[int, str]:
    number, equals, name = given.partition("=")
    if not equals or not number.strip().isdecimal():
        raise typer.BadParameter(f'{given!r} is not of the form 3="law"', param_hint="--rename")
    return int(number), name


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON ({error}); expected the changes of topics") from None


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
        say(f"{len(found)} topics: {found.reason}; -n N gives any other number")


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


def label(
    model: ModelFolder,
    corpus: Corpus,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="labelled.csv, labelled.parquet or labelled.jsonl"
        ),
    ],
    number: NumberOfTopics = None,
    own: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar='"NAME: WORDS"',
            help='A topic of your own by a few words, such as "health: doctor hospital"; repeatable.',
        ),
    ] = None,
    text: TextField = None,
    id: IdField = None,  # noqa: A002 - the name of the option
    label: LabelField = None,
    title: TitleField = None,
    format: Format = None,  # noqa: A002 - the name of the option
    encoding: Encoding = "utf-8",
    on_error: OnErrorOption = OnError.RAISE,
    quiet: Quiet = False,
) -> None:
    """Write documents with their topics: all their columns, and topic, topic_name and topic_share.

    A document without a known word has no topic. A column of the corpus that has one of these names is kept under
    another, with a warning. With --as only topic_name and topic_share are added, and a document that is near to none of
    your topics has none.

    \b
    Example:
      kate label model reviews.csv --text review -n 2 -o labelled.csv
      kate label model new.jsonl --as "health: doctor hospital" -o own.csv
    """
    require_table_name(output)
    own_topics = None if not own else _own_topics(own)
    if own_topics is not None and number is not None:
        raise typer.BadParameter("your own topics are as many as you name: leave -n out", param_hint="--as")
    with whole_file(output) as part:
        loaded = kate.load(model)
        found = None if own_topics is not None else loaded.topics(number)
        documents = read_documents(
            corpus, text, id, label, title, format, encoding, on_error, keep_nested=True
        )
        labelled = loaded.label(documents, topics=own_topics) if found is None else found.label(documents)
        write_table(labelled.with_columns(labelled["topic_share"].round(4)), part)
    if not quiet:
        n_topics = len(own_topics or ()) if found is None else len(found)
        n_none = labelled["topic_name"].null_count()
        without = f"; {n_none:,} documents have none of them" if n_none else ""
        typer.echo(f"{len(labelled):,} documents, {n_topics} topics → {output}{without}")


def _own_topics(given: Sequence[str]) -> dict[str, str]:
    topics: dict[str, str] = {}
    for one in given:
        name, colon, words = one.partition(":")
        if not colon or not name.strip() or not words.strip():
            raise typer.BadParameter(
                f'{one!r} is not of the form "health: doctor hospital"', param_hint="--as"
            )
        if name.strip() in topics:
            raise typer.BadParameter(f"{name.strip()!r} is given twice", param_hint="--as")
        topics[name.strip()] = words.replace(",", " ")
    return topics


def trends(
    model: ModelFolder,
    corpus: Corpus,
    by: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="A column of dates or years; the values of any other are groups."
        ),
    ] = "date",
    every: Annotated[
        PeriodLength | None, typer.Option(help="The length of a period; by default one that suits the dates.")
    ] = None,
    number: NumberOfTopics = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write trends.csv, trends.parquet or trends.jsonl."
        ),
    ] = None,
    as_json: AsJson = False,
    text: TextField = None,
    id: IdField = None,  # noqa: A002 - the name of the option
    label: LabelField = None,
    title: TitleField = None,
    format: Format = None,  # noqa: A002 - the name of the option
    encoding: Encoding = "utf-8",
    on_error: OnErrorOption = OnError.RAISE,
    quiet: Quiet = False,
) -> None:
    """Show the topics of documents through time, or by the values of a column.

    For every period and topic: its documents, its share of the period's documents, and words that are more frequent in
    this period than in the topic as a whole. The table shows the shares as small bars, the peak, and its words.

    \b
    Example:
      kate trends model reviews.csv --text review --by stars -n 2
      kate trends model news.parquet --by date --every month -o trends.csv
    """
    if output is not None:
        require_table_name(output)
    loaded = kate.load(model)
    topics = loaded.topics(number)
    documents = read_documents(corpus, text, id, label, title, format, encoding, on_error)
    found = topics.over_time(documents, by, None if every is None else every.value)
    if output is not None:
        with whole_file(output) as part:
            write_table(found.frame, part)
        if not quiet and not as_json:
            n_periods = found.frame[found.frame.columns[0]].n_unique()
            shown = "groups" if found.every is None else f"periods of a {found.every}"
            typer.echo(
                f"{len(documents):,} documents, {n_periods:,} {shown}, {len(topics)} topics → {output}"
            )
    if as_json:
        print_json(
            [
                row | {found.frame.columns[0]: str(row[found.frame.columns[0]])}
                for row in found.frame.to_dicts()
            ]
        )
    elif output is None:
        print_over_time(found, topics.sorted_by("share"))
