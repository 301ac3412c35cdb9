"""The fused kernels of the GPU engine without a GPU: run by Triton's interpreter, and compiled for an H100 or H200.

Where there is a GPU, test_torch_engine.py trains with them.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the GPU engine needs the extra gpu")
triton = pytest.importorskip(
    "triton", reason="Triton is not installed; it comes with PyTorch's CUDA builds and the extra test"
)

from triton.backends.compiler import GPUTarget  # noqa: E402

from kate.engines.gpu import triton_kernels  # noqa: E402

HOPPER = GPUTarget("cuda", 90, 32)
FLOATS, DOUBLES, NUMBERS = "*fp32", "*fp64", "*i64"
KERNELS = {  # the types of what is known when a kernel runs, and what is known before
    "place": (
        [*[NUMBERS] * 3, *[FLOATS] * 4, "i32", "i32"],
        [{"HAS_DROPOUT": has_dropout, "BLOCK": 1024} for has_dropout in (False, True)],
    ),
    "compete": (
        [*[FLOATS] * 3, "i32", "fp32"],
        [{"N_WINNERS": k, "IS_TANH": k != 5, "BLOCK": n} for k, n in ((0, 128), (5, 16), (32, 128))],
    ),
    "decode": (
        [*[FLOATS] * 4, NUMBERS, DOUBLES, "i32"],
        [{"IS_SOFTMAX": is_softmax, "BLOCK": 1024} for is_softmax in (False, True)],
    ),
    "backward": (
        [*[FLOATS] * 3, NUMBERS, FLOATS, FLOATS, "i32", "fp32"],
        [{"HAS_WINNERS": has_winners, "IS_TANH": has_winners, "BLOCK": 128} for has_winners in (False, True)],
    ),
    "learn": (
        [*[FLOATS] * 7, "i32", "i32", "i32", "i64"],
        [
            {"METHOD": method, "DECAY1": 0.9, "DECAY2": 0.999, "EPSILON": 1e-8, "ROWS": 64, "COLUMNS": 32,
             "BLOCK": 1024}
            for method in ("none", "adam", "adadelta")
        ],
    ),
}  # fmt: skip


def test_the_fused_step_does_what_the_plain_one_does():
    """In a process of its own: whether kernels are interpreted is settled when Triton is imported."""
    file = Path(__file__).with_name("triton_interpreted.py")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(file)]
    environment = os.environ | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    run = subprocess.run(
        command, env=environment, cwd=file.parents[3], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("name", KERNELS)
def test_the_kernels_compile(name, tmp_path, monkeypatch):
    """The interpreter takes more than the compiler does."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    kernel, (types, known_before) = getattr(triton_kernels, name), KERNELS[name]
    for values in known_before:
        signature = dict.fromkeys(kernel.arg_names, "constexpr")
        signature |= dict(zip([name for name in kernel.arg_names if name not in values], types, strict=True))
        compiled = triton.compile(triton.compiler.ASTSource(kernel, signature, values), target=HOPPER)
        assert ".entry" in compiled.asm["ptx"]
