"""Kernels of images that are sets of patches: a sum over all pairs of patches, and a product of two halves.

    k(A, B) = Σ_l Σ_m k(a_l, b_m)                                                                           (1)
    k((A, t), (B, u)) = Σ_l Σ_m (γ⟨a_l, b_m⟩ + ν) (γ⟨t, u⟩ + ν)                                              (2)

With k = ⟨a, b⟩² and with γ = 1, ν = 0 they are the inner products of bilinear and of multi-modal pooling [Wacker 2022,
Eq. 1.4 and 1.5].
"""

from dataclasses import dataclass
from math import isqrt, sqrt

import numpy as np

from rfbench.arrays import Array, inner
from rfbench.blocks import spans
from rfbench.checks import InputError, require
from rfbench.kernels.base import Kernel
from rfbench.kernels.polynomial import AffinePower

PAIRS = 2048  # descriptors whose kernel with as many others is in memory at once
MOST_MOMENTS = 128  # columns of a descriptor up to which the second moments are computed


@dataclass(frozen=True)
class Patches:
    """Square patches of `side` pixels, `stride` apart; of the upper half if the lower one is a second input.

    A row is a square image, grey or with three colours that vary fastest.  Without a side, all is one patch.
    """

    side: int | None
    stride: int = 1
    halves: bool = False

    def __post_init__(self) -> None:
        require(self.side is None or self.side >= 1, "task.patch", "at least 1, or null for the whole image", self.side)
        require(self.stride >= 1, "task.stride", "at least 1", self.stride)

    def images(self, X: Array) -> Array:
        """(n, height, width, colours)."""
        n, d = X.shape
        colours = 1 if isqrt(d) ** 2 == d else 3
        s = isqrt(d // colours)
        if s * s * colours != d:
            raise InputError(
                f"rows of {d} columns are not square images, grey or in three colours; use dataset=digits, mnist, "
                "fashion_mnist or cifar10"
            )
        require(not self.halves or s >= 2, "task.halves", "false for images of one pixel", self.halves)
        return X.reshape(n, s, s, colours)

    def __call__(self, X: Array) -> Array:
        """The descriptors of every row, (n, L, c)."""
        images = self.images(X)
        upper = images[:, : images.shape[1] // 2] if self.halves else images
        if self.side is None:
            return upper.reshape(len(X), 1, -1)
        limit = upper.shape[1]
        require(self.side <= limit, "task.patch", f"at most {limit}, the height of what it is cut from", self.side)
        windows = np.lib.stride_tricks.sliding_window_view(upper, (self.side, self.side), (1, 2))
        windows = windows[:, :: self.stride, :: self.stride]
        return windows.reshape(len(X), windows.shape[1] * windows.shape[2], -1)

    def one_each(self, X: Array) -> Array:
        """A descriptor of every row, from each place in turn, (n, c)."""
        A, rows = self(X), np.arange(len(X))
        return A[rows, rows % A.shape[1]]

    def second(self, X: Array) -> Array:
        """The lower half of every row."""
        images = self.images(X)
        return images[:, images.shape[1] // 2 :].reshape(len(X), -1)


@dataclass(frozen=True)
class Pooled(Kernel):
    """Equation (1)."""

    name = "pooled"
    base: Kernel
    patches: Patches

    def gram(self, X: Array, Y: Array) -> Array:
        A, B = self.patches(X), self.patches(Y)
        (n, L, c), m = A.shape, len(B)
        if isinstance(self.base, AffinePower) and self.base.power == 2 and c < min(L**2, MOST_MOMENTS):
            return inner(second_moments(A, self.base), second_moments(B, self.base))
        K, size = np.empty((n, m)), max(PAIRS // L, 1)
        for i in spans(n, size):
            for j in spans(m, size):
                pairs = self.base.gram(A[i].reshape(-1, c), B[j].reshape(-1, c))
                K[i, j] = pairs.reshape(-1, L, len(B[j]), L).sum((1, 3))
        return K


def second_moments(A: Array, kernel: AffinePower) -> Array:
    """Σ_l a_l ⊗ a_l of every set, a_l with √γ and √ν: inner products are (1), and each costs c², not L² c."""
    _, gamma, bias = kernel.affine
    A = np.concatenate((sqrt(gamma) * A.astype(np.float64), np.full((*A.shape[:2], 1), sqrt(bias))), axis=2)
    return (A.swapaxes(1, 2) @ A).reshape(len(A), -1)


@dataclass(frozen=True)
class Multimodal(Kernel):
    """Equation (2), of a polynomial kernel of degree 2."""

    name = "multimodal"
    base: AffinePower
    patches: Patches

    def gram(self, X: Array, Y: Array) -> Array:
        _, gamma, bias = self.base.affine
        (A, B), (T, U) = map(self.patches, (X, Y)), map(self.patches.second, (X, Y))
        sums = inner(A.sum(1, dtype=np.float64), B.sum(1, dtype=np.float64))
        return (gamma * sums + bias * A.shape[1] ** 2) * (gamma * inner(T, U) + bias)
