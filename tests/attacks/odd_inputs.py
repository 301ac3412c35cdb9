"""Texts, files, matrices and queries from a grammar of trouble: an answer, or an error that says what is wrong."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import zstandard
from scipy import sparse

import kate
from attacks.attacked_folders import WORDS
from attacks.damaged_folders import raised_by_kate
from kate.text.vocabulary import Vocabulary

__all__ = ["OddFile", "OddMatrix", "OddQuery", "OddText", "odd_text"]

Random = np.random.Generator

# A file may be named in an error, and a name may have 255 letters; what was given is repeated in part.
_LONGEST_ERROR = 1000


_PIECES: tuple[str, ...] = (
    *WORDS,
    "\0", "\ud800", "\udfff\ud800", "\u202e right to left", "\u200b\u200d\ufeff", "e\u0301\u0301\u0301",
    "a" + "\u0300" * 300,
    "\x1b[2J\x1b]52;c;AAAA\x07", "\x9b31m", "\r\n", "\u2028\u2029\x85", "\t\v\f", "[bold]gold[/bold]", "[/]",
    "[link=http://a]x",
    "<script>alert(1)</script>", "<" * 500, "<a " * 60, "&amp;&#0;&#xD800;&#99999999;", "http://" + "a." * 200,
    "x@" + "y" * 80,
    "@" * 300, "#" * 300, "1" * 400, "0.1e-5", "½⅓", "ﬁﬂ", "İıſßẞ", "𝔊𝔬𝔩𝔡",
    "👩‍👩‍👧‍👦" * 3, "中文分词金银", "ไทย", "日本語テキスト",
    "\U0010ffff", "'s" * 300, "-" * 300, "_" * 50, "don't", "o'", "F-16", '"', "\\", "%s%n{0}{}", "../../etc/passwd",
    "ÅÄÖ", "a\xad\xadb", "＂full＂", "١٢٣", "Zürich", "\x7f\x80\x81", "�",
)  # fmt: skip


def odd_text(random: Random) -> str:
    """Words and trouble, together or apart; now and then very long."""
    kind = random.integers(12)
    if kind == 0:
        return ""
    if kind == 1:
        return _PIECES[random.integers(len(_PIECES))] * int(random.choice([1, 2, 50, 3000]))
    if kind == 2:
        return "".join(map(chr, random.integers(0, 0x11000, int(random.integers(1, 40)))))
    if kind == 3:
        return "".join(map(chr, random.integers(0, 0x110000, int(random.integers(1, 40)))))
    pieces = [_PIECES[place] for place in random.integers(0, len(_PIECES), int(random.integers(1, 12)))]
    return str(random.choice(["", " ", "\n", "  ,"])).join(pieces)


class _Odd:
    """Runs a case; errors that Kate itself words are answers, too."""

    allowed: tuple[type[Exception], ...] = (kate.KateError, ValueError)

    def __init__(self, folder: str, place: str) -> None:
        self.folder, self.place = folder, Path(place)
        self.model = kate.load(Path(folder) / "model")
        self.index = kate.Index.load(folder)
        self.estimator = kate.KATE(3, max_epochs=1, n_jobs=1, device="cpu").fit(np.eye(12))
        self.shown, self.outcome = "", ""

    def case(self, number: int, random: Random) -> str | None:
        try:
            return self.try_one(number, random)
        except self.allowed as error:
            if not self.is_worded(error):
                raise
            if not str(error).strip() or len(str(error)) > _LONGEST_ERROR:
                return f"{self.shown}: an error of {len(str(error)):,} characters"
            self.outcome = type(error).__name__
            return None

    def is_worded(self, error: Exception) -> bool:
        return isinstance(error, kate.KateError) or raised_by_kate(error)

    def try_one(self, number: int, random: Random) -> str | None:
        raise NotImplementedError


class OddText(_Odd):
    """Texts of every kind are encoded: finite, the same alone and among others. Halves of characters are refused."""

    allowed = (kate.KateError, ValueError, TypeError)

    def try_one(self, number: int, random: Random) -> str | None:
        texts: list[Any] = [odd_text(random) for _ in range(int(random.integers(1, 30)))]
        if number % 4:
            texts = [text.encode("utf-8", "replace").decode() for text in texts]
        if number % 500 == 499:
            texts.append(str(random.choice(["gold", "ab'", "<", "a-", "\u0301"])) * 2_000_000)
        if number % 50 == 49:
            texts[0] = (None, 3, b"gold", ["gold", "coin"], float("nan"), {"gold": 1})[random.integers(6)]
        self.shown = repr(texts)[:300]
        vectors = self.model.encode(texts)
        if vectors.shape != (len(texts), 4) or not np.isfinite(vectors).all():
            return f"vectors {vectors.shape} of {self.shown}"
        alone = self.model.encode([texts[-1]])[0]
        if not np.allclose(vectors[-1], alone, atol=1e-6):
            return f"another vector alone: {self.shown}"
        if number % 10 == 0:
            vocabulary, counts = Vocabulary.learn([*texts, "gold coin", "gold"], min_df=1)
            if counts.shape != (len(texts) + 2, len(vocabulary)) or (counts.data < 1).any():
                return f"counts of {self.shown}"
            hits = kate.Index.build(self.model, texts, n_jobs=1).search("gold -peace", top=3)
            if any(not np.isfinite(hit.score) for hit in hits):
                return f"a score of {self.shown}"
        return None


class OddFile(_Odd):
    """Files of every format are read, or refused by name."""

    def try_one(self, number: int, random: Random) -> str | None:
        make = _FILES[number % len(_FILES)]
        name, data = make(random)
        if random.integers(3) == 0:
            from attacks.file_damage import BYTE_DAMAGE, damaged_bytes

            kind = list(BYTE_DAMAGE)[random.integers(len(BYTE_DAMAGE))]
            data = damaged_bytes(data, kind, random)
        self.shown = f"{name}: {data[:120]!r}"
        path = self.place / name
        path.write_bytes(data)
        options = _OPTIONS[random.integers(len(_OPTIONS))]
        try:
            documents = kate.read_corpus(path, **options)
            if random.integers(3) == 0:  # the same a part at a time
                parts = [part.texts for part in kate.iter_corpus(path, **options)]
                if [text for texts in parts for text in texts] != documents.texts.to_list():
                    return f"other texts in parts: {self.shown}"
        finally:
            path.unlink()
        if len(documents) != len(documents.ids) or len(set(documents.ids)) != len(documents):
            return f"ids of {self.shown}"
        if documents.texts.null_count():
            return f"texts of {self.shown}"
        self.outcome = "read"
        return None


class OddMatrix(_Odd):
    """Counts that no counter made: encoded, or refused; never a crash."""

    allowed = (kate.KateError, ValueError, TypeError)

    def is_worded(self, error: Exception) -> bool:
        return bool(str(error))  # scikit-learn's words are good ones, too

    def try_one(self, number: int, random: Random) -> str | None:
        n_words = 12
        make = _MATRICES[number % len(_MATRICES)]
        X = make(random, n_words)
        self.shown = (
            f"{make.__name__}: {type(X).__name__} {getattr(X, 'shape', None)} {getattr(X, 'dtype', None)}"
        )
        if number // len(_MATRICES) % 8 == 7:
            words = [f"w{i}" for i in range(n_words)]
            self.shown += ", fitted"
            kate.TextModel(2, max_epochs=1, n_jobs=1, verbose=False, device="cpu").fit_counts(X, words)
            return None
        vectors = np.asarray(self.estimator.transform(X))
        return None if np.isfinite(vectors).all() else f"{self.shown}: not finite"


class OddQuery(_Odd):
    """Whatever is typed into a search is answered or refused in words."""

    def try_one(self, number: int, random: Random) -> str | None:
        query = _query(random)
        where = _condition(random) if random.integers(3) == 0 else None
        options: dict[str, Any] = {
            "by": str(random.choice(["both", "words", "meaning"])),
            "top": int(random.integers(1, 30)),
        }
        options["offset"] = int(random.choice([0, 1, 7, 10**6, 2**62]))
        if random.integers(4) == 0:
            options["sort"] = str(random.choice(["year", "-year", "label", "nothing", "", "-", "\0", "id"]))
        self.shown = f"search({query[:200]!r}, where={where!r}, {options})"
        kind = random.integers(6)
        if kind == 5:
            hits: Any = self.index.similar_documents(str(random.choice([query, "7", ""])), top=options["top"])
        elif kind == 0:
            hits = self.index.similar_to_text(query, top=options["top"], where=where)
        elif kind == 1:
            self.model.similar_words(query[:3000])
            hits = []
        else:
            hits = self.index.search(query, where=where, **options)
        if any(not np.isfinite(hit.score) for hit in hits):
            return f"{self.shown}: a score that is none"
        json.dumps([hit.as_dict() for hit in hits], default=str).encode()
        return None


def _query(random: Random) -> str:
    pieces = []
    for _ in range(int(random.integers(0, 7))):
        word = odd_text(random) if random.integers(2) else WORDS[random.integers(len(WORDS))]
        form = random.integers(6)
        pieces.append((word, f'"{word}"', f"-{word}", f'-"{word} gold"', f'"{word}', f"{word}-{word}")[form])
    return " ".join(pieces)


def _condition(random: Random) -> str:
    names = ["year", "label", "id", "title", "text", "nothing", '"year"', "`id`", "kate_vector", "*"]
    values = [
        "1900",
        "'label 1'",
        "null",
        "''",
        "'it''s'",
        "1e400",
        "-1",
        "(select 1)",
        "year",
        "true",
        "'\0'",
        "'\ud800'",
        "9" * 50,
    ]
    operators = [
        "=",
        ">",
        "<=",
        "<>",
        "like",
        "in",
        "is",
        "between",
        "+",
        "||",
        "and",
        "or",
        ";",
        "--",
        "/*",
        "=",
    ]
    pick = lambda some: some[random.integers(len(some))]  # noqa: E731
    kind = random.integers(6)
    if kind == 0:
        return odd_text(random)[:3000]
    if kind == 1:
        return "(" * int(random.choice([3, 50, 5000])) + "year = 1900" + ")" * 3
    if kind == 2:
        return " or ".join(["year = 1900"] * int(random.choice([2, 20, 900])))
    if kind == 3:
        call = pick(
            [
                "read_csv('/etc/passwd')",
                "regexp_like(id, '(a+)+$')",
                "repeat('x', 1000000000)",
                "sum(year)",
                "pow(9, 999)",
            ]
        )
        return f"{call} = {pick(values)}"
    return " ".join(
        [pick(names), pick(operators), pick(values), pick(["", "and", "or not"]), pick(["", pick(names)])]
    )


def _rows(random: Random) -> list[dict[str, Any]]:
    values: list[Callable[[], Any]] = [
        lambda: odd_text(random).encode("utf-8", "replace").decode(),
        lambda: None, lambda: 3, lambda: 1e300, lambda: True,
        lambda: ["a", 1], lambda: {"b": []}, lambda: "",
    ]  # fmt: skip
    names = ["text", "id", "label", "title", "year", "", "kate_text", "a\tb", "\x1b[1m", "Text"]
    return [
        {
            str(random.choice(names)): values[random.integers(len(values))]()
            for _ in range(int(random.integers(1, 5)))
        }
        | {"text": values[random.integers(len(values)) if random.integers(9) == 0 else 0]()}
        for _ in range(int(random.integers(0, 12)))
    ]


def _jsonl(random: Random) -> tuple[str, bytes]:
    end = str(random.choice(["\n", "\r\n", "\r", "\n\n"]))
    lines = [json.dumps(row, ensure_ascii=bool(random.integers(2))) for row in _rows(random)]
    if random.integers(4) == 0:
        odd = [
            "[" * 5000,
            '{"text": 1e999}',
            '{"text": NaN}',
            '{"text": "\\ud800"}',
            "{",
            "null",
            "9" * 5000,
            '{"text":"a"}}',
        ]
        lines.insert(0, str(random.choice(odd)))
    return "rows.jsonl", _encoded(end.join(lines), random)


def _csv(random: Random) -> tuple[str, bytes]:
    quote = (lambda text: '"' + text.replace('"', '""') + '"') if random.integers(3) else str
    rows = [["text", "id"]] + [
        [odd_text(random)[:2000] for _ in range(int(random.integers(1, 4)))] for _ in range(5)
    ]
    separator = str(random.choice([",", "\t", ";"]))
    text = "\n".join(separator.join(map(quote, row)) for row in rows)
    return str(random.choice(["rows.csv", "rows.tsv"])), _encoded(text, random)


def _txt(random: Random) -> tuple[str, bytes]:
    return "lines.txt", _encoded("\n".join(odd_text(random) for _ in range(6)), random)


def _parquet(random: Random) -> tuple[str, bytes]:
    columns: dict[str, Any] = {
        "text": [odd_text(random).encode("utf-8", "replace").decode() for _ in range(4)]
    }
    columns["id"] = [(1, 2, 3, 4), ("a", "a", None, ""), (1.5, None, 2, 3)][random.integers(3)]
    columns["more"] = [([1], [2], [], None), (b"x", b"\0", None, b""), ({"a": 1},) * 4][random.integers(3)]
    buffer = io.BytesIO()
    pl.DataFrame(columns, strict=False).write_parquet(buffer)
    return "rows.parquet", buffer.getvalue()


def _gz(random: Random) -> tuple[str, bytes]:
    name, data = _FILES[random.integers(3)](random)
    return f"{name}.gz", gzip.compress(data) * int(random.integers(1, 3))


def _zst(random: Random) -> tuple[str, bytes]:
    name, data = _FILES[random.integers(3)](random)
    return f"{name}.zst", zstandard.ZstdCompressor().compress(data)


def _other(random: Random) -> tuple[str, bytes]:
    """Something else than its name says."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "gold")
    found = [
        buffer.getvalue(),
        b"%PDF-1.4",
        b"PAR1",
        b"",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        random.bytes(200),
        b"\n" * 50,
    ]
    name = str(
        random.choice(["x.txt", "x.csv", "x.jsonl", "x.parquet", "x.txt.gz", "x.csv.zst", "x.bin", "x"])
    )
    return name, found[random.integers(len(found))]


def _encoded(text: str, random: Random) -> bytes:
    codec = str(
        random.choice(
            ["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "latin-1", "utf-32", "utf-7"]
        )
    )
    return text.encode(codec, "surrogatepass" if codec.startswith("utf") and codec != "utf-7" else "replace")


_FILES: tuple[Callable[[Random], tuple[str, bytes]], ...] = (_jsonl, _csv, _txt, _parquet, _gz, _zst, _other)
_OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {}, {}, {"on_error": "skip"}, {"encoding": "utf-16"}, {"encoding": "cp1252"}, {"encoding": "rot13"},
    {"encoding": "idna"}, {"encoding": "punycode"},
    {"encoding": "nonsense"}, {"text": "text", "id": "id"}, {"text": "\0"},
    {"format": "jsonl"}, {"encoding": "zip"}, {"encoding": "undefined"}, {"encoding": "utf-7"}, {"encoding": ""},
)  # fmt: skip


def _csr(random: Random, n_words: int) -> sparse.csr_matrix:
    return sparse.random(
        6, n_words, 0.2, "csr", random_state=random, data_rvs=lambda n: random.integers(1, 9, n)
    )


def _unsorted(random: Random, n_words: int) -> Any:
    X = _csr(random, n_words)
    X.indices[:] = X.indices[::-1]
    X.has_sorted_indices = False
    return X


def _out_of_range(random: Random, n_words: int) -> Any:
    X = _csr(random, n_words)
    if X.nnz:
        X.indices[random.integers(X.nnz)] = int(random.choice([n_words, -1, 2**31 - 1, -(2**31)]))
    return X


def _bad_starts(random: Random, n_words: int) -> Any:
    X = _csr(random, n_words)
    X.indptr[random.integers(len(X.indptr))] = int(random.choice([-1, 2**31 - 1, X.nnz + 1, 0]))
    return X


def _short_arrays(random: Random, n_words: int) -> Any:
    X = _csr(random, n_words)
    X.data = X.data[: max(0, len(X.data) - 3)]
    return X


def _odd_values(random: Random, n_words: int) -> Any:
    X = _csr(random, n_words).astype(np.float64)
    if X.nnz:
        X.data[random.integers(X.nnz)] = random.choice([np.nan, np.inf, -1, -np.inf, 1e308, 0.5, 1e-320])
    return X


def _twice(random: Random, n_words: int) -> Any:
    return sparse.csr_matrix((np.ones(4), np.zeros(4, np.int32), [0, 4]), shape=(1, n_words))


def _dense(random: Random, n_words: int) -> Any:
    kinds = [np.int8, np.uint64, np.float16, bool, object, complex, "U3", "M8[s]"]
    return np.ones((3, n_words)).astype(kinds[random.integers(len(kinds))])


def _other_shape(random: Random, n_words: int) -> Any:
    shapes = [(0, n_words), (3, 0), (3, n_words + 1), (n_words,), (2, 2, 2), ()]
    return np.ones(shapes[random.integers(len(shapes))])


def _other_kind(random: Random, n_words: int) -> Any:
    X = _csr(random, n_words)
    return (
        X.tocsc(),
        X.tocoo(),
        X.tolil(),
        X.todok(),
        X.toarray().tolist(),
        None,
        "gold",
        [[1, "a"]],
        X.tocsr().T,
    )[random.integers(9)]


_MATRICES = (
    _csr, _unsorted, _out_of_range, _bad_starts, _short_arrays, _odd_values, _twice, _dense, _other_shape, _other_kind,
)  # fmt: skip
