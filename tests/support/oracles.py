"""The definitions again, as slow loops.  Imports nothing from the program."""

import itertools

import numpy as np
from scipy.interpolate import BSpline
from scipy.special import gamma, jv, kv


def hadamard(d):
    H = np.ones((1, 1))
    while len(H) < d:
        H = np.block([[H, H], [H, -H]])
    return H


def product_features(X, W):
    """Φ(x)_l = Π_i ⟨w_il, x⟩ for W of shape (p, d, D)."""
    p, _, D = W.shape
    Phi = np.ones((len(X), D), complex)
    for row, x in enumerate(X):
        for l in range(D):
            for i in range(p):
                Phi[row, l] *= np.sum(W[i, :, l] * x)
    return Phi


def srht_features(X, signs, index):
    """Φ(x)_l = Π_i (H D_i x)_{index_il}; signs (p, d), x padded with zeros."""
    p, d = signs.shape
    size = 1
    while size < d:
        size *= 2
    H = hadamard(size)
    Phi = np.ones((len(X), index.shape[1]), complex)
    for row, x in enumerate(X):
        for i in range(p):
            for l, at in enumerate(index[i]):
                Phi[row, l] *= np.sum(H[at, :d] * signs[i] * x)
    return Phi


def kernel_matrix(X, k):
    return np.array([[k(x, y) for y in X] for x in X])


def matern(x, y, nu, l):
    """2^{1−ν}/Γ(ν) (√(2ν) r)^ν K_ν(√(2ν) r) with r = ‖x − y‖/l."""
    r = np.sqrt(2 * nu) * np.linalg.norm(x - y) / l
    return 2 ** (1 - nu) / gamma(nu) * r**nu * kv(nu, r) if r else 1.0


def arc_cosine_2(x, y):
    """‖x‖²‖y‖² (3 sin θ cos θ + (π − θ)(1 + 2 cos²θ))/π  [Cho & Saul 2009, Eq. 7]."""
    size = np.linalg.norm(x) * np.linalg.norm(y)
    theta = np.arccos(np.clip(x @ y / size, -1, 1))
    return size**2 * (3 * np.sin(theta) * np.cos(theta) + (np.pi - theta) * (1 + 2 * np.cos(theta) ** 2)) / np.pi


def bessel(x, y, l):
    """Γ(d/2) (2/r)^{d/2−1} J_{d/2−1}(r) with r = √d ‖x − y‖/l."""
    nu, r = len(x) / 2 - 1, np.sqrt(len(x)) * np.linalg.norm(x - y) / l
    return gamma(nu + 1) * (2 / r) ** nu * jv(nu, r) if r else 1.0


def b_spline(x, y, l, order):
    """Products of scipy's B-splines on uniform knots, 1 at 0."""
    n = 2 * order + 1
    element = BSpline.basis_element(np.arange(n + 2) - (n + 1) / 2, extrapolate=False)
    return np.prod(np.nan_to_num(element((x - y) / l * np.sqrt((n + 1) / 12))) / element(0.0))


def srht_moments(x, y, p, D, letters, stacked):
    """(E k̂, E|k̂|², E k̂²) of TensorSRHT, by going through all signs and all shuffles.

    k̂ = Σ_l Π_i c_il / D with c_il = (H D_i x)_l conj((H D_i y)_l) at shuffled places.  Degrees are independent, so
    the moments of Π_i are powers of those of one degree.
    """
    d = len(x)
    H = hadamard(d)
    blocks = [list(range(s, min(s + d, D))) for s in range(0, D, d)] if stacked else [list(range(D))]
    rows = list(range(d)) * (1 if stacked else -(-D // d))
    mean, second, pseudo = np.zeros(D, complex), np.zeros((D, D), complex), np.zeros((D, D), complex)
    count = 0
    shuffles = list(itertools.permutations(rows))
    for z in itertools.product(letters, repeat=d):
        a, b = H @ (np.array(z) * x), H @ (np.array(z) * y)
        products = a * b.conj()
        for shuffle in shuffles:
            c = products[list(shuffle)]
            size = min(len(c), D)
            mean[:size] += c[:size]
            second[:size, :size] += np.outer(c[:size], c[:size].conj())
            pseudo[:size, :size] += np.outer(c[:size], c[:size])
            count += 1
    mean, second, pseudo = mean / count, second / count, pseudo / count
    if stacked:  # block 0 stands for all: alike within a block, independent between blocks
        full_mean = np.full(D, mean[0])
        S, P = np.empty((D, D), complex), np.empty((D, D), complex)
        of = {l: (n, l - block[0]) for n, block in enumerate(blocks) for l in block}
        for l in range(D):
            for m in range(D):
                same = of[l][0] == of[m][0]
                i, j = of[l][1], of[m][1]
                S[l, m] = second[i, j] if same else full_mean[l] * full_mean[m].conj()
                P[l, m] = pseudo[i, j] if same else full_mean[l] * full_mean[m]
        mean, second, pseudo = full_mean, S, P
    return (mean**p).sum() / D, (second**p).sum() / D**2, (pseudo**p).sum() / D**2


def ahle_moments(x, y, p, D, letters):
    """(E k̂, E|k̂|², E k̂²) of the TensorSRHT of Ahle et al., by going through all signs and all sets of D tuples."""
    d = len(x)
    H = hadamard(d)
    values = []
    for z in itertools.product(letters, repeat=p * d):
        signs = np.array(z).reshape(p, d)
        products = [(H @ (s * x)) * (H @ (s * y)).conj() for s in signs]
        tuples = [np.prod(one) for one in itertools.product(*products)]
        values += [np.mean(some) for some in itertools.combinations(tuples, D)]
    values = np.array(values)
    return values.mean(), np.mean(np.abs(values) ** 2), np.mean(values**2)


def field_kernel(x, y, l, c, h=1e-4):
    """c(−∇∇ᵀk) + (1 − c)(∇∇ᵀ − ΔI)k of the Gaussian kernel, by second differences."""
    d = len(x)

    def k(delta):
        return np.exp(-(delta @ delta) / (2 * l * l))

    H, E = np.empty((d, d)), h * np.eye(d)
    for a in range(d):
        for b in range(d):
            corners = [(s, t) for s in (1, -1) for t in (1, -1)]
            H[a, b] = sum(s * t * k(x - y + s * E[a] + t * E[b]) for s, t in corners) / (4 * h * h)
    return c * -H + (1 - c) * (H - np.trace(H) * np.eye(d))


def spectral(kernel, w):
    """A(ω)."""
    along = np.outer(w, w)
    c = {"curl_free": 1.0, "div_free": 0.0, "helmholtz": getattr(kernel, "curl_free", None)}.get(kernel.name)
    return np.array(kernel.coupling) if c is None else c * along + (1 - c) * (w @ w * np.eye(len(w)) - along)


def root(A):
    """A numerical square root."""
    values, Q = np.linalg.eigh(A)
    return Q * np.sqrt(np.maximum(values, 0))


def truncated(kernel, degrees, X):
    """g(x) g(y) Σ aₙ⟨x, y⟩ⁿ over the degrees given."""
    n = np.array(degrees)
    g = kernel.radial(X)
    return np.outer(g, g) * ((X @ X.T)[..., None] ** n @ kernel.coefficients(n))
