"""The command of a line makes the same job, and the same numbers."""

import shlex

import pytest
from support.results import config_of

from rfbench.config.compose import combinations, compose_jobs, without_hydra
from rfbench.config.experiments import plan
from rfbench.config.identity import job_hash
from rfbench.job import plain_config
from rfbench.reports.html.again import command
from rfbench.reports.html.collect import collect, makers_of
from rfbench.results.rows import read_rows

COMMANDS = [
    "degree=6 features=[64,128] seeds=[3,5]",
    "sketch=rff task=ridge kernel.length_scale=median train_rows=100",
    "sketch=rff task=ridge dataset=wine dtype=float64",
    "task=kid sketch=optimized_maclaurin sketch.p_min=3 task.x=real.npy task.y=fake.npy",
    "dataset.prepare=[center,unit_norm] dataset.threshold=0.25 sketch=hierarchical sketch.base=rademacher",
    "sketch=optical opu=simulated opu.noise=2 dataset.prepare=[binarize] meter=opu meter.watts=20",
    "dataset=diabetes task=gpr sketch=orf kernel=gaussian task.noise=0.5",
    "task=pooling kernel.bias=1",
    "dataset=five_gaussians task=vector_field sketch=orff_curl_free",
]


def again(config, features=None):
    program, *words = shlex.split(command(config, features))
    assert program == "rfbench"
    return config_of(*words)


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_composes_the_config_it_was_made_from(words):
    config = config_of(*words.split())
    assert job_hash(again(config)) == job_hash(config)
    assert again(config)["seeds"] == config["seeds"]
    assert again(config, 256)["features"] == 256


@pytest.mark.medium
@pytest.mark.parametrize("experiment", ["wacker/fig4_8", "ohana/fig2", "brault/fig4", "wacker/fig5_4"])
def test_so_it_does_for_jobs_of_experiments(experiment):
    planned = plan([f"experiment={experiment}", "size=quick"], multirun=False)
    for words in combinations(planned.words, planned.multirun)[::7]:
        (config,) = compose_jobs(words, multirun=False)
        config = plain_config(without_hydra(config))
        assert job_hash(again(config)) == job_hash(config)


def test_a_copied_command_makes_the_numbers_of_its_row(rfbench, tmp_path):
    done = rfbench("-m", "dataset=wine", "sketch=rff,orf", "features=[16,32]", "seeds=2", "kernel.length_scale=3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("all results on one page: rfbench report, then open outputs/report.html\n")
    (experiment,) = collect(tmp_path / "outputs").experiments
    line, run = list(zip(experiment.table.lines, makers_of(experiment), strict=True))[-1]
    place = tmp_path / "elsewhere"
    place.mkdir()
    words = shlex.split(command(run.manifest["config"], int(line.setting["features"])))[1:]
    assert rfbench(*words, cwd=place).returncode == 0
    (path,) = place.rglob("results.csv")
    ours = [row for row in experiment.rows if (row["sketch"], row["features"]) == ("rff", "32") and row["unit"] != "s"]
    assert ours
    assert ours == [row for row in read_rows(path) if row["unit"] != "s"]
