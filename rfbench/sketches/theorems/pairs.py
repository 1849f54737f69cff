"""Bounds for one pair of rows.  With t the error that is allowed, D independent features and a pair x, y:

wacker_2_2_1 [Wacker 2022, Theorem 2.2.1, with Chebyshev's inequality], TensorSketch of (x·y)ᵖ:

    P(|k̂ − k| ≥ t) ≤ (2 + 3ᵖ) ‖x‖²ᵖ‖y‖²ᵖ / (D t²)                                                         (1)

wacker_3_4_1 [ibid., Theorem 3.4.1], Rademacher sketches with weights of modulus 1, M = (‖x‖₁‖y‖₁)ᵖ, ε = t/M:

    P ≤ 2 exp(−D ε² / 2(σ² + 2ε/3)),      σ² = V/(‖x‖‖y‖)²ᵖ,     V the variance of one feature             (2)

The theorem holds, for complex sketches too, by Bernstein's inequality for matrices.  But it divides V by the 2-norms
where the proof has the 1-norms, M²; with these it is Bernstein's inequality itself, which demands far fewer features:

    bernstein:   P ≤ 2 exp(−D t² / 2(V + 2Mt/3))                                                             (3)

ohana_c [Ohana et al. 2019, Eq. 22; m = 1], optical features |Ux|.  The paper leaves its constants open.  With
s = ‖x‖‖y‖, features are products of |⟨u, x⟩| and |⟨u, y⟩|, whose n-th moments are at most sⁿ n!; those of the
deviation from the mean are at most twice that, so Bernstein's inequality for sub-exponential variables gives

    P ≤ 2 exp(−D t² / 2(4s² + s t))                                                                           (4)

For m > 1 the paper's Eq. 31, Wacker 2022, Theorem 6.2.3, P ≤ D exp(−c (D t)^{1/m}), is not true for any constant:
Eq. 26 bounds the probability that D terms add up to S by D times that of one term above S, where it should be S/D.
One standard deviation, which is exceeded with a probability of about 1/6 at every D, has a bound that tends to zero.

wacker_6_2_3 is what its idea proves, for every m.  Either one of the D terms exceeds wᵐsᵐ, which has the probability
2D exp(−w), because |⟨u, x⟩|² is exponential; or all are below, and Bernstein's inequality holds for the terms cut off
there, whose mean is not above k.  Errors from below are those of terms in [0, ∞), with V the variance of one term:

    P ≤ min_w 2D exp(−w) + exp(−D t² / 2(V + t((ws)ᵐ − k)₊/3)) + exp(−D t² / 2(V + t k/3))                    (5)

chebyshev: Var/t² with the closed-form variance, for every sketch that has one [Wacker 2022, Remark 3.5.5].
"""

from collections.abc import Iterator

import numpy as np

from rfbench.arrays import Array, squared_norms
from rfbench.kernels.base import Kernel
from rfbench.sketches.base import Sketch
from rfbench.sketches.optical.ideal import OpticalSketch
from rfbench.sketches.products.product import ProductSketch
from rfbench.sketches.products.tensor_sketch import TensorSketch
from rfbench.sketches.theorems.record import Theorem, exponential
from rfbench.sketches.wrappers import Affine, ComplexToReal

CUTS = np.linspace(1, 100, 199)[:, None]  # w of equation (5)


def of_pairs(sketch: Sketch, kernel: Kernel, X: Array) -> Iterator[Theorem]:
    """The theorems that apply, for all pairs i ≤ j of rows."""
    i, j = np.triu_indices(len(X))
    norms = np.array([np.linalg.norm(kernel.gram(x[None], x[None]), 2) for x in X])
    size = np.sqrt(norms[i] * norms[j])
    if (form := sketch.closed_form) and sketch.random:
        yield Theorem("chebyshev", False, lambda e, D: form.variance(X, X, D)[i, j] / (e * size) ** 2)

    rows, share = X.astype(np.float64), 1  # columns for each complex feature
    if isinstance(sketch, Affine):
        rows, sketch = sketch.augmented(X), sketch.base
    if isinstance(sketch, ComplexToReal):
        sketch, share = sketch.base, 2
    lengths, absolute = np.sqrt(squared_norms(rows)), np.abs(rows).sum(1)

    if isinstance(sketch, TensorSketch) and sketch.law.real:
        p = sketch.degree
        N = (lengths[i] * lengths[j]) ** p
        yield Theorem("wacker_2_2_1", False, lambda e, D: (2 + 3**p) * N**2 / (D * (e * size) ** 2))
    elif type(sketch) is ProductSketch and sketch.law.kurtosis == 1:
        N, M = ((a[i] * a[j]) ** sketch.degree for a in (lengths, absolute))
        V = sketch.closed_form.variance(rows, rows, 1)[i, j]
        printed = V * (M / N) ** 2
        yield Theorem("wacker_3_4_1", False, lambda e, D: bernstein(e * size, D // share, printed, 2 * M))
        yield Theorem("bernstein", False, lambda e, D: bernstein(e * size, D // share, V, 2 * M))
    elif isinstance(sketch, OpticalSketch):
        s, m, k = lengths[i] * lengths[j], sketch.kernel.exponent, sketch.kernel.gram(rows, rows)[i, j]
        V = sketch.closed_form.variance(rows, rows, 1)[i, j]
        if m == 1:
            yield Theorem("ohana_c", False, lambda e, D: bernstein(e * size, D, 4 * s**2, 3 * s))
        yield Theorem("wacker_6_2_3", False, lambda e, D: cut_off(e * size, D, V, k, (CUTS * s) ** m))


def cut_off(t: Array, D: int, variance: Array, k: Array, most: Array) -> Array:
    """Equation (5), the least over the rows of `most`, which belong to CUTS."""
    above = bernstein(t, D, variance, np.maximum(most - k, 0)) / 2
    found: Array = np.min(2 * D * exponential(-CUTS) + above, axis=0) + bernstein(t, D, variance, k) / 2
    return found


def bernstein(t: Array, D: int, variance: Array, range_: Array) -> Array:
    """2 exp(−D t² / 2(variance + range t/3)): the mean of D terms deviates by t."""
    return 2 * exponential(-D * t**2 / (2 * (variance + range_ * t / 3)))
