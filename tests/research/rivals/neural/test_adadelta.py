"""Adadelta in one pass takes the steps of PyTorch's own."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra paper: pip install 'kate-text[paper]'")


def test_takes_the_steps_of_pytorchs_own():
    from kate.research.rivals.neural.adadelta import Adadelta

    generator = torch.Generator().manual_seed(0)
    start = [torch.randn(7, 5, generator=generator), torch.randn(5, generator=generator)]
    ours, theirs = ([torch.nn.Parameter(tensor.clone()) for tensor in start] for _ in range(2))
    unused = torch.nn.Parameter(torch.ones(3))
    optimizers = (
        Adadelta([*ours, unused], lr=2.0, rho=0.95, eps=1e-6),
        torch.optim.Adadelta([*theirs, unused], lr=2.0, rho=0.95, eps=1e-6),
    )
    for _ in range(20):
        for parameters, optimizer in zip((ours, theirs), optimizers, strict=True):
            optimizer.zero_grad()
            # a gradient that is laid out the other way round must not be read as it lies
            loss = (parameters[0].T.sin().T * torch.arange(5.0)).sum() + (parameters[1] ** 2).sum()
            loss.backward()
            optimizer.step()
    for mine, yours, before in zip(ours, theirs, start, strict=True):
        torch.testing.assert_close(mine, yours, rtol=1e-5, atol=1e-6)
        assert not torch.equal(mine.detach(), before)
    assert torch.equal(unused.detach(), torch.ones(3))
