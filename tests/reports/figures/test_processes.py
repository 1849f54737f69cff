"""Figures of Gaussian processes: which rows they show, and that they are drawn."""

import numpy as np
import pandas as pd
import pytest

from rfbench.reports.figures.figure import choose, write_figure
from rfbench.reports.figures.processes import by_clusters, clusters, epochs, measures, training, write_posteriors
from rfbench.reports.tables import SETTING
from rfbench.results.pictures import MAPS, POSTERIORS, PictureKey, keep_pictures, read_pictures


def summary(task, *rows):
    """Rows are (sketch, features, metric, mean)."""
    base = dict.fromkeys(SETTING, "") | {"dataset": "made", "task": task, "kernel": "gaussian", "degree": np.nan}
    frame = [
        base | {"sketch": s, "features": D, "metric": m, "unit": "", "mean": v, "std": 0.01, "count": 2}
        for s, D, m, v in rows
    ]
    return pd.DataFrame(frame, columns=[*SETTING, "metric", "unit", "mean", "std", "count"])


def test_measures_have_a_panel_each(tmp_path):
    values = {"nmse": 0.3, "mnll": -0.2, "kl": 1.5, "rmse": 9.0, "rel_frobenius": 0.1}
    rows = [("rff", D, metric, value / D) for D in (16, 32) for metric, value in values.items()]
    found = measures(summary("gpr(noise=0.1)", *rows))
    assert sorted(set(found["metric"])) == ["kl", "mnll", "nmse"]
    assert len(measures(summary("kernel_error", *rows))) == 0
    assert write_figure(tmp_path, summary("gpr", *rows))
    assert pd.read_csv(tmp_path / "figure.csv")["metric"].nunique() == 3


def test_training_is_error_against_time(tmp_path):
    rows = [
        ("tensorsrht", 64, f"{what}_e{e:03d}", value)
        for e in (1, 2, 3)
        for what, value in (("error", 1 / e), ("seconds", 2 * e))
    ]
    found = epochs(summary("gpc_svi", *rows))
    assert list(found["seconds"]) == [2, 4, 6]
    assert list(found["error"]) == pytest.approx([1, 1 / 2, 1 / 3])
    assert choose(summary("gpc_svi", *rows))[1] is training
    assert write_figure(tmp_path, summary("gpc_svi", *rows))


def test_divergence_against_clusters(tmp_path):
    rows = [("rff", 64, "kl", 5.0)]
    for threshold, count, value in ((8, 1, 9.0), (2, 20, 1.0)):
        name = f"localized_maclaurin(rademacher, threshold={threshold})"
        rows += [(name, 64, "kl", value), (name, 64, "clusters", count)]
    found = clusters(summary("gpr", *rows))
    assert found["clusters"].tolist()[1:] == [1, 20]
    assert choose(summary("gpr", *rows))[1] is by_clusters
    assert write_figure(tmp_path, summary("gpr", *rows))
    assert len(clusters(summary("gpr", *rows[:3]))) == 0  # one number of clusters is no curve


@pytest.mark.parametrize("columns", [1, 2])
def test_posteriors_of_all_jobs_are_drawn_once(columns, tmp_path):
    rng = np.random.default_rng(0)
    jobs = [tmp_path / name for name in ("one", "two")]
    for job, sketch in zip(jobs, ("rff", "orf"), strict=True):
        picture = np.abs(rng.standard_normal((30, columns + 4)))
        keep_pictures(job, {PictureKey(POSTERIORS, "made", sketch, D, 0.5): picture for D in (10, 20)})
        keep_pictures(job, {PictureKey(MAPS, "made", sketch, 10, 0.5): picture})
    assert {key.features for key in read_pictures(jobs[0], POSTERIORS)} == {10, 20}
    target = tmp_path / "target"
    for _ in range(2):
        write_posteriors(target, jobs)
        files = {path.name: path.read_bytes() for path in target.iterdir()}
    assert set(files) == {"posteriors.png", "posteriors.svg"}
    write_posteriors(target, jobs)
    assert files == {path.name: path.read_bytes() for path in target.iterdir()}
    write_posteriors(tmp_path / "empty", [tmp_path])
    assert not (tmp_path / "empty").exists()


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
