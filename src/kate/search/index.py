"""Index: documents found by their words and by their meaning, or alike to one of them.

Two stores keep the documents: files (an immutable folder, the default) and lance (a table that lives: documents are
added, removed and updated). Both are asked in the same words (store.py) and give the same hits.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kate.errors import quoted
from kate.model.text_answers import Texts, unknown_word
from kate.model.text_model import TextModel
from kate.progress import Report, report_nothing
from kate.search.building import build_store, comparable, query_vector
from kate.search.duplicates import DuplicateGroup, find_duplicates
from kate.search.exact_search import Ranking, VectorRows
from kate.search.files_store import FilesStore
from kate.search.filters import Filter
from kate.search.hits import Hits
from kate.search.index_folder import (
    INDEX_FOLDER,
    read_files,
    read_index_model,
    write_config,
    write_files,
)
from kate.search.joining import POOL, join_halves, ordered
from kate.search.neighbour_graph import NeighbourGraph
from kate.search.passages import passages
from kate.search.query import Query
from kate.search.search_words import StemCache, search_tokenizer
from kate.search.sorting import SortBy
from kate.search.store import ByMeaning, ByWords, DocumentStore, LivingStore, Selection
from kate.search.suggestions import nothing_known, suggestions_for
from kate.storage.files import scratch_folder
from kate.storage.folders import FolderError, StrPath
from kate.text.documents import Documents
from kate.threads import require_own_threads
from kate.unit_rows import unit_rows

if TYPE_CHECKING:
    from kate.text.corpus_batches import CorpusBatches

__all__ = ["By", "Index", "StoreName"]

_logger = logging.getLogger(__name__)

Floats = NDArray[np.float32]
By = Literal["both", "words", "meaning"]
StoreName = Literal["files", "lance"]

_IMMUTABLE = (
    "this index is a folder of files, which does not change; make one that does with `kate index MODEL CORPUS -o INDEX "
    "--store lance` or index.save(folder, store='lance')"
)


class Index:
    """Documents with their words and vectors.

    >>> from kate.model.text_model import TextModel
    >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    >>> model = TextModel(n_components=2, random_state=0, max_epochs=5).fit(texts)
    >>> index = Index.build(model, Documents.from_texts(["The treaty was signed.", "A silver coin of 1792."]))
    >>> index
    Index of 2 documents, 2 dimensions
    >>> [hit.snippet for hit in index.search("treaties signed", top=1)]
    ['The treaty was signed.']
    >>> [hit.id for hit in index.search("1792", by="words")]
    ['1']
    """

    def __init__(self, model: TextModel, store: DocumentStore) -> None:
        """Use :meth:`build` or :meth:`load`."""
        # the model may learn on, or be fitted anew: its vectors would no longer be those of the documents
        self.model = copy(model)
        self.store = store
        self._stems = StemCache(search_tokenizer(model.vocabulary_.tokenizer))

    @classmethod
    def build(
        cls,
        model: TextModel,
        documents: Texts,
        *,
        ann: bool = False,
        int8: bool = False,
        n_jobs: int | None = None,
    ) -> Index:
        """Encode documents and list their words, in memory; :meth:`save` writes them.

        A document without a word of the model's vocabulary has no meaning to compare; its words find it.

        Parameters
        ----------
        ann : bool, default False
            also build a graph of neighbours (extra ``ann``), with which a search among very many documents is
            faster and nearly exact; ``index.graph.facts`` says how nearly
        int8 : bool, default False
            keep vectors in eight bits, a quarter of the memory; ``index.vectors.facts`` says how exact it is
        n_jobs : int, optional
            threads; by default those of the model, or all cores. With one thread the same documents give the
            same graph every time; vectors never depend on it.
        """
        if not isinstance(documents, Documents):
            documents = Documents.from_texts(documents)
        return cls(model, build_store(model, documents, ann=ann, int8=int8, n_jobs=n_jobs))

    def search(
        self,
        query: str,
        top: int = 10,
        *,
        by: By = "both",
        where: str | None = None,
        sort: str | None = None,
        offset: int = 0,
        exact: bool = False,
    ) -> Hits:
        """The ``top`` documents that answer a query best, the best first; of equals the earlier document.

        Parameters
        ----------
        query : str
            words; "a phrase" in quotes must occur, and a -word or -"phrase" must not
        by : {'both', 'words', 'meaning'}, default 'both'
            "words" (BM25 over all words of the documents), "meaning" (the cosine of the vectors), or both
        where : str, optional
            a condition on the columns of the documents, as SQL writes it: ``year >= 1990 and party = 'Whig'``
        sort : str, optional
            a column by which the hundred best documents are sorted; ``-year`` puts the highest first
        offset : int, default 0
            so many hits are left out: pages of results
        exact : bool, default False
            compare with every document, even if the index has a graph of neighbours
        """
        require_own_threads()
        _require_page(top, offset)
        if by not in ("both", "words", "meaning"):
            raise ValueError(
                f"by={quoted(by)} is not known; documents are found by 'words', by 'meaning' or by 'both'"
            )
        order = SortBy.read(sort, list(self.store.columns))
        asked = Query.read(query, self._stems.tokenizer, self.model.vocabulary_.tokenizer.stop_list)
        known = self.store.known_stems(list(asked.words))
        suggestions = suggestions_for(asked, known, self.store, self.model.vocabulary_)
        selection = self._selection(asked, where)
        found = self._ranked(asked, known, order.among(top + offset), by, selection, exact)
        if found is None:
            raise nothing_known(query, suggestions, self.model.vocabulary_, by_meaning=by == "meaning")
        page = order.sorted(found, self.store.values).page(top, offset)
        _logger.debug("query %r: stems %s, of which known %s", query, list(asked.words), sorted(known))
        return self._hits(page, offset, set(asked.words), suggestions)

    def _ranked(
        self, asked: Query, known: set[str], top: int, by: By, selection: Selection, exact: bool
    ) -> Ranking | None:
        """The best rows; None if neither half knows a word of the query."""
        words: ByWords | None = None
        meaning: ByMeaning | None = None
        if by != "meaning" and known:
            stems = [stem for stem in asked.words if stem in known]
            words = self.store.by_words(stems, max(POOL, top), selection)
        vector = None if by == "words" else query_vector(self.model, asked.text)
        if vector is not None:
            n_near = top if by == "meaning" else max(POOL, top)
            meaning = self.store.by_meaning(vector, n_near, top, selection, exact)
        if by == "both" and words is not None:
            return join_halves(words, meaning, len(known), top)
        found = words or meaning
        return None if found is None else ordered(*found.ranking, top)

    def search_vectors(
        self, vectors: ArrayLike, top: int = 10, *, where: str | None = None, exact: bool = False
    ) -> list[Hits]:
        """The nearest documents to each of several vectors (n_queries, n_components), as ``encode`` gives them."""
        require_own_threads()
        queries = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
        if queries.ndim != 2 or queries.shape[1] != self.model.encoder_.n_components:
            raise ValueError(
                f"the queries have shape {queries.shape}; expected (n_queries, {self.model.encoder_.n_components}): "
                "encode them with the model of this index"
            )
        if not np.isfinite(queries).all():
            raise ValueError("the queries hold NaN or infinity; expected vectors as model.encode gives them")
        _require_page(top, 0)
        units = unit_rows(comparable(self.model, queries))
        found = self.store.nearest(units, top, Selection(self._filter(where)), exact)
        return [self._hits(ordered(one.rows, one.scores, top), 0, set(), {}) for one in found]

    def similar_documents(
        self,
        id: str,  # noqa: A002 - the name of the field
        top: int = 10,
        *,
        where: str | None = None,
        offset: int = 0,
        exact: bool = False,
    ) -> Hits:
        """The documents nearest in meaning to one of the index, itself left out."""
        require_own_threads()
        row = self.store.row_of(id)
        if row is None:
            examples = ", ".join(map(repr, self.store.some_ids()))
            raise ValueError(
                f"no document has the id {quoted(id)}; the ids of this index look like {examples}"
            )
        [vector] = self.store.vectors_of(np.array([row]))
        if not vector.any():
            raise ValueError(
                f"the document {quoted(id)} has no word of the vocabulary; nothing is similar to it"
            )
        return self._nearest(vector, top, offset, Selection(self._filter(where)), exact, without=row)

    def similar_to_text(
        self, text: str, top: int = 10, *, where: str | None = None, offset: int = 0, exact: bool = False
    ) -> Hits:
        """The documents nearest in meaning to a text, which is read as a document and not as a query."""
        require_own_threads()
        vector = query_vector(self.model, text)
        if vector is None:
            raise unknown_word(text, self.model.vocabulary_)
        return self._nearest(vector, top, offset, Selection(self._filter(where)), exact)

    def duplicates(self, threshold: float = 0.8) -> list[DuplicateGroup]:
        """Groups of documents that say the same in nearly the same words, the largest first.

        Parameters
        ----------
        threshold : float, default 0.8
            the share of their words that two documents have in common, from 0 to 1
        """
        require_own_threads()
        return find_duplicates(self.store, threshold)

    def add(self, documents: Texts) -> int:
        """Add documents with new ids; how many. Only an index in the store of lance changes."""
        return self._living().add(self.model, _as_documents(documents))

    def update(self, documents: Texts) -> tuple[int, int]:
        """Replace documents by their ids and add those that are new; how many of each."""
        return self._living().update(self.model, _as_documents(documents))

    def remove(self, ids: Iterable[str] = (), *, where: str | None = None) -> int:
        """Remove documents by their ids, or those that meet a condition; how many."""
        return self._living().remove(list(ids), self._filter(where))

    def compact(self) -> None:
        """Put many small files of added documents together, and bring the indexes of words and vectors up to date."""
        self._living().compact()

    def save(self, folder: StrPath, *, store: StoreName = "files", ann: bool = False) -> None:
        """Write the index into a folder, whole or not at all; only an index folder or an empty one is replaced.

        Whoever has the old one open goes on reading it.

        Parameters
        ----------
        store : {'files', 'lance'}, default 'files'
            "files", which do not change, or "lance" (extra ``lance``), a table that does
        ann : bool, default False
            with "lance", also make LanceDB's own index of the vectors
        """
        if not isinstance(self.store, FilesStore):
            raise ValueError("an index in the store of lance is saved already: copy its folder")
        with INDEX_FOLDER.writing(folder) as part:
            if store == "lance":
                from kate.search.lance_store import write_lance_table

                facts = write_lance_table(part, self.store, ann=ann)
            elif store == "files":
                facts = write_files(part, self.store)
            else:
                raise ValueError(f"store={quoted(store)} is not known; the stores are 'files' and 'lance'")
            write_config(part, self.model, store, facts)

    @classmethod
    def write(
        cls,
        model: TextModel,
        corpus: CorpusBatches,
        folder: StrPath,
        *,
        store: StoreName = "files",
        ann: bool = False,
        int8: bool = False,
        n_jobs: int | None = None,
        report: Report = report_nothing,
    ) -> Index:
        """Index a corpus that may be larger than memory, straight into a folder: ``build`` and ``save`` in one.

        Parameters
        ----------
        corpus : CorpusBatches
            what :func:`kate.iter_corpus` gives; one batch of it is held at a time
        report : callable, optional
            is told how far it is

        Notes
        -----
        The other parameters are those of :meth:`build` and :meth:`save`, and the answers are the same.

        Examples
        --------
        >>> import tempfile
        >>> from kate import TextModel, iter_corpus
        >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
        >>> model = TextModel(n_components=2, random_state=0, max_epochs=5).fit(texts)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     n_written = Path(folder, "news.txt").write_text("The treaty was signed.\\nA silver coin.\\n")
        ...     Index.write(model, iter_corpus(f"{folder}/*.txt"), f"{folder}/index")
        Index of 2 documents, 2 dimensions
        """
        if store not in ("files", "lance"):
            raise ValueError(f"store={quoted(store)} is not known; the stores are 'files' and 'lance'")
        if store == "lance" and int8:
            raise ValueError("the store lance keeps whole vectors; leave int8 out")
        from kate.search.streamed_index import write_streamed_files, write_streamed_lance

        n_jobs = model.n_jobs if n_jobs is None else n_jobs
        with INDEX_FOLDER.writing(folder) as part, scratch_folder(folder) as scratch:
            if store == "lance":
                facts = write_streamed_lance(
                    part, scratch, model, corpus, ann=ann, n_jobs=n_jobs, report=report
                )
            else:
                facts = write_streamed_files(
                    part, scratch, model, corpus, ann=ann, int8=int8, n_jobs=n_jobs, report=report
                )
            write_config(part, model, store, facts)
        return cls.load(folder)

    @classmethod
    def load(cls, folder: StrPath) -> Index:
        """The index that ``save`` wrote; what it holds stays on disk until it is asked for, and is checked then."""
        folder = Path(folder)
        return INDEX_FOLDER.unless_replaced(folder, lambda: cls._load(folder))

    @classmethod
    def _load(cls, folder: Path) -> Index:
        config = INDEX_FOLDER.read_config(folder)
        _logger.info("opening the index %s, store %s", folder, config.get("store"))
        model = read_index_model(folder, config)
        if config.get("store") == "lance":
            from kate.search.lance_store import LanceStore

            return cls(model, LanceStore.open(folder, config))
        if config.get("store") != "files":
            raise FolderError(
                f"{folder} has the store {quoted(config.get('store'))}; this version knows files and lance"
            )
        return cls(model, read_files(folder, config, model.encoder_.n_components))

    def is_of(self, model: TextModel) -> bool:
        """Whether a model makes the vectors of this index. After an update it does not: make the index anew.

        An index holds the model as it was then and answers by that, so it never goes wrong by itself.
        """
        own, other = self.model.encoder_, model.encoder_
        return self.model.vocabulary_.words == model.vocabulary_.words and np.array_equal(own.W, other.W)

    @property
    def graph(self) -> NeighbourGraph | None:
        """The graph of neighbours of the store of files, if there is one."""
        return self.store.graph if isinstance(self.store, FilesStore) else None

    @property
    def vectors(self) -> VectorRows:
        """The vectors of the documents (n_docs, n_components), of length 1 (or 0), in the store of files."""
        if not isinstance(self.store, FilesStore):
            raise ValueError(
                "the vectors of an index in the store of lance are in its table: index.store.table"
            )
        return self.store.vectors

    def __len__(self) -> int:
        return len(self.store)

    def __repr__(self) -> str:
        return f"Index of {len(self):,} documents, {self.model.encoder_.n_components:,} dimensions"

    def _filter(self, where: str | None) -> Filter | None:
        return None if where is None else Filter.read(where, list(self.store.columns))

    def _selection(self, asked: Query, where: str | None) -> Selection:
        """Which documents may be found; F-16 is a phrase where there is one."""
        selection = Selection(self._filter(where), asked.phrases, asked.without)
        for stems in asked.joined:
            narrower = replace(selection, phrases=(*selection.phrases, stems))
            if len(self.store.by_words(stems, 1, narrower).ranking.rows):
                selection = narrower
        return selection

    def _nearest(
        self,
        vector: Floats,
        top: int,
        offset: int,
        selection: Selection,
        exact: bool,
        without: int | None = None,
    ) -> Hits:
        _require_page(top, offset)
        n_wanted = top + offset + (without is not None)
        found = self.store.by_meaning(vector, n_wanted, n_wanted, selection, exact).ranking
        kept = found.rows != without
        page = ordered(found.rows[kept], found.scores[kept], top + offset).page(top, offset)
        return self._hits(page, offset, set(), {})

    def _hits(self, page: Ranking, offset: int, stems: set[str], suggestions: dict[str, list[str]]) -> Hits:
        documents = self.store.documents(page.rows)
        shown = passages(documents["text"], stems, self._stems)
        return Hits.of(documents.drop("text"), page.scores.tolist(), shown, offset, suggestions)

    def _living(self) -> LivingStore:
        if not isinstance(self.store, LivingStore):
            raise ValueError(_IMMUTABLE)
        return self.store


def _as_documents(documents: Texts) -> Documents:
    return documents if isinstance(documents, Documents) else Documents.from_texts(documents)


def _require_page(top: int, offset: int) -> None:
    if top < 1:
        raise ValueError(f"top is {top}; expected at least 1")
    if offset < 0:
        raise ValueError(f"offset is {offset}; expected 0 or more hits to leave out")
