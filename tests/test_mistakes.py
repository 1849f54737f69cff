"""Mistakes on the command line: one line, exit code 2, the way out, and nothing left behind."""

import os
import subprocess
import sys

import pytest
from support import ROOT
from support.answers import one_line

from rfbench.results.rows import read_rows

MISTAKES = {
    "degre=6": "did you mean 'degree'",
    "+degre=6": "did you mean 'degree'",
    "dataset=mnsit": "no 'dataset/mnsit'; did you mean 'mnist'?",
    "dataset=data/my-rows.csv": "to use a file of yours, rfbench data add data/my-rows.csv --name my_rows",
    "task=regression": "no 'task/regression'; choose ridge or gpr",
    "kernel=rff": "'rff' is a sketch: sketch=rff",
    "degree=0": "degree must be at least 1; 0 was given",
    "degree=three": "degree",
    "sketch=ctr_tensorsrht features=7": "even number of features; 7 were asked for",
    "sketch=ctr_tensorsrht features=[64,7]": "even number of features; 7 were asked for",
    "sketch=tensorsrht kernel=gaussian": "kernel 'gaussian' was asked for. Use kernel=polynomial",
    "features=0": "features must be a whole number above 0",
    "features=1.3d": "features must be a whole number (1.3d of 64 is 83.2)",
    "seeds=0": "seeds must be",
    "seeds=[1,1]": "seeds must be",
    "dtype=float16": "dtype must be float32 or float64",
    "task.rows=many": "task.rows must be a whole number; 'many' was given",
    "kernel.gama=2": "did you mean 'kernel.gamma'",
    "dataset.prepare=[unitnorm]": "did you mean 'unit_norm'",
    "dataset.prepare=unit_norm": "dataset.prepare must be a list of steps",
    "dataset.threshold=high": "dataset.threshold must be a number",
    "sketch=optical kernel.exponent=4": "set sketch.exponent",
    "task=variance dataset=synthetic dataset.rows=10": "pairs of test rows",
    "sketch=rademacher,gaussian": "add -m",
    "seeds=[true]": "seeds must be",
    "dataset=null": "must be a string",
    "~dataset": "dataset must be one of the choices",
    "dataset.prepare=3": "dataset.prepare must be a list",
    "degree=${foo}": "degree",
    "--cfg job degre=6": "did you mean 'degree'",
    "--config-name other": "unrecognized arguments: --config-name",
    "hydra.run.dir=elsewhere": "is set by rfbench",
    "data frob": "invalid choice",
    "data add x.csv --name true": "choose another --name",
    "dataset=synthetic dataset.rows=2 dataset.distribution=ones kernel.bias=0 dataset.prepare=[center]": "zero",
    "kernel.gamma=1e300 degree=300": "not finite",
    "task.draws=5": "of another task than the one chosen (task=bounds or task=gpc_svi or task=variance)",
    "task.save=true": "(task=gpc or task=gpr or task=ridge or task=svm)",
    "D=64": "no 'D' in the config; did you mean 'features'?",
    "p=4": "no 'p' in the config; did you mean 'degree'?",
    "-m degree=3,0": "degree must be at least 1",
    "-m sketch=rademacher,rademacer": "did you mean 'rademacher'",
    "task=variance sketch=exact": "this one is deterministic",
    "-m sketch=rff,orf ~kernel.length_scale": "an option cannot be removed",
    "-m experiment=demo,wacker/fig5_8": "run one at a time",
    f"output_dir={'e' * 300}": "output_dir cannot be used (File name too long); choose another folder",
    "engine.name=cluster": "no engine 'cluster'; choose from dask, local, processes",
    "lst": "no command 'lst'; did you mean 'list'? (options are key=value",
    "list datesets": "did you mean 'datasets'",
    "--frobnicate": "unrecognized arguments: --frobnicate",
    "degree=6 mnist": "'mnist' is not of the form key=value",
    "kernel=polynomial_sphere dataset.prepare=[]": "add unit_norm to dataset.prepare",
    "experiment=wacker/fig9_9": "no 'experiment/wacker/fig9_9'",
    "data get mnsit": "did you mean 'mnist'",
    "dataset=gisette download=false": "dataset=digits",
    "task=maclaurin_terms sketch=localized_maclaurin": "is for Maclaurin features; use sketch=optimized_maclaurin",
    "task=gpc dataset=wine train_rows=1": "2 of 3 classes have none among 1 rows",
    "task=ridge task.validation=0.9999 features=64": "holds out all 1617 training rows; use a smaller one",
    "task=ridge task.validation=0.1 train_rows=1": "holds out all 1 training rows",
    "task=gpc_svi task.rate=1e9": "task.rate must be above 0 and at most 1",
    "task=gpc_svi task.epochs=100000000000000000000000": "task.epochs must be at most 1,000,000,000",
    "task=gpc_svi task.epochs=1000000": "task.epochs must be at most 100,000",
    "degree=1001": "degree must be at most 1000",
    "features=1000000000000000000000": "features must be at most 1,000,000,000",
    "features=1e30d": "features must be",
    "dataset.name=null": "dataset.name must be a word; None was given",
    "sketch.name=1": "sketch.name must be a word; 1 was given",
    "task.name=[]": "task.name must be a word",
    "kernel.name=nonsense": "no kernel 'nonsense'",
    "sketch=[rff,orf]": "sketch takes one choice, and a list was given; for a sweep use -m sketch=rff,orf",
    "dataset.threshold=nan": "dataset.threshold must be a finite number",
    "dataset.threshold=0.5": "dataset.threshold=0.5 has no effect; add binarize to dataset.prepare",
    "dataset.prepare_on=all": "dataset.prepare_on=all has no effect; add center or standardize or min_zero or min_max",
    "sketch=rff degree=6": "'degree=6' has no effect: kernel=gaussian has no degree; remove it",
    "-m sketch=identity,exact kernel=linear degree=2": "kernel=linear has no degree",
    "task=ridge task.solver=dual task.tolerance=0.1": "no effect: it needs task.solver=cg or task.solver=auto; remove",
    "task=attention task.head=1": "'task.head=1' has no effect: it needs task.file=FILE; remove it",
    "dataset=synthetic dataset.distribution=sparse dataset.density=a": "dataset.density must be in (0, 1]; 'a'",
    "dataset=synthetic dataset.distribution=[]": "no dataset.distribution []",
    "dataset=synthetic dataset.columns=true": "dataset.columns must be a positive integer; True was given",
    "dataset=sinc sketch=rff dataset.rows=10000000000000000000": "dataset.rows must be at most 1,000,000,000",
    "dataset=synthetic dataset.density=0.5": "it needs dataset.distribution=sparse; remove it",
    "--info nothing": "invalid choice: 'nothing'",
    "sketch=rff kernel.length_scale=inf": "kernel.length_scale must be a finite number",
    "sketch=rff kernel.length_scale=nan": "kernel.length_scale must be a finite number",
    "kernel.gamma=1e400": "kernel.gamma must be a finite number",
    "sketch=optical opu=simulated opu.noise=1e400": "opu.noise must be a finite number",
    "size=foo": "size must be quick, normal or full",
    "size=quick": "size=quick has no effect without an experiment",
    "--config-dir /nonexistent": "unrecognized arguments: --config-dir",
    "sketch=srf kernel=polynomial_sphere sketch.components=100000": "sketch.components must be from 1 to 100",
    "sketch=optimized_maclaurin sketch.p_max=1000": "sketch.p_max must be from 1 to 100",
    "sketch=random_maclaurin sketch.p_max=1000": "sketch.p_max must be from 1 to 100",
    "task=svm task.C=1e300": "task.C must be a number above 0 and at most 1e+06",
    "task=variance task.draws=1000000000": "task.draws must be 0 (no Monte Carlo), or from 2 to 10,000,000",
    "dataset=synthetic dataset.distribution=ones dataset.rows=50 sketch=rff": "since most are identical; give",
    f"data add own.csv --name {'a' * 260}": "--name must be a letter, then up to 99 letters",
    f"dataset={'a' * 260}": "no 'dataset/aaa",
    f"data add {'a' * 260}.csv --name long": "aaa.csv': File name too long",
    f"report {'a' * 260}": "aaa': File name too long",
    "data add long.csv --name long": "cannot be read (field larger than field limit (131072))",
    "data add twice.csv --name twice --target y": "has several columns named 'y'; rename one, or give an index",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line_with_the_way_out(words, tmp_path, monkeypatch, rfbench):
    monkeypatch.delenv("RFBENCH_DATA", raising=False)
    (tmp_path / "own.csv").write_text("a,y\n1,2\n3,4\n")
    (tmp_path / "twice.csv").write_text("a,y,y\n1,2,3\n4,5,6\n")
    (tmp_path / "long.csv").write_text(f"a,y\n{'x' * 140_000},yes\n")
    one_line(rfbench(*words.split()), MISTAKES[words])
    assert not list(tmp_path.glob("outputs/**/*.csv"))
    assert not list(tmp_path.glob("outputs/*/*")), "an empty results directory was left"


@pytest.mark.parametrize("word", ["a\nb", "a\x85b", "a\x1b[2Jb"])
def test_what_was_given_does_not_break_the_line(word, rfbench):
    one_line(rfbench("list", word))
    one_line(rfbench("compare", "sketch=rff", word))


FAILURES = {
    "degree=1000": "is not a finite number; use dtype=float64, or other options of the kernel",
    "kernel.gamma=1e30": "is not a finite number; use dtype=float64, or other options of the kernel",
    "sketch=rff kernel.length_scale=1e300": "too large or too small to compute with",
    "sketch=optical sketch.exponent=1000": "too large or too small to compute with",
    f"dataset=boston data_dir={'a' * 260}": "File name too long",
}


@pytest.mark.parametrize("words", FAILURES)
def test_numbers_out_of_range_fail_in_a_sentence(words, rfbench):
    dataset = () if "dataset=" in words else ("dataset=wine",)
    done = rfbench("seeds=1", "features=64", *dataset, *words.split())
    assert done.returncode == 1
    assert FAILURES[words] in done.stderr
    assert "Error" not in done.stderr


@pytest.mark.parametrize("words", [("data", "check"), ("dataset=wine", "features=16", "seeds=1")])
def test_a_user_without_home(words, rfbench, monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("RFBENCH_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pathlib.Path.home", no_home)
    one_line(rfbench(*words), "set RFBENCH_CACHE")


def test_a_deleted_working_directory(rfbench_process, tmp_path):
    code = f"import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('{tmp_path}/gone'); "
    code += "from rfbench.cli import main; raise SystemExit(main(['list']))"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    one_line(done, "the working directory no longer exists")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("words", ["list sketches", "dataset=wine features=16 seeds=1"])
def test_output_that_cannot_be_written(words, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "rfbench", *words.split()]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=tmp_path, env=environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "No space left on device" in done.stderr


def test_output_that_the_shell_has_closed(tmp_path):
    """No file that the run opens may take the place of its output."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = f"{sys.executable} -m rfbench dataset=wine features=16 seeds=1 >&- 2>&-"
    assert subprocess.run(command, shell=True, cwd=tmp_path, env=environment).returncode == 0
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    assert read_rows(path)


RECIPES = {
    "name: [": "mine",
    "": "dataset",
    "name: mine\nfile: /x\nprepar: []\n": "mine",
    "name: wine\nprepar: []\n": "dataset=wine has no option 'prepar'; did you mean 'prepare'?",
    "\0": "mine",
}


@pytest.mark.parametrize("text", RECIPES)
def test_a_broken_recipe_of_an_own_dataset(text, rfbench, tmp_path):
    env = {"RFBENCH_CACHE": str(tmp_path / "cache")}
    (tmp_path / "cache" / "conf" / "dataset").mkdir(parents=True)
    (tmp_path / "cache" / "conf" / "dataset" / "mine.yaml").write_text(text)
    done = rfbench("dataset=mine", "features=64", "seeds=1", env=env)
    one_line(done, RECIPES[text])
    assert rfbench("list", "datasets", env=env).returncode == 0
    assert rfbench("dataset=wine", "features=64", "seeds=1", env=env).returncode == 0


DAMAGED = (b"name: [", b"", b"3\n", b"- 1\n", b"\0", b"\xff\xfe", b"name: mine\nfile: 3\n", b"file: /x\n")


@pytest.mark.parametrize("content", DAMAGED)
def test_verbs_name_a_damaged_recipe_and_it_can_be_removed(content, rfbench, tmp_path):
    env = {"RFBENCH_CACHE": str(tmp_path / "cache")}
    (tmp_path / "own.csv").write_text("a,y\n1,2\n3,4\n")
    add = ("data", "add", "own.csv", "--name", "mine")
    assert rfbench(*add, env=env).returncode == 0
    path = tmp_path / "cache" / "conf" / "dataset" / "mine.yaml"
    path.write_bytes(content)
    one_line(rfbench("data", "show", "mine", env=env), f"{path} is damaged; rfbench data remove mine")
    one_line(rfbench("dataset=mine", "features=64", "seeds=1", env=env))
    one_line(rfbench(*add, env=env), "rfbench data remove mine")
    done = rfbench("data", "check", "mine", env=env)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"mine: BAD: {path} is damaged" in done.stdout
    assert rfbench("data", "remove", "mine", env=env).returncode == 0
    assert not list((tmp_path / "cache" / "own").iterdir())
    assert rfbench(*add, env=env).returncode == 0


@pytest.mark.parametrize("content", [b"3\n", b"\xff\xfe"])
def test_a_config_that_holds_no_keys_is_named(content, rfbench, tmp_path):
    env = {"RFBENCH_CACHE": str(tmp_path / "cache")}
    (folder := tmp_path / "cache" / "conf" / "dataset").mkdir(parents=True)
    (folder / "mine.yaml").write_bytes(content)
    one_line(rfbench("dataset=mine", env=env), f"{folder / 'mine.yaml'} is damaged; correct it or delete it")


def test_a_dataset_under_another_name_is_checked_and_shown(rfbench, tmp_path):
    env = {"RFBENCH_CACHE": str(tmp_path / "cache")}
    (folder := tmp_path / "cache" / "conf" / "dataset").mkdir(parents=True)
    (folder / "grapes.yaml").write_text("name: wine\nprepare: [standardize]\n")
    for verb in ("show", "check", "remove"):
        done = rfbench("data", verb, "grapes", env=env)
        assert done.returncode == 0, done.stderr
