"""Bounds for the largest error of all pairs of rows in a set of diameter l, by nets.

With n frequencies (D/2 pairs of cosines and sines, or D complex features), σ² = E‖ω‖²:

rahimi_recht [Brault et al. 2016, Theorem A.1; Rahimi & Recht 2007, Claim 1], Gaussian kernel:

    P(sup |k̂ − k| ≥ ε) ≤ 2⁸ (σ l/ε)² exp(−n ε²/4(d + 2))                                                    (1)

(the appendix prints dσ for σ).  brault_a_1_1 [Corollary A.1.1], k A: the same at ε/‖A‖, that is, relative to K(x, x).

chang_1 [Chang et al. 2016, Theorem 1 and its proof], rows with at most k nonzero entries, z = 2k:

    P ≤ 3 (6e d σ l/zε)^{2z/(z + 2)} exp(−n ε²/4(z + 2))                                                    (2)

The paper prints 2e: minimising over the radius gives 4e, and a net of a ball of radius l has (1 + 2l/r)ᶻ ≤ (3l/r)ᶻ
balls, not (2l/r)ᶻ.  chang_2 [Theorem 2, Eq. 9, with Theorem 3], m measurements, L the largest slope of the kernel as
a function of the distance, R = 2 max ‖x‖ and η = ε/2RL:

    P ≤ 2¹⁰ (d/m)(σ R/ε)² exp(−n ε²/16(m + 2)) + 2 (12/η)ᶻ (ed/z)ᶻ exp(−(η²/16 − η³/48) m)                  (3)

The paper has k for z, but differences of sparse rows have 2k entries.  The second term does not depend on n: unless m
is in the thousands, no number of features is enough.

chang_3 [Theorem 3, Eq. 6], the measurements themselves as features of ⟨x, y⟩, by polarisation of rows of length 1:

    P(sup |⟨Px, Py⟩ − ⟨x, y⟩| ≥ ε ‖x‖‖y‖) ≤ 2 (12/ε)ᶻ (ed/z)ᶻ exp(−(ε²/16 − ε³/48) m),       ε ≤ 1, m ≤ d   (4)

It holds as printed for x itself, with k for z: the net of its reference bounds |‖Px‖² − ‖x‖²| by (ε/2)/(1 − ε/2) ≤ ε.

brault_3_1 [Brault et al. 2016, Theorem 3.1], fields of p = d outputs:

    P(sup ‖K̂ − K‖ ≥ ε) ≤ C (σ l/ε)^{2d/(d + 2)} exp(−n ε²/8(d + 2)(b + εu/6))        if εu ≤ 4(e − 1)b      (5)
                          C (σ l/ε)^{2d/(d + 2)} exp(−n ε/(d + 2)(e − 1)u)            otherwise

with C = d ((d/2)^{−d/(d+2)} + (d/2)^{2/(d+2)}) 2^{(6d+2)/(d+2)}, u = 2m log(2^{3/2} m²/b), m = 4(‖A‖_ψ + ‖K(0)‖),
b = ‖E A²‖ ≥ ‖Var‖ and σ² = E‖ω‖²‖A(ω)‖².  The paper has m²/b² in u: b is a variance, so that the bound would depend
on the unit of the field.  It has 2(e − 1) in the condition; its proof applies Eq. 14 at ε/2, which gives 4(e − 1), and
without it the second line would claim more than is proven.
"""

from collections.abc import Callable, Iterator
from math import exp, log, sqrt

import numpy as np

from rfbench.arrays import Array, squared_distances, squared_norms
from rfbench.kernels.base import Kernel
from rfbench.kernels.exponential import Gaussian
from rfbench.sketches.base import Sketch
from rfbench.sketches.compressive import Compressed
from rfbench.sketches.exact import Identity
from rfbench.sketches.fourier.directions import INDEPENDENT
from rfbench.sketches.fourier.operator_valued import DecomposableFourier, FieldFourier
from rfbench.sketches.fourier.waves import Fourier, RealFourier
from rfbench.sketches.theorems.record import Theorem, exponential

CONCENTRATED = ("orthogonal", "gaussian", "rademacher")  # projectors for which the theorems of measurements hold

Tail = Callable[[float, int], Array]


def uniform(sketch: Sketch, kernel: Kernel, X: Array) -> Iterator[Theorem]:
    """The theorems that apply, for the smallest ball around rows X."""
    diameter, d = sqrt(squared_distances(X, X).max()), X.shape[1]
    z = min(2 * max(int(np.count_nonzero(X, axis=1).max()), 1), d)
    inner = sketch.base if isinstance(sketch, Compressed) else sketch
    share = 2 if isinstance(inner, RealFourier) else 1
    waves = inner.base if isinstance(inner, RealFourier) else inner
    if isinstance(waves, Fourier) and waves.directions == INDEPENDENT and isinstance(kernel, Gaussian):
        if isinstance(sketch, Compressed):
            yield Theorem("chang_2", True, measured(sketch, kernel.l2, X, z))
        else:
            size = sqrt(d / kernel.l2) * diameter
            yield Theorem("rahimi_recht", True, lambda e, D: rahimi_recht(e, D // share, d, size))
            yield Theorem("chang_1", True, lambda e, D: sparse(e, D // share, d, z, size))
    elif isinstance(sketch, Compressed) and isinstance(inner, Identity) and sketch.projector in CONCENTRATED:
        yield Theorem("chang_3", True, lambda e, D: distances(min(e, 1), min(D, d), d, z))
    elif isinstance(sketch, DecomposableFourier):
        size = sqrt(d / sketch.kernel.gaussian.l2) * diameter
        yield Theorem("brault_a_1_1", True, lambda e, D: rahimi_recht(e, D // 2, d, size))
    elif isinstance(sketch, FieldFourier):
        yield Theorem("brault_3_1", True, fields(sketch, d, diameter))


def rahimi_recht(e: float, n: int, d: int, size: float) -> Array:
    """Equation (1); size = σ l."""
    return exponential(8 * log(2) + 2 * log(max(size / e, 1)) - n * e**2 / (4 * (d + 2)))


def sparse(e: float, n: int, d: int, z: int, size: float) -> Array:
    """Equation (2)."""
    net = 2 * z / (z + 2) * log(max(6 * exp(1) * d * size / (z * e), 1))
    return exponential(log(3) + net - n * e**2 / (4 * (z + 2)))


def measured(sketch: Compressed, l2: float, X: Array, z: int) -> Tail:
    """Equation (3)."""
    d, R = X.shape[1], 2 * sqrt(squared_norms(X).max())
    L = exp(-0.5) / sqrt(l2)  # of exp(−r²/2l²), at r = l

    def tail(e: float, D: int) -> Array:
        m, eta = sketch.length(d), min(e / (2 * R * L), 1)
        first = log(2**10 * d / m) + 2 * log(sqrt(m / l2) * R / e) - D // 2 * e**2 / (16 * (m + 2))
        return exponential(first) + distances(eta, m, d, z)

    return tail


def distances(e: float, m: int, d: int, z: int) -> Array:
    """Equation (4)."""
    return exponential(log(2) + z * log(12 / e) + z * (1 + log(d / z)) - (e**2 / 16 - e**3 / 48) * m)


def fields(sketch: FieldFourier, d: int, diameter: float) -> Tail:
    """Equation (5), relative to ‖K(0)‖."""
    c, l2 = sketch.kernel.curl_free_part, sketch.kernel.gaussian.l2
    K0, most = ((1 - c) * (d - 1) + c) / l2, max(c, 1 - c)
    Omega = np.random.default_rng(0).standard_normal((2, d)) / sqrt(l2)
    first, second = np.linalg.norm(sketch.weighted(Omega)[1], axis=1)
    # ‖A(ω)‖ ∝ ‖v‖² with the frequencies v at which A is evaluated: of constant length, or Gaussian.
    if np.isclose(first, second):
        psi, fourth, sixth = d / l2 / log(2), d**2 / l2**2, (d + 2) * d**2 / l2**3
    else:
        psi, fourth, sixth = 2 / l2 / -np.expm1(-2 / d * log(2)), d * (d + 2) / l2**2, d * (d + 2) * (d + 4) / l2**3
    b, sigma = fourth * ((1 - c) ** 2 * (d - 1) + c**2) / d, most * sqrt(sixth)
    m = 4 * (most * psi + K0)
    u = 2 * m * log(2**1.5 * m**2 / b)
    C = d * ((d / 2) ** (-d / (d + 2)) + (d / 2) ** (2 / (d + 2))) * 2 ** ((6 * d + 2) / (d + 2))

    def tail(e: float, D: int) -> Array:
        e, n = e * K0, D // 2
        small = e * u <= 4 * (exp(1) - 1) * b
        rate = e**2 / (8 * (b + e * u / 6)) if small else e / ((exp(1) - 1) * u)
        return exponential(log(C) + 2 * d / (d + 2) * log(max(sigma * diameter / e, 1)) - n * rate / (d + 2))

    return tail
