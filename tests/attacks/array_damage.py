"""Arrays and tables that a stranger made otherwise: of another kind or shape, with numbers that lead elsewhere."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import safetensors.numpy
from numpy.typing import NDArray

__all__ = ["ARRAY_DAMAGE", "damaged_arrays"]

Random = np.random.Generator
Array = NDArray[Any]

_KINDS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "?")
_NUMBERS = (-1, -5, 2**31 - 1, -(2**31), 2**62, -(2**62), 1e30, np.nan, np.inf, -np.inf)


def _of_another_kind(array: Array, random: Random) -> Array:
    with np.errstate(all="ignore"):
        return array.astype(_KINDS[random.integers(len(_KINDS))])


def _with_a_number(array: Array, random: Random) -> Array:
    """One number, or all of them, is what no index, count or weight should be; the kind may have to follow."""
    number = _NUMBERS[random.integers(len(_NUMBERS))]
    kind = array.dtype
    if kind.kind != "f":
        signed = [np.dtype(one) for one in ("i2", "i4", "i8", "f4", "f8")]
        kind = kind if random.integers(2) else signed[random.integers(len(signed))]
    with np.errstate(all="ignore"):
        new = array.astype(kind)
        wrong = np.array([number], np.float64).astype(kind)
    some = slice(None) if random.integers(4) == 0 or not array.size else int(random.integers(array.size))
    new.reshape(-1)[some] = wrong[0]
    return new


def _a_little_more(array: Array, random: Random) -> Array:
    """A number is one more than it was, or one more than the largest."""
    new = array.copy()
    if new.size:
        place = int(random.integers(new.size))
        new.reshape(-1)[place] = (array.max() if random.integers(2) else array.reshape(-1)[place]) + 1
    return new


def _shorter(array: Array, random: Random) -> Array:
    return array[: random.integers(len(array) + 1)] if array.ndim else array


def _longer(array: Array, random: Random) -> Array:
    return np.concatenate([array, array[: int(random.integers(1, 9))]]) if array.ndim else array


def _of_another_shape(array: Array, random: Random) -> Array:
    flat = array.reshape(-1)
    shapes = (array.T, flat, array[None], flat[:, None], flat[:0], flat[: flat.size // 2 * 2].reshape(-1, 2))
    return shapes[random.integers(len(shapes))]


def _shuffled(array: Array, random: Random) -> Array:
    return random.permutation(array) if array.ndim else array


def _zeros(array: Array, random: Random) -> Array:
    return np.zeros_like(array)


_DAMAGE: dict[str, Callable[[Array, Random], Array]] = {
    one.__name__.strip("_").replace("_", " "): one
    for one in (
        _of_another_kind, _with_a_number, _a_little_more, _shorter, _longer, _of_another_shape, _shuffled, _zeros,
    )
}  # fmt: skip
ARRAY_DAMAGE = (*_DAMAGE, "missing", "exchanged")


def damaged_arrays(name: str, data: bytes, kind: str, random: Random) -> tuple[bytes, str]:
    """The file with one of its arrays or columns damaged, and which; a file that holds none as it was."""
    if name.endswith(".npy"):
        array = np.load(io.BytesIO(data))
        return _npy(_DAMAGE.get(kind, _of_another_kind)(array, random)), "it"
    if name.endswith(".arrow"):
        return _damaged_table(data, random)
    if not name.endswith(".safetensors"):
        return data, "nothing"
    arrays = dict(safetensors.numpy.load(data))
    chosen = sorted(arrays)[random.integers(len(arrays))]
    if kind == "missing":
        del arrays[chosen]
    elif kind == "exchanged":
        arrays[chosen] = arrays[sorted(arrays)[random.integers(len(arrays))]]
    else:
        arrays[chosen] = _DAMAGE[kind](arrays[chosen], random)
    return safetensors.numpy.save({one: np.ascontiguousarray(array) for one, array in arrays.items()}), chosen


def _npy(array: Array) -> bytes:
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array))
    return file.getvalue()


def _damaged_table(data: bytes, random: Random) -> tuple[bytes, str]:
    table = pl.read_ipc(io.BytesIO(data))
    name = table.columns[random.integers(len(table.columns))]
    column = pl.col(name)
    kinds = [
        pl.Int8,
        pl.UInt64,
        pl.Float64,
        pl.Boolean,
        pl.Binary,
        pl.Date,
        pl.List(pl.String),
        pl.Categorical,
    ]
    ways: list[Callable[[], pl.DataFrame]] = [
        lambda: table.drop(name),
        lambda: table.rename({name: str(random.choice(["", "id", "text", "kate_text", "\0", "x" * 9999]))}),
        lambda: table.with_columns(pl.lit(None).alias(name)),
        lambda: table.with_columns(column.cast(kinds[random.integers(len(kinds))], strict=False)),
        lambda: table.with_columns(column.shuffle(seed=1)),
        lambda: table.with_columns(column.reverse()),
        lambda: table.with_columns(column.first()),
        lambda: table.with_columns(pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise(column)),
        lambda: table.head(int(random.integers(len(table)))),
        lambda: pl.concat([table, table]),
    ]
    file = io.BytesIO()
    try:
        ways[random.integers(len(ways))]().write_ipc(file)
    except pl.exceptions.PolarsError:  # the kind cannot be had from this column, or the name is taken
        return data, "nothing"
    return file.getvalue(), name
