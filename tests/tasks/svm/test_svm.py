"""Support vector machines against scikit-learn's on the same features, and the command."""

import subprocess

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, LinearSVC
from support.answers import one_line
from support.gp import run, without_times
from support.trial import drawn

from rfbench.checks import InputError
from rfbench.cli import main
from rfbench.datasets import load
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.results.rows import read_rows
from rfbench.sketches import make_sketch
from rfbench.tasks.svm import task as svm
from rfbench.tasks.svm.kernel import KernelMachine
from rfbench.tasks.svm.linear import LinearMachine

SETS = {"digits": ("unit_norm",), "breast_cancer": ("standardize", "unit_norm")}  # ten classes and two


@pytest.fixture(scope="module")
def splits():
    def of(name):
        return prepared_split(
            load({"name": name}, data_dir=None, download=False), Preparation(SETS[name]), 0, np.float64
        )

    return {name: of(name) for name in SETS}


def rows(part):
    X, y = zip(*part.blocks(), strict=True)
    return np.concatenate(X), np.concatenate(y)


def draw(name, d, D, kernel, **options):
    """What `gp.run` draws."""
    return drawn(make_sketch(name, kernel, **options), d, D)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("C", [1.0, 30.0])  # by the dual, and by Newton's method
def test_features_are_those_of_a_pipeline_of_scikit_learn(name, C, splits):
    split, kernel = splits[name], make_kernel("gaussian", 1, length_scale=0.7)
    (X, y), (X_new, y_new) = rows(split.train), rows(split.test)
    for sketch, D, options in (("rff", 100, {}), ("compressive_rff", 60, {"measurements": 9})):
        features = draw(sketch, X.shape[1], D, kernel, **options)
        pipeline = make_pipeline(FunctionTransformer(features), LinearSVC(C=C, tol=1e-6, dual=False)).fit(X, y)
        _, found = run("svm", split, sketch, D, kernel=kernel, sketch_options=options, C=C)
        assert abs(found["error"] - np.mean(pipeline.predict(X_new) != y_new)) < 1.01 / len(y_new)
        assert found["accuracy"] + found["error"] == pytest.approx(1)
        machine = LinearMachine(features(X), y, C, 1000, 0)
        scores = features(X_new) @ machine.W.T + machine.intercept
        wanted = pipeline.decision_function(X_new).reshape(scores.shape)
        np.testing.assert_allclose(scores, wanted, atol=0.01 * np.abs(wanted).max())
        assert np.mean(machine.predict(features(X_new)) == pipeline.predict(X_new)) > 0.99


def crammer_singer(W, intercept, Phi, y, C):
    """Their objective by its definition: every row pays for the class that violates its margin most."""
    scores, rows = Phi @ W.T + intercept, np.arange(len(y))
    violations = 1 - (scores[rows, y, None] - scores)
    violations[rows, y] = 0
    return (np.sum(W**2) + np.sum(intercept**2)) / 2 + C * violations.max(1).sum()


@pytest.mark.parametrize("C", [0.3, 3.0])
def test_all_classes_at_once_minimise_the_objective_of_crammer_and_singer(C, splits):
    split, kernel = splits["digits"], make_kernel("gaussian", 1, length_scale=0.7)
    (X, y), (X_new, y_new) = rows(split.train), rows(split.test)
    features = draw("rff", 64, 40, kernel)
    Phi = features(X)
    wanted = LinearSVC(C=C, multi_class="crammer_singer", tol=1e-3, max_iter=100_000).fit(Phi, y)
    least = crammer_singer(wanted.coef_, wanted.intercept_, Phi, y, C)
    machine, rest = (LinearMachine(Phi, y, C, 1000, 0, name) for name in ("crammer_singer", "one_vs_rest"))
    assert crammer_singer(machine.W, machine.intercept, Phi, y, C) < 1.01 * least
    assert crammer_singer(rest.W, rest.intercept, Phi, y, C) > 1.1 * least
    assert crammer_singer(0.9 * machine.W, machine.intercept, Phi, y, C) > 1.0005 * least  # the comparison can fail
    _, found = run("svm", split, "rff", 40, kernel=kernel, C=C, multiclass="crammer_singer")
    assert found["accuracy"] == np.mean(machine.predict(features(X_new)) == y_new)
    assert abs(found["accuracy"] - wanted.score(features(X_new), y_new)) < 0.02


def test_two_classes_at_once_are_one_machine(splits):
    (X, y), (X_new, _) = (rows(part) for part in (splits["breast_cancer"].train, splits["breast_cancer"].test))
    machine = LinearMachine(X, y, 1.0, 1000, 0, "crammer_singer")
    wanted = LinearSVC(multi_class="crammer_singer", tol=1e-4, max_iter=100_000).fit(X, y)
    assert machine.W.shape == (1, X.shape[1])
    assert np.mean(machine.predict(X_new) == wanted.predict(X_new)) > 0.97


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    ("kernel", "native"),
    [
        (make_kernel("gaussian", 1, length_scale=0.7), {"kernel": "rbf", "gamma": 1 / 0.98}),
        (make_kernel("polynomial", 3), {"kernel": "poly", "degree": 3, "gamma": 1, "coef0": 1}),
        (make_kernel("laplacian", 1, length_scale=0.5), {}),
    ],
)
@pytest.mark.parametrize("C", [1.0, 0.05])
def test_the_exact_kernel_is_that_of_scikit_learn(name, kernel, native, C, splits):
    (X, y), (X_new, y_new) = (rows(part) for part in (splits[name].train, splits[name].test))
    if native:
        wanted = SVC(C=C, **native).fit(X, y).predict(X_new)
    else:
        cross, K = (np.exp(-cdist(rows, X) / 0.5) for rows in (X_new, X))
        wanted = SVC(C=C, kernel="precomputed").fit(K, y).predict(cross)
    _, found = run("svm", splits[name], "exact", 0, kernel=kernel, C=C)
    assert found["error"] == np.mean(wanted != y_new)


@pytest.mark.parametrize("matrix_rows", [20_000, 100])  # from the kernel matrix, and from the rows
@pytest.mark.parametrize("C", [1.0, 0.05])
def test_decision_values_of_the_exact_machine_are_those_of_scikit_learn(C, matrix_rows, splits):
    (X, y), (X_new, _) = (rows(part) for part in (splits["digits"].train, splits["digits"].test))
    kernel, wanted = make_kernel("gaussian", 1, length_scale=0.7), SVC(C=C, gamma=1 / 0.98).fit(X, y)
    with Local(2).running() as engine:
        machine = KernelMachine(kernel, X, y, C, engine, matrix_rows=matrix_rows)
        assert machine.precomputed == (matrix_rows > 100)
        np.testing.assert_array_equal(machine.predict(X_new), wanted.predict(X_new))
    seen = kernel.gram(X_new, X) if machine.precomputed else X_new
    values = machine.machine.decision_function(seen)
    np.testing.assert_allclose(values, wanted.decision_function(X_new), atol=1e-3)
    other = SVC(C=2 * C, gamma=1 / 0.98).fit(X, y).decision_function(X_new)
    assert np.abs(values - other).max() > 0.01  # the comparison can fail


def test_original_and_compressive_times_linear_and_kernel(splits):
    """The four baselines of Chang et al., each from the projector that was drawn."""
    split = splits["digits"]
    (X, y), (X_new, y_new) = rows(split.train), rows(split.test)
    gaussian, linear = make_kernel("gaussian", 1, length_scale=0.7), make_kernel("linear", 1)
    errors = {}
    for sketch, kernel, D in (("identity", linear, 64), ("exact", gaussian, 0)):
        for name, options in ((sketch, {}), (f"compressive_{sketch}", {"measurements": 20})):
            features = draw(name, 64, D, kernel, **options)
            P = features.first.W if options else np.eye(64)
            machine = LinearSVC(tol=1e-6, dual=False) if sketch == "identity" else SVC(gamma=1 / 0.98)
            wanted = np.mean(machine.fit(X @ P, y).predict(X_new @ P) != y_new)
            _, found = run("svm", split, name, D, kernel=kernel, sketch_options=options)
            errors[name] = found["error"]
            assert abs(errors[name] - wanted) < 1.01 / len(y_new)
    assert errors["compressive_identity"] > errors["identity"]
    assert errors["compressive_exact"] > errors["exact"]


def test_workers_change_no_measure(splits):
    kernel = make_kernel("gaussian", 1, length_scale=0.7)
    one, two = (without_times(run("svm", splits["digits"], "rff", 64, workers=n, kernel=kernel)[1]) for n in (1, 2))
    assert one == two


def test_features_are_those_of_all_rows(splits):
    features = draw("rff", 64, 20, make_kernel("gaussian", 1, length_scale=0.7))
    X, y = rows(splits["digits"].train)
    with Local(2, block_rows=64).running() as engine:
        Phi, labels, seconds = svm.feature_matrix(features, splits["digits"].train, engine)
    np.testing.assert_allclose(Phi, features(X), atol=1e-12)
    np.testing.assert_array_equal(labels, y)
    assert seconds > 0


def test_classes_that_did_not_converge_are_reported_in_one_line(splits, capfd):
    kernel = make_kernel("gaussian", 1, length_scale=0.7)
    _, found = run("svm", splits["digits"], "rff", 64, kernel=kernel, iterations=2)
    assert found["classes_not_converged"] == 10
    (line,) = capfd.readouterr().err.splitlines()
    assert "10 of 10 classes did not converge within task.iterations=2" in line
    assert "classes_not_converged" not in run("svm", splits["digits"], "rff", 64, kernel=kernel)[1]
    assert capfd.readouterr().err == ""


def test_more_rows_than_libsvm_can_finish_are_refused():
    for name, most in (("gaussian", 100_000), ("laplacian", 20_000)):
        kernel = make_kernel(name, 1, length_scale=1.0)
        KernelMachine.refuse_beyond(kernel, most)
        with pytest.raises(InputError, match=f"with the {name} kernel is limited to {most:,} rows.*train_rows={most}"):
            KernelMachine.refuse_beyond(kernel, most + 1)


def test_the_command(rfbench, tmp_path):
    done = rfbench(
        "-m", "task=svm", "sketch=rff,compressive_rff,exact", "kernel=gaussian", "features=[1d,2d]", "seeds=2"
    )
    assert done.returncode == 0, done.stderr
    for word in ("accuracy", "error", "transform [s]", "fit [s]", "predict [s]", "compressive_rff"):
        assert word in done.stdout
    (path,) = tmp_path.glob("outputs/sweep-*/results.csv")
    found = read_rows(path)
    assert len(found) == 2 * (5 * (2 + 2) + 4)
    assert {row["status"] for row in found} == {"ok"}


MISTAKES = {
    "dataset=diabetes": "dataset 'diabetes' has numbers to predict; use task=ridge or gpr",
    "sketch=complex_rff": "needs real features",
    "sketch=localized_maclaurin": "needs features that depend on one row only",
    "sketch=orff_curl_free": "use task=vector_field",
    "task=vector_field sketch=compressive_exact": "of the rows themselves; use sketch=exact",
    "train_rows=1": "needs at least two classes",
    "task.C=0": "task.C must be a number above 0",
    "task.iterations=0": "task.iterations must be at least 1",
    "task.multiclass=one_vs_one": "task.multiclass must be one_vs_rest or crammer_singer",
    "sketch=exact task.multiclass=crammer_singer": "needs features; the kernel machine compares pairs of classes",
    "sketch=compressive_identity sketch.measurements=65": "at most 64, the number of columns",
}


def test_a_sweep_with_a_complex_sketch_is_refused_before_its_first_job(rfbench, tmp_path):
    words = ("-m", "task=svm", "sketch=rff,complex_rff", "features=16", "seeds=1")
    one_line(rfbench(*words), "needs real features")
    assert not list(tmp_path.rglob("results.csv"))


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line(words, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    code = main(["task=svm", *words.split()])
    one_line(subprocess.CompletedProcess(words, code, *capfd.readouterr()), MISTAKES[words])
    assert not list(tmp_path.glob("outputs/*/*"))
