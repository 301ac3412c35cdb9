"""Words and vectors → the documents that answer a query, or that are like a document.

index.py            Index: what users search; hits.py what they get, query.py what they ask, filters.py, sorting.py
building.py         documents → vectors, words, columns, texts
streamed_index.py   the same straight into a folder, batch by batch; posting_pieces.py merges the words
store.py            what a store can do: files_store.py (default; index_folder.py is its folder), lance_store.py (extra)
joining.py          words and meaning as one order
search_words.py     every word of a text; postings.py BM25 and phrases over them
exact_search.py     compares a query with every vector; small_vectors.py vectors in eight bits
neighbour_graph.py  looks at some thousand vectors only, nearly exact (usearch, extra ``ann``)
document_texts.py   texts on disk; passages.py what a hit shows of them
duplicates.py       documents that say the same
"""

from kate.search.duplicates import DuplicateGroup
from kate.search.filters import FilterError
from kate.search.hits import Hit, Hits
from kate.search.index import Index
from kate.search.query import QueryError

__all__ = ["DuplicateGroup", "FilterError", "Hit", "Hits", "Index", "QueryError"]
