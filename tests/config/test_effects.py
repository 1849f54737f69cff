"""Options without effect: refused where nothing reads them, accepted where one job of a sweep does."""

import pytest

from rfbench.config.compose import compose_jobs, known_keys, without_hydra
from rfbench.config.effects import NEEDS, without_effect
from rfbench.job import plain_config


def config(*words):
    return plain_config(without_hydra(compose_jobs(list(words), multirun=False)[0]))


def test_every_option_and_setting_exists():
    known = known_keys()
    for (choice, option), settings in NEEDS.items():
        config(*[choice] * ("=" in choice))
        assert {option, *(setting.partition("=")[0] for setting in settings)} <= set(known)


@pytest.mark.parametrize(
    ("words", "key", "wanted"),
    [
        ("task=svm", "task.iterations", None),
        ("task=svm task.multiclass=crammer_singer", "task.iterations", "it needs task.multiclass=one_vs_rest"),
        ("task=kid task.subsets=0", "task.subset_rows", "it needs task.subsets=NUMBER"),
        ("task=pooling task.patch=null", "task.stride", "it needs task.patch=NUMBER"),
        ("task=pooling", "task.stride", None),
        (
            "task=ridge task.alpha=0.1 sketch=rff kernel.length_scale=2",
            "task.validation",
            "it needs task.alpha=auto or",
        ),
        ("task=ridge task.alpha=0.1 sketch=rff kernel.length_scale=validation", "task.validation", None),
        ("task=ridge task.alpha=0.1 sketch=rff kernel.length_scale=2", "task.protocol", "it needs task.alpha=auto or"),
        ("sketch=localized_maclaurin sketch.centers=test", "sketch.clusters", "it needs sketch.centers=clusters"),
        ("sketch=localized_maclaurin sketch.clusters=9", "sketch.threshold", "it needs sketch.clusters=null"),
        ("sketch=localized_maclaurin", "sketch.threshold", None),
        ("sketch=nystrom sketch.landmarks=uniform", "sketch.block", "it needs sketch.landmarks=rpcholesky or"),
        ("dataset=pol dataset.split=standard", "dataset.test_fraction", "it needs dataset.split=default or"),
        ("dataset=pol", "dataset.test_fraction", None),
        ("engine=dask engine.address=tcp://a:1", "engine.workers", "it needs engine.address=null"),
        ("task=attention", "task.length", None),
        ("task=attention task.file=x.npz", "task.length", "it needs task.file=null"),
        ("task=gpr sketch=rff kernel.length_scale=likelihood", "task.likelihood", None),
        ("task=gpr sketch=rff", "task.likelihood", "it needs kernel.length_scale=likelihood or"),
    ],
)
def test_what_an_option_needs(words, key, wanted):
    found = without_effect(key, [config(*words.split())])
    assert found is None if wanted is None else found.startswith(wanted)


def test_one_job_that_reads_it_is_enough():
    configs = [config("task=ridge", "task.solver=dual"), config("task=ridge", "task.solver=cg")]
    assert without_effect("task.tolerance", configs) is None
    assert without_effect("task.tolerance", configs[:1])
