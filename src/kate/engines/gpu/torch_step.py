"""One training step of KATE on a GPU, with a hand-written backward pass and fixed shapes; here in plain PyTorch.

For a batch of B documents, V words and m neurons, as in :mod:`kate.engines.cpu.step`:

    X, X_in (B, V)  the batch, and what dropout leaves of it, made dense on the device
    Z (B, m)        = g(X_in W + b);  A = compete(Z)
    R (B, V)        = (output(A Wᵀ + c) - X) / B
    D (B, m)        = dL / d(X_in W + b)
    gradient of W   = [R; X_in]ᵀ [A; D], one product for the decoder's and the encoder's part

Nothing is read back and no shape depends on the data, so that a CUDA graph can replay the step; a counter on the device
says which row of the layout is next. Parameters, gradients and the optimizer's moments are flat vectors, of which W, b
and c are views. Every operation starts a kernel, and with a small network the time of a step depends on the number of
kernels. So :class:`PlainStep` prefers operations that do several things at once, and where Triton is installed,
:class:`kate.engines.gpu.triton_step.FusedStep` is used instead; tests compare the two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor

from kate.engines.devices import Precision
from kate.engines.gpu.device_batches import Layout
from kate.engines.network import Recipe

__all__ = ["Competition", "DeviceParameters", "DeviceUpdate", "PlainStep", "Step"]

_LEAST_POSITIVE = 1 << 32  # the key of the smallest positive float and the last index, see Competition


class DeviceParameters:
    """W (n_words, n_components), b and c as views of one flat vector."""

    def __init__(self, n_words: int, n_components: int, device: torch.device) -> None:
        n_weights = n_words * n_components
        self.flat = torch.zeros(n_weights + n_components + n_words, device=device)
        self.W = self.flat[:n_weights].view(n_words, n_components)
        self.b = self.flat[n_weights : n_weights + n_components]
        self.c = self.flat[n_weights + n_components :]

    def __iter__(self) -> Iterator[Tensor]:
        return iter((self.W, self.b, self.c))


class Competition:
    """Â = compete(Z) and its gradient, as :func:`kate.competition.compete` defines them, both sides at once.

    The bits of a larger positive float are a larger integer. A key is these 32 bits, followed by 32 bits for the index,
    counted from the end: no two keys are equal, and of two equal activations the one with the lower index has the
    larger key.
    """

    def __init__(self, recipe: Recipe, n_components: int, device: torch.device) -> None:
        self.alpha = recipe.amplification
        shares = ((recipe.n_winners + 1) // 2, recipe.n_winners // 2)
        self.most = shares[0]
        self.sides = torch.arange(2, device=device)
        self.last = torch.tensor([max(0, share - 1) for share in shares], device=device)
        floors = [_LEAST_POSITIVE if share else torch.iinfo(torch.int64).max for share in shares]
        self.floors = torch.tensor(floors, device=device).unsqueeze(1)  # (2, 1)
        self.signs = torch.tensor([1.0, -1.0], device=device).view(2, 1, 1)
        self.from_end = torch.arange(n_components - 1, -1, -1, device=device)

    def forward(self, Z: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
        """``out`` = Â; returns which neurons won, and the activations of those that lost, for both sides (2, B, m)."""
        sided = Z * self.signs
        keys = torch.add(self.from_end, sided.view(torch.int32).to(torch.int64), alpha=1 << 32)
        best = torch.topk(keys, self.most, dim=-1).values  # the largest first
        least = torch.maximum(best[self.sides, :, self.last], self.floors)  # (2, B)
        won = keys >= least.unsqueeze(-1)
        energies = sided.relu_()
        lost = energies.masked_fill(won, 0.0)
        competed = torch.add(energies, lost.sum(dim=-1, keepdim=True), alpha=self.alpha).mul_(won)
        torch.sub(competed[0], competed[1], out=out)
        return won, lost

    def backward(self, grad: Tensor, won: Tensor, lost: Tensor) -> Tensor:
        """dL/dÂ → dL/dZ: losers learn only through the winners' amplification."""
        of_winners = grad * won  # (2, B, m)
        through = of_winners.sum(dim=-1, keepdim=True).mul_(self.alpha)
        return torch.where(lost > 0, through, of_winners).sum(dim=0)


class Step(ABC):
    """The memory of a step, and the counter that each step moves on.

    ``losses`` (B, 1) sums the documents' losses over the steps, in double precision.
    """

    def __init__(
        self, recipe: Recipe, parameters: DeviceParameters, layout: Layout, precision: Precision
    ) -> None:
        device = parameters.flat.device
        (V, m), B = parameters.W.shape, layout.batch_size
        self.recipe, self.parameters, self.layout, self.precision = recipe, parameters, layout, precision
        self.gradient = DeviceParameters(V, m, device)
        self.losses = torch.zeros((B, 1), dtype=torch.float64, device=device)
        self.at = torch.zeros(1, dtype=torch.int64, device=device)  # the next row of the layout
        # R above X_in and A above D, so that one product gives the gradient of W; after them the spare place
        self.residual_and_input = torch.zeros(2 * B * V + 1, device=device)
        self.codes = torch.zeros(2 * B, m, device=device)
        self.R = self.residual_and_input[: B * V].view(B, V)
        self.X_in = self.residual_and_input[B * V : -1].view(B, V)
        self.A, self.D = self.codes[:B], self.codes[B:]
        # without dropout the input is the target
        self.target = torch.zeros(B * V + 1, device=device) if layout.reads_inputs else None
        self.X = self.X_in if self.target is None else self.target[:-1].view(B, V)

    @abstractmethod
    def run(self, update: DeviceUpdate | None) -> None:
        """Do the next step and read nothing back; without an update, compute only the gradient."""

    @abstractmethod
    def add_losses(self) -> None:
        """Add the losses of the next documents, and compute nothing else."""

    def _fill_gradient_of_weights(self) -> None:
        self._multiply(self.residual_and_input[:-1].view(len(self.codes), -1).T, self.codes, self.gradient.W)

    def _multiply(self, a: Tensor, b: Tensor, out: Tensor) -> None:
        """out = a b, in the precision of this step."""
        if self.precision == "bf16":
            out.copy_(a.bfloat16() @ b.bfloat16())
        else:
            torch.mm(a, b, out=out)


class PlainStep(Step):
    """The step in plain PyTorch operations, on any device."""

    def __init__(
        self, recipe: Recipe, parameters: DeviceParameters, layout: Layout, precision: Precision
    ) -> None:
        super().__init__(recipe, parameters, layout, precision)
        device, n_components = parameters.flat.device, parameters.W.shape[1]
        self.competition = Competition(recipe, n_components, device) if recipe.n_winners else None

    def run(self, update: DeviceUpdate | None) -> None:
        mass, share, is_real = self._place_documents()
        Z = self._encode()
        if self.competition is None:
            self.A.copy_(Z)
        else:
            won, lost = self.competition.forward(Z, out=self.A)
        output = self._decode(self.A, mass, is_real)
        torch.mul(output.sub_(self.X), share, out=self.R)
        grad = self._product(self.R, self.parameters.W)
        if self.competition is not None:
            grad = self.competition.backward(grad, won, lost)
        if self.recipe.activation == "tanh":
            self.D.copy_(torch.ops.aten.tanh_backward(grad, Z))
        else:
            self.D.copy_(torch.ops.aten.sigmoid_backward(grad, Z))
        self._fill_gradient_of_weights()
        torch.sum(self.D, dim=0, out=self.gradient.b)
        torch.sum(self.R, dim=0, out=self.gradient.c)
        if update is not None:
            numbers = self.layout.numbers.index_select(0, self.at).view(-1)
            update(self.parameters.flat, self.gradient.flat, numbers)
        self.at += 1

    def add_losses(self) -> None:
        mass, _, is_real = self._place_documents()
        A = self._encode()
        if self.competition is not None:
            self.competition.forward(A.clone(), out=A)
        self._decode(A, mass, is_real)
        self.at += 1

    def _place_documents(self) -> tuple[Tensor, Tensor, Tensor]:
        """Make the next documents dense; returns their mass, share and whether they are real, (B, 1) each."""
        layout = self.layout
        places = layout.places.index_select(0, self.at).view(-1)
        input_ = self.residual_and_input[layout.n_cells :]  # with the spare place
        input_.zero_()
        input_.index_copy_(0, places, layout.kept.index_select(0, self.at).view(-1))
        if self.target is not None:
            self.target.zero_()
            self.target.index_copy_(0, places, layout.values.index_select(0, self.at).view(-1))
        mass, share, is_real = layout.facts.index_select(0, self.at).view(3, -1, 1)
        return mass, share, is_real

    def _encode(self) -> Tensor:
        H = self._product(self.X_in, self.parameters.W, self.parameters.b)
        return H.tanh_() if self.recipe.activation == "tanh" else H.sigmoid_()

    def _decode(self, A: Tensor, mass: Tensor, is_real: Tensor) -> Tensor:
        """The reconstruction from the codes A; adds the losses to ``losses``."""
        O = self._product(A, self.parameters.W.T, self.parameters.c)
        if self.recipe.loss == "softmax":
            log_p = torch.log_softmax(O, dim=1)
            losses = (self.X * log_p).sum(dim=1, keepdim=True).neg_()
            output = log_p.exp_().mul_(mass)
        else:
            of_words = torch.addcmul(torch.nn.functional.softplus(O), self.X, O, value=-1)
            losses = of_words.sum(dim=1, keepdim=True)
            output = O.sigmoid_()
        self.losses += losses.mul_(is_real)
        return output

    def _product(self, a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
        if self.precision == "bf16":
            product = (a.bfloat16() @ b.bfloat16()).float()
            return product if bias is None else product.add_(bias)
        return a @ b if bias is None else torch.addmm(bias, a, b)


class DeviceUpdate:
    """Adam or Adadelta on flat vectors; ``numbers`` are the learning rate and Adam's two corrections."""

    def __init__(
        self, method: str, decay: tuple[float, float], epsilon: float, like: DeviceParameters
    ) -> None:
        n_words, n_components = like.W.shape
        self.method, self.decay, self.epsilon = method, decay, epsilon
        self.first = DeviceParameters(n_words, n_components, like.flat.device)
        self.second = DeviceParameters(n_words, n_components, like.flat.device)

    def __call__(self, parameters: Tensor, gradient: Tensor, numbers: Tensor) -> None:
        rate, correct1, correct2 = numbers.unbind()
        first, second = self.first.flat, self.second.flat
        if self.method == "adam":
            first.lerp_(gradient, 1 - self.decay[0])
            second.mul_(self.decay[1]).addcmul_(gradient, gradient, value=1 - self.decay[1])
            size = (second * correct2).sqrt_().add_(self.epsilon)
            parameters.sub_(torch.div(first, size, out=size).mul_(rate * correct1))
        else:
            rho = self.decay[0]
            first.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
            change = (second + self.epsilon).div_(first + self.epsilon).sqrt_().mul_(gradient)
            second.mul_(rho).addcmul_(change, change, value=1 - rho)
            parameters.sub_(change.mul_(rate))
