"""The tables of speed, from the lines that the benchmarks printed: in docs/performance.md (a quiet machine with two
cores), in docs/gpu.md (benchmarks/gpu.py on a GPU) and in docs/models.md (benchmarks/rivals.py: rivals_speed.jsonl).

    python experiments/speed_table.py            # prints them
    python experiments/speed_table.py --update   # puts them into these pages, between their marks

benchmarks/NAME.py > experiments/NAME.jsonl writes each file anew. A line of a table that has no file is left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
PAGE, GPU_PAGE, MODELS_PAGE = DOCS / "performance.md", DOCS / "gpu.md", DOCS / "models.md"
START, END = "<!-- speed: from experiments/speed_table.py -->", "<!-- end of speed -->"

Row = tuple[str, str, str, str]  # what, Kate, beside it, ratio


def lines_of(name: str) -> list[dict[str, Any]]:
    path = HERE / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def training() -> Iterator[Row]:
    for run in lines_of("train"):
        if run["benchmark"] != "training step":
            continue
        shape = f"{run['words']:,} words, {run['topics']} topics, {run['winners']} winners, {run['batch']} documents"
        yield (
            f"training step: {shape}",
            f"{run['kate_ms']:.2f} ms",
            f"dense PyTorch {run['torch_ms']:.2f} ms; the decoder's three dense products alone "
            f"{run['decoder_products_ms']:.2f} ms",
            f"{run['times_as_fast_as_torch']:.1f} × as fast; {run['multiple_of_decoder_products']:.2f} × the products",
        )


def from_raw_posts() -> Iterator[Row]:
    runs = {run["contender"]: run for run in lines_of("end_to_end") if run.get("seed") == 0}
    kate = runs.pop("kate", None)
    titles = {
        "tfidf-svd": "scikit-learn TF-IDF + SVD",
        "tomotopy": "tomotopy LDA, 500 sweeps",
        "gensim": "gensim LDA",
    }
    for name, run in runs.items() if kate else ():
        if "seconds" not in run:
            continue
        yield (
            "20 Newsgroups, raw posts → vectors",
            f"{kate['seconds']:.1f} s, accuracy {kate['accuracy']:.3f}",
            f"{titles[name]} {run['seconds']:.1f} s, accuracy {run['accuracy']:.3f}",
            f"{run['times_kate']:.2g} × Kate's time",
        )


def searching() -> Iterator[Row]:
    for run in lines_of("nearest"):
        if run["benchmark"] == "exact search":
            yield (
                f"exact search, {run['vectors']:,} × {run['topics']}, {run['queries']:,} queries",
                f"{run['exact_s']:.2f} s",
                f"bare matrix product {run['bare_product_s']:.2f} s",
                f"{run['ratio']:.2f} × its time",
            )
        else:
            yield (
                f"one query through the graph (`--ann`), recall@10 {run['recall_at_10']:.3f}",
                f"{run['one_query_ms']:.2f} ms",
                f"exact search {run['one_query_exact_ms']:.0f} ms",
                f"{run['one_query_exact_ms'] / run['one_query_ms']:.0f} × as fast",
            )


def encoding() -> Iterator[Row]:
    rivals = {"text": "CountVectorizer, TF-IDF, TruncatedSVD", "counts": "TruncatedSVD.transform"}
    for run in lines_of("encode"):
        yield (
            f"{run['from']} → vectors, {run['words']:,} words, {run['topics']} topics",
            f"{run['kate_documents_per_s']:,} documents/s",
            f"{rivals[run['from']]} {run['scikit_learn_documents_per_s']:,}",
            f"{run['times_as_fast']:.2f} × as fast",
        )


def large_vocabularies() -> Iterator[Row]:
    runs = [run for run in lines_of("sampling") if run["benchmark"] == "sampling, time"]
    first = {run["sampled"]: run for run in runs if run["times_the_first"] == 1}
    for run in runs:
        if run["words"] >= 1_000_000:
            small = first[run["sampled"]]
            yield (
                f"training, {run['words']:,} words, {run['sampled']:,} of them sampled",
                f"{run['sampled_us_a_document']:.1f} µs per document",
                f"{small['words']:,} words {small['sampled_us_a_document']:.1f} µs, with the full loss "
                f"{small['full_us_a_document']:.1f} µs",
                f"{run['times_the_first']:.2f} × the time",
            )


def in_memory() -> Iterator[Row]:
    for run in lines_of("memory"):
        shape = f"{run['documents']:,} documents × {run['words']:,} words, {run['words_a_document']:.0f} per document"
        yield (
            f"training, {shape}",
            f"{run['training_on_top_gib']:.2f} GiB on top",
            f"the matrix itself {run['matrix_gib']:.2f} GiB",
            f"{run['training_on_top_gib'] / run['matrix_gib']:.1f} × its size",
        )


def on_a_gpu() -> Iterator[Row]:
    runs = lines_of("gpu")
    device = runs[0]["device"] if runs else ""
    titles = {
        "paper": "`KATE.paper(128)`, 20 Newsgroups, 2,000 words, 100 epochs",
        "defaults": "`KATE(128)`, 20 Newsgroups, 20,000 words",
        "rcv1 shape": "an epoch of RCV1's shape: 554,414 documents, 5,000 words",
    }
    for run in runs:
        if "torch_step_ms" not in run:
            continue
        seconds = run["epochs_s"] if run["benchmark"] == "rcv1 shape" else run["fit_s"]
        accuracy = f", accuracy {run['accuracy']:.3f}" if "accuracy" in run else ""
        yield (
            f"{titles[run['benchmark']]}, on an {device}",
            f"{seconds:.2f} s{accuracy}; {run['documents_per_s']:,} documents/s",
            f"plain PyTorch there {run['torch_step_ms']:.2f} ms per step, Kate {run['step_ms']:.3f} ms",
            f"{run['times_as_fast_as_torch']:.1f} × as fast",
        )


def table() -> str:
    rows = [
        *training(),
        *large_vocabularies(),
        *in_memory(),
        *from_raw_posts(),
        *searching(),
        *encoding(),
        *on_a_gpu(),
    ]
    head = ["| | Kate | beside it, in the same run | ratio |", "|---|---|---|---|"]
    return "\n".join(head + [f"| {' | '.join(row)} |" for row in rows])


def gpu_table() -> str:
    """Every line measured on a GPU: speed, the share of the GPU's limit, and the quality with coarser products."""
    head = [
        "| run | products | first fit | fit | epochs | one step | documents/s | share of limit | accuracy | P@1 % |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    rows = []
    for run in lines_of("gpu")[1:]:
        epochs = f"{run['epochs']} epoch{'s' * (run['epochs'] > 1)}"
        shape = f"{run['benchmark']}: {run['words']:,} words, batch {run['batch']}, {epochs}"
        quality = [f"{run[name]:.3f}" if name in run else "–" for name in ("accuracy", "precision@1%")]
        seconds = [f"{run[name]:.2f} s" for name in ("first_fit_s", "fit_s", "epochs_s")]
        speed = [
            f"{1000 * run['step_ms']:.0f} µs",
            f"{run['documents_per_s']:,}",
            f"{run['share_of_limit']:.1%}",
        ]
        rows.append(f"| {' | '.join([shape, run['precision'], *seconds, *speed, *quality])} |")
    return "\n".join(head + rows)


def rivals_table() -> str:
    """Our parts of the rivals beside the libraries' own."""
    head = [
        "| part | library | dimensions | ours | the library's | times as fast |",
        "|---|---|---|---|---|---|",
    ]
    rows = [
        f"| {run['part']} | {run['library']} | {run['dimensions']} | {run['ours_s']:.3g} s | "
        f"{run['library_s']:.3g} s | {run['times_as_fast']:.2g} |"
        for run in lines_of("rivals_speed")
    ]
    return "\n".join(head + rows)


TABLES = {PAGE: table, GPU_PAGE: gpu_table, MODELS_PAGE: rivals_table}


def main() -> None:
    for page, make in TABLES.items():
        if "--update" in sys.argv:
            before, rest = page.read_text().split(START)
            page.write_text(f"{before}{START}\n{make()}\n{END}{rest.split(END)[1]}")
        else:
            sys.stdout.write(make() + "\n")


if __name__ == "__main__":
    main()
