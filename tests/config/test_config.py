"""Every YAML composes and builds, one at a time and where it meets others."""

import pytest

from rfbench.config.compose import choices, compose_jobs, known_keys, without_hydra
from rfbench.config.experiments import completed
from rfbench.config.labels import label, with_options
from rfbench.job import build_job, feature_count, plain_config

CHOICES = [(group, name) for group in ("dataset", "sketch", "task", "engine", "meter") for name in choices(group)]


def jobs(*overrides, multirun=False):
    return [build_job(plain_config(without_hydra(config))) for config in compose_jobs(list(overrides), multirun)[0]]


@pytest.mark.parametrize(("group", "name"), CHOICES)
def test_every_choice_builds(group, name):
    (job,) = jobs(f"{group}={name}")
    assert (job.config[group] or {"name": "none"})["name"] == name.partition("/")[0]


@pytest.mark.parametrize("name", choices("kernel"))
def test_every_kernel_builds(name):
    (job,) = jobs("sketch=exact", f"kernel={name}")
    assert job.kernel.name == name


@pytest.mark.parametrize("name", choices("experiment"))
def test_every_experiment_is_a_sweep_that_builds(name):
    found, sweep = compose_jobs(completed([f"experiment={name}", "size=quick"])[0], False)
    assert sweep
    assert len(found) > 1
    for config in found:
        build_job(plain_config(without_hydra(config)))


def test_every_choice_says_what_it_is():
    for group in ("dataset", "sketch", "kernel", "task", "meter", "experiment"):
        for name, about in choices(group).items():
            assert 3 <= len(about) < 110, (group, name)
            assert not about.startswith("@")


def test_known_keys_are_those_of_the_yamls():
    assert {"degree", "sketch", "kernel.gamma", "task.rows", "sketch.base", "dataset.prepare"} <= set(known_keys())


@pytest.mark.parametrize(
    ("given", "d", "count"), [(7, 784, 7), ("2d", 784, 2048), ("1.5d", 64, 96), ("1d", 65, 128), (".5d", 13, 8)]
)
def test_features_count_padded_columns(given, d, count):
    assert feature_count(given, d) == count


def test_labels_tell_options_apart():
    assert label("sketch", {"name": "rademacher"}) == "rademacher"
    assert label("sketch", {"name": "craft", "base": "gaussian", "up": 4}) == "craft(gaussian)"
    assert label("sketch", {"name": "craft", "base": "gaussian", "up": 2}) == "craft(gaussian, up=2)"
    assert label("kernel", {"name": "polynomial", "gamma": 1.0, "bias": 0.5}) == "polynomial(bias=0.5)"
    assert label("dataset", {"name": "digits", "prepare": ["center"]}) == "digits(prepare=[center])"
    assert label("dataset", {"name": "digits", "prepare": ["unit_norm"], "threshold": 0.0}) == "digits"
    assert label("dataset", {"name": "digits", "prepare": ["unit_norm"], "threshold": 0.5}) == "digits(threshold=0.5)"
    assert with_options("a(b)", ["c=1"]) == "a(b, c=1)"
