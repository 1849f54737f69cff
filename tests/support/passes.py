"""The passes over rows of every task, small."""

from functools import partial

import numpy as np

from rfbench.datasets import load
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.kernels import make_kernel
from rfbench.linalg.gram import FoldedGramSums, GramSums
from rfbench.linalg.products import ProductSums
from rfbench.sketches import known_part, make_sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks import make_task
from rfbench.tasks.gp.feature_likelihood import SlopeSums
from rfbench.tasks.gp.recentred import RecentredSums
from rfbench.tasks.kid.embedding import Embedder
from rfbench.tasks.rows import Centred, Held, Targets
from rfbench.tasks.variance import AllErrors, ErrorSums, Numbers, PairErrors, by_blocks, by_entries

TASKS = (
    "gpr", "gpr likelihood", "gpr recentred", "gpc", "ridge", "ridge cg, targets", "ridge cg, step", "vector_field",
    "kid", "variance", "variance of all pairs", "variance of a field", "rows in memory",
)  # fmt: skip


def passes(dtype="float32"):
    """(start, rows) of the sums of every task."""
    X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    field = Dataset("field", InMemory(X), InMemory(np.c_[np.sin(3 * X[:, 0]), X[:, 1] ** 2]), None)
    diabetes, digits, fields = (
        prepared_split(data, Preparation(steps), 0, np.dtype(dtype)).train
        for data, steps in (
            (load({"name": "diabetes"}, data_dir=None, download=False), ("standardize", "unit_norm")),
            (load({"name": "digits"}, data_dir=None, download=False), ("unit_norm",)),
            (field, ()),
        )
    )
    polynomial, gaussian = make_kernel("polynomial", 3), make_kernel("gaussian", 1, length_scale=1.0)
    curl_free = make_kernel("curl_free", 1, length_scale=0.4)

    def draw(name, kernel, d, D):
        return Draw(make_sketch(name, kernel), d, D, 7, ("sketch", name, D, 0), dtype)

    gpr, slope = draw("ctr_tensorsrht", polynomial, 10, 64), draw("rff", gaussian, 10, 64)
    gpc = draw("complex_rff", gaussian, 64, 600)
    ridge, orff = draw("rff", gaussian, 64, 520), draw("orff_curl_free", curl_free, 2, 50)
    around = make_sketch("localized_maclaurin", gaussian, base="rademacher", centers="test")
    around = Draw(around.adapt(diabetes.take(np.arange(50))[0], 32), 10, 32, 7, (), dtype).features
    sample, _ = digits.take(np.arange(200))
    tangent, rest, _ = known_part(polynomial, make_sketch("gaussian", polynomial), sample, 64, 2)
    embedder = Embedder([Draw(rest, 64, 64, 0, ("test", k), dtype) for k in range(3)], tangent)
    targets, centred = Targets(digits, np.full(10, -0.8), signed=True), Centred(diabetes, 150.0)
    V = np.random.default_rng(1).standard_normal((520, 10)).astype(dtype)
    pairs = PairErrors(ridge, gaussian, sample, np.arange(100), np.arange(100, 200))
    of_field = PairErrors(orff, curl_free, X[:20].astype(dtype), np.arange(10), np.arange(10, 20))
    found = {
        "gpr": (partial(GramSums, gpr), centred),
        "gpr likelihood": (partial(SlopeSums, slope, 0.7), centred),
        "gpr recentred": (partial(RecentredSums, around, diabetes.take(np.arange(3))[0]), centred),
        "gpc": (partial(GramSums, gpc), make_task("gpc").groups(digits, np.zeros(10))[3]),
        "ridge": (partial(GramSums, ridge), targets),
        "ridge cg, targets": (partial(ProductSums, ridge, None), targets),
        "ridge cg, step": (partial(ProductSums, ridge, V), targets),
        "vector_field": (partial(FoldedGramSums, orff, 5), Targets(fields, np.array([0.1, -0.2]))),
        "kid": (embedder, digits),
        "variance": (partial(ErrorSums, pairs, by_entries), Numbers(200)),
        "variance of all pairs": (
            partial(ErrorSums, AllErrors(ridge, gaussian, sample[:30]), by_entries),
            Numbers(200),
        ),
        "variance of a field": (partial(ErrorSums, of_field, by_blocks), Numbers(200)),
        "rows in memory": (partial(GramSums, gpr), Held(*diabetes.arrays())),
    }
    assert set(found) == set(TASKS)
    return found
