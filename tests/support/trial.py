"""Trials for the tests of tasks."""

import numpy as np

from rfbench.sketches.draw import Draw
from rfbench.tasks import Trial


def make_trial(split, kernel, sketch, D, engine, *, seed=0, dtype=np.float64, **more):
    """One sketch with D features; its draws come from the seed as in a run."""
    d = split.train.take(np.arange(1))[0].shape[1] if split else D
    return Trial(split, kernel, sketch, d, D, seed, engine, dtype=np.dtype(dtype).name, name="test", **more)


def measured(task, trial, reference):
    """Metric → value."""
    return {measure.metric: measure.value for measure in task.measure(trial, reference)}


def drawn(sketch, d, D, k=0, dtype=np.float64):
    """The k-th draw of a trial of seed 0."""
    return Draw(sketch, d, D, 0, ("sketch", "test", D, k), np.dtype(dtype).name)()


def curve_of(trial, name):
    """x and y of a curve that a trial has recorded."""
    points = [(float(row["x"]), float(row["y"])) for row in trial.recorder.points if row["name"] == name]
    return np.array(points).T
