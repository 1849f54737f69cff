"""Pooling of patches of the digits, against outer products and scikit-learn."""

import numpy as np
import pytest
from support.trial import make_trial, measured

from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import kernel_recipe, make_kernel
from rfbench.sketches import make_sketch, pooled
from rfbench.tasks import make_task
from rfbench.tasks.rows import gathered


@pytest.fixture(scope="module")
def split():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    data = Dataset("digits", InMemory(X[:700]), InMemory(y[:700]), 10, 500)
    return prepared_split(data, Preparation(("unit_norm",)), 0, np.float64)


def run(task, name, split, D=64, **options):
    kernel = make_kernel("polynomial", 2, **{"bias": 0.0, **options})
    with Local(2).running() as engine:
        sketch = task.wrapped(make_sketch(name, kernel), kernel)
        trial = make_trial(split, kernel, sketch, D, engine)
        return measured(task, trial, task.reference(split, kernel, 0, engine)), trial


def bilinear(X, halves):
    """Σ a ⊗ a of all patches of 4 × 4 pixels, two apart; or the outer product of the upper and the lower half."""
    images = X.reshape(-1, 8, 8)
    if halves:
        return np.einsum("ni,nj->nij", images[:, :4].reshape(-1, 32), images[:, 4:].reshape(-1, 32)).reshape(-1, 1024)
    corners = [(i, j) for i in (0, 2, 4) for j in (0, 2, 4)]
    A = np.stack([images[:, i : i + 4, j : j + 4].reshape(-1, 16) for i, j in corners], axis=1)
    return np.einsum("nli,nlj->nij", A, A).reshape(len(X), -1)


@pytest.mark.parametrize(("halves", "patch"), [(False, 4), (True, None)])
def test_errors_are_those_of_explicit_outer_products(split, halves, patch):
    task = make_task("pooling", patch=patch, halves=halves, alpha=1e-3)
    found, trial = run(task, "ctr_tensorsrht", split)
    test, _ = gathered(split.test)
    Phi, explicit = trial.draw(0)(test), bilinear(test, halves)
    K = explicit @ explicit.T
    assert found["rel_frobenius"] == pytest.approx(np.linalg.norm(Phi @ Phi.T - K) / np.linalg.norm(K))
    assert found["accuracy"] == pytest.approx(1 - found["error"])


@pytest.mark.parametrize(("halves", "patch"), [(False, 4), (True, None)])
def test_the_exact_kernel_classifies_as_explicit_outer_products_do(split, halves, patch):
    from sklearn.linear_model import Ridge

    (X, y), (Z, labels) = gathered(split.train), gathered(split.test)
    train, test = bilinear(X, halves), bilinear(Z, halves)
    found, _ = run(make_task("pooling", patch=patch, halves=halves, alpha=1e-4), "exact", split)
    assert found["rel_frobenius"] < 1e-12
    targets = 2.0 * (y[:, None] == np.arange(10)) - 1
    scale = np.mean(np.sum(train**2, axis=1))  # the task has it of 100 rows, so predictions may differ a little
    model = Ridge(alpha=1e-4 * scale * len(X), fit_intercept=False).fit(train, targets - targets.mean(0))
    error = np.mean((model.predict(test) + targets.mean(0)).argmax(1) != labels)
    assert found["error"] == pytest.approx(error, abs=0.011)
    assert found["error"] < 0.2


def test_more_features_come_nearer(split):
    task = make_task("pooling", alpha=1e-3)
    few, many = (
        np.mean([run(task, name, split, D=D)[0]["rel_frobenius"] for name in ("tensorsketch", "ctr_tensorsrht")])
        for D in (32, 2048)
    )
    assert many < 0.5 * few


def test_the_length_scale_and_the_allocation_are_those_of_patches(split):
    task, recipe = make_task("pooling"), kernel_recipe("gaussian", 1, length_scale="median")
    with Local(1).running() as engine:
        kernel = task.fit(recipe, split.train, 0, engine)
    assert kernel.length_scale < 0.9 * recipe.fit(gathered(split.train)[0]).length_scale
    sketch = pooled(make_sketch("optimized_maclaurin", kernel), kernel, task.patches)
    assert sketch.adapt(gathered(split.train)[0], 64).sample(64, 64, np.random.default_rng(0)).base.d == 16


@pytest.mark.parametrize(
    ("options", "name", "degree", "words"),
    [
        ({"halves": True}, "rff", 2, "product sketch"),
        ({"halves": True}, "tensorsketch", 3, "degree=2"),
        ({"halves": True}, "hierarchical", 2, "product sketch"),
    ],
)
def test_two_inputs_take_a_product_sketch_of_degree_two(options, name, degree, words):
    recipe = kernel_recipe("gaussian" if name == "rff" else "polynomial", degree)
    sketch = make_sketch(name, recipe.provisional())
    assert words in make_task("pooling", **options).objection(sketch, recipe)
    assert make_task("pooling").objection(sketch, recipe) is None


def test_mistakes_are_explained(split):
    with pytest.raises(InputError, match=r"task\.patch must be at least 1"):
        make_task("pooling", patch=0)
    with pytest.raises(InputError, match=r"task\.stride"):
        make_task("pooling", stride=0)
    with pytest.raises(InputError, match=r"task\.alpha"):
        make_task("pooling", alpha=-1.0)
    with pytest.raises(InputError, match=r"at most 4, the height"):
        run(make_task("pooling", patch=5, halves=True), "tensorsketch", split)
    with pytest.raises(InputError, match="not square images"):
        make_task("pooling").patches(np.zeros((2, 7)))
    recipe = kernel_recipe("polynomial_sphere", 3)
    with Local(1).running() as engine, pytest.raises(InputError, match="use kernel=polynomial"):
        make_task("pooling").fit(recipe, split.train, 0, engine)
