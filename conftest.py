"""What pytest passes over where it is not installed, and how many threads NumPy's products take, and how wide tables are."""

import os
from importlib.util import find_spec

# Tests run side by side, one for each core: products with threads of their own would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# pytest-xdist sets it from the terminal, and tables would wrap by it
os.environ.pop("COLUMNS", None)

# Modules that need a package which may be missing: Triton is there for Linux alone, and not with every build of PyTorch
_NEEDED = {
    "triton": ["src/kate/engines/gpu/triton_*.py", "tests/engines/gpu/triton_*.py"],
    "bertopic": ["src/kate/adapters/bertopic_embedder.py"],
    "mteb": ["src/kate/adapters/mteb_encoder.py"],
    "langchain_core": ["src/kate/adapters/langchain_embeddings.py"],
    "starlette": ["src/kate/serve/*.py", "tests/serve/*.py"],
}
collect_ignore_glob = [path for package, paths in _NEEDED.items() if not find_spec(package) for path in paths]
