"""The compiled kernels of rivals are kept on disk, or compiled anew where no folder can be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import kate

SOURCE = Path(kate.__file__).parent
USE_ALL = """
import numpy as np
from scipy.sparse import csr_matrix
from kate.research.rivals.doc2vec_inference import ParagraphNetwork, infer
from kate.research.rivals.lda import infer_proportions
from kate.research.rivals.nmf import NMF

counts = np.array([[3, 2, 0, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]], dtype=np.float32)
shares = NMF(n_components=2, random_state=0).fit_transform(counts)
topics = np.full((2, 4), 0.25, dtype=np.float32)
proportions = infer_proportions(csr_matrix(counts), topics, np.ones(2, np.float32))
network = ParagraphNetwork(
    inner=np.ones((4, 2), np.float32),
    outer=np.ones((4, 1, 2), np.float32),
    beyond=-1,
    kept=np.zeros(0, np.uint32),
    noise=np.arange(1, 5, dtype=np.uint32) * np.uint32(2**29),
    negative=2,
)
vectors = np.zeros((1, 2), np.float32)
infer(network, [np.array([0, 1, 2])], np.ones((1, 3), np.uint64), np.full(3, 0.1, np.float32), vectors)
print(all(np.isfinite(found).all() for found in (shares, proportions, vectors)) and vectors.any())
"""


def test_without_a_folder_to_write_the_kernels_work_and_say_so_once(tmp_path):
    """No folder can be made below a file, whoever asks for it."""
    copy, file = tmp_path / "src" / "kate", tmp_path / "file"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "research" / "rivals" / "__pycache__").write_text("")
    file.write_text("")
    nowhere = dict.fromkeys(
        ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "NUMBA_CACHE_DIR"), str(file / "folder")
    )
    run = subprocess.run(
        [sys.executable, "-c", USE_ALL],
        env=os.environ | nowhere | {"PYTHONPATH": str(copy.parent)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "True"
    assert run.stderr.count("Compiled code cannot be kept on disk") == 1
