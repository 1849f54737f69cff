"""Classification by a factorised Gaussian over the weights of features, and the gradient of its evidence lower bound.

    f_c(x) = Φ(x)ᵀ w_c,      q(w_c) = N(m_c, diag s_c²),      prior N(0, I)
    bound = Σᵢ E_q log softmax(f(xᵢ))_{yᵢ} − Σ_c KL(q(w_c)‖prior)                                           (1)

[Wacker 2022, 4.3].  Instead of the weights f is drawn, which is Gaussian under q with mean μ = Φm and variance
v = Φ²s²: the same expectation with less noise [Kingma et al. 2015].  With g = y − softmax(f) and f = μ + √v ε,

    ∂/∂μ = E g,      ∂/∂v = E gε/2√v,      and the chain rule gives those of m, s, γ and ν.                 (2)

With Φ' = ∂Φ/∂log ν, Σ ∂Φ ∘ Φ' needs Φ'm and (Φ ∘ Φ')s² only, and Σ ∂Φ ∘ Φ nothing but μ and v.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.sketches import AffineMap, with_slope

START = np.log(0.01)  # of log s: small at first, so that early steps move the means


@dataclass
class Weights:
    """The learned parameters: (D, C) means and logarithms of deviations, and the logarithms of γ and ν."""

    m: Array
    log_s: Array
    kernel: Array  # (log γ, log ν)

    def arrays(self) -> tuple[Array, Array, Array]:
        return self.m, self.log_s, self.kernel


def start(D: int, C: int, gamma: float, bias: float, dtype: Any) -> Weights:
    return Weights(np.zeros((D, C), dtype), np.full((D, C), START, dtype), np.log([gamma, bias]))


def affine_map(base: AffineMap, weights: Weights) -> AffineMap:
    """The features at the weights' γ and ν."""
    return base.at(*np.exp(weights.kernel).tolist())


def likelihood(features: AffineMap, degree: int, weights: Weights, X: Array, y: Array, noise: Array) -> Weights:
    """The gradient of the first sum of (1) over some rows; noise is ε of their draws, (draws, rows, C)."""
    Phi, slope = with_slope(features, X)
    s2 = np.exp(2 * weights.log_s)
    mu, v = Phi @ weights.m, Phi**2 @ s2
    _, d_mu, d_v = log_softmax(mu, v, y, noise)
    d_m, d_s = Phi.T @ d_mu, (Phi**2).T @ d_v * (2 * s2)
    d_log_bias = np.vdot(d_mu, slope @ weights.m) + 2 * np.vdot(d_v, (Phi * slope) @ s2)
    d_scale = np.vdot(d_mu, mu) + 2 * np.vdot(d_v, v)  # along Φ itself
    return Weights(d_m, d_s, np.array([degree / 2 * d_scale - d_log_bias, d_log_bias]))


def log_softmax(mu: Array, v: Array, y: Array, noise: Array) -> tuple[Array, Array, Array]:
    """E log softmax(f)_y of every row, and equation (2)."""
    deviation = np.sqrt(v + np.finfo(v.dtype).tiny)
    f = mu + deviation * noise
    f -= f.max(2, keepdims=True)
    rows = np.arange(len(y))
    own = f[:, rows, y]
    p = np.exp(f, out=f)
    total = p.sum(2, keepdims=True)
    value = (own - np.log(total[..., 0])).mean(0)
    p /= -total
    p[:, rows, y] += 1
    return value, p.mean(0), (p * noise).mean(0) / (2 * deviation)


def bound_gradient(likelihoods: list[Weights], weights: Weights, scale: float) -> Weights:
    """The gradient of (1) from that of some rows, each of which stands for `scale` rows."""
    m, log_s, kernel = (
        scale * sum(parts[1:], parts[0]) for parts in zip(*(w.arrays() for w in likelihoods), strict=True)
    )
    return Weights(m - weights.m, log_s - (np.exp(2 * weights.log_s) - 1), kernel)


@dataclass
class Adam:
    """Ascent with moving averages of gradients and of their squares [Kingma & Ba 2015, Algorithm 1]."""

    rate: float
    steps: int = 0
    averages: list[tuple[Array, Array]] = field(default_factory=list)

    def step(self, weights: Weights, gradient: Weights) -> None:
        self.steps += 1
        if not self.averages:
            self.averages = [(np.zeros_like(w), np.zeros_like(w)) for w in weights.arrays()]
        down1, down2 = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        for w, g, (first, second) in zip(weights.arrays(), gradient.arrays(), self.averages, strict=True):
            first += 0.1 * (g - first)
            second += 0.001 * (g * g - second)
            w += self.rate / down1 * first / (np.sqrt(second / down2) + 1e-8)
