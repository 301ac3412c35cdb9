"""Matrices and batches that compiled code must not see are refused, by both engines and by KATE."""

import subprocess
import sys
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_matrix

from kate.engines.row_checks import check_compressed, check_documents, check_rows


def matrix():
    return csr_matrix(np.array([[1, 0, 2], [0, 3, 0], [4, 5, 0]], dtype=np.float32))


def test_valid_matrices_pass():
    for X in (matrix(), csc_matrix(matrix()), csr_matrix((0, 3), dtype=np.float32), csr_matrix((3, 0))):
        check_compressed(X)
    check_rows(matrix(), 3)
    check_documents([np.array([0, 2]), np.array([1])], 3)


def test_entries_that_no_row_has_are_not_looked_at():
    X = matrix()
    X.indices = np.append(X.indices, 99)
    X.data = np.append(X.data, np.float32(1))
    check_compressed(X)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("indices", [0, 2, 1, 0, 3], r"indices from 0 to 3, expected numbers from 0 to 2"),
        ("indices", [0, 2, 1, 0, -1], r"indices from -1 to 2"),
        ("indices", [0.0, 2.0, 1.0, 0.0, 1.0], r"expected whole numbers"),
        ("indices", [0, 2, 1], r"indptr ends at 5, but there are 3 indices and 5 values"),
        ("data", [1, 2, 3, 4], r"indptr ends at 5, but there are 5 indices and 4 values"),
        ("indptr", [0, 2, 3, 9], r"indptr ends at 9"),
        ("indptr", [0, 3, 2, 5], r"never fall"),
        ("indptr", [-1, 2, 3, 5], r"never fall"),
        ("indptr", [0, 2, 5], r"indptr has 3 numbers, expected 4"),
    ],
)
@pytest.mark.parametrize("kind", [csr_matrix, csc_matrix])
def test_arrays_that_do_not_belong_together(kind, name, value, message):
    X = kind(matrix() if kind is csr_matrix else matrix().T)
    setattr(X, name, np.array(value))
    with pytest.raises(ValueError, match=message):
        check_compressed(X)


def test_rows_must_fit_the_network():
    with pytest.raises(ValueError, match="have 3 words, the network has 4"):
        check_rows(matrix(), 4)
    with pytest.raises(ValueError, match="format 'csc', expected CSR"):
        check_rows(csc_matrix(matrix()), 3)
    X = matrix()
    X.indices = X.indices.astype(np.int16)
    with pytest.raises(ValueError, match="int16, expected int32 or int64"):
        check_rows(X, 3)


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([], "there is no batch"),
        ([np.array([0]), np.array([], np.int64)], "has no documents"),
        ([np.array([0, 3])], "documents from 0 to 3, expected numbers from 0 to 2"),
        ([np.array([-1])], "documents from -1 to -1"),
    ],
)
def test_batches_of_documents_that_are_not_there(batches, message):
    with pytest.raises(ValueError, match=message):
        check_documents(batches, 3)


# Every program ends with "refused" where the error was raised. In a process of its own: it used to crash.
PREAMBLE = """
import numpy as np
from scipy.sparse import csr_matrix
from kate.engines.network import Network, Optimizer, Recipe
X = csr_matrix(np.ones((6, 40), np.float32))
network = Network(np.ones((40, 4), np.float32), np.zeros(4, np.float32), np.zeros(40, np.float32))
def broken():
    Y = X.copy()
    Y.indices[7] = 2_000_000_000
    return Y
"""
PROGRAMS = {
    "KATE": """
from kate import KATE
KATE(4, max_epochs=1, device="cpu").fit(broken())
""",
    "KATE, held-out documents": """
from kate import KATE
KATE(4, max_epochs=1, device="cpu").fit(X, validation=broken())
""",
    "KATE, transform": """
from kate import KATE
KATE(4, max_epochs=1, device="cpu").fit(X).transform(broken())
""",
    "KATE, a CSC matrix": """
from kate import KATE
Y = X.tocsc()
Y.indices[7] = 2_000_000_000
KATE(4, max_epochs=1, device="cpu").fit(Y)
""",
    "KATE, indptr too long": """
from kate import KATE
Y = X.copy()
Y.indptr[-1] = 2_000_000_000
KATE(4, max_epochs=1, device="cpu").fit(Y)
""",
    "KATE, a sample of no words": """
from kate import KATE
KATE(4, max_epochs=1, device="cpu", reconstruction_sampling=1).fit(csr_matrix((6, 40)))
""",
    "CPU engine": """
from kate.engines.cpu.cpu_engine import CPUEngine
CPUEngine(network, Recipe("softmax", n_winners=2)).gradient(broken(), np.arange(6))
""",
    "CPU engine, loss": """
from kate.engines.cpu.cpu_engine import CPUEngine
CPUEngine(network, Recipe("softmax", n_winners=2)).loss(broken())
""",
    "CPU engine, documents": """
from kate.engines.cpu.cpu_engine import CPUEngine
CPUEngine(network, Recipe("softmax", n_winners=2)).gradient(X, np.array([0, -3]))
""",
    "CPU engine, a sample of no words": """
from kate.engines.cpu.cpu_engine import CPUEngine
engine = CPUEngine(network, Recipe("softmax", n_winners=2, n_sampled=1))
engine.gradient(csr_matrix((6, 40), dtype=np.float32), np.arange(6))
""",
    "torch engine": """
from kate.engines.gpu.torch_engine import TorchEngine
TorchEngine(network, Recipe("softmax", n_winners=2), "cpu").gradient(broken(), np.arange(6))
""",
    "torch engine, documents": """
from kate.engines.gpu.torch_engine import TorchEngine
TorchEngine(network, Recipe("softmax", n_winners=2), "cpu").gradient(X, np.array([0, -3]))
""",
}


@cache
def answers(kind):
    """What each program of a kind prints; all in one process, since starting one takes longer than they do."""
    program = PREAMBLE
    for name, code in PROGRAMS.items():
        if name.startswith("torch") == (kind == "torch"):
            body = "".join(f"        {line}\n" for line in code.strip().splitlines())
            program += f"\ndef run():\n    try:\n{body}    except ValueError as error:\n"
            program += f"        print({name!r} + ' | refused:', error, flush=True)\nrun()\n"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return dict(line.split(" | ", 1) for line in run.stdout.splitlines() if " | " in line), run.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_crashes(name):
    if name.startswith("torch") and find_spec("torch") is None:
        pytest.skip("the GPU engine needs the extra gpu")
    said, errors = answers("torch" if name.startswith("torch") else "CPU")
    assert said.get(name, "").startswith("refused:"), errors
