"""Mistakes on the command line: one line, exit code 2, the way out, and nothing left behind."""

import pytest
from support.answers import one_line

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
    "task.draws=5": "'task.draws' is an option of another task",
    "-m degree=3,0": "degree must be at least 1",
    "-m sketch=rademacher,rademacer": "did you mean 'rademacher'",
    "task=variance sketch=exact": "this one is deterministic",
    "-m sketch=rff,orf ~kernel.length_scale": "an option cannot be removed",
    "-m experiment=demo,wacker/fig5_8": "run one at a time",
    "engine.name=cluster": "no engine 'cluster'; choose from local",
    "lst": "no command 'lst'; did you mean 'list'? (options are key=value",
    "list datesets": "did you mean 'datasets'",
    "--frobnicate": "unrecognized arguments: --frobnicate",
    "degree=6 mnist": "'mnist' is not of the form key=value",
    "kernel=polynomial_sphere dataset.prepare=[]": "add unit_norm to dataset.prepare",
    "experiment=wacker/fig9_9": "no 'experiment/wacker/fig9_9'",
    "data get mnsit": "did you mean 'mnist'",
    "dataset=gisette download=false": "dataset=digits",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line_with_the_way_out(words, tmp_path, monkeypatch, rfbench):
    monkeypatch.delenv("RFBENCH_DATA", raising=False)
    one_line(rfbench(*words.split()), MISTAKES[words])
    assert not list(tmp_path.glob("outputs/**/*.csv"))
    assert not list(tmp_path.glob("outputs/*/*")), "an empty results directory was left"
