import pytest

from kate.engines.cpu import cpu_engine


@pytest.fixture
def many_threads(monkeypatch):
    """Small batches, too, take as many threads as there are tiles of words."""
    monkeypatch.setattr(cpu_engine, "_WORK_OF_A_THREAD", 1)
