"""Sketches as the estimators they are: z-tests of mean and variance, with an exact standard error where known."""

import numpy as np

from rfbench.sketches.contract import LIMIT  # noqa: F401  (of z-scores, for the tests)


def estimates(sketch, X, D, draws, seed):
    """k̂ of all pairs i < j of rows, draw by draw."""
    rng = np.random.default_rng(seed)
    pairs = np.triu_indices(len(X), 1)
    out = np.empty((draws, len(pairs[0])), complex)
    for t in range(draws):
        features = sketch.sample(X.shape[1], D, rng, np.float64)
        Phi = features(X)
        out[t] = features.product(Phi, Phi)[pairs]
    return out


def estimates_at_once(sketch, X, D, draws, seed):
    """The same for sketches of independent features: one draw of many features is many draws of D."""
    rng = np.random.default_rng(seed)
    pairs, at_once = np.triu_indices(len(X), 1), 500
    out = []
    for _ in range(draws // at_once):
        Phi = sketch.sample(X.shape[1], D * at_once, rng, np.float64)(X) * np.sqrt(at_once)
        halves = np.split(Phi, 2, axis=1) if hasattr(getattr(sketch, "base", sketch), "base") else [Phi]
        parts = [half.reshape(len(X), at_once, -1).swapaxes(0, 1) for half in halves]
        out.append(sum(part @ part.conj().swapaxes(1, 2) for part in parts)[:, *pairs])
    return np.concatenate(out)


def rate(sketch, X, K, seeds):
    """Slope of log error against log D, for D a multiple of the Hadamard blocks of 64 columns and a bias."""
    counts = np.array([256, 1024, 4096])

    def error(D, seed):
        Phi = sketch.sample(X.shape[1], D, np.random.default_rng(seed), np.float64)(X)
        return np.linalg.norm(Phi @ Phi.conj().T - K)

    errors = [np.mean([error(D, seed) for seed in range(seeds)]) for D in counts]
    return np.polyfit(np.log(counts), np.log(errors), 1)[0]


def of_pairs(matrix):
    return matrix[np.triu_indices(len(matrix), 1)]


def z_of_mean(values, kernel, variance):
    """The largest |z| of the mean of the draws over all pairs; the standard error is the closed form's."""
    return float(np.max(np.abs(values.mean(0) - kernel) / np.sqrt(variance / len(values))))


def variance_ratio(values, kernel, variance):
    """Empirical over closed-form variance, averaged over pairs: (ratio, bootstrap standard error)."""
    per_draw = (np.abs(values - kernel) ** 2 / variance).mean(1)
    rng = np.random.default_rng(0)
    means = [per_draw[rng.integers(0, len(per_draw), len(per_draw))].mean() for _ in range(100)]
    return float(per_draw.mean()), float(np.std(means))
