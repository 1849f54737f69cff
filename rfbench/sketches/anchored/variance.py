"""The variance of mean-split and anchored features.

For a pair of rows let N = ‖r‖²‖r'‖² and s = ⟨r, r'⟩², m and q their moment and pseudo-moment (weights.py), and N_e, S,
E = E⟨ε, e⟩²⟨ε, e'⟩² the same of e_j and e_j' with real signs.  D features of degree j have

    D Var = (E mʲ − S sʲ) − (D − 1) S [sʲ − (s − (m − s)/(L − 1))ʲ],                                             (1)

L the number of rows that they were drawn from: equation (2) of product.py with one more factor.  With complex signs
it is the mean of (1) and of (1) with q in place of m [Wacker 2022, Proposition 4.2.1].  Degrees are uncorrelated.

Where anchors leave the squared norms t, t' of n, n' = N_e Nʲ = n n', and of the product of both rows ρ, one feature of
what they leave, which is no product any more, has no closed form short of a sum over all quadruples of anchors.  A
product of signs with a tensor without structure has the moment t t' + 2ρ² (real) or t t' + ρ² and the pseudo-moment 2ρ²
(complex); E mʲ exceeds this by

    x = E mʲ − n n' − 2 S sʲ        (S sʲ in place of 2 S sʲ and 0 in place of n n', accordingly)

because x ⊗ .. ⊗ x has a structure.  The first bracket of (1) is then t t' + 2ρ² + τ² x − ρ², τ = min(1, t t'/n n'), and
rows without replacement lower the variance by the same factor as that of the products.  This is exact without anchors,
and for rows that the anchors do not reach; elsewhere it is an approximation, good to a few percent on average over
pairs of real rows and to about a fifth for single pairs.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from rfbench.arrays import Array, inner, padded
from rfbench.sketches.anchored.split import Lifted
from rfbench.sketches.products.weights import RADEMACHER, Law

TINY = 1e-300
Left = tuple[Array, Array, Array]  # t, t' and ρ of one degree


def variances(
    A: Lifted, B: Lifted, law: Law, counts: Sequence[int], left: Sequence[Left] | None = None
) -> Iterator[Array]:
    """Var of every degree j ≥ 1 with that many columns; `left` has an entry for every degree, beginning with 0."""
    s, h = inner(A.r, B.r) ** 2, padded(A.r.shape[1])
    n, n_, k = list(A.norms()), list(B.norms()), A.grams(B)
    next(k)
    for j, (columns, kj) in enumerate(zip(counts, k, strict=True), 1):
        t, t_, rho = left[j] if left else (n[j], n_[j], kj)
        of = RADEMACHER if j == 1 else law
        E, S = RADEMACHER.second_moment(A.e[j], B.e[j]), inner(A.e[j], B.e[j]) ** 2
        moments = [(of.second_moment(A.r, B.r), 1, 1 + of.real)]
        if not of.real:
            moments.append((of.pseudo_moment(A.r, B.r), 0, 2))
        D = columns // len(moments)
        nn, tt, L = np.outer(n[j], n_[j]), np.outer(t, t_), max(-(-D // h) * h - 1, 1) + 1
        tau = np.minimum(tt / np.maximum(nn, TINY), 1)
        one, gain, rest = np.zeros((3, *s.shape))  # of products: features by themselves, and the bracket; what is left
        for m, of_norms, of_inner in moments:
            excess = E * m**j - of_norms * nn - of_inner * kj**2
            one += E * m**j - kj**2
            gain += (D - 1) * S * (s**j - (s - (m - s) / (L - 1)) ** j)
            rest += of_norms * tt + (of_inner - 1) * rho**2 + tau**2 * excess
        yield np.maximum(rest * (1 - gain / np.maximum(one, TINY)), 0) / columns
