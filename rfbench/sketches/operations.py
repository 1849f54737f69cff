"""Floating-point operations of one row of Φ, counted from the formulas that define the maps.

An addition, a multiplication and the value of an elementary function are one operation each; a complex multiplication
is six.  A Hadamard transform of h numbers has h log₂ h, a Fourier transform of D complex numbers 5 D log₂ D, of real
ones half of that.  Copies and choices of entries are none.  These are operations of the algorithm: products with small
Hadamard matrices, by which hadamard.py computes a transform, take more of them and less time.
"""

from collections import deque
from functools import singledispatch
from math import log2, nan
from typing import Any

import numpy as np

from rfbench.arrays import padded
from rfbench.sketches.anchored.anchors import AnchoredMap
from rfbench.sketches.anchored.mean_split import SplitMap
from rfbench.sketches.base import FeatureMap
from rfbench.sketches.compressive import Chained
from rfbench.sketches.exact import IdentityMap
from rfbench.sketches.fourier.arc_cosine import ArcCosineMap
from rfbench.sketches.fourier.directions import HadamardMap, Linear
from rfbench.sketches.fourier.fastfood import FastfoodMap
from rfbench.sketches.fourier.favor import FavorMap, RadialMap
from rfbench.sketches.fourier.gegenbauer import GegenbauerMap
from rfbench.sketches.fourier.operator_valued import OperatorMap
from rfbench.sketches.fourier.quadrature import QuadratureMap
from rfbench.sketches.fourier.waves import FourierMap, PhaseFourierMap
from rfbench.sketches.maclaurin.series import One, SeriesMap
from rfbench.sketches.nystrom.sketch import NystromMap
from rfbench.sketches.optical.ideal import OpticalMap
from rfbench.sketches.optical.polynomial import CentredIntensities
from rfbench.sketches.products.craft import CraftMap
from rfbench.sketches.products.hamid import HamidMap
from rfbench.sketches.products.hierarchical import HierarchicalMap
from rfbench.sketches.products.poly_sketch import PolySketchMap
from rfbench.sketches.products.product import ProductMap
from rfbench.sketches.products.tensor_sketch import TensorSketchMap
from rfbench.sketches.products.tensor_srht import TensorSRHTMap
from rfbench.sketches.products.tuples import TupleMap, multiply
from rfbench.sketches.wrappers import AffineMap, ComplexToRealMap, Concatenated


@singledispatch
def flops(features: Any) -> float:
    """Operations of one row; NaN for a map whose operations nobody has counted."""
    return nan


def real_numbers(features: FeatureMap) -> int:
    """How many real numbers are one of Φ."""
    return 2 if np.issubdtype(features.dtype, np.complexfloating) else 1


def products(features: FeatureMap, p: int) -> float:
    """p factors of each feature multiplied."""
    return (p - 1) * features.D * (6 if real_numbers(features) == 2 else 1)


def hadamard(h: int) -> float:
    return h * log2(h)


@flops.register
def _(features: IdentityMap) -> float:
    return 0.0 if features.explicit else nan


@flops.register
def _(features: Linear) -> float:
    return 2.0 * features.d * features.D


@flops.register
def _(features: HadamardMap) -> float:
    blocks, _, h = features.signs.shape
    return blocks * 3 * (h + hadamard(h)) + features.D


@flops.register
def _(features: FastfoodMap) -> float:
    blocks, h = features.G.shape
    return blocks * (features.d + h + 2 * hadamard(h)) + features.D


@flops.register
def _(features: FourierMap) -> float:
    return flops(features.base) + 4.0 * features.base.D  # cosine, sine, and two products


@flops.register
def _(features: QuadratureMap) -> float:
    return len(features.roots) * (2.0 * features.d + 4)  # as for random frequencies


@flops.register
def _(features: PhaseFourierMap) -> float:
    return flops(features.base) + 3.0 * features.D


@flops.register
def _(features: FavorMap) -> float:
    return flops(features.base) + (2 + (features.added is not None)) * features.D + 2.0 * features.d


@flops.register
def _(features: RadialMap) -> float:
    return flops(features.base) + features.D + 2.0 * features.d


@flops.register
def _(features: ArcCosineMap) -> float:
    return flops(features.base) + (2 + (features.n > 0)) * features.D


@flops.register
def _(features: GegenbauerMap) -> float:
    return features.m * (2.0 * features.d + 4 * len(features.weights) + 2 * np.count_nonzero(features.weights))


@flops.register
def _(features: ProductMap) -> float:
    p, d, D = features.W.shape
    return 2.0 * p * d * D * real_numbers(features) + products(features, p)


@flops.register
def _(features: TensorSRHTMap) -> float:
    p, d = features.signs.shape
    return p * real_numbers(features) * (d + hadamard(padded(d))) + products(features, p)


@flops.register
def _(features: HamidMap) -> float:
    transforms, d = features.signs.shape
    return transforms * real_numbers(features) * (d + hadamard(padded(d))) + products(features, len(features.index))


@flops.register
def _(features: TensorSketchMap) -> float:
    (p, d), D = features.signs.shape, features.D
    transforms = 2.5 * D * log2(D) * real_numbers(features)
    return p * (2.0 * d + transforms) + 6 * (p - 1) * D * real_numbers(features) / 2 + transforms


@flops.register
def _(features: TupleMap) -> float:
    """A sketch of each input, and their products: with a scale, or by three Fourier transforms."""
    joins, D, numbers = len(features.maps) - 1, features.maps[0].D, real_numbers(features.maps[0])
    join = 3 * 2.5 * log2(D) * numbers + 3 * numbers if features.join is not multiply else 8 if numbers == 2 else 2
    return sum(map(flops, features.maps)) + joins * D * join


@flops.register
def _(features: HierarchicalMap) -> float:
    """A complex sketch is sketched again in two halves, real rows in one."""
    total, sketched = 0.0, deque([False] * (len(features.pairs) + 1))
    for pair in features.pairs:
        again = (real_numbers(features) == 2 and sketched.popleft() for _ in pair.maps)
        total += flops(pair) + sum(flops(one) for one, twice in zip(pair.maps, again, strict=True) if twice)
        (sketched.append if features.shape == "tree" else sketched.appendleft)(True)
    return total


@flops.register
def _(features: CraftMap) -> float:
    return flops(features.up) + real_numbers(features) * flops(features.down)


@flops.register
def _(features: PolySketchMap) -> float:
    return flops(features.base) + features.D


@flops.register
def _(features: NystromMap) -> float:
    m, rank = features.W.shape
    return 2.0 * m * (features.d + 1 + rank)  # inner products, a function of each, and coordinates


@flops.register
def _(features: ComplexToRealMap | OperatorMap) -> float:
    return flops(features.base)


@flops.register
def _(features: AffineMap) -> float:
    return flops(features.base) + features.d


@flops.register
def _(features: Concatenated) -> float:
    return sum(map(flops, features.maps)) + features.D


@flops.register
def _(features: One) -> float:
    return 0.0


@flops.register
def _(features: SeriesMap) -> float:
    radial = features.D + 2.0 * features.d if features.radial else 0.0
    return sum(map(flops, features.maps)) + features.D + radial


@flops.register
def _(features: SplitMap) -> float:
    """The split 5 d, powers of c, degree 0, then transforms and products of all other degrees and their weights."""
    powers = len(features.split.a)
    total = 5.0 * features.d + powers + 2 * features.constant.size
    for signs, _, terms in features.shared:
        numbers = 2 if np.iscomplexobj(signs) else 1
        total += len(signs) * numbers * (features.d + hadamard(padded(features.d)))
        for _, (one, weights) in terms:
            total += products(one, len(one.index)) + 2 * weights.size + numbers * one.D
    return total


@flops.register
def _(features: AnchoredMap) -> float:
    """Kernels with the anchors, their coordinates, and what these correct in the other features."""
    anchors, rest = len(features.Z), features.base.D
    kernels = anchors * (2.0 * features.d + 2 * len(features.a) + 1)
    return flops(features.base) + kernels + 2 * features.W.size + rest * (2 * len(features.W) + 1)


@flops.register
def _(features: OpticalMap) -> float:
    return (4.0 * features.d + 4 + (features.m != 2)) * features.D


@flops.register
def _(features: CentredIntensities) -> float:
    return flops(features.base) + features.D + 2.0 * features.d


@flops.register
def _(features: Chained) -> float:
    return flops(features.first) + flops(features.base)
