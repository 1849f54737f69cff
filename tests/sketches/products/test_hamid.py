"""TensorSRHT of Hamid et al.: the features by their definition, and the bias by enumeration and by draws."""

import itertools

import numpy as np
import pytest
from support import oracles, stats
from support.stats import LIMIT

from rfbench.arrays import padded
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.products.hamid import HamidTensorSRHT
from rfbench.sketches.products.weights import COMPLEX_RADEMACHER, RADEMACHER

LAWS = {"real": RADEMACHER, "complex": COMPLEX_RADEMACHER}


def bias(x, y, law, D):
    """Equation (1) of hamid.py less u², for two factors."""
    L, u = 2 * -(-D // padded(len(x))) * padded(len(x)), x @ y
    return -(law.pseudo_moment(x[None], y[None])[0, 0] - u**2) / (L - 1)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize(("p", "D"), [(1, 5), (2, 40), (3, 16), (3, 20)])
def test_features_are_products_of_shuffled_rows(law, p, D, wine):
    features = HamidTensorSRHT(p, law).sample(13, D, np.random.default_rng(0), np.float64)
    assert features.signs.shape == (p * -(-D // 16), 13)
    H = oracles.hadamard(16)[:, :13]
    rows = np.concatenate([wine @ (H * signs).T for signs in features.signs], 1)  # all transforms side by side
    np.testing.assert_allclose(features(wine), np.prod([rows[:, at] for at in features.index], axis=0), atol=1e-12)
    assert len(np.unique(features.index)) == p * D  # no row is used twice


@pytest.mark.parametrize("letters", [(1, -1), (1, -1, 1j, -1j)], ids=LAWS)
def test_the_bias_is_exact_by_enumeration(letters):
    """All signs and all shuffles of two transforms of two rows."""
    x, y = np.random.default_rng(3).standard_normal((2, 2))
    H, values = oracles.hadamard(2), []
    for z in itertools.product(letters, repeat=4):
        a, b = (np.concatenate((H @ (z[:2] * v), H @ (z[2:] * v))) for v in (x, y))
        c = a * b.conj()
        values += [(c[i] * c[j] + c[k] * c[l]) / 2 for i, k, j, l in itertools.permutations(range(4))]
    law = RADEMACHER if len(letters) == 2 else COMPLEX_RADEMACHER
    np.testing.assert_allclose(np.mean(values), (x @ y) ** 2 + bias(x, y, law, 2), atol=1e-12)


@pytest.mark.medium
@pytest.mark.parametrize("name", ["hamid_tensorsrht", "complex_hamid_tensorsrht", "ctr_hamid_tensorsrht"])
def test_the_mean_has_the_bias_and_without_it_is_refuted(name):
    kernel = make_kernel("polynomial", 2, bias=0.0)
    X = np.array([[1.0, 0.5, 0.2], [0.1, 1.0, 0.4], [-0.7, 0.6, 0.9]])
    law = RADEMACHER if name == "hamid_tensorsrht" else COMPLEX_RADEMACHER
    values = stats.estimates(make_sketch(name, kernel), X, 8 if name.startswith("ctr_") else 4, 4000, seed=1)
    k = stats.of_pairs(kernel.gram(X, X))
    shift = stats.of_pairs(oracles.kernel_matrix(X, lambda x, y: bias(x, y, law, 4)))
    assert stats.z_of_mean(values, k + shift, values.var(0)) < LIMIT
    assert name != "hamid_tensorsrht" or stats.z_of_mean(values, k, values.var(0)) > LIMIT


@pytest.mark.medium
def test_the_bias_vanishes_with_features(digits):
    X = digits[:30]
    kernel = make_kernel("polynomial", 3, gamma=0.5, bias=0.5)
    assert -0.6 < stats.rate(make_sketch("ctr_hamid_tensorsrht", kernel), X, kernel.gram(X, X), seeds=6) < -0.4
