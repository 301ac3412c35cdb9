"""Filters on the columns of documents: conditions as SQL writes them, and nothing of SQL beside conditions.

A filter is cut into its parts before any engine sees it. Names of columns are looked up and quoted, functions must
be on the list below, and words such as SELECT are refused: a filter can neither read files nor change anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from kate.errors import KateError, quoted
from kate.spelling import did_you_mean
from kate.text.text_batches import is_encodable

__all__ = ["Filter", "FilterError"]

_PART = re.compile(
    r"""(?P<space>\s+)|(?P<text>'(?:[^']|'')*')|(?P<name>"[^"]+"|`[^`]+`|[^\W\d]\w*)|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"""
    r"""|(?P<sign><=|>=|<>|!=|\|\||[=<>+*/%(),-])"""
)
_WORDS = frozenset(
    (
        "and",
        "or",
        "not",
        "in",
        "is",
        "null",
        "like",
        "ilike",
        "between",
        "true",
        "false",
        "escape",
        "date",
        "timestamp",
    )
)
_STATEMENTS = frozenset(("select", "from", "insert", "update", "delete", "drop", "union", "exists"))
_FUNCTIONS = frozenset(("lower", "upper", "length", "abs", "round", "coalesce", "starts_with"))
# The time that Polars takes grows with the third power of the length of a chain.
_MOST_OPERATORS, _MOST_SHOWN = 100, 200
_REMEDY = "write conditions such as: year >= 1990 and party = 'Republican'"


class FilterError(KateError, ValueError):
    """A filter that is no condition on the columns of the documents.

    >>> import kate
    >>> index = kate.Index.build(kate.TextModel(2, max_epochs=1).fit(["a treaty", "gold"] * 5), ["a treaty", "gold"])
    >>> try:
    ...     index.search("gold", where="yaer > 1900")
    ... except kate.FilterError as error:
    ...     print(str(error).split(";")[0])
    no column is named 'yaer'
    """


@dataclass(frozen=True)
class Filter:
    """A condition that was read and found harmless; ``parts`` are (kind, text) in their order.

    >>> one = Filter.read("Year >= 1990 and party = 'Whig'", ["year", "party"])
    >>> one.polars_sql
    '"year" >= 1990 and "party" = \\'Whig\\''
    >>> Filter.read("yaer = 1", ["year"])
    Traceback (most recent call last):
    ...
    kate.search.filters.FilterError: no column is named 'yaer'; did you mean year?
    """

    parts: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]

    @classmethod
    def read(cls, where: str, columns: list[str]) -> Filter:
        """A filter on these columns."""
        if not where.strip():
            raise FilterError(f"the filter is empty; {_REMEDY}")
        if not is_encodable(where):
            raise FilterError(
                f"the filter {quoted(where)} holds half a character, which no document has; {_REMEDY}"
            )
        parts: list[tuple[str, str]] = []
        used: list[str] = []
        position = 0
        while position < len(where):
            match = _PART.match(where, position)
            if match is None or where.startswith(("--", "/*"), position):
                raise FilterError(
                    f"the filter cannot hold {quoted(where[position : position + 10])}; {_REMEDY}"
                )
            position = match.end()
            kind, text = str(match.lastgroup), match[0]
            if kind == "name":
                kind, text = _name(text, columns, is_called=where[position:].lstrip().startswith("("))
            if kind == "column":
                used.append(text)
            parts.append((kind, text))
        if not used:
            raise FilterError(f"the filter {quoted(where, _MOST_SHOWN)} names no column; {_REMEDY}")
        _require_short(parts)
        found = cls(tuple(parts), tuple(dict.fromkeys(used)))
        try:
            pl.sql_expr(found.polars_sql)
        except pl.exceptions.PolarsError as error:
            raise FilterError(
                f"{quoted(where, _MOST_SHOWN)} is not a condition ({_reason(error)}); {_REMEDY}"
            ) from None
        return found

    @property
    def polars_sql(self) -> str:
        return self._quoted('"')

    def lance_sql(self, stored: Mapping[str, str]) -> str:
        """The same for LanceDB, whose table may have other names for the columns."""
        return "".join(f"`{stored[text]}`" if kind == "column" else text for kind, text in self.parts)

    def rows(self, frame: pl.DataFrame) -> pl.Series:
        """Whether each row of a table meets the condition; null where a value is missing is no."""
        try:
            met = frame.select(pl.sql_expr(self.polars_sql).alias("met"))["met"]
        except pl.exceptions.PolarsError as error:
            raise FilterError(
                f"{quoted(self._quoted(''), _MOST_SHOWN)} cannot be asked of {self._kinds(frame)} ({_reason(error)})"
            ) from None
        if met.dtype != pl.Boolean or len(met) not in (1, len(frame)):
            raise FilterError(
                f"{quoted(self._quoted(''), _MOST_SHOWN)} is a value and no condition; {_REMEDY}"
            )
        met = met.fill_null(False)
        return met.new_from_index(0, len(frame)) if len(met) != len(frame) else met

    def _kinds(self, frame: pl.DataFrame) -> str:
        kinds: Mapping[str, pl.DataType] = frame.schema
        return ", ".join(f"{name} ({_kind(kinds[name])})" for name in self.columns)

    def _quoted(self, mark: str) -> str:
        return "".join(f"{mark}{text}{mark}" if kind == "column" else text for kind, text in self.parts)


def _name(given: str, columns: list[str], *, is_called: bool) -> tuple[str, str]:
    """What a name in a filter is: a word of SQL, a function or a column."""
    name = given.strip('"`')
    is_quoted = name != given
    if not is_quoted and is_called and name.lower() in _FUNCTIONS:
        return "function", name.lower()
    if name in columns and '"' not in name and "`" not in name:
        return "column", name
    if not is_quoted and name.lower() in _WORDS:
        return "word", name
    if is_called and not is_quoted:
        raise FilterError(
            f"a filter has no function {quoted(name)}; these are there: {', '.join(sorted(_FUNCTIONS))}"
        )
    if not is_quoted and name.lower() in _STATEMENTS:
        raise FilterError(f"a filter cannot {name.upper()} anything; {_REMEDY}")
    alike = [column for column in columns if column.lower() == name.lower()]
    if len(alike) == 1:
        return "column", alike[0]
    raise FilterError(f"no column is named {quoted(name)}; {did_you_mean(name, columns)}")


def _require_short(parts: list[tuple[str, str]]) -> None:
    """Refuse a chain that Polars would think about for minutes."""
    last, n = "(", 0
    for kind, text in parts:
        if kind == "space":
            continue
        is_minus = text == "-" and last not in {"(", ","}
        n += is_minus or text.lower() in {"and", "or", "not", "+", "*", "/", "%", "||"}
        last = text
    if n > _MOST_OPERATORS:
        raise FilterError(
            f"the filter joins {n:,} conditions or values, at most {_MOST_OPERATORS} are read; for one of many values "
            "write: year in (1990, 1992, 1994)"
        )


def _kind(kind: pl.DataType) -> str:
    if kind == pl.String:
        return "text"
    return "numbers" if kind.is_numeric() else str(kind).lower()


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0][:120]
