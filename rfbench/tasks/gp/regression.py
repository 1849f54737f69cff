"""Gaussian process regression with features in place of the kernel [Wacker 2022, 1.2, 5.4.1 and B.3].

Labels are centred on the training rows; k = σ² k₀ with σ² their variance unless a number is given.  With G = ΦᴴΦ =
QΛQᴴ of the baseline sketch and λ = σₙ²/σ², one eigendecomposition serves all noises of the grid:

    μ(x) = Φ(x)ᵀQ (Λ + λI)⁻¹ QᴴΦᴴy,      σ²(x) = σₙ² Σⱼ |Φ(x)ᵀQ|ⱼ² / (Λⱼ + λ)                              (1)
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from rfbench.arrays import Array, is_complex
from rfbench.cache import cached
from rfbench.checks import InputError, require
from rfbench.datasets.moments import Moments
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.kernels.exponential import Scaled
from rfbench.linalg.gram import Drawn, doubles, gram_sums
from rfbench.linalg.tiles import MOST_ROWS
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks.base import KERNEL_ROWS, Measure, Trial, of_one_output
from rfbench.tasks.baseline import VALIDATION, baseline, baseline_name
from rfbench.tasks.gp.feature_likelihood import maximize_streamed
from rfbench.tasks.gp.likelihood import Hyperparameters, maximize
from rfbench.tasks.gp.posterior import FeaturePosterior, Model, Posterior, ProcessModel
from rfbench.tasks.gp.process import ExactProcess, GaussianProcess, exact_process
from rfbench.tasks.gp.statistics import Groups
from rfbench.tasks.model import Fitted
from rfbench.tasks.rows import Centred, Held, new_rows
from rfbench.tasks.scores import RegressionScores, negative_log_likelihood

GRID = 2.0 ** np.arange(-15, 16)  # noise variances, over the variance of the labels
LIKELIHOOD_FEATURES = 1024
LIKELIHOODS = ("exact", "features")
ISOTROPIC = ("gaussian", "matern", "laplacian")  # whose features of any length scale are those of scaled rows
WORDS = {"noise": ("auto", "likelihood"), "signal": ("label_variance", "likelihood")}


@dataclass(frozen=True)
class GPR(GaussianProcess):
    """Error, likelihood and divergence from the exact process; noise and signal are variances in units of labels²."""

    name = "gpr"
    noise: float | str = "auto"
    likelihood: str = "exact"  # of which process it is the largest
    grid: int = 0  # points along each column at which it diverges; 0: test rows

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, words in WORDS.items():
            value = getattr(self, key)
            good = value in words or (not isinstance(value, str) and 0 < value < np.inf)
            require(good, f"task.{key}", f"{words[0]}, {words[1]} or a number above 0", value)
        require(self.likelihood in LIKELIHOODS, "task.likelihood", " or ".join(LIKELIHOODS), self.likelihood)
        require(self.grid == 0 or self.grid > 1, "task.grid", "0 (test rows) or at least 2", self.grid)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        unsuited = of_one_output(self.name, recipe)
        if objection := unsuited if recipe.by_likelihood else super().objection(sketch, recipe):
            return objection
        if self.noise == "auto":
            baseline_name(recipe.provisional(), "task.noise")  # or a word on what to do
        if "likelihood" in (self.noise, self.signal) and not issubclass(recipe.cls, Scaled):
            return f"task.noise and task.signal by likelihood need a kernel with a length scale, not '{recipe.name}'"
        if self.likelihood == "features" and recipe.name not in ISOTROPIC:
            return f"task.likelihood=features needs kernel={', '.join(ISOTROPIC)}, not '{recipe.name}'"
        return None

    def fit(self, recipe: KernelRecipe, train: Prepared, seed: int, engine: Engine, D: int | None = None) -> Kernel:
        if not recipe.by_likelihood:
            return super().fit(recipe, train, seed, engine)
        kernel = recipe.provisional()
        assert isinstance(kernel, Scaled)
        found = self._most_likely(kernel, None, train, seed, engine)
        return replace(kernel, length_scale=found.length_scale)

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> ExactProcess:
        labels = label_moments(split.train)
        shift, variance = float(labels.mean), float(labels.squares / labels.n)
        signal, noise = self._signal(variance), given(self.noise)
        if "likelihood" in (self.signal, self.noise):
            assert isinstance(kernel, Scaled)
            found = self._most_likely(kernel, kernel.length_scale, split.train, seed, engine)
            signal, noise = found.signal, found.noise if self.noise == "likelihood" else noise
        assert signal is not None
        X, y = split.train.sample(self.reference_rows, rng_for(seed, "gpr", "train"))
        y = y - shift
        if noise is None:
            draw, rows = baseline(kernel, X.shape[1], seed, X.dtype, "task.noise"), Centred(split.train, shift)
            (best,) = cached(
                "noise",
                (split.train.part.dataset.identity, kernel, draw.D, seed, X, y, shift, variance, labels.n, signal),
                lambda: (least_loss(draw, rows, signal, variance * GRID, seed, engine),),
            )
            noise = float(best)
        X_test = grid(split.train, self.grid) if self.grid else None
        if X_test is None:
            X_test, _ = split.test.sample(self.reference_rows, rng_for(seed, "gpr", "test"))
        model = Model(np.array([[1 / noise]]), np.ones((1, 1)), signal)
        chosen = Measure("noise_variance", noise)
        return exact_process(kernel, [Held(X, y)], X_test, model, np.array([shift]), chosen, engine)

    def _most_likely(
        self, kernel: Scaled, length_scale: float | None, train: Prepared, seed: int, engine: Engine
    ) -> Hyperparameters:
        """The hyperparameters of largest marginal likelihood; without a length scale it is one of them."""
        labels = label_moments(train)
        shift, signal = float(labels.mean), self._signal(labels.squares / labels.n)
        known = length_scale, signal, given(self.noise)
        X, y = train.sample(KERNEL_ROWS, rng_for(seed, "kernel"))
        y = y - shift
        (found,) = cached("likelihood", (kernel, X, y, known), lambda: (np.array(maximize(kernel, X, y, known)),))
        if self.likelihood == "features":
            unit, limits = replace(kernel, length_scale=1.0), (LIKELIHOOD_FEATURES, LIKELIHOOD_FEATURES)
            draw = baseline(unit, X.shape[1], seed, np.float64, "task.likelihood", limits)
            start, rows = Hyperparameters(*found.tolist()), Centred(train, shift)
            sums = shift, labels.squares, labels.n
            (found,) = cached(
                "likelihood",
                (train.part.dataset.identity, draw.sketch, draw.D, seed, start, known, X, y, *sums),
                lambda: (np.array(maximize_streamed(draw, rows, start, known, engine)),),
            )
        return Hyperparameters(*found.tolist())

    def _signal(self, variance: float) -> float | None:
        return float(variance) if self.signal == "label_variance" else given(self.signal)

    def groups(self, train: Prepared, shift: Array) -> Groups:
        return [Centred(train, float(shift[0]))]

    def fitted(self, process: ProcessModel, reference: ExactProcess, seed: int) -> Fitted:
        return RegressionModel(process.draw, process, float(reference.shift[0]), reference.chosen.value)

    def score(self, posterior: Posterior, test: Prepared, reference: ExactProcess, trial: Trial) -> Iterator[Measure]:
        scores, noise = RegressionScores(), reference.chosen.value
        for X, y in new_rows(test):
            mean, variance = (part[:, 0] for part in posterior(X, trial.engine))
            scores.add(y, mean + reference.shift[0], variance + noise)
        yield Measure("rmse", np.sqrt(scores.mse))
        yield Measure("nmse", scores.nmse)
        yield Measure("mnll", scores.mnll)
        if isinstance(posterior, FeaturePosterior) and not is_complex(posterior.features.dtype):
            labels, signal = label_moments(trial.split.train), reference.model.signal
            yield Measure("nmll", posterior.negative_log_marginal(float(labels.squares), labels.n, signal, noise))
        yield Measure("mae", scores.mae)
        if (correlation := scores.ranks.correlation()) is not None:
            yield Measure("spearman", correlation)


@dataclass(frozen=True, eq=False)
class RegressionModel(Fitted):
    """A fitted regression as it is saved."""

    draw: Draw
    process: ProcessModel
    shift: float
    noise: float

    def __call__(self, X: Array, first: int, engine: Engine) -> dict[str, Array]:
        mean, variance = self.process(X, engine)
        return {"outputs": mean + self.shift, "std": np.sqrt(variance[:, 0] + self.noise)}


def grid(train: Prepared, points: int) -> Array:
    """A regular grid over the range of the training rows, with so many points along each of one or two columns."""
    found = Moments()
    for X, _ in train.blocks():
        found.add(X)
    if len(found.mean) > 2 or points ** len(found.mean) > MOST_ROWS:
        wanted = f"0 for rows of more than two columns or a grid of more than {MOST_ROWS:,} points"
        raise InputError(f"task.grid must be {wanted}; {points} was given for {len(found.mean)} columns")
    axes = [np.linspace(low, high, points) for low, high in zip(found.low, found.high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes)).astype(train.dtype)


def given(value: float | str) -> float | None:
    """The number, or None for a word."""
    return None if isinstance(value, str) else float(value)


def label_moments(train: Prepared) -> Moments:
    dataset, labels = train.part.dataset, Moments()
    if dataset.classes is not None:
        raise InputError(f"task=gpr needs numbers to predict, and dataset '{dataset.name}' has classes; use task=gpc")
    for y in train.part.labels():
        labels.add(y)
    if not 0 < labels.squares < np.inf:
        raise InputError(f"task=gpr needs labels that differ and are finite; those of '{dataset.name}' are not")
    return labels


def least_loss(draw: Drawn, rows: Centred, signal: float, grid: Array, seed: int, engine: Engine) -> Array:
    """The noise of the grid with the least MNLL on held-out rows: equation (1)."""
    rest, held_out = rows.part.divided(VALIDATION, rng_for(seed, "gpr", "validation"))
    sums = gram_sums(draw, replace(rows, part=rest), engine)
    eigenvalues, Q = eigh(sums.G, lower=False, overwrite_a=True, driver="evd")
    weights = 1 / (np.maximum(eigenvalues, 0)[:, None] + grid / signal)
    losses = np.zeros(len(grid))
    for X, y in new_rows(held_out):
        P = doubles(draw.features, X, engine) @ Q
        mean, variance = P @ (weights * (Q.T @ sums.R)[:, None]), grid * (P**2 @ weights)
        losses += negative_log_likelihood(y[:, None] - rows.shift, mean, variance + grid).sum(0)
    return grid[losses.argmin()]
