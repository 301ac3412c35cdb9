"""What a request asks for, read and checked field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kate.errors import quoted
from kate.serve.api_errors import bad_request
from kate.serve.limits import Limits

__all__ = ["RequestFields", "texts_of", "whole_number"]

_MOST_DIGITS = 18


class RequestFields:
    """The fields of a JSON body or of a query string; what is left over in the end is refused by name."""

    def __init__(self, given: Any) -> None:
        if not isinstance(given, Mapping):
            raise bad_request("the body is not a JSON object; expected fields in braces")
        self._given, self._seen = dict(given), set[str]()

    def take(self, name: str, default: Any = None) -> Any:
        self._seen.add(name)
        return self._given.get(name, default)

    def whole(self, name: str, default: int | None, low: int, high: int) -> int | None:
        """A whole number between two bounds; in a query string it comes as digits."""
        value = self.take(name)
        if value is None:
            return default
        if isinstance(value, str):
            value = whole_number(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise bad_request(
                f"{name} is {quoted(value)}; expected a whole number from {low:,} to {high:,}", name
            )
        return value

    def string(self, name: str, default: str | None = None, choices: Sequence[str] = ()) -> str | None:
        value = self.take(name, default)
        if value is not None and not isinstance(value, str):
            raise bad_request(f"{name} is {type(value).__name__}; expected a string", name)
        if value is not None and choices and value not in choices:
            raise bad_request(f"{name} is {quoted(value)}; expected one of {', '.join(choices)}", name)
        return value

    def required(self, name: str) -> str:
        value = self.string(name)
        if value is None:
            raise bad_request(f"{name} is missing; expected a string", name)
        return value

    def finish(self) -> None:
        """Refuse fields that nobody asked for: a typing error must not be taken for a default."""
        strange = sorted(set(self._given) - self._seen)
        if strange:
            raise bad_request(
                f"{strange[0]} is not known here; the fields are {', '.join(sorted(self._seen))}", strange[0]
            )


def whole_number(written: str) -> int | str:
    """A number of a query string or a path, as it was written if it is none; Python reads none of 4,300 digits.

    >>> whole_number("-12"), whole_number("1.5"), len(whole_number("9" * 5000))
    (-12, '1.5', 5000)
    """
    is_number = len(written) <= _MOST_DIGITS and written.isascii() and written.removeprefix("-").isdigit()
    return int(written) if is_number else written


def texts_of(value: Any, limits: Limits, name: str) -> list[str]:
    """One text or several, within the limits."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts:
        raise bad_request(f"{name} is {_shown(value)}; expected a text or a list of texts", name)
    for text in texts:
        if not isinstance(text, str):
            raise bad_request(
                f"{name} holds {_shown(text)}; expected texts, not tokens: Kate has words of its own", name
            )
        try:
            text.encode()
        except UnicodeEncodeError:
            # texts of several requests are encoded together: it would spoil all of them
            raise bad_request(f"{name} holds half a character, which is not valid Unicode", name) from None
        if len(text) > limits.characters:
            raise bad_request(
                f"a text of {len(text):,} characters; at most {limits.characters:,} are read: cut it", name
            )
    if len(texts) > limits.texts:
        raise bad_request(f"{len(texts):,} texts; at most {limits.texts:,} per request: send several", name)
    return texts


def _shown(value: Any) -> str:
    return "missing" if value is None else repr(value)[:40]
