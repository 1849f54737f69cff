"""Tasks against the textbook: dense matrices, direct sums."""

import numpy as np
import pytest
from support import zoo
from support.trial import curve_of, make_trial, measured

from rfbench.checks import InputError
from rfbench.config.files import choices
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.devices.meters import Reading
from rfbench.engines import Local
from rfbench.kernels import kernel_recipe, make_kernel
from rfbench.results.rows import read_rows
from rfbench.sketches import make_sketch
from rfbench.tasks import TASKS, make_task
from rfbench.tasks.base import energy
from rfbench.tasks.kernel_error import of_pairs, spectral_norm


@pytest.mark.parametrize("p", [1, 2])
def test_pairs_of_different_rows_are_the_blocks_off_the_diagonal(p):
    A = np.random.default_rng(0).standard_normal((6 * p, 6 * p))
    pairs = (A[i, j] ** 2 for i in range(6 * p) for j in range(6 * p) if i // p != j // p)
    assert of_pairs(A, p) == pytest.approx(sum(pairs), rel=1e-12)


@pytest.fixture(scope="module")
def made():
    X = np.abs(np.random.default_rng(0).standard_normal((6200, 20)))
    data = Dataset("made", InMemory(X), InMemory(np.zeros(len(X))), None)
    return prepared_split(data, Preparation(("unit_norm",)), 0, np.float64)


def run(task, name, split, D=32, degree=2, dtype=np.float64, workers=2, kernel=None):
    kernel = kernel or make_kernel("polynomial", degree)
    sketch = make_sketch(name, kernel)
    twin = make_sketch(name.removeprefix("ctr_").removeprefix("complex_"), kernel)
    with Local(workers).running() as engine:
        trial = make_trial(split, kernel, sketch, D, engine, dtype=dtype, real_twin=twin if twin != sketch else None)
        reference = task.reference(split, kernel, 0, engine)
        return reference, measured(task, trial, reference), trial


def test_one_class_one_yaml():
    assert set(TASKS) == set(choices("task"))


@pytest.mark.parametrize("name", ["rademacher", "complex_tensorsrht", "ctr_stacked_tensorsrht"])
@pytest.mark.parametrize("rows", [20, 300, 600])
def test_kernel_error_is_the_dense_formula(name, rows, made):
    (X, K, norm), found, trial = run(make_task("kernel_error", rows=rows), name, made)
    assert len(X) == rows
    Phi = trial.draw(0)(X)
    error = Phi @ Phi.conj().T - K
    np.testing.assert_allclose(K, (X @ X.T + 1) ** 2)
    assert norm == pytest.approx(np.linalg.norm(K, 2))
    assert found["rel_frobenius"] == pytest.approx(np.linalg.norm(error.real) / np.linalg.norm(K))
    assert found["rel_spectral"] == pytest.approx(np.linalg.norm(error.real, 2) / np.linalg.norm(K, 2), rel=1e-4)
    assert found["max_abs_error"] == pytest.approx(np.abs(error.real).max())
    assert ("rel_frobenius_complex" in found) == (name == "complex_tensorsrht")
    if name == "complex_tensorsrht":
        assert found["rel_frobenius_complex"] == pytest.approx(np.linalg.norm(error) / np.linalg.norm(K))


def test_kernel_error_of_the_first_rows_has_the_same_rows_for_all_seeds(made):
    task, kernel = make_task("kernel_error", rows=50, order="first"), make_kernel("polynomial", 2)
    with Local(2).running() as engine:
        for seed in (0, 1):
            X, _, _ = task.reference(made, kernel, seed, engine)
            np.testing.assert_array_equal(X, made.test.arrays()[0][:50])
    with pytest.raises(InputError, match="did you mean 'first'"):
        make_task("kernel_error", order="frist")


def test_kernel_error_of_the_exact_kernel_is_rounding(made):
    assert run(make_task("kernel_error", rows=100), "exact", made)[1]["rel_frobenius"] < 1e-14


@pytest.mark.parametrize(("name", "rows"), [("curl_free", 600), ("decomposable", 600), ("div_free", 15)])
def test_kernel_error_of_a_matrix_valued_kernel_is_that_of_its_blocks(name, rows, made):
    """As many rows as make a matrix of the size asked for, 20 outputs to a row, and two at least."""
    options = {"outputs": 20, "coupling": "laplacian"} if name == "decomposable" else {}
    kernel = kernel_recipe(name, 3, length_scale=0.7, **options).provisional()
    (X, K, _), found, trial = run(make_task("kernel_error", rows=rows), f"orff_{name}", made, kernel=kernel)
    assert len(X) == max(rows // 20, 3)
    features = trial.draw(0)
    error = features.product(features(X), features(X)) - K
    np.testing.assert_allclose(K, kernel.gram(X, X))
    assert found["rel_frobenius"] == pytest.approx(np.linalg.norm(error) / np.linalg.norm(K))
    assert found["rel_spectral"] == pytest.approx(np.linalg.norm(error, 2) / np.linalg.norm(K, 2), rel=1e-4)
    blocks = [error[20 * i : 20 * i + 20, 20 * j : 20 * j + 20] for i in range(len(X)) for j in range(len(X))]
    assert found["max_block_norm"] == pytest.approx(max(np.linalg.norm(block, 2) for block in blocks))


def test_variance_of_a_matrix_valued_kernel_is_summed_over_its_entries(made):
    task, kernel = make_task("variance", draws=40, pairs=30, rows=40), make_kernel("curl_free", 3, length_scale=0.7)
    (X, (i, j), _), found, trial = run(task, "orff_curl_free", made, kernel=kernel)
    maps = [trial.draw(k) for k in range(40)]
    blocks = np.array([m.product(m(X), m(X)).reshape(40, 20, 40, 20)[i, :, j] for m in maps])
    assert found["variance_empirical"] == pytest.approx(blocks.var(0, ddof=1).sum((1, 2)).mean())
    centred = blocks - blocks.mean(0)
    norms = [np.linalg.norm(sum(e[pair] @ e[pair].T for e in centred) / 39, 2) for pair in range(30)]
    assert found["variance_norm_empirical"] == pytest.approx(np.mean(norms))
    assert found["variance_closed_form"] == pytest.approx(
        make_sketch("orff_curl_free", kernel).closed_form.variance(X, X, 32)[i, j].mean()
    )


def test_workers_do_not_change_a_bit(made):
    task = make_task("kernel_error", rows=600)
    one, four = (run(task, "ctr_tensorsrht", made, workers=workers)[1] for workers in (1, 4))
    one.pop("transform_seconds"), four.pop("transform_seconds")
    assert one == four


def test_spectral_norm_of_difficult_matrices():
    rng = np.random.default_rng(0)
    for eigenvalues in (np.ones(50), np.zeros(50), np.r_[-3, np.ones(49)], np.linspace(-1, 1, 50)):
        Q = np.linalg.qr(rng.standard_normal((50, 50)))[0]
        A = (Q * eigenvalues) @ Q.T
        assert spectral_norm((A + A.T) / 2) == pytest.approx(np.abs(eigenvalues).max(), abs=1e-8)


def test_variance_is_the_direct_sum_over_draws(made):
    task = make_task("variance", draws=70, pairs=30, rows=40)
    (X, (i, j), _), found, trial = run(task, "ctr_tensorsrht", made)
    assert len(i) == 30
    assert (i < j).all()
    estimates = np.array(
        [[trial.draw(k)(X)[a] @ trial.draw(k)(X)[b] for a, b in zip(i, j, strict=True)] for k in range(70)]
    )
    assert found["variance_empirical"] == pytest.approx(estimates.var(0, ddof=1).mean())
    closed = zoo.sketch_of("ctr_tensorsrht", 2).closed_form.variance(X, X, 32)
    assert found["variance_closed_form"] == pytest.approx(closed[i, j].mean())


def test_ratios_are_quantiles_over_all_pairs(made):
    (X, _, _), found, trial = run(make_task("variance", draws=0, rows=30), "ctr_rademacher", made, degree=3)
    pairs = np.triu_indices(30, 1)
    ratios = [zoo.sketch_of(name, 3).closed_form.variance(X, X, 32)[pairs] for name in ("ctr_rademacher", "rademacher")]
    ratios = ratios[0] / ratios[1]
    levels, quantiles = curve_of(trial, "ratio_to_real")
    assert levels.tolist() == [percent / 100 for percent in range(101)]
    assert quantiles[[0, 50, 100]] == pytest.approx([ratios.min(), np.median(ratios), ratios.max()])
    assert found["ratio_to_real_below_1"] == np.mean(ratios < 1) == 1  # non-negative rows: Theorem 4.2.3
    assert "variance_empirical" not in found


@pytest.mark.parametrize("task", ["kernel_error", "variance"])
def test_errors_and_variances_are_those_of_test_rows(task, made):
    X, *_ = run(make_task(task, rows=50), "rademacher", made)[0]
    train, test = (np.concatenate([block for block, _ in part.blocks()]) for part in (made.train, made.test))
    assert all((test == x).all(1).any() for x in X)
    assert not any((train == x).all(1).any() for x in X)


def test_energy_has_joules_and_watts():
    reading = Reading("a meter", seconds=2.0, joules=30.0, idle_watts=4.0)
    assert [(m.metric, m.value, m.unit, m.message) for m in energy(reading)] == [
        ("joules", 30, "J", "a meter"),
        ("watts", 15, "W", "a meter"),
        ("idle_watts", 4, "W", "a meter"),
    ]
    (missing,) = energy(Reading("a meter", reason="no counter"))
    assert (missing.metric, missing.unit, missing.message) == ("joules", "J", "no counter")
    assert not list(energy(Reading("none")))


def test_every_seed_draws_its_own_rows(made):
    task, kernel = make_task("kernel_error", rows=50), make_kernel("linear", 1)
    with Local(1).running() as engine:
        samples = [task.reference(made, kernel, seed, engine)[0] for seed in (0, 0, 1)]
    np.testing.assert_array_equal(samples[0], samples[1])
    assert not np.array_equal(samples[0], samples[2])


@pytest.mark.parametrize("degree", [2, 3])
def test_the_surrogate_meets_the_variance_of_whole_blocks(made, degree):
    """Wacker 2022, Eq. D.4: equal for D ≤ 32 and whole blocks; one that ends early varies more."""
    task, kernel = make_task("variance", draws=0, rows=40), make_kernel("polynomial", degree, bias=0.0)
    for D, whole in ((1, True), (20, True), (32, True), (40, False), (64, True)):
        _, found, _ = run(task, "stacked_tensorsrht", made, D=D, kernel=kernel)
        over = found["variance_closed_form"] / found["variance_surrogate"]
        assert (over == pytest.approx(1)) if whole else over > 1.001, D


def test_off_the_diagonal_nystrom_is_better_than_on_it(rfbench, tmp_path):
    """Its landmarks leave a part of k(x, x), which counts in the error of all pairs only; none of the errors moves."""
    for words in ((), ("task.off_diagonal=true",)):
        assert not rfbench("sketch=nystrom", "features=64", "seeds=1", "kernel=gaussian", *words).returncode
    tables = [read_rows(path) for path in tmp_path.rglob("results.csv")]
    found = [{row["metric"]: row["value"] for row in rows if row["unit"] == ""} for rows in tables]
    few, more = sorted(found, key=len)
    assert float(more.pop("rel_off_diagonal")) < float(more["rel_frobenius"])
    assert few == more
