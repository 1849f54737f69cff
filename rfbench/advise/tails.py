"""How far the mean of an error lies below its root mean square.

Closed forms give E Q of Q = ‖K̂ − K‖²/‖K‖², and a run measures the mean of √Q, which is at most √(E Q).  Where rows are
alike, all entries of K̂ err together and √Q is like |z| of a Gaussian z, whose mean is 0.8 of its root mean square;
products of p projections have heavy tails besides, and rare draws that hardly ever occur dominate E Q.

Both depend on the projections ⟨w, x⟩ of rows only.  These are nearly Gaussian with the covariance of the rows, but for
the constant column √ν, which enters with one weight of the law itself.  So features of few rows are simulated in
coordinates of their span, whatever the number of columns, and averages of 8, 32, 128 and 512 of them give the ratio
E√Q / √(E Q) as a function of √(E Q), for all sketches whose weights have this law.  E Q of the simulated features is
known: with N = ‖x‖²‖y‖² and s = ⟨x, y⟩² of rows with their constant column, equations (1) and (2) of weights.py become

    m = N + (1 + t) s + (κ − 2 − t) ν²,        pseudo-moment  t N + 2 s + (κ − 2 − t) ν².
"""

from dataclasses import dataclass

import numpy as np

from rfbench.advise.evidence import Evidence
from rfbench.arrays import Array, inner
from rfbench.kernels.polynomial import AffinePower
from rfbench.seeds import rng_for
from rfbench.sketches.products.weights import Law

ROWS = 32
POOL = 1 << 15  # simulated features
COUNTS = (8, 32, 128, 512)  # features in an average


@dataclass(frozen=True, eq=False)
class Tails:
    """E√Q / √(E Q) at some values of √(E Q), in increasing order."""

    rms: Array
    ratio: Array

    def __call__(self, rms: float) -> float:
        """The ratio; beyond the simulated values it is that of the last one."""
        return float(np.interp(np.log(max(rms, 1e-300)), np.log(self.rms), self.ratio))


def tails(evidence: Evidence, law: Law) -> Tails | None:
    """The ratio for products of projections with weights of a law, where the kernel is a power."""
    kernel = evidence.kernel
    if not isinstance(kernel, AffinePower) or kernel.power == 1:
        return None
    p, gamma, nu = kernel.affine
    X = evidence.X[rng_for(0, "tails").permutation(len(evidence.X))[:ROWS]].astype(np.float64)
    G = gamma * inner(X, X)
    few = Evidence(kernel, evidence.train, X, evidence.n, evidence.dtype)
    Phi = simulated(G, p, nu, law)
    points = []
    for D in COUNTS:
        groups = Phi.reshape(len(X), -1, D).swapaxes(0, 1)
        errors = np.matmul(groups, groups.conj().swapaxes(1, 2)).real / D - (G + nu) ** p
        Q = np.array([few.total(error**2) for error in errors]) / few.scale
        rms = np.sqrt(few.total(one_feature(G, p, nu, law)) / D / few.scale)
        points.append((rms, min(float(np.sqrt(Q).mean()) / rms, 1.0)))
    rms, ratio = np.array(points[::-1]).T
    return Tails(rms, ratio)


def simulated(G: Array, p: int, nu: float, law: Law) -> Array:
    """Products of p projections of rows with the inner products G, (rows, POOL)."""
    rng = rng_for(0, "tails", law.kurtosis, law.t)
    values, U = np.linalg.eigh(G)
    L = (U * np.sqrt(np.maximum(values, 0))).astype(np.float32)
    q = (1 + law.t**0.5) / 2  # the variance of the real part of a weight
    Phi = np.ones((len(G), POOL), np.float32 if law.real else np.complex64)
    for _ in range(p):
        z = rng.standard_normal((len(G), POOL), np.float32)
        if not law.real:
            z = np.float32(q**0.5) * z + 1j * np.float32((1 - q) ** 0.5) * rng.standard_normal(z.shape, np.float32)
        Phi *= L @ z + np.float32(nu**0.5) * law.draw((POOL,), rng, np.float32)
    return Phi


def one_feature(G: Array, p: int, nu: float, law: Law) -> Array:
    """The variance of the real part of one simulated feature of each pair."""
    k = G + nu
    N, more = np.outer(k.diagonal(), k.diagonal()), (law.kurtosis - 2 - law.t) * nu**2
    moments = [N + (1 + law.t) * k**2 + more]
    if not law.real:
        moments.append(law.t * N + 2 * k**2 + more)
    return np.maximum(np.mean([m**p for m in moments], axis=0) - k ** (2 * p), 0)
