"""Nyström features in every task that takes them, and the words of one that does not."""

import json

import pytest

from rfbench.results.rows import read_rows

pytestmark = pytest.mark.medium

TASKS = {
    "kernel_error": {"rel_frobenius", "transform_seconds", "fit_seconds"},
    "gpc task.samples=20 task.reference_rows=100 task.alpha=0.01": {"error"},
    "ridge": {"error"},
    "svm": {"error"},
    "gpr dataset=diabetes task.noise=0.1": {"rmse"},
    "attention task.length=32 task.columns=16 task.normalize=true kernel=exponential": {"rel_output"},
    "pooling task.rows=50": {"rel_frobenius", "error", "fit_seconds"},
}


@pytest.mark.parametrize("words", TASKS)
def test_a_task_runs_and_run_json_has_what_the_fit_learned(words, rfbench, tmp_path):
    done = rfbench(*f"task={words} sketch=nystrom features=32 seeds=1".split())
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    rows = read_rows(path)
    assert {row["status"] for row in rows} == {"ok"}
    metrics = [row["metric"] for row in rows]
    assert TASKS[words] <= set(metrics)
    assert len(metrics) == len(set(metrics))
    learned = json.loads((path.parent / "run.json").read_text())["learned"]
    (facts,) = (facts for key, facts in learned.items() if key.startswith("nystrom"))
    assert facts["landmarks"] >= facts["rank"] >= 10
    assert 0 <= facts["residual_trace"] < 0.5
    assert facts["fit_seconds"] > 0


def test_kid_refuses_a_biased_estimate_in_words(rfbench):
    done = rfbench("task=kid", "sketch=nystrom", "features=32", "seeds=1")
    assert done.returncode == 2
    assert "nystrom has only what its landmarks span; use an unbiased sketch" in done.stderr


def test_greedy_landmarks_have_no_variance(rfbench):
    words = ("task=variance", "task.draws=5", "task.rows=50", "sketch=nystrom", "features=32", "seeds=1")
    assert "variance_empirical" in rfbench(*words).stdout
    done = rfbench(*words, "sketch.landmarks=greedy")
    assert done.returncode == 2
    assert "this one is deterministic; use task=kernel_error" in done.stderr
