"""The cube: every sketch with every kernel and every task gives numbers, or is refused in words before it runs."""

from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
from support.campaign import alone_in
from support.limits import in_words, limited

from rfbench.checks import InputError
from rfbench.config.compose import compose_jobs, without_hydra
from rfbench.config.files import choices
from rfbench.job import build_job, plain_config
from rfbench.trials import run

pytestmark = pytest.mark.slow
DATASETS = {"gpr": "diabetes", "ridge": "diabetes", "vector_field": "five_gaussians", "pooling": "digits"}
SMALL = {  # beside few rows and features
    "attention": ["task.length=16", "task.columns=8"],
    "kernel_error": ["task.rows=20"],
    "bounds": ["task.rows=8", "task.draws=10", "task.most=32"],
    "projection": ["task.seconds=0.001"],
    "variance": ["task.rows=10", "task.draws=4"],
    "gpc_svi": ["task.epochs=1"],
    "kid": ["task.resamples=2", "task.subsets=2", "task.subset_rows=8"],
    "vector_field": ["dataset.rows=60", "dataset.test_rows=20"],
    "pooling": ["task.rows=20"],
}


@cache
def composed(*words):
    return plain_config(without_hydra(compose_jobs(list(words), multirun=False)[0]))


def config(task, kernel, sketch):
    """The config of the three together: what one of them sets for another holds unless that one is named."""
    words = [f"task={task}", f"kernel={kernel}", "features=32", "seeds=1", "train_rows=40", *SMALL.get(task, ())]
    if task not in ("attention", "projection"):  # which have their own rows
        words.append(f"dataset={DATASETS.get(task, 'wine')}")
    found = deepcopy(composed(*words))
    found["sketch"] = dict(composed(f"sketch={sketch}")["sketch"])
    if task == "kid":  # which takes rows as they are, and exp(x·y) of these would be too large
        found["dataset"]["prepare"] = ["standardize", "unit_norm"]
    return found


@pytest.mark.parametrize("task", choices("task"))
def test_every_sketch_with_every_kernel(task, tmp_path):
    numbers, wrong = 0, []
    with alone_in(tmp_path):
        for number, (kernel, sketch) in enumerate((k, s) for k in choices("kernel") for s in choices("sketch")):
            directory = Path("outputs", "cube", str(number)).absolute()
            try:
                with limited():
                    job = build_job(config(task, kernel, sketch))
                    directory.mkdir(parents=True)
                    rows = run(job, directory, keep_going=False).rows
                failed = [row["message"] for row in rows if row["status"] == "failed"]
                wrong += [(kernel, sketch, message) for message in failed]
                numbers += not failed
            except InputError as refusal:
                in_words(str(refusal))
    assert not wrong
    assert numbers
