"""Every YAML composes and builds, one at a time and where it meets others."""

from dataclasses import fields

import pytest
from omegaconf import OmegaConf
from support.answers import one_line

from rfbench.checks import InputError
from rfbench.config.compose import combinations, compose_job, compose_jobs, composer, known_keys, without_hydra
from rfbench.config.experiments import plan
from rfbench.config.files import CONF, choices, root_keys
from rfbench.config.labels import label, with_options
from rfbench.config.schema import Root, feature_count
from rfbench.job import build_job, plain_config
from rfbench.registry import GROUPS

CHOICES = [(group, name) for group in ("dataset", "sketch", "task", "engine", "meter") for name in choices(group)]
NEEDS = {"localized_maclaurin/test": ("task=gpr",)}  # choices that the default task refuses


def jobs(*overrides, multirun=False):
    return [build_job(plain_config(without_hydra(config))) for config in compose_jobs(list(overrides), multirun)]


@pytest.mark.parametrize(("group", "name"), CHOICES)
def test_every_choice_builds(group, name):
    (job,) = jobs(f"{group}={name}", *NEEDS.get(name, ()))
    assert (job.config[group] or {"name": "none"})["name"] == name.partition("/")[0]


@pytest.mark.parametrize("name", choices("kernel"))
def test_every_kernel_builds(name):
    (job,) = jobs("sketch=exact", f"kernel={name}")
    assert job.kernel.name == name


@pytest.mark.medium
@pytest.mark.parametrize("name", choices("experiment"))
def test_every_experiment_is_a_sweep_that_builds(name):
    planned = plan([f"experiment={name}", "size=quick"], False)
    assert planned.multirun
    found = compose_jobs(planned.words, True)
    assert len(found) > 1
    for config in found:
        build_job(plain_config(without_hydra(config)))


def test_the_engine_gets_its_options():
    (job,) = jobs("block_rows=50", "engine.workers=3")
    assert (job.engine.block_rows, job.engine.workers) == (50, 3)


def test_precision_and_threshold_reach_the_job_and_its_rows():
    (job,) = jobs("dtype=float64", "dataset.prepare=[binarize]", "dataset.threshold=0.5", "sketch=rff")
    assert (job.dtype, job.preparation.threshold, job.columns["sketch"]) == ("float64", 0.5, "rff(dtype=float64)")


def test_every_choice_says_what_it_is():
    for group in ("dataset", "sketch", "kernel", "task", "meter", "experiment"):
        for name, about in choices(group).items():
            assert 3 <= len(about) < 110, (group, name)
            assert not about.startswith("@")


def test_help_shows_every_root_key_with_the_default_of_the_yaml(rfbench):
    text = rfbench("--help").stdout
    assert set(root_keys()) == {field.name for field in fields(Root)} - {*GROUPS, "sizes"}
    for key, (default, about) in root_keys().items():
        assert f"{key}={default}" in text
        assert about in text


PAIRS = [path.relative_to(CONF).with_suffix("").parts for path in sorted(CONF.glob("task_*/**/*.yaml"))]


@pytest.mark.parametrize(("group", "name"), [(parts[0], "/".join(parts[1:])) for parts in PAIRS])
def test_what_a_task_wants_of_a_kernel_or_sketch_is_a_default_that_can_be_changed(group, name):
    task, _, choice = name.partition("_")
    kind = group.removeprefix("task_")
    wanted = OmegaConf.to_container(OmegaConf.load(CONF / group / f"{name}.yaml"))
    wanted = set(wanted.get(kind, wanted).items())  # of the group alone, or among others of the whole config
    sketch = [f"sketch={choice}"] if kind == "sketch" else ["sketch=exact", f"kernel={choice}"]
    (config,) = compose_jobs([f"task={task}", *sketch], False)
    assert wanted <= set(config[kind].items())
    ((key, _),) = wanted
    (config,) = compose_jobs([f"task={task}", *sketch, f"{kind}.{key}=0.5"], False)
    assert config[kind][key] == 0.5


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


CALLS = {
    "callback": "hydra:\n  callbacks:\n    x: {_target_: os.mkdir, path: PLACE}\n",
    "nested": "hydra:\n  callbacks:\n    x:\n      y: [{_target_: os.mkdir, path: PLACE}]\n",
    "launcher": "hydra:\n  launcher: {_target_: os.mkdir}\n",
    "dataset": "dataset: {_target_: os.mkdir, path: PLACE}\n",
    "logging": "hydra:\n  job_logging:\n    handlers: {x: {class: os.mkdir, path: PLACE}}\n    root: {handlers: [x]}\n",
}


@pytest.mark.parametrize("kind", CALLS)
def test_a_config_calls_nothing(kind, rfbench, tmp_path):
    """An experiment from somewhere else names a function for Hydra or logging to call."""
    (tmp_path / "conf" / "experiment").mkdir(parents=True)
    text = "# @package _global_\n" + CALLS[kind].replace("PLACE", str(tmp_path / "called"))
    (tmp_path / "conf" / "experiment" / "theirs.yaml").write_text(text)
    done = rfbench(f"hydra.searchpath=[file://{tmp_path}/conf]", "experiment=theirs", "features=64", "seeds=1")
    one_line(done, "remove it")
    assert not (tmp_path / "called").exists()


def test_a_key_that_hydra_does_not_have_is_said_in_words(rfbench, tmp_path):
    (tmp_path / "conf" / "experiment").mkdir(parents=True)
    text = "# @package _global_\nhydra: {sweeper: {nothing: 1}}\n"
    (tmp_path / "conf" / "experiment" / "theirs.yaml").write_text(text)
    done = rfbench(f"hydra.searchpath=[file://{tmp_path}/conf]", "experiment=theirs", "features=64", "seeds=1")
    one_line(done, "In 'experiment/theirs': Key 'nothing' not in")
    assert "raised" not in done.stderr


@pytest.mark.parametrize(
    "word",
    ["+hydra.callbacks.x._target_=os.getcwd", "hydra.launcher._target_=os.getcwd", "+dataset._target_=os.getcwd"],
)
def test_a_command_line_calls_nothing(word, rfbench):
    one_line(rfbench(word, "features=64", "seeds=1"), "_target_")


def test_a_pickled_config_is_not_loaded(rfbench, tmp_path):
    (tmp_path / "config.pickle").write_bytes(b"cos\nmkdir\n(S'called'\ntR.")
    one_line(rfbench("--experimental-rerun", "config.pickle"), "unrecognized arguments")
    assert not (tmp_path / "called").exists()


def test_values_are_put_in_as_hydra_does():
    """Into what choices make; a choice, an option of one choice only, an interpolation, a list, a null."""
    words = ["sketch=rff,ctr_rademacher", "kernel=gaussian", "features=[1d,64],32", "kernel.length_scale=median,2"]
    words += ["dataset.prepare=[standardize]", "train_rows=null", "block_rows=128", "++degree=4", "seeds=${degree}"]
    compose_one = composer()
    several = combinations(words, multirun=True)
    assert len(several) == 8
    for one in several:
        composed = compose_one(one)
        assert composed.config == without_hydra(compose_job(one))
        assert composed.words == one


@pytest.mark.parametrize("word", ["sketch.no=1", "kernel.bias=1", "task.alpha=1", "dataset.rows=3"])
def test_an_option_that_the_choices_do_not_have_is_refused(word):
    with pytest.raises(InputError, match=f"'{word.partition('=')[0]}'"):
        composer()(["sketch=rff", "kernel=gaussian", word])


def test_a_sweep_takes_null(rfbench, tmp_path):
    """Of an option that other choices may lack; a list of one choice, as which it waits, cannot have it."""
    words = ("dataset=wine", "features=8", "seeds=1", "sketch=rff,orf", "sketch.truncation=null")
    assert not rfbench("-m", *words).returncode
    places = [path.parent.name for path in tmp_path.rglob("jobs/*/results.csv")]
    assert not rfbench("-m", *words[:-1], "force=true").returncode
    assert sorted(places) == sorted({path.parent.name for path in tmp_path.rglob("jobs/*/results.csv")})
    assert len(places) == 2
    assert "did you mean 'sketch.truncation'" in rfbench("-m", *words[:-1], "sketch.trncation=null").stderr
