"""The GPU engine, by PyTorch (extra ``gpu``). Start with ``torch_engine.py``.

torch_engine.py    TorchEngine: what it offers; an epoch as replays of one captured step
device_batches.py  the documents on the GPU, and which of them each step takes
torch_step.py      one training step in PyTorch's own operations; runs on any device
triton_step.py     the same step with fused kernels, used on CUDA where Triton is installed
triton_kernels.py  these kernels
torch_directions.py  where training starts, and the sums that vectors are made from
"""
