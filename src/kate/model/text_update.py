"""A fitted text model and new texts → the model after them, and a report: vocabulary, network, sketch, topics."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from kate.engines.devices import require_engine
from kate.errors import KateError
from kate.model.encoder import Encoder, comparison_shift, count_empty
from kate.model.finishing import Finished
from kate.model.fitting import FittedNetwork
from kate.model.model_folder import Trained
from kate.model.settings import NETWORK_PARAMETERS
from kate.model.update_report import MovedTopic, UpdateReport
from kate.model.updating import DocumentsSeen, update_network
from kate.text.growing import GrownVocabulary, grow, moved_columns
from kate.text.phrases import phrase_parts
from kate.text.word_choice import DocumentLimit
from kate.topics.carried_topics import carry
from kate.topics.document_sketch import DocumentSketch, most_documents_of
from kate.topics.reservoir import Drawn, draw_together
from kate.topics.topic_edits import EditedCut
from kate.topics.topic_space import TopicSpace

__all__ = ["UpdateError", "update_trained"]

_COMPARED, _NEAREST = 2_000, 10  # documents whose neighbours are compared, and how many

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


class UpdateError(KateError, ValueError):
    """A model that cannot be updated: it was saved without what that needs.

    >>> import tempfile, kate
    >>> model = kate.TextModel(2, max_epochs=1).fit(["a treaty of peace", "gold and silver"] * 5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(folder, resumable=False)
    ...     try:
    ...         kate.load(folder).update(["a new treaty"])
    ...     except kate.UpdateError:
    ...         print("fit it anew")
    fit it anew
    """


def update_trained(
    parameters: Any, trained: Trained, texts: Any, n_topics: int | None
) -> tuple[Trained, UpdateReport]:
    """The model after new texts; ``trained`` stays as it is. ``parameters`` has those of a TextModel."""
    start = time.perf_counter()
    require_engine(parameters.device)
    sketch = trained.topics.sketch
    if trained.training is None or sketch.occurrences is None:
        raise UpdateError(
            "the model was saved without what an update needs (resumable=False, or by an older Kate); fit it anew on "
            "all documents"
        )
    settings = trained.settings
    if missing := {"vocabulary_size", "min_df", "max_df"} - set(settings):
        raise UpdateError(f"the model does not say what its {min(missing)} was: it is damaged; copy it again")
    # "auto" follows the number of documents; what it came to does not
    min_df: DocumentLimit = "auto" if parameters.min_df == "auto" else settings["min_df"]
    before, _ = trained.topics.current(n_topics)
    grown = grow(
        trained.vocabulary, texts, settings["vocabulary_size"], min_df, settings["max_df"], parameters.n_jobs
    )
    drawn, seen, waiting = _documents_seen(sketch, grown, trained.encoder.n_components)
    new = seen.new
    fitted = update_network(parameters, _network_of(trained), seen)
    shift = comparison_shift(fitted.finished.encoder, fitted.finished.responses.mean)
    units = _Units(fitted.finished.encoder, shift, parameters.n_jobs)
    coarse = fitted.coarse_encode(parameters.n_jobs)
    after = DocumentSketch.of_sample(seen.after, units.of, coarse, _n_known(sketch, new), waiting)
    names = {topic.number: topic.name for topic in trained.topics.describe(before)}
    kept = carry(before.cut, names, drawn.stay, after)
    space = TopicSpace(after, grown.after.readable, kept=kept, phrases=phrase_parts(grown.after.words))
    report = UpdateReport(
        n_new=new.shape[0],
        n_documents=grown.after.n_documents,
        n_unknown=count_empty(new),
        entered=tuple(grown.entered),
        faded=tuple(grown.faded),
        n_words=len(grown.after),
        topics=_moved_topics(before, names, space, new, units),
        seconds=0.0,
        **_turned(sketch.units[drawn.stay], after.units[: len(drawn.stay)]),
    )
    updated = replace(
        trained,
        vocabulary=grown.after,
        neurons=fitted.finished.neurons,
        encoder=fitted.finished.encoder,
        output_bias=fitted.output_bias,
        responses=fitted.finished.responses,
        topics=space,
        history=fitted.history,
        n_documents_seen=fitted.n_documents_seen,
        training=fitted.state,
    )
    return updated, replace(report, seconds=round(time.perf_counter() - start, 3))


class _Units:
    """Counts → vectors as they are compared."""

    def __init__(self, encoder: Encoder, shift: Floats, n_jobs: int | None) -> None:
        self.encoder, self.shift, self.n_jobs = encoder, shift, n_jobs

    def of(self, counts: csr_matrix) -> Floats:
        return self.encoder.vectors(counts, self.n_jobs) - self.shift


def _n_known(sketch: DocumentSketch, new: csr_matrix) -> int:
    return sketch.n_seen + new.shape[0] - count_empty(new)


def _documents_seen(
    sketch: DocumentSketch, grown: GrownVocabulary, n_components: int
) -> tuple[Drawn, DocumentsSeen, csr_matrix]:
    """The sketch and the new documents in the columns of the new vocabulary, and which of them the new sketch takes.

    And how often the documents of the new sketch have the words that wait for a column.
    """
    n_words, n_all = len(grown.after), grown.all_counts.shape[1]
    all_kept = sketch.all_counts(len(grown.all_places) - sketch.n_words)
    all_kept = csr_matrix(moved_columns(all_kept, grown.all_places, n_all), dtype=np.float32)
    all_new = csr_matrix(grown.all_counts, dtype=np.float32)
    kept, new = all_kept[:, :n_words], all_new[:, :n_words]
    known = np.flatnonzero(np.diff(new.indptr) > 0)
    n_rows = len(sketch) + len(known)
    most = most_documents_of((kept.nnz + new.nnz) / max(n_rows, 1), n_components)
    drawn = draw_together(len(sketch), sketch.n_seen, len(known), most)
    after = csr_matrix(vstack([all_kept[drawn.stay], all_new[known[drawn.enter]]], format="csr"))
    seen = DocumentsSeen(
        kept,
        sketch.n_seen,
        new,
        after[:, :n_words],
        grown.sources,
        grown.after.document_frequencies,
        grown.after.n_documents,
    )
    return drawn, seen, after[:, n_words:]


def _network_of(trained: Trained) -> FittedNetwork:
    """The network of a fitted model, to go on with."""
    n_seen = trained.n_documents_seen
    names = (*NETWORK_PARAMETERS, "random_state")
    return FittedNetwork(
        Finished(trained.neurons, trained.encoder, trained.responses),
        trained.output_bias,
        {name: trained.settings[name] for name in names if name in trained.settings},
        trained.history,
        trained.vocabulary.n_documents if n_seen is None else n_seen,
        trained.training,
    )


def _moved_topics(
    before: EditedCut, names: Mapping[int, str], space: TopicSpace, new: csr_matrix, units: _Units
) -> tuple[MovedTopic, ...]:
    """Every topic of before and after, with its shares."""
    assert space.kept is not None
    cut = space.cut(len(space.kept))
    shares = [
        dict(zip(one.topics.tolist(), _shares(one.sketch_topics, len(one.topics)), strict=True))
        for one in (before.cut, cut)
    ]
    known = csr_matrix(new[np.diff(new.indptr) > 0])
    of_new = dict(
        zip(cut.topics.tolist(), _shares(cut.nearest(units.of(known)), len(cut.topics)), strict=True)
    )
    after = {topic.number: topic.name for topic in space.describe(EditedCut(cut, space.kept.names))}
    return tuple(
        MovedTopic(
            number,
            after.get(number, names.get(number, "")),
            shares[0].get(number),
            shares[1].get(number),
            of_new.get(number, 0.0),
        )
        for number in sorted(set(names) | set(after))
    )


def _shares(places: Numbers, n_topics: int) -> list[float]:
    found: list[float] = (np.bincount(places, minlength=n_topics) / max(len(places), 1)).tolist()
    return found


def _turned(before: Floats, after: Floats) -> dict[str, float]:
    """How far the vectors of documents that were there have moved: their cosines, and whether neighbours stay."""
    if len(before) == 0:
        return {"cosine": 1.0, "neighbours_kept": 1.0}
    cosine = float((before * after).sum(axis=1).mean())
    some = np.random.default_rng(0).permutation(len(before))[:_COMPARED]
    near = [_nearest(units[some]) for units in (before, after)]
    n_near = near[0].shape[1]
    same = [len(np.intersect1d(one, other)) for one, other in zip(*near, strict=True)]
    return {"cosine": cosine, "neighbours_kept": float(np.mean(same) / n_near) if n_near else 1.0}


def _nearest(units: Floats) -> NDArray[np.int64]:
    cosines = units @ units.T
    np.fill_diagonal(cosines, -np.inf)
    return np.argsort(-cosines, axis=1, kind="stable")[:, : min(_NEAREST, len(units) - 1)]
