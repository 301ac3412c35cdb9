"""Which device is taken, with and without PyTorch, a driver and a GPU."""

import re
import sys
from types import SimpleNamespace

import pytest

from kate.engines import devices
from kate.engines.devices import choose_device
from kate.extras import install_command


@pytest.fixture
def torch_that_sees(monkeypatch):
    """Put a PyTorch in place that sees a GPU or none."""

    def put(gpu, driver=True):
        torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: gpu))
        monkeypatch.setitem(sys.modules, "torch", torch)
        monkeypatch.setattr(devices, "find_spec", lambda name: object())
        monkeypatch.setattr(devices, "has_driver", lambda: driver)

    return put


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it raises ImportError
    monkeypatch.setattr(devices, "find_spec", lambda name: None)


def test_the_gpu_is_taken_where_there_is_one(torch_that_sees):
    torch_that_sees(gpu=True)
    assert [choose_device(device) for device in ("auto", "cuda", "cpu")] == ["cuda", "cuda", "cpu"]


def test_without_a_gpu_auto_takes_the_cpu_and_cuda_says_so(torch_that_sees):
    torch_that_sees(gpu=False)
    assert choose_device("auto") == "cpu"
    with pytest.raises(ValueError, match="finds no CUDA GPU here"):
        choose_device("cuda")


def test_without_pytorch_auto_takes_the_cpu_and_cuda_names_the_extra(no_torch):
    assert choose_device("auto") == "cpu"
    with pytest.raises(ImportError, match=re.escape(install_command("gpu"))):
        choose_device("cuda")


def test_pytorch_is_not_imported_only_to_hear_that_there_is_no_gpu(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(devices, "find_spec", lambda name: object())  # installed
    monkeypatch.setattr(devices, "has_driver", lambda: False)
    assert choose_device("auto") == "cpu"


@pytest.mark.parametrize("file", ["/dev/nvidiactl", "/dev/dxg", None])
@pytest.mark.parametrize("library", [True, False])
def test_the_driver_is_a_device_file_or_a_library(file, library, monkeypatch):
    def load(name):
        if not library:
            raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(devices.Path, "exists", lambda path: str(path) == file)
    monkeypatch.setattr(devices.ctypes, "CDLL", load)
    assert devices.has_driver() == (file is not None or library)
