"""Ridge regression by every solver, against scikit-learn, the dense formula, and itself by other ways."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from support.answers import one_line
from support.gp import Given, features, run, without_times
from support.trial import drawn, make_trial, measured

from rfbench.checks import InputError
from rfbench.datasets import load
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import kernel_recipe, make_kernel
from rfbench.results.rows import read_rows
from rfbench.seeds import rng_for
from rfbench.sketches import make_sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks import make_task
from rfbench.tasks.baseline import baseline
from rfbench.tasks.ridge import task as ridge
from rfbench.tasks.ridge.fit import GRID, RidgeFit, chosen_solver, edge

RNG = np.random.default_rng(0)
X, NEW = RNG.standard_normal((90, 6)), RNG.standard_normal((25, 6))
CLASS = (np.abs(X @ RNG.standard_normal((6, 3))) + 0.3 * RNG.standard_normal((90, 3))).argmax(1)
NUMBERS = np.c_[np.sin(X[:, 0]), X[:, 1] * X[:, 2]] + 0.1 * RNG.standard_normal((90, 2))
KERNEL = make_kernel("gaussian", 1, length_scale=2.0)
ALPHA, SCALE = 1e-4, 1.0


def split_of(y, classes, dtype=np.float64):
    labels = np.r_[y, y[: len(NEW)]]
    return prepared_split(
        Dataset("made", InMemory(np.r_[X, NEW]), InMemory(labels), classes, 90), Preparation(()), 0, dtype
    )


NUMBER_SPLIT, CLASS_SPLIT = split_of(NUMBERS, None), split_of(CLASS, 3)


def fitted(phi, solver, split=NUMBER_SPLIT, alpha=ALPHA, workers=2, block_rows=256, tolerance=1e-6, seed=0, **options):
    """(outputs at NEW, the fit)."""
    with Local(workers, block_rows).running() as engine:
        shift = np.zeros(3 if split is CLASS_SPLIT else 2)
        fit = RidgeFit(split.train, shift, SCALE, alpha, 0.1, tolerance, seed, engine, **options)
        found = fit(Given(phi), solver)
        return found.f(NEW, engine), found


@pytest.mark.parametrize("solver", ["cholesky", "dual", "cg"])
@pytest.mark.parametrize(("D", "kind"), [(30, "real"), (150, "real"), (40, "complex")])
def test_every_solver_is_the_dense_formula(solver, D, kind):
    phi = features(D, kind)
    Phi, Psi = phi(X), phi(NEW)
    W = np.linalg.solve(Phi.conj().T @ Phi + ALPHA * 90 * np.eye(D), Phi.conj().T @ NUMBERS)
    np.testing.assert_allclose(fitted(phi, solver)[0], (Psi @ W).real, atol=1e-5)


def test_as_scikit_learn_does_it():
    phi = features(50, "real")
    theirs = Ridge(ALPHA * 90, fit_intercept=False).fit(phi(X), NUMBERS).predict(phi(NEW))
    np.testing.assert_allclose(fitted(phi, "auto")[0], theirs, atol=1e-8)
    exact = make_sketch("exact", KERNEL).sample(6, 0, RNG, np.float64)
    theirs = KernelRidge(alpha=ALPHA * 90, kernel="rbf", gamma=1 / 8).fit(X, NUMBERS).predict(NEW)
    for solver in ("auto", "dual", "cg"):
        np.testing.assert_allclose(fitted(exact, solver)[0], theirs, atol=1e-5)


def test_an_intercept_is_a_feature_and_penalised_like_the_others():
    sketch, numbers = make_sketch("rff", KERNEL), split_of(NUMBERS[:, 0], None)
    with Local(2).running() as engine:
        task = make_task("ridge", alpha=ALPHA, intercept=True)
        trial = make_trial(numbers, KERNEL, task.wrapped(sketch, KERNEL), 20, engine)
        found = measured(task, trial, task.reference(numbers, KERNEL, 0, engine))
    phi = drawn(sketch, 6, 20)
    Phi, Psi = (np.c_[phi(rows), np.ones(len(rows))] for rows in (X, NEW))
    mean, y = NUMBERS[:, 0].mean(), NUMBERS[: len(NEW), 0]
    predicted = mean + Ridge(ALPHA * 90, fit_intercept=False).fit(Phi, NUMBERS[:, 0] - mean).predict(Psi)
    assert found["mae"] == pytest.approx(np.abs(predicted - y).mean())
    assert found["spearman"] == pytest.approx(spearmanr(predicted, y).statistic)
    assert "no" in str(
        make_task("ridge", intercept=True).objection(make_sketch("exact", KERNEL), kernel_recipe("gaussian", 1))
    )


def test_conjugate_gradients_agree_to_rounding_when_asked():
    phi = features(150, "real")
    np.testing.assert_allclose(fitted(phi, "cg", tolerance=1e-13)[0], fitted(phi, "dual")[0], atol=1e-9)


def test_rows_of_the_preconditioner_save_steps():
    phi = features(150, "real")
    assert fitted(phi, "cg")[1].steps < fitted(phi, "cg", sketched_rows=1)[1].steps / 2
    exact = make_sketch("exact", KERNEL).sample(6, 0, RNG, np.float64)
    assert fitted(exact, "cg")[1].steps < fitted(exact, "cg", landmarks=1)[1].steps / 3


def test_conjugate_gradients_that_do_not_converge_are_an_error():
    words = r"did not converge: residual \S+ after 1 iterations; use a larger task\.alpha or task\.tolerance"
    with pytest.raises(ArithmeticError, match=words):
        fitted(features(150, "real"), "cg", sketched_rows=1, iterations=1)


@pytest.mark.parametrize("solver", ["cholesky", "dual", "cg"])
def test_workers_and_blocks_change_nothing(solver):
    one = fitted(features(60, "real"), solver, workers=1)[0]
    np.testing.assert_array_equal(fitted(features(60, "real"), solver, workers=3)[0], one)
    np.testing.assert_allclose(fitted(features(60, "real"), solver, block_rows=7)[0], one, rtol=1e-9)


def test_conjugate_gradients_take_the_penalty_of_some_rows():
    phi = features(60, "real")
    assert fitted(phi, "cg", alpha=None)[1].alpha == fitted(phi, "dual", alpha=None)[1].alpha
    found = fitted(phi, "cg", alpha=None, choosing_rows=30)[1]
    assert found.alpha * 90 / 30 == pytest.approx(GRID[found.losses.argmin()])


def test_held_out_rows_depend_on_the_seed():
    phi, losses = features(60, "real"), []
    for seed in (0, 1):
        rest, held_out = NUMBER_SPLIT.train.divided(0.1, rng_for(seed, "ridge", "validation"))
        (A, a), (B, b) = next(rest.blocks()), next(held_out.blocks())
        models = [Ridge(alpha * len(A), fit_intercept=False).fit(phi(A), a) for alpha in GRID[4:]]
        losses.append(fitted(phi, "cholesky", alpha=None, seed=seed)[1].losses)
        wanted = [np.sqrt(np.mean((model.predict(phi(B)) - b) ** 2)) for model in models]
        np.testing.assert_allclose(losses[seed][4:], wanted, rtol=1e-5)
    assert np.abs(losses[0] / losses[1] - 1).min() > 0.01


@pytest.mark.parametrize(("y", "classes"), [(NUMBERS, None), (CLASS, 3)])
def test_targets_are_centred_by_the_mean_of_the_training_rows(y, classes):
    """The test rows have another mean."""
    test = NUMBERS[:25] + 100 if classes is None else np.zeros(25, int)
    data = Dataset("made", InMemory(np.r_[X, NEW]), InMemory(np.r_[y, test]), classes, 90)
    split = prepared_split(data, Preparation(()), 0, np.float64)
    with Local(1).running() as engine:
        fit = make_task("ridge").reference(split, KERNEL, 0, engine)
    np.testing.assert_allclose(fit.shift, (2 * np.eye(3)[y] - 1 if classes else y).mean(0))


@pytest.mark.parametrize("solver", ["cholesky", "dual"])
def test_alpha_is_that_of_least_error_on_held_out_rows(solver):
    phi, train = features(60, "real"), CLASS_SPLIT.train
    rest, held_out = train.divided(0.1, rng_for(0, "ridge", "validation"))
    (A, a), (B, b) = next(rest.blocks()), next(held_out.blocks())
    errors = []
    for alpha in GRID:
        model = Ridge(alpha * len(A), fit_intercept=False).fit(phi(A), 2 * np.eye(3)[a] - 1)
        errors.append(np.mean(model.predict(phi(B)).argmax(1) != b))
    outputs, found = fitted(phi, solver, CLASS_SPLIT, alpha=None)
    np.testing.assert_allclose(found.losses, errors)
    assert found.alpha == GRID[np.argmin(errors)]
    np.testing.assert_allclose(outputs, fitted(phi, solver, CLASS_SPLIT, alpha=found.alpha)[0], atol=1e-6)


def test_the_solver_is_the_one_that_fits():
    big, exact = features(3, "real"), make_sketch("exact", KERNEL).sample(6, 0, RNG, np.float64)
    for D, n, solver in ((100, 1000, "cholesky"), (2000, 1000, "dual"), (30_000, 1000, "dual"), (30_000, 60_000, "cg")):
        big.D = D
        assert chosen_solver("auto", big, n) == solver
    assert (chosen_solver("auto", exact, 1000), chosen_solver("auto", exact, 60_000)) == ("dual", "cg")
    for solver, phi, n in (("cholesky", exact, 10), ("dual", big, 60_000), ("cholesky", big, 60_000)):
        with pytest.raises(InputError, match=r"task\.solver="):
            chosen_solver(solver, phi, n)


def test_float32_is_close_and_classes_are_learned():
    results = []
    for dtype in (np.float32, np.float64):
        split = split_of(CLASS, 3, dtype)
        results.append([run("ridge", split, "rff", 200, dtype=dtype, solver=s)[1] for s in ("cholesky", "dual", "cg")])
    for single, double in zip(*results, strict=True):
        assert abs(single["rmse"] - double["rmse"]) < 0.02
    assert {"error", "alpha", "validation_error", "fit_seconds", "predict_seconds"} <= set(results[0][0])
    assert "validation_rmse" in run("ridge", NUMBER_SPLIT, "rff", 20)[1]


def test_runs_are_repeated_bit_for_bit():
    first, second = (without_times(run("ridge", CLASS_SPLIT, "rff", 64, workers=w)[1]) for w in (1, 2))
    assert first == second


def test_a_number_of_the_kernel_is_chosen_on_held_out_rows(monkeypatch):
    monkeypatch.setitem(ridge.SEARCH, "each", (64, 256))
    split = prepared_split(
        load({"name": "digits"}, data_dir=None, download=False), Preparation(("unit_norm",)), 0, np.float64
    )
    kernel = kernel_recipe("gaussian", 1, length_scale="validation")
    with Local(2).running() as engine:
        found = make_task("ridge").fit(kernel, split.train, 0, engine)
    errors = {
        one: run("ridge", split, "rff", 256, kernel=one)[1]["rmse"]  # on the test rows, by other features
        for one in kernel.candidates(split.train.sample(1000, rng_for(0, "kernel"))[0])
    }
    assert errors[found] < 1.1 * min(errors.values())
    assert max(errors.values()) > 1.5 * min(errors.values())


def test_a_penalty_below_rounding_error_is_an_error():
    phi = features(600, "real")  # more than a tile: their products are in single precision
    phi.dtype = np.dtype(np.float32)  # of rank 90: the rest is rounding, of either sign
    split = split_of(NUMBERS, None, np.float32)
    with pytest.raises(
        ArithmeticError, match=r"is below rounding error; use a larger task\.alpha, task\.solver=dual or dtype=float64"
    ):
        fitted(phi, "cholesky", split, alpha=1e-15)
    assert np.isinf(fitted(phi, "cholesky", split, alpha=None)[1].losses).sum() in range(1, len(GRID))


def smooth_rows(dtype):
    """1000 rows on a line, whose Gram matrix of 600 features has eigenvalues down to rounding error."""
    line = np.linspace(-2, 2, 1100)[:, None]
    order = np.random.default_rng(5).permutation(len(line))
    y = np.sin(9 * line[:, 0]) + 0.1 * np.random.default_rng(6).standard_normal(len(line))
    data = Dataset("line", InMemory(line[order]), InMemory(y[order]), None, 1000)
    sketch = make_sketch("rff", make_kernel("gaussian", 1, length_scale=1.0))
    return prepared_split(data, Preparation(()), 0, dtype), Draw(sketch, 1, 600, 0, ("a",), np.dtype(dtype).name)


def smooth_fit(dtype, solver, alpha, **options):
    """(the fit, its error on the test rows)."""
    split, draw = smooth_rows(dtype)
    with Local(1).running() as engine:
        fit = RidgeFit(split.train, np.zeros(1), 1.0, alpha, 0.1, 1e-4, 0, engine, **options)
        found = fit(draw, solver)
        return found, next(fit.scores(found.f, split.test)[0].measures(None))[1]


def test_the_grid_ends_where_single_precision_does():
    """Every candidate is ten times above rounding error, and its fit to all rows is that of double precision."""
    candidates = GRID[np.isfinite(smooth_fit(np.float32, "cholesky", None)[0].losses)]
    assert 3 <= len(candidates) < len(GRID)
    assert np.isfinite(smooth_fit(np.float64, "cholesky", None)[0].losses).all()
    for alpha in candidates:
        single, double = (smooth_fit(dtype, "cholesky", alpha)[1] for dtype in (np.float32, np.float64))
        assert single == pytest.approx(double, rel=0.02), alpha
        smooth_fit(np.float32, "cholesky", alpha / 9)  # is not refused


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # overflow, as in a run
def test_steps_take_no_penalty_that_is_lost_in_their_products():
    with pytest.raises(ArithmeticError, match="did not converge"):
        smooth_fit(np.float32, "cg", 1e-12)
    found, error = smooth_fit(np.float32, "cg", None, choosing_rows=500)
    assert found.alpha >= np.finfo(np.float32).eps / 2
    assert error == pytest.approx(smooth_fit(np.float64, "cholesky", found.alpha)[1], rel=0.02)


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ([3, 2, 1, 2, 3, 4, 5, 6, 7, 8], ""),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 9], "the smallest candidate"),
        ([np.inf, 1, 2, 3, 4, 5, 6, 7, 8, 9], "the smallest candidate above rounding error"),
        ([9, 8, 7, 6, 5, 4, 3, 2, 1, 0], "the largest candidate"),
        ([1, 1, 2, 3, 4, 5, 6, 7, 8, 9], ""),  # one between the ends is as good
        ([], ""),
    ],
)
def test_a_minimum_at_the_end_of_the_grid_is_recognised(losses, said):
    assert edge(np.array(losses, float)) == said


def test_a_minimum_at_the_end_of_the_grid_is_said(rfbench, tmp_path):
    """Labels of noise alone, so that the penalty hardly matters."""
    np.savetxt(tmp_path / "plain.csv", np.random.default_rng(0).standard_normal((80, 4)), delimiter=",")
    env = {"RFBENCH_CACHE": str(tmp_path / "cache")}
    assert rfbench("data", "add", "plain.csv", "--name", "plain", env=env).returncode == 0
    words = ("dataset=plain", "dataset.prepare=[]", "task=ridge", "sketch=identity", "dtype=float64", "seeds=1")
    done = rfbench(*words, env=env)
    assert done.returncode == 0, done.stderr
    assert "alpha=1e-09 is the smallest candidate; others need task.alpha" in done.stderr
    assert "alpha: the smallest candidate" in done.stdout
    assert rfbench(*words, "task.alpha=1e-3", env=env).stderr == ""


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0, 4.0, 6.0])
def test_a_bias_is_chosen_for_every_exponent(exponent, monkeypatch):
    monkeypatch.setitem(ridge.SEARCH, "each", (64, 64))
    kernel = kernel_recipe("optical", 1, exponent=exponent, bias="validation")
    with Local(2).running() as engine:
        found = make_task("ridge").fit(kernel, CLASS_SPLIT.train, 0, engine)
    assert found in kernel.candidates(CLASS_SPLIT.train.sample(1000, rng_for(0, "kernel"))[0])
    assert found.exponent == exponent


def test_every_exponent_learns_digits(rfbench, tmp_path):
    done = rfbench(
        "-m", "task=ridge", "sketch=optical", "sketch.exponent=1,3,6", "kernel.bias=1", "features=256", "seeds=1"
    )
    assert done.returncode == 0, done.stderr
    (table,) = tmp_path.glob("outputs/sweep-*/results.csv")
    errors = {row["sketch"]: float(row["value"]) for row in read_rows(table) if row["metric"] == "error"}
    assert set(errors) == {f"optical(exponent={m})" for m in (1, 3, 6)}
    assert max(errors.values()) < 0.05, errors


def test_one_penalty_for_all_features_and_for_the_exact_kernel(monkeypatch):
    """Ohana et al. 2019, D.2: that of the kernel's own features, as scikit-learn finds it."""
    monkeypatch.setitem(ridge.SEARCH, "ohana", (150, 150))
    draw = baseline(KERNEL, 6, 0, np.float64, "", (150, 150))
    rest, held_out = NUMBER_SPLIT.train.divided(0.1, rng_for(0, "ridge", "validation"))
    (A, a), (B, b) = next(rest.blocks()), next(held_out.blocks())
    shift = np.mean([*a, *b], axis=0)
    models = [Ridge(alpha * len(A), fit_intercept=False).fit(draw.features(A), a - shift) for alpha in GRID]
    wanted = GRID[np.argmin([np.mean((model.predict(draw.features(B)) + shift - b) ** 2) for model in models])]
    for name, D in (("rff", 20), ("rff", 60), ("exact", 0)):
        measures = run("ridge", NUMBER_SPLIT, name, D, kernel=KERNEL, protocol="ohana")[1]
        assert measures["alpha"] == wanted
        assert "validation_rmse" not in measures
    assert run("ridge", NUMBER_SPLIT, "rff", 20, kernel=KERNEL)[1]["alpha"] != wanted


def test_the_protocol_leaves_a_given_penalty_alone():
    assert run("ridge", NUMBER_SPLIT, "rff", 20, kernel=KERNEL, protocol="ohana", alpha=0.03)[1]["alpha"] == 0.03


def threshold_of(test_rows, labels, monkeypatch):
    monkeypatch.setitem(ridge.SEARCH, "each", (64, 64))
    rows = np.random.default_rng(3).random((400, 5))
    data = Dataset("made", InMemory(np.r_[rows, test_rows]), InMemory(np.r_[labels(rows), labels(test_rows)]), 2, 400)
    recipe = kernel_recipe("optical", 1, bias=1.0)
    with Local(1).running() as engine:
        return make_task("ridge").prepare(
            Preparation(("min_max", "binarize"), None),
            lambda preparation: prepared_split(data, preparation, 0, np.float64),
            recipe,
            0,
            engine,
        )


@pytest.mark.parametrize("level", [0.3, 0.7])
def test_a_threshold_is_chosen_on_training_rows_only(level, monkeypatch):
    """Classes that depend on the first two columns being above a level; test rows would ask for another one."""
    rng = np.random.default_rng(4)

    def labels(rows, level=level):
        return (rows[:, :2] > level).all(1).astype(int)

    found = threshold_of(rng.random((50, 5)), labels, monkeypatch)
    assert found.threshold == pytest.approx(level, abs=0.03)
    assert level == 0.3 or found == threshold_of(rng.random((50, 5)) / 2, labels, monkeypatch)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["task.solver=cholesk"], "did you mean 'cholesky'?"),
        (["task.protocol=ohanna"], "did you mean 'ohana'?"),
        (["dataset.threshold=validation"], "add binarize to dataset.prepare"),
        (["dataset.threshold=valid"], "dataset.threshold must be a number, or validation"),
        (["task.alpha=-1"], "task.alpha must be auto or a number above 0"),
        (["task.validation=1"], "task.validation must be between 0 and 1"),
        (["sketch=exact", "kernel=gaussian", "task.solver=cholesky"], "use task.solver=dual"),
        (["sketch=orff_curl_free"], "use task=vector_field"),
        (["sketch=compressive_exact"], "use sketch=exact"),
    ],
)
def test_mistakes_are_one_line(words, said, rfbench):
    one_line(rfbench("task=ridge", *words), said)


def test_validation_is_for_ridge_only(rfbench):
    one_line(rfbench("sketch=rff", "kernel.length_scale=validation"), "task=ridge")
    one_line(rfbench("dataset.threshold=validation", "dataset.prepare=[binarize]"), "task=ridge")
