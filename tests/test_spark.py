"""kate.spark on a Spark of this machine: the vectors of a data frame are those of the model."""

import os
import shutil
import sys

import numpy as np
import pytest

import kate
from kate.spark import encode
from zipf_texts import zipf_texts

sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed: pip install 'kate-text[spark]'")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, and there is none here", allow_module_level=True)


@pytest.fixture(scope="module")
def session():
    """One thread, on the loopback, with nothing to look at."""
    # its workers take the Python of the tests, not the first one in the PATH
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[1]").appName("kate")
    settings = {"driver.host": "127.0.0.1", "driver.bindAddress": "127.0.0.1", "ui.enabled": "false"}
    settings |= {"sql.shuffle.partitions": "1", "driver.memory": "512m"}
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    found = builder.getOrCreate()
    yield found
    found.stop()


@pytest.mark.xdist_group("ray")  # not beside another engine that wants all memory and processors
@pytest.mark.filterwarnings("ignore::kate.EmptyDocumentsWarning")
def test_vectors_of_a_frame_are_those_of_the_model(session, tmp_path):
    texts = zipf_texts(60)
    model = kate.TextModel(4, device="cpu", verbose=False).fit(texts)
    model.save(tmp_path / "model")
    rows = [(i, text) for i, text in enumerate(texts)] + [(60, None)]
    frame = session.createDataFrame(rows, "id int, body string").repartition(2)

    encoded = encode(frame, tmp_path / "model", "body", normalize=True, truncate_dim=3)
    assert encoded.columns == ["id", "body", "vector"]
    assert encoded.schema["vector"].dataType.simpleString() == "array<float>"
    found = sorted(encoded.collect())
    assert [row["body"] for row in found] == [*texts, None]
    expected = model.encode([*texts, ""], normalize=True, truncate_dim=3)
    np.testing.assert_array_equal(np.float32([row["vector"] for row in found]), expected)

    with pytest.raises(ValueError, match="the frame has no column 'text'; its columns are 'id', 'body'"):
        encode(frame, model, "text")
    with pytest.raises(ValueError, match="the column 'id' holds int; expected strings"):
        encode(frame, model, "id")
    with pytest.raises(ValueError, match="has a column 'id' already; give the vectors another name"):
        encode(frame, model, "body", output="id")
