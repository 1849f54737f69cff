"""Figures of Gaussian processes: training curves, clusters, and pictures of the processes."""

import matplotlib as mpl
import numpy as np
import pytest
from support.figures import axes, curves, lines, metrics

from rfbench.reports.figures.pictures import write_pictures
from rfbench.reports.figures.posteriors import draw_posteriors
from rfbench.reports.figures.processes import clusters
from rfbench.results.pictures import MAPS, POSTERIORS, PictureKey, keep_pictures, read_pictures


def test_training_is_error_against_time():
    """Means over seeds of both, epoch by epoch."""
    series = curves(
        {"task": "gpc_svi", "name": name, "seed": k, "points": [(e, f(e) + k) for e in (1, 2, 3)]}
        for k in (0, 2)
        for name, f in (("error", lambda e: 1 / e), ("seconds", lambda e: 2 * e))
    )
    ax = axes(series=series)["made, Gaussian"]
    np.testing.assert_allclose(lines(ax)["rff"], [(2 * e + 1, 1 / e + 1) for e in (1, 2, 3)])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("seconds of training", "misclassified fraction")


def test_divergence_against_clusters():
    rows = [("rff", "kl", 5.0)]
    for threshold, count, value in ((2, 20, 1.0), (8, 1, 9.0)):
        name = f"localized_maclaurin(rademacher, threshold={threshold})"
        rows += [(name, "kl", value), (name, "clusters", count)]
    table = metrics({"task": "gpr", "sketch": s, "metric": m, "value": v} for s, m, v in rows)
    ax = axes(table)["made, Gaussian"]
    np.testing.assert_allclose(lines(ax)["localized_maclaurin, 8 features"], [(1, 9), (20, 1)])
    assert {y for _, y in lines(ax)["rff, 8 features"]} == {5}
    assert clusters(table[:3]).empty  # one number of clusters is no curve


@pytest.fixture
def process():
    """(exact mean, exact variance, mean, variance), all different, at 30 rows."""
    return np.random.default_rng(0).uniform(1, 2, (30, 4)) * [1, 10, 100, 1000]


def test_a_process_on_the_line_is_a_mean_with_two_standard_deviations(process):
    x = np.random.default_rng(1).permutation(30).astype(float)
    key = PictureKey(POSTERIORS, "made", "rff", 10, 0.5)
    (ax,) = draw_posteriors({key: np.column_stack((x, process))}).axes
    mu, v, mean, variance = process[x.argsort()].T
    wanted = (mu, mean, mean - 2 * np.sqrt(variance), mean + 2 * np.sqrt(variance))
    for line, y in zip(ax.get_lines(), wanted, strict=True):
        np.testing.assert_allclose(line.get_xydata(), np.column_stack((np.arange(30), y)))
    vertices = ax.collections[0].get_paths()[0].vertices
    for k in range(30):
        band = [y for at, y in vertices if at == k]
        assert min(band) == pytest.approx(mu[k] - 2 * np.sqrt(v[k]))
        assert max(band) == pytest.approx(mu[k] + 2 * np.sqrt(v[k]))


def test_a_process_on_the_plane_is_its_mean_beside_the_exact_one(process):
    places = np.random.default_rng(1).standard_normal((30, 2))
    key = PictureKey(POSTERIORS, "made", "rff", 10, 0.5)
    exact, found = draw_posteriors({key: np.column_stack((places, process))}).axes
    for ax, column in ((exact, 0), (found, 2)):
        np.testing.assert_allclose(ax.collections[0].get_array(), process[:, column])
        np.testing.assert_allclose(ax.collections[0].get_offsets(), places)
        assert ax.collections[0].get_clim() == pytest.approx(np.quantile(process[:, 0], (0.01, 0.99)))


def test_a_process_on_a_grid_is_a_map(process):
    """Five places of x, six of y; the mean of each cell is where its row says."""
    places = np.stack(np.meshgrid(np.arange(5.0), np.arange(6.0), indexing="ij"), -1).reshape(-1, 2)
    key = PictureKey(POSTERIORS, "made", "rff", 10, 0.5)
    _, ax = draw_posteriors({key: np.column_stack((places, process))}).axes
    mesh = ax.collections[0]
    corners = mesh.get_coordinates()
    centres = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    np.testing.assert_allclose(centres.reshape(-1, 2), places)
    np.testing.assert_allclose(mesh.get_array().ravel(), process[:, 2])


@pytest.mark.parametrize("columns", [1, 2])
def test_posteriors_of_all_jobs_are_drawn_once(columns, tmp_path):
    rng = np.random.default_rng(0)
    jobs = [tmp_path / name for name in ("one", "two")]
    for job, sketch in zip(jobs, ("rff", "orf"), strict=True):
        picture = np.abs(rng.standard_normal((30, columns + 4)))
        keep_pictures(job, {PictureKey(POSTERIORS, "made", sketch, D, 0.5): picture for D in (10, 20)})
    pictures = {key: A for job in jobs for key, A in read_pictures(job, POSTERIORS).items()}
    assert {key.features for key in pictures} == {10, 20}
    with mpl.rc_context():
        titles = [ax.get_title() for ax in draw_posteriors(pictures).axes if ax.get_title()]
    assert [title.split("\n")[-1] for title in titles if title != "exact process"] == 2 * ["D = 20, KL 0.5"]
    target = tmp_path / "target"
    for _ in range(2):
        write_pictures(target, jobs)
        files = {path.name: path.read_bytes() for path in target.iterdir()}
    assert set(files) == {"posteriors.pdf", "posteriors.png", "posteriors.svg"}
    write_pictures(target, jobs)
    assert files == {path.name: path.read_bytes() for path in target.iterdir()}
    write_pictures(tmp_path / "empty", [tmp_path])
    assert not (tmp_path / "empty").exists()


def test_maps_are_on_the_scale_of_the_exact_one(tmp_path):
    from rfbench.reports.figures.maps import draw_maps

    exact, rough = np.arange(1.0, 10).reshape(3, 3), np.full((3, 3), 20.0)
    rough[0, 0] = -100  # has no logarithm
    pictures = {PictureKey(MAPS, "made", "favor", D, 0.5): rough + D for D in (64, 32)}
    figure = draw_maps(pictures | {PictureKey(MAPS, "made", "exact", 0, 0.0): exact})
    first, second, histogram, colours = figure.axes
    np.testing.assert_array_equal(first.images[0].get_array(), exact)
    shown = np.ma.filled(second.images[0].get_array(), np.nan)
    np.testing.assert_array_equal(shown, np.where(rough > 0, rough + 64, np.nan))  # the most features
    assert colours.get_yscale() == "log"
    assert second.images[0].get_clim() == first.images[0].get_clim() == (1, 9)
    assert sum(bar.get_height() for bar in histogram.patches) == 9


def test_what_was_learned_is_printed_and_drawn(rfbench, tmp_path):
    words = ("task=gpr", "dataset=sinc", "dataset.rows=100", "sketch=localized_maclaurin", "features=8", "seeds=2")
    done = rfbench(*words)
    assert done.returncode == 0, done.stderr
    assert "gaussian kernel, seed 0: length_scale" in done.stdout
    assert "localized_maclaurin(rademacher), 8 features, seed 0: allocation 0: 1, 1: 1" in done.stdout
    assert "seed 1" not in done.stdout
    assert "posteriors.png" in done.stdout
    for _ in range(2):  # nothing is left to compute, and the same is shown
        assert rfbench(*words).stdout == done.stdout
