"""Corpora that nothing was tuned for: what Debian's packages hold, in six languages, beside LSA, NMF and LDA.

    apt-get update -o Dir::State::lists=LISTS -o Acquire::Languages::=de -o Acquire::Languages::=fr ...
    apt-get download wordnet-base fortunes fortunes-de        # each unpacked into ROOT with dpkg -x
    python experiments/strangers.py corpora LISTS ROOT FOLDER
    python experiments/strangers.py run FOLDER RESULTS        # kate evaluate, RESULTS/results.jsonl
    python experiments/strangers.py report experiments/strangers.jsonl.xz   # that file, packed

The descriptions of packages are labelled with their section (games, sound, libs, ...), WordNet's definitions with the
lexicographer's file they stand in (animal, food, motion, ...), the fortunes with their file. The defaults were chosen
before these corpora were looked at, and stayed as they were.
"""

from __future__ import annotations

import json
import lzma
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kate.research.evaluation.results import Summary, read_results, summarise

DESCRIPTIONS = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "pt": "portuguese",
    "ru": "russian",
    "ja": "japanese",
}
_FILES = {"pt": "pt%5fBR"}  # what apt calls the list of a language
OTHERS = {"wordnet": "english", "fortunes": "english", "fortunes-de": "german"}
MOST = 12_000  # documents of a corpus, drawn
TOPICS = "clusters,topics"
RUNS = {"kate,lsa": f"classification,retrieval,queries,{TOPICS}", "nmf,lda-tomotopy": TOPICS}
MEASURES = {
    "accuracy of a linear probe": ("classification", "accuracy"),
    "P@1 %": ("retrieval", "precision@1%"),
    "queries of one word": ("queries", "one_word"),
    "queries of two words": ("queries", "two_words"),
    "NMI of 20 topics": ("clusters", "nmi"),
    "NPMI of their words in unseen documents": ("topics", "npmi"),
    "coverage": ("topics", "coverage"),
    "diversity": ("topics", "diversity"),
}


def unpacked(path: Path) -> str:
    return subprocess.run(["lz4", "-dc", str(path)], capture_output=True, check=True).stdout.decode(
        "utf-8", "replace"
    )


def descriptions(lists: Path, language: str) -> Iterator[dict[str, str]]:
    """The description of every package that has one in this language."""
    sections = {}
    for path in sorted(lists.glob("*_Packages.lz4")):
        for record in unpacked(path).split("\n\n"):
            fields = dict(re.findall(r"^(Package|Section): (.*)$", record, re.MULTILINE))
            if len(fields) == 2:
                sections[fields["Package"]] = fields["Section"].rsplit("/", 1)[-1]
    (path,) = lists.glob(f"*bookworm_main_i18n_Translation-{_FILES.get(language, language)}.lz4")
    for record in unpacked(path).split("\n\n"):
        name = re.match(r"Package: (\S+)", record)
        text = re.search(r"^Description-(?!md5)\S+: (.*(?:\n .*)*)", record, re.MULTILINE)
        if name and text and name[1] in sections:
            body = text[1].replace("\n .\n", "\n\n").replace("\n ", "\n")
            yield {"id": name[1], "text": body, "label": sections[name[1]]}


def definitions(root: Path) -> Iterator[dict[str, str]]:
    """The nouns and verbs of WordNet: words that mean the same, and what they mean."""
    for part in ("noun", "verb"):
        for line in (root / f"usr/share/wordnet/data.{part}").read_text("utf-8", "replace").splitlines():
            if not line.startswith("  "):
                data, _, gloss = line.partition(" | ")
                fields = data.split()
                words = [fields[4 + 2 * i].replace("_", " ") for i in range(int(fields[3], 16))]
                yield {
                    "id": fields[0] + part,
                    "text": f"{' '.join(words)}. {gloss.strip()}",
                    "label": fields[1],
                }


def fortunes(root: Path, language: str = "") -> Iterator[dict[str, str]]:
    for path in sorted((root / "usr/share/games/fortunes" / language).iterdir()):
        if path.is_file() and not path.is_symlink() and "." not in path.name:
            for number, text in enumerate(path.read_text("utf-8", "replace").split("\n%\n")):
                if len(text) > 20:
                    yield {"id": f"{path.name} {number}", "text": text, "label": path.name}


def write_corpora(lists: Path, root: Path, folder: Path) -> None:
    made = {f"debian-{language}": descriptions(lists, language) for language in DESCRIPTIONS}
    made |= {"wordnet": definitions(root), "fortunes": fortunes(root), "fortunes-de": fortunes(root, "de")}
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in made.items():
        different = list({row["text"]: row for row in rows}.values())
        drawn = np.random.default_rng(0).permutation(len(different))[:MOST]
        lines = [json.dumps(different[i], ensure_ascii=False) + "\n" for i in drawn]
        (folder / f"{name}.jsonl").write_text("".join(lines), "utf-8")
        print(f"{name}: {len(lines):,} of {len(different):,} documents")


def run(folder: Path, results: Path) -> None:
    """`kate evaluate` for every corpus: vectors and topics of Kate and LSA, topics of NMF and LDA."""
    languages = {f"debian-{code}": language for code, language in DESCRIPTIONS.items()} | OTHERS
    for name, language in languages.items():
        corpus = ["--corpus", str(folder / f"{name}.jsonl"), "--language", language]
        corpus += ["--label", "label", "--label-kind", "classes"]
        for models, tasks in RUNS.items():
            asked = [
                "--model",
                models,
                "--tasks",
                tasks,
                "--topics",
                "20",
                "--seeds",
                "3",
                "-o",
                str(results),
                "-q",
            ]
            subprocess.run(["kate", "evaluate", *corpus, *asked], check=True)


def mean_of(rows: list[Summary], task: str, name: str) -> str:
    return str(rows[0].scores[task][name]) if rows and name in rows[0].scores.get(task, {}) else "–"


def report(path: Path) -> None:
    """The tables of docs/results.md."""
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder, "results.jsonl")
        unpacked.write_bytes(lzma.decompress(path.read_bytes()))
        rows = summarise(read_results(unpacked))
    corpora = list(dict.fromkeys(row.dataset for row in rows))
    for title, (task, name) in MEASURES.items():
        print(f"### {title[0].upper()}{title[1:]}\n")
        print("| model | " + " | ".join(Path(corpus).stem for corpus in corpora) + " |")
        print("|---" * (1 + len(corpora)) + "|")
        for model in ",".join(RUNS).split(","):
            of_model = [
                [row for row in rows if (row.model, row.dataset) == (model, corpus)] for corpus in corpora
            ]
            cells = [mean_of(found, task, name) for found in of_model]
            if set(cells) != {"–"}:
                print(f"| {model} | " + " | ".join(cells) + " |")
        print()


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    {"corpora": write_corpora, "run": run, "report": report}[command](*map(Path, paths))
