"""Ridge regression of several outputs against dense matrices, scikit-learn, and itself by other ways."""

import numpy as np
import pytest
from support.answers import one_line
from support.gp import Given
from support.trial import make_trial, measured

from rfbench.checks import InputError
from rfbench.datasets import load
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import KernelRecipe, kernel_recipe, make_kernel
from rfbench.results.recorder import Recorder
from rfbench.sketches import make_sketch
from rfbench.tasks import make_task
from rfbench.tasks.ridge.operator import GRID, FoldedProblem, GramProblem, OperatorFit
from rfbench.tasks.ridge.stochastic import descend
from rfbench.tasks.rows import Held, Targets
from rfbench.tasks.vector_field import ARROWS

pytestmark = pytest.mark.medium

N, ALPHA = 60, 1e-3
RNG = np.random.default_rng(0)
X, NEW = RNG.uniform(-1, 1, (N, 2)), RNG.uniform(-1, 1, (20, 2))
Y = np.c_[np.sin(3 * X[:, 0]), X[:, 1] ** 2] + 0.1 * RNG.standard_normal((N, 2))
KERNELS = {
    "decomposable": make_kernel("decomposable", 1, length_scale=0.7, coupling=[[2.0, 1.0], [1.0, 1.0]]),
    "low_rank": make_kernel("decomposable", 1, length_scale=0.7, coupling=[[4.0, 2.0], [2.0, 1.0]]),
    "curl_free": make_kernel("curl_free", 1, length_scale=0.7),
    "div_free": make_kernel("div_free", 1, length_scale=0.7),
    "helmholtz": make_kernel("helmholtz", 1, length_scale=0.7, curl_free=0.3),
}
KERNEL = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def train_rows():
    """The rows above, all of them for training."""
    data = Dataset("made", InMemory(np.r_[X, NEW]), InMemory(np.r_[Y, np.zeros((20, 2))]), None, N)
    return prepared_split(data, Preparation(()), 0, np.float64).train


def features_of(kernel, D, seed=1):
    return make_sketch(f"orff_{kernel.name}", kernel).sample(2, D, np.random.default_rng(seed), np.float64)


def fit_of(engine, shift=(0.0, 0.0), scale=1.0, alpha=ALPHA, folds=5, solver="auto", epochs=1):
    return OperatorFit(Targets(train_rows(), np.array(shift)), scale, engine, alpha, folds, solver, epochs)


def fitted(kernel, D=None, workers=2, **options):
    """f of NEW, with D features or exactly, and α; λ = α n."""
    with Local(workers).running() as engine:
        fit = fit_of(engine, **options)
        if D:
            f, alpha = fit.features(Given(features_of(kernel, D)), np.random.default_rng(0))
        else:
            f, alpha = fit.exact(kernel)
        return f(NEW, engine), alpha


def dense(kernel, D=None, alpha=ALPHA):
    """(K + λI)⁻¹ of the block Gram matrix."""
    if D:
        features = features_of(kernel, D)
        K, cross = (features.product(features(Z), features(X)) for Z in (X, NEW))
    else:
        K, cross = kernel.gram(X, X), kernel.gram(NEW, X)
    return (cross @ np.linalg.solve(K + alpha * N * np.eye(2 * N), Y.ravel())).reshape(-1, 2)


@KERNEL
@pytest.mark.parametrize("D", [None, 10, 58, 400])  # exact, primal, dual
def test_every_way_is_the_dense_formula(kernel, D):
    np.testing.assert_allclose(fitted(kernel, D)[0], dense(kernel, D), atol=1e-8)


@KERNEL
def test_conjugate_gradients_reach_the_same(kernel):
    np.testing.assert_allclose(fitted(kernel, 40, solver="cg")[0], dense(kernel, 40), atol=1e-5)


@pytest.mark.parametrize("name", ["low_rank", "curl_free", "div_free"])
def test_stochastic_gradients_come_near(name):
    wanted = dense(KERNELS[name], 20, alpha=0.05)
    found = fitted(KERNELS[name], 20, alpha=0.05, solver="sgd", epochs=2000)[0]
    assert np.linalg.norm(found - wanted) < 0.02 * np.linalg.norm(wanted)


def test_iterates_of_the_second_half_of_the_epochs_are_averaged():
    """Four epochs of one batch, by hand."""
    features, rng = features_of(KERNELS["low_rank"], 20), np.random.default_rng(0)
    M, penalty = features.coupling, 0.05
    found = descend(features, M, Held(X, Y), penalty, 4, rng)
    Phi, B = features(X), M.B
    # The largest eigenvalue of PᵀP/n is a product; the power iteration finds it from below.
    step = 0.5 / (np.linalg.norm(Phi, 2) ** 2 / N * np.linalg.norm(B, 2) ** 2 + penalty)
    theta, iterates = np.zeros(M.shape), []
    for _ in range(4):
        theta = theta - step * (Phi.T @ (Phi @ theta @ B.T - Y) @ B / N + penalty * theta)
        iterates.append(theta)
    wanted, all_of_them = (np.mean(some, axis=0) @ B.T for some in (iterates[2:], iterates))
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())
    assert np.linalg.norm(all_of_them - wanted) > 0.05 * np.linalg.norm(wanted)


@pytest.mark.parametrize(("D", "alpha"), [(0, 0.5), (30, 0.5), (30, f"{0.5 * N}/n")])
def test_targets_are_centred(D, alpha):
    """Targets with a mean of 30, against the dense fit of the centred ones; with λ of this size centring matters."""
    data = Dataset("made", InMemory(np.r_[X, NEW]), InMemory(np.r_[Y, Y[:20]] + 30), None, N)
    split = prepared_split(data, Preparation(()), 0, np.float64)
    kernel = KERNELS["curl_free"]
    task, sketch = make_task("vector_field", alpha=alpha), make_sketch("orff_curl_free" if D else "exact", kernel)
    with Local(2).running() as engine:
        trial = make_trial(split, kernel, sketch, D, engine)
        found = measured(task, trial, task.reference(split, kernel, 0, engine))
    features = trial.draw(0)
    K, cross = (features.product(features(Z), features(X)) if D else kernel.gram(Z, X) for Z in (X, NEW))
    scale = kernel.gram(X[:1], X[:1]).diagonal().mean()
    weights = np.linalg.solve(K + 0.5 * scale * N * np.eye(2 * N), (Y - Y.mean(0)).ravel())
    error = (cross @ weights).reshape(-1, 2) + Y.mean(0) - Y[:20]
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-6)
    assert found["rmse"] < 2


def test_stochastic_gradients_do_not_diverge_by_a_short_last_batch():
    """A batch of one row, with the step of the 256 before it, would give an error of thousands here."""
    data = load(FIELD | {"rows": 257}, data_dir=None, download=False)
    task = make_task("vector_field", solver="sgd", alpha=1e-4, epochs=60)
    assert run(task, data, "orff_curl_free", make_kernel("curl_free", 1, length_scale=0.2), 400)["nmse"] < 0.5


def test_scalar_features_are_the_ridge_regression_of_scikit_learn():
    from sklearn.linear_model import Ridge

    features = make_sketch("rff", make_kernel("gaussian", 1, length_scale=0.7)).sample(
        2, 30, np.random.default_rng(1), float
    )
    with Local(2).running() as engine:
        found = fit_of(engine).features(Given(features), np.random.default_rng(0))[0](NEW, engine)
    model = Ridge(ALPHA * N, fit_intercept=False).fit(features(X), Y)
    np.testing.assert_allclose(found, model.predict(features(NEW)), atol=1e-8)


@KERNEL
def test_cross_validation_is_the_loop_over_folds(kernel):
    features, alphas = features_of(kernel, 16), np.array([1e-4, 1e-2, 1.0])
    K = features.product(features(X), features(X))
    wanted = np.zeros(3)
    for fold in range(4):
        out = np.repeat(np.arange(N) % 4 == fold, 2)
        for i, alpha in enumerate(alphas):
            inner = K[np.ix_(~out, ~out)] + alpha * 1.5 * (~out).sum() / 2 * np.eye((~out).sum())
            error = Y.ravel()[out] - K[np.ix_(out, ~out)] @ np.linalg.solve(inner, Y.ravel()[~out])
            wanted[i] += error @ error
    with Local(2).running() as engine:
        found = fit_of(engine, folds=4).sums(Given(features))
    np.testing.assert_allclose(FoldedProblem(features.coupling, found, 1.5, False).losses(alphas), wanted, rtol=1e-8)
    np.testing.assert_allclose(GramProblem(K, np.eye(1), Y, 4, 1.5).losses(alphas), wanted, rtol=1e-8)


@pytest.mark.parametrize("q", [1, 2])  # rows, or blocks of two outputs
def test_a_thinned_problem_is_that_of_some_rows(q):
    K = np.arange(float(N * q) ** 2).reshape(N * q, N * q)
    problem = GramProblem(K, np.eye(2 // q), Y, 4, 1.5)
    assert problem.thinned(N * q).K.shape == K.shape
    thin = problem.thinned(25 * q)  # every third row
    np.testing.assert_array_equal(thin.Y, Y[::3])
    kept = np.repeat(np.arange(N) % 3 == 0, q)
    np.testing.assert_array_equal(thin.K, K[kept][:, kept])


@KERNEL
def test_features_tend_to_the_exact_kernel(kernel):
    wanted = fitted(kernel, alpha=0.05)[0]
    errors = [np.mean([np.linalg.norm(fitted_of(kernel, D, seed) - wanted) for seed in range(8)]) for D in (128, 2048)]
    assert 2.5 < errors[0] / errors[1] < 6  # the rate −1/2 gives 4


def fitted_of(kernel, D, seed):
    features = features_of(kernel, D, seed)
    with Local(1).running() as engine:
        return fit_of(engine, alpha=0.05).features(Given(features), None)[0](NEW, engine)


def jacobian(f, h=1e-5):
    """∂f_i/∂x_j at NEW, by central differences, (n, 2, 2)."""
    return np.stack([(f(NEW + h * e) - f(NEW - h * e)) / (2 * h) for e in np.eye(2)], axis=2)


@pytest.mark.parametrize("D", [None, 50])
def test_learned_fields_have_no_curl_or_no_divergence(D):
    found = {}
    for name in ("curl_free", "div_free", "helmholtz"):
        with Local(1).running() as engine:
            fit = fit_of(engine, Y.mean(0), alpha=None)
            f, _ = fit.features(Given(features_of(KERNELS[name], D)), None) if D else fit.exact(KERNELS[name])
            J = jacobian(lambda Z, f=f, engine=engine: f(Z, engine))
        curl, divergence = np.abs(J[:, 0, 1] - J[:, 1, 0]).max(), np.abs(J[:, 0, 0] + J[:, 1, 1]).max()
        found[name] = curl, divergence
    assert found["curl_free"][0] < 1e-6 < 0.1 < found["curl_free"][1]
    assert found["div_free"][1] < 1e-6 < 0.1 < found["div_free"][0]
    assert min(found["helmholtz"]) > 0.01


def test_workers_do_not_change_a_bit():
    for D in (None, 40, 400):
        one, four = (fitted(KERNELS["curl_free"], D, alpha=None, workers=workers) for workers in (1, 4))
        np.testing.assert_array_equal(one[0], four[0])
        assert one[1] == four[1]
        assert one[1] in GRID


def run(task, dataset, sketch, kernel, D, seed=0, train_rows=None, recorder=None, **options):
    split = prepared_split(dataset, Preparation(()), seed, np.float64, train_rows)
    with Local(2).running() as engine:
        recipe = kernel if isinstance(kernel, KernelRecipe) else KernelRecipe.of(kernel)
        kernel = task.fit(recipe, split.train, seed, engine)
        sketch = make_sketch(sketch, kernel, **options)
        reference = task.reference(split, kernel, seed, engine)
        trial = make_trial(split, kernel, sketch, D, engine, seed=seed, recorder=recorder or Recorder())
        return measured(task, trial, reference)


FIELD = {
    "name": "five_gaussians",
    "field": "gradient",
    "rows": 2000,
    "test_rows": 500,
    "noise": 0.1,
    "noise_on": "train",
}


@pytest.mark.slow
@pytest.mark.parametrize("D", [50, 200])
def test_curl_free_features_beat_independent_ones_on_a_gradient_field(D):
    """Twice, in mean squared error; the length scale of each kernel is its own choice."""
    data, task = load(FIELD, data_dir=None, download=False), make_task("vector_field", exact_rows=0)

    def mse(name, **options):
        kernel = kernel_recipe(name, 1, length_scale="validation")
        found = [run(task, data, f"orff_{name}", kernel, D, seed, 100, **options)["rmse"] for seed in range(8)]
        return np.mean(np.square(found))

    assert mse("decomposable") > 2 * mse("curl_free", points="sobol")


def test_the_length_scale_is_that_of_the_least_error_on_folds():
    """By dense matrices and a loop over all of them."""
    kernel, task = kernel_recipe("curl_free", 1, length_scale="validation"), make_task("vector_field", folds=4)
    with Local(2).running() as engine:
        found = task.fit(kernel, train_rows(), 0, engine)
    centred, losses = (Y - Y.mean(0)).ravel(), {}
    out = [np.repeat(np.arange(N) % 4 == fold, 2) for fold in range(4)]
    for one in kernel.candidates(X):
        K, errors = one.gram(X, X), []
        for alpha in GRID:
            penalty = alpha * 45 / one.length_scale**2 * np.eye(90)
            weights = [np.linalg.solve(K[np.ix_(~o, ~o)] + penalty, centred[~o]) for o in out]
            errors.append(
                sum(np.sum((centred[o] - K[np.ix_(o, ~o)] @ w) ** 2) for o, w in zip(out, weights, strict=True))
            )
        losses[one] = min(errors)
    assert found == min(losses, key=losses.get)
    assert len(losses) == 19
    assert losses[found] < 0.5 * max(losses.values())


def test_classes_are_unit_vectors_and_the_largest_output_is_predicted():
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    data, task = Dataset("wine", InMemory(X), InMemory(y), 3), make_task("vector_field")
    kernel = kernel_recipe("decomposable", 1, length_scale=4.0, coupling="simplex")
    found = run(task, data, "orff_decomposable", kernel, 200)
    assert found["error"] <= 0.06
    assert found["exact_error"] <= 0.06
    assert found["rmse"] == pytest.approx(found["exact_rmse"], rel=0.3)
    assert run(task, data, "exact", kernel, 0)["rmse"] == found["exact_rmse"]


def test_arrows_are_places_field_and_prediction():
    data, recorder = load(FIELD | {"noise": 0}, data_dir=None, download=False), Recorder()
    task, kernel = make_task("vector_field", arrows=7), make_kernel("curl_free", 1, length_scale=0.4)
    run(task, data, "orff_curl_free", kernel, 400, train_rows=500, recorder=recorder)
    assert len(recorder.points) == 42
    columns = {name: [float(row["y"]) for row in recorder.points if row["name"] == name] for name in ARROWS}
    for *place, field0, field1, predicted0, _ in zip(*columns.values(), strict=True):
        rows = np.flatnonzero(np.isclose(data.X.read(0, 2500) * 2, place).all(1))
        np.testing.assert_allclose(data.y.take(rows)[0], (field0, field1))
        assert abs(field0 - predicted0) < 0.5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": -1.0}, "task.alpha must be auto, a number above 0, or one over n"),
        ({"alpha": "0.1/m"}, "task.alpha must be auto, a number above 0, or one over n"),
        ({"folds": 1}, "task.folds must be at least 2"),
        ({"solver": "cgs"}, "did you mean 'cg'"),
        ({"solver": "sgd"}, "needs a number for task.alpha"),
        ({"arrows": 5000}, "task.arrows must be from 0 to 1000"),
    ],
)
def test_bad_options_are_one_sentence(options, words):
    with pytest.raises(InputError, match=words):
        make_task("vector_field", **options)


@pytest.mark.parametrize(
    ("sketch", "D", "options", "rows", "words"),
    [
        ("rff", 20, {}, 3, "task.folds=5 needs as many training rows; there are 3"),
        (
            "rff",
            20_000,
            {"solver": "cg"},
            None,
            "5 matrices of 20,000 × 20,000; the limit is 7,071. Use features=7071 or task.solver=sgd",
        ),
        (
            "exact",
            0,
            {},
            None,
            "needs a 12,000 × 12,000 matrix; the limit is 10,000. Use another sketch or train_rows=10000",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(sketch, D, options, rows, words):
    data = load(FIELD | {"rows": 12_000}, data_dir=None, download=False)
    task, kernel = make_task("vector_field", **options), make_kernel("gaussian", 1)
    with pytest.raises(InputError, match=words):
        run(task, data, sketch, kernel, D, train_rows=rows)


def test_refusals_are_one_line(rfbench):
    task = "task=vector_field"
    one_line(rfbench(task, "sketch=complex_rff"), "needs real features")
    one_line(rfbench(task, "sketch=localized_maclaurin"), "features that depend on one row only")
    one_line(
        rfbench(task, "sketch=orff_curl_free"), "64 outputs for 64 columns", "'digits' has 10", "orff_decomposable"
    )
    words = ("sketch=exact", "kernel=curl_free", "dataset=five_gaussians")
    one_line(rfbench(task, *words), "a 20,000 × 20,000 matrix", "train_rows=5000")
    one_line(rfbench("task=gpr", "sketch=rff", "dataset=five_gaussians"), "has 2; use task=vector_field")
    words = ("sketch=orff_curl_free", "kernel.length_scale=validation")
    one_line(rfbench(task, *words), "64 outputs for 64 columns")
    one_line(rfbench(task, "sketch=rff", "train_rows=0"), "train_rows must be null or at least 1")
