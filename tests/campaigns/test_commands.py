"""Fuzzing: command lines and every field of the config.  An answer is a table, or a line that says what is wrong."""

import warnings
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from omegaconf import OmegaConf
from support.campaign import alone_in, cases
from support.limits import answer, in_words, limited

from rfbench.checks import InputError
from rfbench.cli import COMMANDS
from rfbench.config.compose import compose_jobs, known_keys, without_hydra
from rfbench.config.files import choices
from rfbench.config.schema import typed
from rfbench.job import build_job, plain_config
from rfbench.registry import GROUPS
from rfbench.trials import run

pytestmark = pytest.mark.slow
SMALL = {"dataset": "wine", "features": "16", "seeds": "1", "train_rows": "30", "download": "false"}
NUMBERS = count()  # of directories
EMBEDDED = ("wine", "diabetes", "breast_cancer", "digits", "sinc", "bits", "five_gaussians", "synthetic")


@pytest.fixture(scope="module", autouse=True)
def place(tmp_path_factory):
    with alone_in(tmp_path_factory.mktemp("commands")) as directory:
        yield directory


WILD = st.one_of(
    st.sampled_from(
        ["nan", "inf", "-inf", "1e400", "null", "true", "[]", "{}", "''", "[1,[2]]", "{a: 1}", "${degree}"]
    ),
    st.sampled_from(["${", "\\", "'", '"', "a b", "ü", "auto", "median", "validation", "2d", "0d", "1.5d", "auto:0.1"]),
    st.integers(-3, 3).map(str),
    st.sampled_from([2**31, 2**63, -(2**63), 10**25, 1e-300, -1e-300, 1e300, 0.5, -0.5, 1.5]).map(str),
    st.floats(allow_nan=False).map(repr),
    st.text("abcxyz_./-=,:[]{}()$@~+*#%&!?<>|;0123456789 \t\n", max_size=8),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
FLAGS = st.sampled_from(["-m", "-r", "--multirun", "-x", "--cfg", "job", "~seeds", "~task"])
CHEAP = st.sampled_from(["1", "2", "3", "8", "16", "0.5", "median", "[8,16]"])


@st.composite
def overrides(draw):
    """A run of small size with some of its words exchanged, mistyped or doubled."""
    words = dict(SMALL)
    keys = st.sampled_from(known_keys())
    for _ in range(draw(st.integers(0, 3))):
        group = draw(st.sampled_from(["sketch", "kernel", "task", "dataset", "opu", "meter", "engine", "experiment"]))
        names = list(choices(group))
        words[group] = draw(st.sampled_from(EMBEDDED if group == "dataset" else names) | WILD)
        if group == "experiment" and words[group] in names:
            words["size"] = "foo"  # whole experiments take minutes
    for _ in range(draw(st.integers(0, 2))):
        key = draw(keys | keys.map(lambda key: key[1:]) | st.text("ab.c/@:~+", max_size=4))
        words[key] = draw(WILD if key in ("seeds", "features", "task.epochs") else WILD | CHEAP)
    flags = draw(
        st.lists(st.sampled_from(["-m", "-r", "--multirun", "-x", "--cfg", "job", "~seeds", "~task"]), max_size=1)
    )
    plain = [f"{draw(st.sampled_from(['', '', '', '', '+', '++', '~']))}{key}={value}" for key, value in words.items()]
    return draw(st.permutations([*plain, *flags])) if draw(st.booleans()) else [*flags, *plain]


@cases(200)
@given(overrides())
def test_runs(words):
    answer(words)


VERBS = (*COMMANDS, "help", "--help", "--version", "--hydra-help", "--info", "data get", "data add", "data check")
VERBS += ("data show", "data remove", "data extract", "report --compare", "report --format", "advise --json")
ARGUMENTS = ["wine", "digits", "outputs", ".", "/", "/dev/null", "/nonexistent", "sketches", "datasets", "csv", "md"]
ARGUMENTS += ["--name", "--target", "--output", "--help", "--format", "--truth", "--features", "--seed", "--json"]
ARGUMENTS += ["sketch=rff", "kernel=gaussian", "kernel=auto", "kernel.length_scale=1", "error=0.1", "error=0"]
ARGUMENTS += ["dataset=wine", "dataset=diabetes", "degree=2", "task=ridge", "--onehot", "--missing", "--drop"]
ARGUMENTS += ["features=16", "3", "-1"]


@cases(300)
@given(st.sampled_from(VERBS), st.lists(st.sampled_from(ARGUMENTS) | WILD, max_size=4))
def test_verbs(verb, arguments):
    answer([*verb.split(), *arguments])


@cache
def small_config(group, choice):
    """A small run with this choice, as composed by Hydra."""
    chosen = SMALL | {group: choice}
    return without_hydra(compose_jobs([f"{key}={value}" for key, value in chosen.items()], multirun=False)[0])


@cache
def fields():
    """(group, choice, key) of every option of every choice that needs no download, and of the root."""
    found = [("", "", key) for key in typed(small_config("dataset", "wine")) if key not in (*GROUPS, "sizes")]
    for group in sorted(set(GROUPS) - {"experiment"}):
        for choice in EMBEDDED if group == "dataset" else choices(group):
            found += [(group, choice, str(key)) for key in small_config(group, choice)[group]]
    return found


VALUES = st.one_of(
    st.sampled_from(
        [None, True, False, [], {}, "", "a", "auto", "median", "2d", "nan", [1, 2], {"a": 1}, "é" * 300, "\0"]
    ),
    st.sampled_from([0, 1, 2, 3, -1, 0.5, 1e-300, 1e300, float("inf"), float("nan"), 2**31, 2**63, 10**25, -1e30]),
    st.integers(-100, 100),
    st.floats(),
)


@cases(900)
@given(st.data())
def test_fields(data):
    group, choice, key = data.draw(st.deferred(lambda: st.sampled_from(fields())))
    value = data.draw(VALUES)
    note(f"{group}={choice} {key}={value!r}")
    config = small_config(group or "dataset", choice or "wine").copy()
    OmegaConf.set_struct(config, False)
    with limited(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # as a run does
        try:
            OmegaConf.update(config, f"{group}.{key}" if group else key, value, merge=False)
            job = build_job(plain_config(config))
            directory = Path("outputs", "fields", str(next(NUMBERS))).absolute()
            directory.mkdir(parents=True)
            rows = run(job, directory, keep_going=True).rows
        except InputError as mistake:
            in_words(str(mistake))
        else:
            for row in rows:
                in_words(str(row["message"]))
