"""The engine follows numba's target, not this machine: other targets and widths, each in a process of its own."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from kate.engines.cpu import target

IS_X86 = platform.machine().lower() in {"x86_64", "amd64"}
HAS_AVX2 = bool(IS_X86 and llvm.get_host_cpu_features().get("avx2"))
OTHER_WIDTH = {16: "8", 8: "16"}[target.LANES]
TARGETS = {
    "generic": {"NUMBA_CPU_NAME": "generic"},
    "generic, 16 lanes": {"NUMBA_CPU_NAME": "generic", "KATE_LANES": "16"},
    "haswell": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""},
    "no AVX": {"NUMBA_ENABLE_AVX": "0"},
    "other width": {"KATE_LANES": OTHER_WIDTH},
}
FACTS = """
import json
from kate.engines.cpu import target
from kate.engines.cpu.step import train_batches
names = ("LANES", "HAS_AVX512", "HAS_FMA")
print(json.dumps({name: getattr(target, name) for name in names} | {"file": train_batches.py_func.__qualname__}))
"""


def run(arguments, environment, **more):
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_CPU", "KATE_LANES"))
    }
    return subprocess.run(
        [sys.executable, *arguments],
        env=clean | environment,
        capture_output=True,
        text=True,
        check=False,
        **more,
    )


def facts(environment):
    done = run(["-c", FACTS], environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def needs(name):
    if name == "haswell" and not HAS_AVX2:
        pytest.skip("this machine has no AVX2")
    if name == "no AVX" and not IS_X86:
        pytest.skip("AVX is x86's")
    return TARGETS[name]


def test_a_generic_target_has_nothing_special():
    found = facts(TARGETS["generic"])
    assert found["LANES"] == 8
    assert not found["HAS_AVX512"]
    assert found["HAS_FMA"] != IS_X86  # ARM has always had it


@pytest.mark.skipif(not HAS_AVX2, reason="this machine has no AVX2")
def test_the_features_of_the_target_count_not_those_of_the_machine():
    assert facts(TARGETS["haswell"]) | {"file": ""} == {
        "LANES": 8,
        "HAS_AVX512": False,
        "HAS_FMA": True,
        "file": "",
    }
    assert not facts(TARGETS["no AVX"])["HAS_AVX512"]


@pytest.mark.skipif(not IS_X86, reason="AVX-512 is x86's")
def test_a_wide_target_has_wide_vectors():
    """Nothing is run, so that it need not be this machine."""
    found = facts({"NUMBA_CPU_NAME": "skylake-avx512", "NUMBA_CPU_FEATURES": ""})
    assert found["LANES"] == 16
    assert found["HAS_AVX512"]


def test_the_width_can_be_set_to_8_or_16():
    assert facts({"KATE_LANES": OTHER_WIDTH})["LANES"] == int(OTHER_WIDTH)
    done = run(["-c", FACTS], {"KATE_LANES": "4"})
    assert "KATE_LANES='4'; expected 8 or 16" in done.stderr


def test_code_for_different_targets_is_kept_in_different_files():
    """So that machines may share a folder: code for another width would write where nothing was allocated."""
    environments = [
        {},
        *TARGETS.values(),
        {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "", "KATE_LANES": "16"},
        {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "-fma"},
    ]
    files = [
        facts(environment)["file"]
        for environment in environments
        if IS_X86 or "haswell" not in str(environment)
    ]
    assert len(set(files)) == len(files)
    assert facts({})["file"] == files[0]


@pytest.mark.parametrize("name", ["haswell", "no AVX"])
def test_gradients_are_right_on_other_targets(name):
    """Some of the tests, enough to run every pass of a step; a generic target has no AVX either."""
    tests = Path(__file__).with_name("test_cpu_engine.py")
    chosen = "test_gradient_of_a_wide_layer or test_several_steps or test_validation or test_threads"
    files = [str(tests), str(tests.with_name("test_simd.py"))]
    done = run(
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "-k", f"{chosen} or test_simd"],
        needs(name),
        cwd=tests.parents[3],
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr


def test_the_engine_is_right_with_the_other_width():
    """The tests of this folder once more, with 8 lanes where 16 are natural, and the other way round.

    Both widths keep their code in one folder. What needs hundreds of draws says nothing new about a width.
    """
    folder = Path(__file__).parent
    files = [str(folder / f"test_{name}.py") for name in ("cpu_engine", "sampling", "simd")]
    done = run(
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "-k", "not bias and not mean_over_samples"],
        TARGETS["other width"],
        cwd=folder.parents[2],
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
