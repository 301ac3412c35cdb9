"""What pytest passes over where it is not installed, and how many threads NumPy's products take in a test."""

import os
from importlib.util import find_spec

# Tests run side by side, one for each core: products with threads of their own would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Triton is there for Linux alone, and not with every build of PyTorch
collect_ignore_glob = (
    [] if find_spec("triton") else ["src/kate/engines/gpu/triton_*.py", "tests/engines/gpu/triton_*.py"]
)
