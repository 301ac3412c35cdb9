"""Search: documents nearest to a query or to a document, by the cosine of their vectors."""

from kate.search.index import Hit, Index

__all__ = ["Hit", "Index"]
