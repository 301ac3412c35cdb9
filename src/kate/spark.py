"""Kate for users of Spark: vectors of the rows of a data frame, made where the rows are. Needs the extra ``spark``.

A session of Spark starts a Java machine, so this is not run here but in the tests:

>>> import kate
>>> frame = session.read.parquet("news")  # doctest: +SKIP
>>> vectors = kate.spark.encode(frame, "model", column="text", truncate_dim=64)  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kate.errors import quoted
from kate.extras import require
from kate.model.packed_model import PackedModel
from kate.model.text_model import TextModel, load
from kate.storage.folders import StrPath

__all__ = ["encode"]


def encode(
    frame: Any,
    model: TextModel | StrPath,
    column: str,
    *,
    output: str = "vector",
    normalize: bool = False,
    truncate_dim: int | None = None,
) -> Any:
    """A Spark data frame with a new column of vectors (array<float>), as :meth:`kate.TextModel.encode` gives them.

    The model travels with the work, and every Python worker of Spark loads it once; Kate must be installed where
    these run. Like all of Spark's transformations it does nothing until somebody asks for rows.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        with the texts in ``column``; a null is taken for an empty text, whose vector is zero
    model : TextModel or str or path
        a fitted model, or its folder, which only this machine has to see
    output : str, default 'vector'
        the name of the new column
    normalize, truncate_dim : bool, int
        see :meth:`kate.TextModel.encode`
    """
    require("kate.spark", "pyspark", "spark")
    from pyspark.sql.types import ArrayType, FloatType, StringType, StructField, StructType

    if column not in frame.columns:
        shown = ", ".join(map(repr, frame.columns))
        raise ValueError(
            f"the frame has no column {quoted(column)}; its columns are {shown}: choose one of them"
        )
    if frame.schema[column].dataType != StringType():
        kind = frame.schema[column].dataType.simpleString()
        raise ValueError(f"the column {quoted(column)} holds {kind}; expected strings: cast it first")
    if output in frame.columns:
        raise ValueError(
            f"the frame has a column {quoted(output)} already; give the vectors another name (output=...)"
        )
    fitted = model if isinstance(model, TextModel) else load(model)
    n_components = fitted.kept_components(truncate_dim)
    schema = StructType([*frame.schema.fields, StructField(output, ArrayType(FloatType(), False), False)])
    return frame.mapInArrow(_encoder(PackedModel.of(fitted), column, output, normalize, n_components), schema)


def _encoder(
    packed: PackedModel, column: str, output: str, normalize: bool, n_components: int
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What a worker does with the batches of a partition."""

    def encode_batches(batches: Iterable[Any]) -> Iterator[Any]:
        import warnings

        import pyarrow

        from kate.model.encoder import EmptyDocumentsWarning

        warnings.simplefilter("ignore", EmptyDocumentsWarning)  # nobody sees it there
        model = packed.load()
        # an encoder of all components is no prefix of one: only a projection has an order
        whole = n_components == model.encoder_.n_components
        for batch in batches:
            texts = [text or "" for text in batch[column].to_pylist()]
            vectors = model.encode(texts, normalize=normalize, truncate_dim=None if whole else n_components)
            ends = pyarrow.array(range(0, vectors.size + 1, n_components), pyarrow.int32())
            kind = pyarrow.list_(pyarrow.field("element", pyarrow.float32(), nullable=False))
            values = pyarrow.ListArray.from_arrays(ends, pyarrow.array(vectors.ravel()), type=kind)
            yield pyarrow.RecordBatch.from_arrays(
                [*batch.columns, values], names=[*batch.schema.names, output]
            )

    return encode_batches
