"""SciPy's sparse arrays, imported when the first one is made: that takes longer than to answer a search.

>>> sparse.csr_array([[2, 0, 1]]).nnz
2
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["sparse"]

if TYPE_CHECKING:
    from scipy import sparse
else:

    class _WhenUsed:
        """``scipy.sparse`` under its own name; what was asked for once is kept."""

        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module("scipy.sparse"), name)
            setattr(self, name, value)
            return value

    sparse = _WhenUsed()
