"""Sketches that are fitted to many training rows, in every task that takes them."""

import json

import pytest

from rfbench.results.rows import read_rows
from rfbench.sketches.anchored.recipes import Anchored

TASKS = {
    "kernel_error": "rel_frobenius",
    "gpc task.samples=20 task.reference_rows=100 task.alpha=0.01": "error",
    "ridge": "error",
    "svm": "error",
    "kid task.resamples=3 task.subsets=0": "kid",
    "gpr dataset=diabetes task.noise=0.1": "rmse",
    "attention task.length=32 task.columns=16 task.normalize=true kernel=exponential": "rel_output",
    "variance task.draws=20 task.rows=50": "empirical_over_closed_form",
}


@pytest.mark.parametrize("words", TASKS)
def test_a_task_runs(words, rfbench, tmp_path):
    done = rfbench(*f"task={words} sketch=anchored features=128 seeds=1".split())
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    rows = read_rows(path)
    assert {row["status"] for row in rows} == {"ok"}
    assert TASKS[words] in {row["metric"] for row in rows}
    learned = json.loads((path.parent / "run.json").read_text())["learned"]
    (facts,) = (facts for key, facts in learned.items() if key.startswith("anchored"))
    assert facts["anchors"] + sum(facts["allocation"].values()) == 128
    assert facts["fit_seconds"] > 0


def test_the_fit_sees_more_rows_than_a_kernel_does(rfbench, monkeypatch):
    seen, adapt = [], Anchored.adapt
    monkeypatch.setattr(Anchored, "adapt", lambda self, X, D: seen.append(len(X)) or adapt(self, X, D))
    assert rfbench("sketch=anchored", "features=64", "seeds=1").returncode == 0
    assert seen == [1617]  # all training rows of the digits, and at most 20,000
