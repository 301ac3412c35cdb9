"""KATE's loss in plain dense NumPy (float64), written from the equations alone: what the engines are tested against."""

import numpy as np

from kate.competition import compete, winners


def encode(x, W, b, activation="tanh"):
    h = x @ W + b
    return np.tanh(h) if activation == "tanh" else 1 / (1 + np.exp(-h))


def mean_loss(x, W, b, c, *, loss, activation="tanh", n_winners=0, alpha=0.0, x_in=None):
    """The mean loss of the rows of x; ``x_in`` is what goes in where it differs (dropout)."""
    z = encode(x if x_in is None else x_in, W, b, activation)
    a = compete(z, n_winners, alpha) if n_winners else z
    o = a @ W.T + c
    if loss == "softmax":
        shifted = o - o.max(axis=1, keepdims=True)
        log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        return -(x * log_p).sum() / len(x)
    return (np.logaddexp(0, o) - x * o).sum() / len(x)


def gradient(x, W, b, c, *, loss, activation="tanh", n_winners=0, alpha=0.0, x_in=None):
    """Back-propagation with the competition as a matrix: a = M z for each document, M its Jacobian."""
    x_in = x if x_in is None else x_in
    z = encode(x_in, W, b, activation)
    dW, db, dc = np.zeros_like(W), np.zeros_like(b), np.zeros_like(c)
    for i in range(len(x)):
        M = np.eye(len(b)) if not n_winners else jacobian(z[i], n_winners, alpha)
        a = M @ z[i]
        o = W @ a + c
        if loss == "softmax":
            p = np.exp(o - o.max())
            residual = x[i].sum() * p / p.sum() - x[i]
        else:
            residual = 1 / (1 + np.exp(-o)) - x[i]
        dz = M.T @ (W.T @ residual)
        dh = dz * (1 - z[i] ** 2 if activation == "tanh" else z[i] * (1 - z[i]))
        dW += np.outer(residual, a) + np.outer(x_in[i], dh)
        db += dh
        dc += residual
    return dW / len(x), db / len(x), dc / len(x)


def jacobian(z, n_winners, alpha):
    """d compete(z) / d z: a winner sees itself and, amplified, every loser of its side; a loser's row is zero."""
    won = winners(z, n_winners)
    M = np.zeros((len(z), len(z)))
    for i in np.flatnonzero(won):
        M[i, i] = 1
        for j in np.flatnonzero(~won & (np.sign(z) == np.sign(z[i]))):
            M[i, j] = alpha
    return M
