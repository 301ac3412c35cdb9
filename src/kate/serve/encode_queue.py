"""Many small requests are encoded together; too many that wait are turned away at once.

Counting one text takes about as long as counting twenty, so whatever came in while the last batch was encoded makes the
next one. Work happens in threads beside the event loop, which goes on reading requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kate.model.text_model import TextModel
from kate.serve.api_errors import ApiError
from kate.serve.limits import Limits
from kate.unit_rows import unit_rows

__all__ = ["EncodeQueue", "Encoded", "encode_texts"]

_TEXTS_AT_ONCE = 512
_RETRY_AFTER = {"Retry-After": "1"}

Floats = NDArray[np.float32]
Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Encoded:
    """Unit vectors (n_texts, n_components) and how many known words there were in all."""

    vectors: Floats
    n_words: int


@dataclass(frozen=True, eq=False)
class _Waiting:
    texts: Sequence[str]
    model: TextModel
    answer: asyncio.Future[Encoded]


class EncodeQueue:
    """Requests in line. All methods but the work itself run in the event loop."""

    def __init__(
        self, limits: Limits, n_threads: int = 2, on_batch: Callable[[int], None] | None = None
    ) -> None:
        self._limits, self._on_batch = limits, on_batch or (lambda n_texts: None)
        self._line: list[_Waiting] = []
        self._arrived = asyncio.Event()
        self._encoder = ThreadPoolExecutor(1, thread_name_prefix="kate-encode")
        self._workers = ThreadPoolExecutor(n_threads, thread_name_prefix="kate-answer")
        self.n_waiting = 0

    async def encode(self, texts: Sequence[str], model: TextModel) -> Encoded:
        """Vectors of texts, encoded together with what else waits."""
        answer: asyncio.Future[Encoded] = asyncio.get_running_loop().create_future()
        self._line.append(_Waiting(texts, model, answer))
        self._arrived.set()
        encoded: Encoded = await self._counted(answer)
        return encoded

    async def call(self, work: Callable[[], Answer]) -> Answer:
        """The result of other work, done in a thread."""
        loop = asyncio.get_running_loop()
        answer: Answer = await self._counted(loop.run_in_executor(self._workers, work))
        return answer

    def require_room(self) -> None:
        """Turn a request away while too many wait."""
        if self.n_waiting >= self._limits.waiting:
            raise ApiError(
                429,
                f"{self.n_waiting} requests are waiting; try again in a second",
                code="queue_full",
                headers=_RETRY_AFTER,
            )

    async def run(self) -> None:
        """Encode what waits, for ever."""
        loop = asyncio.get_running_loop()
        while True:
            await self._arrived.wait()
            batch = self._next_batch()
            if not self._line:
                self._arrived.clear()
            if not batch:
                continue
            texts = [text for waiting in batch for text in waiting.texts]
            self._on_batch(len(texts))
            try:
                encoded, words = await loop.run_in_executor(
                    self._encoder, encode_texts, batch[0].model, texts
                )
            except Exception as error:
                for waiting in batch:
                    if not waiting.answer.done():
                        waiting.answer.set_exception(error)
                continue
            first = 0
            for waiting in batch:
                rows = slice(first, first + len(waiting.texts))
                first = rows.stop
                if not waiting.answer.done():
                    waiting.answer.set_result(Encoded(encoded[rows], int(words[rows].sum())))

    def close(self) -> None:
        self._encoder.shutdown(wait=False, cancel_futures=True)
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _next_batch(self) -> list[_Waiting]:
        """Requests to the same model that fit together; those whose clients have gone are left out."""
        batch: list[_Waiting] = []
        n_texts = 0
        while self._line:
            waiting = self._line[0]
            if not waiting.answer.done():
                fits = not batch or (
                    waiting.model is batch[0].model and n_texts + len(waiting.texts) <= _TEXTS_AT_ONCE
                )
                if not fits:
                    break
                batch.append(waiting)
                n_texts += len(waiting.texts)
            self._line.pop(0)
        return batch

    async def _counted(self, answer: Any) -> Any:
        self.n_waiting += 1
        try:
            return await asyncio.wait_for(answer, self._limits.seconds)
        except TimeoutError:
            raise ApiError(
                504,
                f"not answered within {self._limits.seconds:g} seconds; ask for less, or try again later",
                code="timeout",
                headers=_RETRY_AFTER,
            ) from None
        finally:
            self.n_waiting -= 1


def encode_texts(model: TextModel, texts: Sequence[str]) -> tuple[Floats, NDArray[np.int64]]:
    """Unit vectors of texts, and how many known words each has."""
    counts = model._count(texts)
    words = np.asarray(counts.sum(axis=1)).ravel().astype(np.int64)
    return unit_rows(model.encoder_.vectors(counts, model.n_jobs)), words
