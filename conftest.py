"""What pytest passes over: modules whose examples it would look for, where what they import is not installed."""

from importlib.util import find_spec

# Triton is there for Linux alone, and not with every build of PyTorch
collect_ignore_glob = (
    [] if find_spec("triton") else ["src/kate/engines/gpu/triton_*.py", "tests/engines/gpu/triton_*.py"]
)
