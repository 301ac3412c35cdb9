"""NotFittedError: scikit-learn's own where it is installed, so that its users catch ours; otherwise one like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["NotFittedError"]

if TYPE_CHECKING:

    class NotFittedError(ValueError, AttributeError):
        """A model was asked before it was fitted."""

else:
    try:
        from sklearn.exceptions import NotFittedError
    except ModuleNotFoundError:

        class NotFittedError(ValueError, AttributeError):
            """A model was asked before it was fitted."""
