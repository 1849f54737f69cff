"""Results as runs write them, with made-up numbers."""

import copy

import numpy as np

from rfbench.config.compose import compose_jobs, without_hydra
from rfbench.job import plain_config
from rfbench.results.manifest import Manifest
from rfbench.results.recorder import Recorder
from rfbench.results.rows import write_rows

UNITS = {"transform_seconds": "s", "fit_seconds": "s", "joules": "J"}


def config_of(*words):
    """The config of a job as run.json has it."""
    (config,) = compose_jobs(list(words), multirun=False)
    return plain_config(without_hydra(config))


def write_run(directory, config, rows):
    """results.csv and run.json; rows say what differs from the columns of the config."""
    columns = {group: config[group]["name"] for group in ("dataset", "task", "sketch", "kernel")}
    same = {"n_train": 90, "n_test": 10, "d": 5, "degree": "3", "unit": "", "status": "ok", "message": ""}
    write_rows(directory / "results.csv", [columns | same | row for row in rows])
    Manifest(directory, config).write("a digest", Recorder())


def made_up(rng, level, features=(64, 128, 256), seeds=5, metrics=("rel_frobenius", "transform_seconds")):
    """Errors that fall and seconds that grow with the features."""
    for D in features:
        for seed in range(seeds):
            for metric in metrics:
                law = 1e-5 * D if metric.endswith("_seconds") else level / np.sqrt(D)
                value = repr(float(law * rng.lognormal(sigma=0.2)))
                yield {"features": D, "seed": seed, "metric": metric, "value": value, "unit": UNITS.get(metric, "")}


def write_experiment(directory, names, rng, sketch_level=None, **options):
    """A job for each (dataset, sketch)."""
    base = config_of()
    for number, (dataset, sketch) in enumerate(names):
        config = copy.deepcopy(base)
        config["dataset"]["name"], config["sketch"]["name"] = dataset, sketch
        level = (sketch_level or {}).get(sketch, 1 + number % 3)
        write_run(directory / "jobs" / f"{number:012x}", config, list(made_up(rng, level, **options)))
