"""Engines: how a training step is computed. Arrays go in, arrays come out; an engine knows no text and no task.

    network.py      what every engine trains: the parameters, the recipe of a step, the optimizer's state
    row_checks.py   documents are checked before compiled code reads them
    devices.py      CPU or GPU: which one to use
    cpu/            the CPU engine: sparse documents, compiled by numba, no PyTorch
    gpu/            the GPU engine: PyTorch and Triton (extra ``gpu``)

Both engines offer what :class:`kate.engines.network.Engine` lists, and compute the same steps.
"""
