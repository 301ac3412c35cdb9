"""The processor that numba compiles for: how wide its vectors are, and which instructions it has.

This need not be the processor of this machine: ``NUMBA_CPU_NAME``, ``NUMBA_CPU_FEATURES`` and ``NUMBA_ENABLE_AVX``
choose another target. So LLVM itself is asked: it compiles a small function for the target, and the assembly shows
what the target has.

``KATE_LANES`` (8 or 16) sets the number of floats in a vector by hand. Both are correct on any target, because LLVM
splits vectors that are wider than a register; the tests use it to run both widths on one machine.
"""

from __future__ import annotations

import os

import llvmlite
import llvmlite.binding as llvm
import numba
from numba.core.registry import cpu_target

from kate.errors import quoted

__all__ = ["HAS_AVX512", "HAS_FMA", "IS_X86", "LANES", "fingerprint"]

# floats in a vector: 8 fill a register of AVX (or two of SSE or NEON), 16 one of AVX-512
NARROW, WIDE = 8, 16


def _read_target() -> tuple[str, str, str]:
    """The triple, the name of the processor and its features, as numba gives them to LLVM."""
    triple, cpu, features = cpu_target.target_context.codegen().magic_tuple()
    return str(triple), str(cpu), str(features)


def _assembly_of_fma(triple: str, cpu: str, features: str) -> str:
    """What LLVM makes of x · y + z with 16 floats, rounded once."""
    floats = f"<{WIDE} x float>"
    module = llvm.parse_assembly(f"""
        declare {floats} @llvm.fma.v{WIDE}f32({floats}, {floats}, {floats})
        define {floats} @f({floats} %x, {floats} %y, {floats} %z) {{
          %d = call {floats} @llvm.fma.v{WIDE}f32({floats} %x, {floats} %y, {floats} %z)
          ret {floats} %d
        }}
    """)
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features)
    return str(machine.emit_assembly(module))


def _choose_lanes(has_avx512: bool) -> int:
    given = os.environ.get("KATE_LANES", "")
    if not given:
        return WIDE if has_avx512 else NARROW
    if given not in {str(NARROW), str(WIDE)}:
        raise ValueError(f"KATE_LANES={quoted(given)}; expected {NARROW} or {WIDE}, or leave it unset")
    return int(given)


TARGET = _read_target()
_ASSEMBLY = _assembly_of_fma(*TARGET)
IS_X86 = TARGET[0].startswith(("x86_64", "i686"))
HAS_AVX512 = "zmm" in _ASSEMBLY
HAS_FMA = "fmaf" not in _ASSEMBLY  # else LLVM calls the C library's fmaf for every float
LANES = _choose_lanes(HAS_AVX512)


def fingerprint() -> bytes:
    """Differs wherever machine code made here may not run, or may not be right, in another process."""
    parts = (*TARGET, str(LANES), numba.__version__, llvmlite.__version__)
    return "\n".join(parts).encode()
