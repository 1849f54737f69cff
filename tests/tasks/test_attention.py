"""Attention by features against the softmax of a textbook and the dense form of the same features."""

import subprocess

import numpy as np
import pytest
from scipy.special import softmax
from support.answers import one_line
from support.trial import make_trial, measured

from rfbench.cli import main
from rfbench.datasets.attention import head_config, load_head
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.results.pictures import MAPS, PictureKey, keep_pictures, read_pictures
from rfbench.results.rows import read_rows
from rfbench.sketches import make_sketch
from rfbench.tasks import make_task
from rfbench.tasks.attention import linear_attention

RNG = np.random.default_rng(0)
Q, K, V = RNG.standard_normal((3, 70, 8)), RNG.standard_normal((3, 90, 8)), RNG.standard_normal((3, 90, 5))


@pytest.fixture
def heads(tmp_path):
    np.savez(tmp_path / "bert.npz", Q=Q, K=K, V=V)
    return str(tmp_path / "bert.npz")


def run(sketch="favor", D=64, seed=0, workers=2, block_rows=256, dtype=np.float64, **options):
    task, kernel = make_task("attention", **options), make_kernel("exponential", 1)
    config = head_config(options | {"length": task.length, "columns": task.columns, "spread": task.spread})
    split = prepared_split(load_head(config), Preparation(tuple(config.get("prepare", ()))), 0, dtype)
    recipe = make_sketch(sketch, kernel).adapt(next(iter(split.train.blocks()))[0], D)
    with Local(workers, block_rows).running() as engine:
        reference = task.reference(split, kernel, 0, engine)
        trial = make_trial(split, kernel, recipe, D, engine, seed=seed, dtype=dtype)
        found = measured(task, trial, reference)
        shown = {key.sketch if key.features == 0 else "": A for key, A in trial.recorder.pictures.items()}
        return reference, found, trial.draw(0), shown


@pytest.mark.parametrize("normalize", [False, True])
def test_the_exact_output_is_the_softmax(heads, normalize):
    reference, _, _, shown = run(file=heads, head=1, normalize=normalize)
    q, k = Q[1] / 8**0.25, K[1] / 8**0.25
    if normalize:
        q, k = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (q, k))
    np.testing.assert_allclose(reference.Z, softmax(q @ k.T, axis=1) @ V[1], rtol=1e-10)
    np.testing.assert_allclose(shown["exact"], np.exp(q @ k.T)[:50, :50], rtol=1e-10)


@pytest.mark.parametrize("sketch", ["favor", "exponential_rff", "optimized_maclaurin"])
def test_errors_are_those_of_dense_matrices(heads, sketch):
    reference, found, features, shown = run(sketch, file=heads)
    A = np.exp(Q[0] @ K[0].T / np.sqrt(8))
    approximate = features(reference.Q) @ features(reference.K).T
    Z = approximate @ V[0] / approximate.sum(1, keepdims=True)
    exact = softmax(Q[0] @ K[0].T / np.sqrt(8), axis=1) @ V[0]
    assert found["rel_frobenius"] == pytest.approx(np.linalg.norm(approximate - A) / np.linalg.norm(A), rel=1e-9)
    assert found["rel_output"] == pytest.approx(np.linalg.norm(Z - exact) / np.linalg.norm(exact), rel=1e-6)
    assert found["negative_rows"] == np.mean(approximate.sum(1) <= 0)
    np.testing.assert_allclose(shown[""], approximate[:50, :50], rtol=1e-9)


def test_complex_features_give_real_parts():
    kernel = make_kernel("exponential", 1)
    rows = K[0] / np.linalg.norm(K[0], axis=1, keepdims=True)
    sketch = make_sketch("optimized_maclaurin", kernel, base="complex_rademacher").adapt(rows, 64)
    features = sketch.sample(8, 64, np.random.default_rng(0), np.float64)
    with Local(2, 16).running() as engine:
        Z, denominators = linear_attention(features, rows[:20], rows, V[0], engine)
    approximate = (features(rows[:20]) @ features(rows).conj().T).real
    np.testing.assert_allclose(Z, approximate @ V[0] / approximate.sum(1, keepdims=True), rtol=1e-8)
    np.testing.assert_allclose(denominators, approximate.sum(1), rtol=1e-9)


def test_positive_features_have_positive_denominators_and_waves_have_not():
    assert run("favor", spread=2.0)[1]["negative_rows"] == 0
    assert run("exponential_rff", spread=2.0)[1]["negative_rows"] > 0.1


def test_unit_length_makes_it_easy_and_more_features_easier():
    """Wacker 2022, Fig. 7.1: the map of high-magnitude rows is out of reach; of unit rows Maclaurin is the best."""
    assert run("favor", 512)[1]["rel_frobenius"] > 1
    errors = {
        (sketch, D): np.mean(
            [run(sketch, D, seed, normalize=True, length=200)[1]["rel_frobenius"] for seed in range(3)]
        )
        for sketch in ("favor", "optimized_maclaurin")
        for D in (64, 1024)
    }
    for sketch in ("favor", "optimized_maclaurin"):
        assert errors[sketch, 1024] < errors[sketch, 64] / 2.5
    assert errors["optimized_maclaurin", 1024] < errors["favor", 1024] < 0.15


def test_workers_change_no_bit_and_blocks_only_rounding():
    one, four, small = (
        run(workers=workers, block_rows=rows, normalize=True)[1] for workers, rows in ((1, 64), (4, 64), (2, 33))
    )
    for name in ("rel_frobenius", "rel_output"):
        assert one[name] == four[name] == pytest.approx(small[name], rel=1e-9)


def test_pictures_are_kept_and_added_to(tmp_path):
    first, second = PictureKey(MAPS, "a(prepare=[unit_norm])", "favor", 64, 0.5), PictureKey(MAPS, "a", "exact", 0, 0.0)
    keep_pictures(tmp_path, {first: np.eye(3)})
    keep_pictures(tmp_path, {second: np.ones((2, 2))})
    found = read_pictures(tmp_path, MAPS)
    np.testing.assert_array_equal(found[first], np.eye(3))
    assert set(found) == {first, second}


def test_the_command_draws_maps_beside_each_other(rfbench, tmp_path, heads):
    words = ["task=attention", f"task.file={heads}", "task.normalize=false,true", "sketch=favor"]
    done = rfbench("-m", *words, "features=64", "seeds=2")
    assert done.returncode == 0, done.stderr
    for word in ("rel_output", "bert-head0(prepare=[unit_norm])", "maps.png"):
        assert word in done.stdout
    (path,) = tmp_path.glob("outputs/sweep-*/results.csv")
    assert len(read_rows(path)) == 2 * 2 * 5
    assert list(tmp_path.rglob("maps.png")) == [path.with_name("maps.png")]


MISTAKES = {
    "task.file=absent.npz": "must be an .npz file with Q and K",
    "task.file=table.csv": "must be an .npz file with Q and K",
    "task.file=no_keys.npz": "no_keys.npz lacks one of them",
    "task.file=columns.npz": "fit each other; columns.npz has Q (4, 3), K (4, 2)",
    "task.file=heads.npz task.head=7": "task.head must be from 0 to 1",
    "task.file=huge.npz": "use task.normalize=true",
    "dataset.prepare=[center]": "'dataset.prepare=[center]' has no effect; remove it",
    "sketch=rff": "not kernel 'gaussian'. Use sketch=favor",
    "sketch=exact kernel=exponential": "use a sketch with features",
    "task.length=1": "task.length must be from 2",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line(words, tmp_path, monkeypatch, capfd):
    ones = np.ones
    np.savez(tmp_path / "no_keys.npz", Q=ones((4, 3)))
    np.savez(tmp_path / "columns.npz", Q=ones((4, 3)), K=ones((4, 2)))
    np.savez(tmp_path / "heads.npz", Q=ones((2, 4, 3)), K=ones((2, 4, 3)))
    np.savez(tmp_path / "huge.npz", Q=100 * ones((4, 3)), K=100 * ones((4, 3)))
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    code = main(["task=attention", *words.split()])
    one_line(subprocess.CompletedProcess(words, code, *capfd.readouterr()), MISTAKES[words])
    assert not list(tmp_path.glob("outputs/*/*"))
