"""Vectors → the documents nearest to a query or to a document, by the cosine of their vectors.

index.py            Index: a folder of vectors and documents; what users search
exact_search.py     compares a query with every vector
neighbour_graph.py  looks at some thousand vectors only, nearly exact (usearch, extra ``ann``)
snippets.py         what a hit shows of its document
"""

from kate.search.index import Hit, Index

__all__ = ["Hit", "Index"]
