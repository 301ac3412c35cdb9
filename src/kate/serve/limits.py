"""How much one request, and all requests that wait, may ask of the service."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Limits that keep one client from taking the service from all others."""

    body_bytes: int = 16 * 2**20
    texts: int = 2048  # per request, as OpenAI's
    characters: int = 1_000_000  # of one text
    waiting: int = 512  # requests; more are answered with 429
    seconds: float = 30.0  # that a request may take, waiting included
