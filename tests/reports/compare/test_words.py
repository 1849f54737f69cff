"""The command of a published cell runs the cell's own setting: what compare reads from it has the cell's labels."""

from pathlib import Path

import pytest

from rfbench.config.compose import compose_jobs, without_hydra
from rfbench.job import plain_config
from rfbench.kernels import kernel_recipe
from rfbench.reports.compare.command import of_files
from rfbench.reports.compare.ours import setting_of
from rfbench.reports.compare.published import printed
from rfbench.reports.compare.verdicts import KERNEL_ERRORS
from rfbench.reports.compare.words import words

LABELS = ("dataset", "prepare", "kernel", "degree", "sketch")


def published(data_dir):
    truth = Path(data_dir).parent / "truth"
    return [*printed(), *(of_files(truth) if truth.is_dir() else ())]


def some_of_all(cells):
    """Cells that have together every dataset with its preparation, every task, and every sketch with its kernel."""
    by_parts = {}
    for cell in cells:
        task = "kernel_error" if cell.metric in KERNEL_ERRORS else cell.task
        by_parts[(cell.dataset, cell.prepare), task, (cell.sketch, cell.kernel)] = cell
    missing = set().union(*by_parts)
    while missing:
        best = max(by_parts, key=lambda parts: len(missing.intersection(parts)))
        yield by_parts[best]
        missing -= set(best)


def check_labels(cells):
    for cell in cells:
        (config,) = compose_jobs(list(words(cell)), False)
        plain = plain_config(without_hydra(config))
        power = kernel_recipe(degree=plain["degree"], **plain["kernel"]).power
        found = setting_of(plain) | {"degree": str(power or "")}
        assert {name: found[name] for name in LABELS} == {name: getattr(cell, name) for name in LABELS}, words(cell)
        if cell.metric not in KERNEL_ERRORS:
            assert (found["task"], found["scale"]) == (cell.task, 1.0) or cell.task.startswith("kid"), words(cell)


@pytest.mark.medium
@pytest.mark.parametrize("source", ["T Table 6.1, O Table 1", "B Table 3"])
def test_labels_of_a_table_are_those_of_its_commands(source):
    check_labels(some_of_all(cell for cell in printed() if cell.source == source))


@pytest.mark.slow
def test_labels_of_all_published_cells_are_those_of_their_commands(data_dir):
    check_labels(some_of_all(published(data_dir)))


def test_words_of_labels():
    cell = next(cell for cell in printed() if cell.sketch == "compressive_phase_rff(measurements=50)")
    assert words(cell) == (
        "task=svm", "task.multiclass=crammer_singer", "dataset=mnist", "dataset.prepare=[]",
        "sketch=compressive_phase_rff", "sketch.measurements=50", "kernel=gaussian", "kernel.length_scale=10",
    )  # fmt: skip
