"""What every sketch promises, as checks that a sketch passes or fails with a reason.

Randomness is fixed: a check that passes once always passes.  Mean and variance are tested over independent draws.  With
K̂ the estimate of K = k(X, X), for pairs of different rows, the mean of each entry has a z-score, and so has the scale

    s = ⟨K̂, K⟩ / ⟨K, K⟩,        E s = 1,                                                                    (1)

in which a common factor of all estimates shows first.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.kernels.base import Kernel
from rfbench.sketches.base import CHUNK, FeatureMap, Sketch

LIMIT = 4.8  # of a z-score: about 15,000 comparisons of 105 pairs give a false alarm once in fifty times
BAND, APPROXIMATE_BAND = 0.1, 0.3  # of the ratio of variances around one
MOST_BIAS = 0.5  # of the scale of a sketch that states a bias
DRAWS = 1000
FEW = 10  # rows of pairs
BLOCKS = (1, 7, CHUNK["F"], CHUNK["C"] + 1)  # rows at once, within and across what a map writes at once


@dataclass(frozen=True, eq=False)
class Subject:
    """A sketch with D features, its kernel, and rows of numbers that suit them."""

    sketch: Sketch
    kernel: Kernel
    X: Array
    D: int
    draws: int = DRAWS

    @cached_property
    def fitted(self) -> Sketch:
        return self.sketch.survey(lambda: [self.X]).adapt(self.X, self.D)

    def draw(self, rng: np.random.Generator | int = 0, dtype: Any = np.float64) -> FeatureMap:
        rng = np.random.default_rng(rng) if isinstance(rng, int) else rng
        features = self.fitted.sample(self.X.shape[1], self.D, rng, dtype)
        return features.around(self.X.mean(0)) if features.recentred else features

    @cached_property
    def estimates(self) -> "Estimates":
        return Estimates(self)


class Estimates:
    """Independent draws of K̂ at pairs of different rows, entry by entry."""

    def __init__(self, subject: Subject) -> None:
        X, rng = subject.X[:FEW], np.random.default_rng(1)
        K = subject.kernel.gram(X, X)
        n, p = len(X), len(K) // len(X)
        pairs = np.kron(np.triu(np.ones((n, n)), 1), np.ones((p, p))) > 0
        self.k, form = K[pairs], subject.fitted.closed_form
        V = None if form is None else np.kron(form.variance(X, X, subject.D), np.ones((p, p)))[pairs] / p**2
        self.variance = np.nan if V is None else float(V.sum()) or np.nan  # of all entries
        self.mean, squares = np.zeros(self.k.shape, complex), np.zeros(self.k.shape)
        self.scales, self.ratios = np.empty(subject.draws), np.full(subject.draws, np.nan)
        for t in range(subject.draws):
            features = subject.draw(rng)
            Phi = features(X)
            error = features.product(Phi, Phi)[pairs] - self.k
            self.mean += error / subject.draws
            squares += np.abs(error) ** 2 / subject.draws
            self.scales[t] = np.vdot(self.k, error).real / np.vdot(self.k, self.k)
            self.ratios[t] = (np.abs(error) ** 2).sum() / self.variance
        self.spread = np.sqrt(np.maximum(squares - np.abs(self.mean) ** 2, 0) / subject.draws)
        self.exact = V is not None and V.max() < 1e-12 * np.abs(self.k).max() ** 2

    @property
    def rounding(self) -> float:
        return 1e-9 * float(np.abs(self.k).max())

    def z_of_means(self) -> float:
        """The largest |z| of the entries."""
        return float((np.abs(self.mean) / (self.spread + self.rounding)).max())

    def z_of_scale(self) -> float:
        """z of equation (1)."""
        return float(self.scales.mean() / (self.scales.std() / np.sqrt(len(self.scales)) + 1e-9))

    def variance_ratio(self) -> tuple[float, float]:
        """Empirical over closed-form variance of all pairs, and its standard error."""
        bias = np.vdot(self.mean, self.mean).real / self.variance
        return float(self.ratios.mean() - bias), float(self.ratios.std() / np.sqrt(len(self.ratios)))


Check = Callable[[Subject], str | None]  # what is wrong, or None


def right_shape_and_type(s: Subject) -> str | None:
    """(n, D) numbers of the type that was asked for."""
    for dtype in (np.float32, np.float64):
        features, X = s.draw(dtype=dtype), s.X.astype(dtype)
        wanted = np.result_type(dtype, np.complex64) if s.fitted.is_complex else np.dtype(dtype)
        Phi = features(X)
        if Phi.dtype != wanted or features.dtype != wanted:
            return f"features of {np.dtype(dtype)} rows are {Phi.dtype} (the map says {features.dtype}), not {wanted}"
        if Phi.shape != (len(X), features.D):
            return f"features have shape {Phi.shape}, and the map says {(len(X), features.D)}"
    return None


def all_features_are_written(s: Subject) -> str | None:
    """Every feature of every row is written, into an array of any content and layout."""
    features, found = s.draw(), []
    for order, fill in (("C", np.nan), ("F", np.nan), ("C", 1e3)):
        out = np.full((len(s.X), features.D), fill, features.dtype, order=order)  # type: ignore[call-overload]
        features(s.X, out)
        if unwritten := int(np.isnan(out).any(0).sum()):
            return f"{unwritten} of {features.D} features are not written, or not numbers"
        found.append(out)
    if not all(np.array_equal(found[0], one) for one in found[1:]):
        return "features depend on what the array held before, or on its layout"
    return None


def same_seed_same_bits(s: Subject) -> str | None:
    """Two draws of one seed are equal; of two seeds they differ, unless the sketch says that it is not random."""
    rng = np.random.default_rng(5)
    one, again, other, first, second = (_gram(s.draw(seed), s.X) for seed in (5, 5, 6, rng, rng))
    if not np.array_equal(one, again):
        return "two draws with the same seed differ; use only the generator that sample is given"
    if s.fitted.random and (np.allclose(one, other) or np.allclose(first, second)):
        return "two draws with different random numbers are equal; is the generator used?"
    return None


def _gram(features: FeatureMap, X: Array) -> Array:
    """K̂ of some rows: the features themselves may be the rows, where they are not explicit."""
    Phi = features(X[:FEW])
    return features.product(Phi, Phi)


def global_randomness_is_left_alone(s: Subject) -> str | None:
    """Neither NumPy's nor Python's global generator is read."""
    before = _global_state()
    s.draw()(s.X)
    if _global_state() != before:
        return "a global random generator is used; use only the one that sample is given"
    return None


def _global_state() -> tuple[Any, ...]:
    state = np.random.get_state(legacy=False)  # noqa: NPY002
    return str(state), state["state"]["key"].tolist(), random.getstate()  # type: ignore[call-overload]


def rows_are_apart(s: Subject) -> str | None:
    """The features of a row depend on that row only, so that blocks equal the whole."""
    features = s.draw()
    whole = features(s.X)
    size = float(np.nanmax(np.abs(whole)))  # of features that are written
    for rows in BLOCKS:
        blocks = [features(s.X[i : i + rows]) for i in range(0, len(s.X), rows)]
        if not np.allclose(np.concatenate(blocks), whole, rtol=1e-9, atol=1e-11 * size):
            return f"blocks of {rows} rows have other features than all rows together"
    other = np.concatenate((s.X[:1], s.X[:0:-1]))
    if not np.allclose(features(other)[0], whole[0], rtol=1e-9, atol=1e-11 * size):
        return "the features of a row depend on the other rows"
    return None


def input_is_untouched(s: Subject) -> str | None:
    """Rows may be read-only, and are not changed."""
    X, features = s.X.copy(), s.draw()
    features(X)
    if not np.array_equal(X, s.X):
        return "the rows are changed; write to a copy"
    X.flags.writeable = False
    features(X)
    return None


def precisions_agree(s: Subject) -> str | None:
    """float32 and float64 draw the same weights."""
    single, double = (s.draw(dtype=dtype)(s.X.astype(dtype)) for dtype in (np.float32, np.float64))
    if not np.allclose(single, double, atol=1e-4 * float(np.nanmax(np.abs(double)))):
        return "float32 and float64 draw different weights for the same seed"
    return None


def recipe_is_a_value(s: Subject) -> str | None:
    """The recipe can be hashed, so it holds no arrays."""
    hash(s.sketch)
    return None


def mean_is_the_kernel(s: Subject) -> str | None:
    """E k̂ = k, unless the sketch states why not."""
    found, scale = s.estimates, float(s.estimates.scales.mean())
    if s.fitted.stated_bias:
        return f"the mean estimate is {1 + scale:.2f} times the kernel" if abs(scale) > MOST_BIAS else None
    if found.exact or not s.fitted.random:
        wrong = float(np.abs(found.mean).max())
        return f"the estimate is off by {wrong:.3g}, and has no variance" if wrong > 1e3 * found.rounding else None
    if abs(z := found.z_of_scale()) > LIMIT:
        return f"the mean estimate is {1 + scale:.3f} times the kernel (z = {z:.1f} over {s.draws} draws)"
    if (z := found.z_of_means()) > LIMIT:
        return f"the mean estimate is not the kernel (z = {z:.1f} over {s.draws} draws)"
    return None


def variance_is_the_closed_form(s: Subject) -> str | None:
    """The variance over draws is that of closed_form, where there is one."""
    if s.fitted.closed_form is None or s.estimates.exact:
        return None
    ratio, error = s.estimates.variance_ratio()
    band = APPROXIMATE_BAND if s.fitted.closed_form.approximate else BAND
    if abs(ratio - 1) > max(band, LIMIT * error):
        return f"the variance over draws is {ratio:.2f} ± {error:.2f} times the closed form"
    return None


CHECKS: tuple[Check, ...] = (
    right_shape_and_type,
    all_features_are_written,
    same_seed_same_bits,
    global_randomness_is_left_alone,
    rows_are_apart,
    input_is_untouched,
    precisions_agree,
    recipe_is_a_value,
    mean_is_the_kernel,
    variance_is_the_closed_form,
)
