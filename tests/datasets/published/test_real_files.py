"""Every available dataset loads with its published shape, classes and values."""

import gzip
import io
import lzma
import time

import numpy as np
import pytest

from rfbench.datasets import load, status
from rfbench.datasets.published.catalogue import CATALOGUE
from rfbench.datasets.published.fingerprints import FINGERPRINTS
from rfbench.datasets.store import fingerprint

pytestmark = pytest.mark.medium


@pytest.fixture
def load_real(data_dir, real_cache, monkeypatch):
    monkeypatch.setenv("RFBENCH_CACHE", str(real_cache))

    def load_or_skip(name):
        if status(name, str(data_dir)) != "available":
            pytest.skip(f"no files of {name} in RFBENCH_DATA")
        return load({"name": name}, data_dir=str(data_dir), download=False)

    return load_or_skip


LARGE = ("cifar10", "cifar10_efficientnet", "covertype")  # they take seconds each


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in CATALOGUE])
def test_shape_classes_and_finite_values(name, load_real, capsys):
    entry, data = CATALOGUE[name], load_real(name)
    n, d = data.X.shape
    assert d == entry.columns
    assert data.y.shape == (n,)
    assert data.n_train == (n - entry.n_test if entry.n_test else None)
    if "missing" not in capsys.readouterr().err:
        assert n == entry.rows
    seen = set()
    for start in range(0, n, 50_000):
        assert np.isfinite(data.X.read(start, start + 50_000)).all()
        y = data.y.read(start, start + 50_000)
        seen |= set(y.tolist()) if entry.classes else set()
        assert y.dtype == (np.int64 if entry.classes else np.float64)
    assert seen == set(range(entry.classes or 0))


@pytest.mark.parametrize("name", FINGERPRINTS)
def test_rows_are_those_published(name, load_real):
    data = load_real(name)
    if data.X.shape[0] < CATALOGUE[name].rows:
        pytest.skip(f"RFBENCH_DATA has a part of {name}")
    assert fingerprint(data) == FINGERPRINTS[name]


@pytest.mark.parametrize("name", ["boston", "kin8nm", "protein"])
def test_numbers_equal_those_of_another_reader(name, load_real, data_dir):
    data, other = load_real(name), np.loadtxt(data_dir / name / "data.txt.gz")
    np.testing.assert_array_equal(data.X.read(0, len(other)), other[:, :-1])
    np.testing.assert_array_equal(data.y.read(0, len(other)), other[:, -1])


def test_naval_keeps_both_decays_out_of_the_features(load_real, data_dir):
    data, other = load_real("naval"), np.loadtxt(data_dir / "naval" / "data.txt.gz")
    np.testing.assert_array_equal(data.X.read(0, len(other)), other[:, :16])
    np.testing.assert_array_equal(data.y.read(0, len(other)), other[:, 16])


def test_mnist_pixels_are_the_bytes_of_the_file(load_real, data_dir):
    with gzip.open(data_dir / "mnist" / "t10k-images-idx3-ubyte.gz") as handle:
        pixels = np.frombuffer(handle.read()[16:], np.uint8).reshape(10_000, 784)
    np.testing.assert_array_equal(load_real("mnist").X.read(60_000, 70_000), pixels)


def test_efficientnet_features_are_squares_times_the_scale_of_the_column(load_real, data_dir):
    data, folder = load_real("cifar10_efficientnet"), data_dir / "cifar10_efficientnet"
    with lzma.open(folder / "test_features.npy.xz") as handle:
        q = np.load(io.BytesIO(handle.read()))
    features = data.X.read(50_000, 60_000)
    np.testing.assert_allclose(features, (q / 255) ** 2 * np.load(folder / "scale.npy"), rtol=1e-6)
    np.testing.assert_array_equal(data.y.read(50_000, 60_000), np.load(data_dir / "cifar10" / "test_labels.npy"))


def test_mnist_train_counts(load_real):
    counts = np.bincount(load_real("mnist").y.read(0, 60_000))
    assert counts.tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]


def test_a_second_load_is_immediate(load_real):
    load_real("mnist")
    start = time.perf_counter()
    load_real("mnist").X.read(0, 1)
    assert time.perf_counter() - start < 0.3


def test_adult_is_one_hot_but_for_six_columns(load_real):
    X = load_real("adult").X.read(0, 48_842)
    words = X[:, 6:]
    assert set(np.unique(words)) == {0.0, 1.0}
    assert (words[:32_561].sum(axis=1) == 8).all()


def test_a_cut_off_set_is_refused(data_dir, tmp_path):
    (tmp_path / "yacht").mkdir()
    with gzip.open(data_dir / "yacht" / "data.txt.gz", "rt") as source:
        (tmp_path / "yacht" / "data.txt").write_text("".join(source.readlines()[:300]))
    with pytest.raises(ValueError, match=r"308 rows.* has 300"):
        load({"name": "yacht"}, data_dir=str(tmp_path), download=False)
    assert not list((tmp_path / "cache" / "arrays").iterdir())


def test_bike_does_not_give_its_target_away(load_real, data_dir):
    data, other = load_real("bike"), np.loadtxt(data_dir / "bike" / "data.csv.gz", delimiter=",")
    np.testing.assert_array_equal(data.X.read(0, len(other)), other[:, :15])
    np.testing.assert_array_equal(data.y.read(0, len(other)), other[:, 17])


def test_standard_splits_are_those_of_the_file(load_real, data_dir):
    data = load_real("kin40k")
    np.testing.assert_array_equal(data.folds.read(0, 40_000), np.load(data_dir / "kin40k" / "fold.npy"))


def test_flights_have_time_places_and_miles(load_real, data_dir):
    data = load_real("flights")
    with np.load(data_dir / "flights" / "flights.npz") as arrays:
        i = 1_234_567
        start, end = arrays["origin"][i], arrays["destination"][i]
        times = [arrays[name][i] for name in ("month", "day", "hour", "minute")]
        expected = [
            *times,
            *arrays["airport_latlon"][start],
            *arrays["airport_latlon"][end],
            arrays["distance"][start, end],
        ]
        np.testing.assert_array_equal(data.X.read(i, i + 1), [expected])
        assert data.y.read(i, i + 1) == arrays["delay"][i]


def test_who_uses_repeated_rows_is_told(load_real, capsys):
    load_real("keggdirected")
    assert "73 % of the test rows are training rows too" in capsys.readouterr().err
