"""How large a page is with whole texts, with snippets and without texts: the table of docs/explorer.md.

    python experiments/explore_sizes.py NAME MODEL CORPUS [NAME MODEL CORPUS …]

Prints a JSON line for each corpus, sizes in megabytes (a million bytes); those that the table shows are kept in
explore_sizes.jsonl. MODEL is of ``kate fit CORPUS -o MODEL`` with its defaults.
"""

from __future__ import annotations

import json
import sys

import kate
from kate.explore.column_parts import column_parts
from kate.explore.explored_corpus import ExploredCorpus
from kate.explore.explorer import PageSettings, gather
from kate.explore.page_data import PageData
from kate.explore.page_file import page_file_bytes
from kate.explore.text_parts import text_parts


def sizes(name: str, model: kate.TextModel, documents: kate.Documents) -> dict[str, object]:
    corpus = ExploredCorpus.of(model, documents)
    settings = PageSettings(name, texts="none")
    page = gather(corpus, column_parts(documents), settings, lambda what, share: None)
    found: dict[str, float] = {"none": page_file_bytes(page)}
    for kept in ("snippet", "whole"):
        texts, blocks = text_parts(documents.texts, kept)
        manifest = dict(page.manifest) | {"text_blocks": blocks}
        found[kept] = page_file_bytes(PageData.of(manifest, dict(page.parts) | texts))
    found |= {part: len(page.parts[part]) * 4 / 3 for part in ("word_map", "postings")}
    text = int(documents.texts.str.len_bytes().sum())
    return {
        "corpus": name,
        "documents": len(documents),
        "megabytes_of_text": round(text / 1e6, 1),
        **{what: round(n_bytes / 1e6, 1) for what, n_bytes in found.items()},
    }


def main() -> None:
    given = sys.argv[1:]
    if not given or len(given) % 3:
        raise SystemExit(__doc__)
    for name, model, corpus in zip(given[::3], given[1::3], given[2::3], strict=True):
        print(json.dumps(sizes(name, kate.load(model), kate.read_corpus(corpus))), flush=True)


if __name__ == "__main__":
    main()
