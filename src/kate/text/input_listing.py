"""Which files to read: paths, patterns, folders, datasets and addresses → sources with a format and a name."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, BinaryIO

from kate.errors import quoted
from kate.storage.bounded_files import read_json
from kate.text.compressed_files import COMPRESSED, CorpusError, InputMeter
from kate.text.dataset_columns import DatasetColumns, partitions_of
from kate.text.input_files import InputFile, LocalFile, Source, printable
from kate.text.remote_files import RemoteFile, is_address, remote_folder_files, remote_glob

__all__ = ["FORMATS", "list_sources"]

PathLike = str | os.PathLike[str]
Member = tuple[str, InputFile]

STDIN = "-"
FORMATS = ("jsonl", "csv", "tsv", "parquet", "txt")
_FORMAT_OF = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".txt": "txt",
    ".text": "txt",
}
# The text files of a folder: these extensions, or none (as in 20 Newsgroups).
_TEXT_SUFFIXES = {"", ".txt", ".text", ".md", ".rst"}
# What lies beside data files and says something about them.
_ABOUT_DATA = re.compile(r"_.*|(?:readme|license|licence|dataset_info|state|changelog)\b.*", re.IGNORECASE)
_MAGIC = re.compile(r"[*?[]")


def list_sources(
    paths: PathLike | Sequence[PathLike], given_format: str | None, stdin: BinaryIO | None = None
) -> list[Source]:
    """What the paths name, each with its format and a name of its own."""
    if given_format is not None and given_format not in FORMATS:
        raise ValueError(f"unknown format {quoted(given_format)}; choose one of {', '.join(FORMATS)}")
    given = [found for path in _listed_paths(paths) for found in _expanded(os.fspath(path))]
    if not given:
        raise ValueError("no files to read; give at least one path")
    texts = [text for text, _ in given]
    for text, n_times in Counter(texts).items():
        if n_times > 1:
            raise ValueError(f"{text} is given twice; every document would be there twice")
    names = [printable(name) for name in _distinct_names([file for _, file in given])]
    # ids of a single folder are the paths inside it
    alone = len(given) == 1
    sources = [
        source
        for (text, file), name in zip(given, names, strict=True)
        for source in _sources(text, file, given_format, name, stdin, alone)
    ]
    meter = InputMeter(_total_size(sources))
    return [replace(source, among_others=len(sources) > 1, meter=meter) for source in sources]


def _listed_paths(paths: PathLike | Sequence[PathLike]) -> list[PathLike]:
    if isinstance(paths, str | os.PathLike):
        return [paths]
    given: Any = paths
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        kind = type(given).__name__
        raise TypeError(f"expected a path or a list of paths, got {quoted(given, 40)} ({kind})")
    return list(given)


def _expanded(text: str) -> list[tuple[str, InputFile]]:
    """The files and folders that a path names: itself, or those whose names are of its pattern."""
    text = text.removeprefix("file://")
    if is_address(text):
        here = RemoteFile.at(text)
        magic = "[*[]" if text.lower().startswith("http") else _MAGIC
        if not re.search(magic, here.place) or (not text.lower().startswith("http") and here.exists):
            return [(text, here)]
        found: list[tuple[str, InputFile]] = [(file.address, file) for file in remote_glob(here)]
    elif not _MAGIC.search(text) or os.path.lexists(text):
        return [(text, LocalFile(Path(text)))]
    else:
        # as the shell does it: Path.glob takes no pattern that begins with a folder
        matched = sorted(glob.glob(text, recursive=True))  # noqa: PTH207
        found = [(path, LocalFile(Path(path))) for path in matched]
    if not found:
        raise FileNotFoundError(f"no file has a name like {text}; check the pattern and the folder")
    return found


def _distinct_names(files: Sequence[InputFile]) -> list[str]:
    """For each file its name without extensions, if these are all different; else the paths."""
    stems = [_stem(file.path) for file in files]
    return stems if len(set(stems)) == len(stems) else [file.shown for file in files]


def _total_size(sources: Sequence[Source]) -> int | None:
    """The bytes of all files; None if one does not say."""
    sizes = [
        file.size
        for source in sources
        for file in (*(file for _, file in source.texts), *([source.file] if source.file else []))
    ]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) and not any(source.stdin for source in sources) else None


def _sources(
    text: str, file: InputFile, given_format: str | None, name: str, stdin: BinaryIO | None, alone: bool
) -> list[Source]:
    if text == STDIN:
        if given_format is None or given_format == "parquet":
            raise CorpusError(
                "standard input has no extension to tell its format; pass format='jsonl' or format='txt'"
            )
        return [Source("standard input", given_format, "stdin", stdin=stdin or sys.stdin.buffer)]
    if not (file.exists if isinstance(file, RemoteFile) else text and Path(text).exists()):
        raise FileNotFoundError(
            f"{file.shown if text else 'the empty path'} does not exist; check the name and the folder"
        )
    if isinstance(file, RemoteFile):
        if file.is_folder:
            return _folder_sources(file.shown, remote_folder_files(file), given_format, name, alone)
    elif Path(text).is_dir():
        _require_no_folder_of_ours(Path(text))
        return _folder_sources(file.shown, _files_of(Path(text)), given_format, name, alone)
    return [Source(file.shown, given_format or _format_of(file), name, file)]


def _files_of(folder: Path) -> list[Member]:
    """All files of a folder, in the order of their paths."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(path.relative_to(folder).as_posix(), LocalFile(path)) for path in paths]


def _folder_sources(
    shown: str, files: Iterable[Member], given_format: str | None, name: str, alone: bool
) -> list[Source]:
    """A folder is a corpus of texts, one in each file, or a dataset of data files of one format."""
    visible = [(path, file) for path, file in files if not _is_hidden(path)]
    texts = [(path, file) for path, file in visible if _is_text_name(path)]
    data: dict[str, list[Member]] = {}
    for path, file in visible:
        kind = _FORMAT_OF.get(_bare(PurePosixPath(path)).suffix.lower())
        if kind is not None and (kind != "txt" or given_format == "txt") and not _is_about_data(path):
            data.setdefault(kind, []).append((path, file))
    if given_format is not None:
        if given_format not in data:
            raise CorpusError(
                f"{shown} is a folder with no file of the format {given_format} in it (found {_kinds(visible)})"
            )
        return _dataset(given_format, data[given_format], name, alone)
    texts = [(path, file) for path, file in texts if not (data and _is_about_data(path))]
    if len(data) + bool(texts) > 1:
        first = {kind: members[0][0] for kind, members in data.items()} | (
            {"text": texts[0][0]} if texts else {}
        )
        examples = ", ".join(f"{kind} such as {path}" for kind, path in first.items())
        raise CorpusError(
            f"{shown} is a folder with files of different formats ({examples}); name those that you mean, such as "
            f"'{shown.rstrip('/')}/*{PurePosixPath(next(iter(first.values()))).suffix}', or pass "
            f"{' or '.join(f'format={quoted(kind)}' for kind in data)}"
        )
    if data:
        [(kind, members)] = data.items()
        return _dataset(kind, members, name, alone)
    if not texts:
        raise CorpusError(
            f"{shown} is a folder with no text files in it (found {_kinds(visible)}); expected files that end in "
            f".txt, or data files: {', '.join(_FORMAT_OF)}"
        )
    return [Source(shown, "folder", "" if alone else name, texts=tuple(texts))]


def _dataset(kind: str, members: Sequence[Member], name: str, alone: bool) -> list[Source]:
    """The data files of a folder: they have the same columns, and sub-folders such as year=1999 are one more."""
    paths = [path for path, _ in members]
    bare = [str(_bare(PurePosixPath(path)).with_suffix("")) for path in paths]
    names = bare if len(set(bare)) == len(bare) else paths
    columns = None if kind in {"jsonl", "txt"} else DatasetColumns()
    parts = (
        partitions_of([PurePosixPath(path).parts for path in paths])
        if kind == "parquet"
        else [()] * len(paths)
    )
    return [
        Source(
            file.shown,
            kind,
            printable(own if alone else f"{name}/{own}"),
            file,
            partitions=part,
            dataset=columns,
        )
        for (_, file), own, part in zip(members, names, parts, strict=True)
    ]


def _kinds(files: Sequence[Member]) -> str:
    kinds = Counter(PurePosixPath(path).suffix or "no extension" for path, _ in files)
    return ", ".join(f"{n} x {kind}" for kind, n in kinds.most_common(5)) or "nothing"


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(path).parts)


def _is_about_data(path: str) -> bool:
    return any(_ABOUT_DATA.fullmatch(part) and "=" not in part for part in PurePosixPath(path).parts)


def _is_text_name(path: str) -> bool:
    bare = _bare(PurePosixPath(path))
    return bare.suffix.lower() in _TEXT_SUFFIXES or bare.suffix[1:].isdecimal()


def _require_no_folder_of_ours(folder: Path) -> None:
    """Refuse a model or an index, whose vocabulary and card would be read as documents."""
    for name in ("config.json", "index.json"):
        try:
            found = read_json(folder / name)
        except (OSError, ValueError):
            continue
        kind = found.get("format") if isinstance(found, dict) else None
        if isinstance(kind, str) and kind.startswith("kate-"):
            raise CorpusError(
                f"{folder} is a Kate {printable(kind.removeprefix('kate-'))[:40]} folder and not documents; name the "
                "files or the folder with your texts"
            )


def _bare(path: Any) -> Any:
    """A path without the extension of its compression."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED else path


def _stem(path: PurePath) -> str:
    bare = _bare(path)
    return str(bare.stem if bare.suffix.lower() in _FORMAT_OF else bare.name)


def _format_of(file: InputFile) -> str:
    bare = _bare(file.path)
    if bare.suffix.lower() in _FORMAT_OF:
        return _FORMAT_OF[bare.suffix.lower()]
    found = f"the extension {quoted(bare.suffix)}" if bare.suffix else "no extension"
    raise CorpusError(
        f"{file.shown} has {found}, which does not tell the format; pass format= one of {', '.join(FORMATS)}, or use a "
        f"name that ends in {', '.join(_FORMAT_OF)} (and .gz or .zst)"
    )
