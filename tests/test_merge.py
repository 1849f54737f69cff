"""`rfbench merge`: results of several machines in one directory, as if one machine had computed them."""

import json

import pytest
from support.results import config_of, write_run

from rfbench.results.journal import read_whole
from rfbench.results.readings import KEY, read_samples
from rfbench.results.rows import read_rows

SWEEP = ("-m", "sketch=rademacher,gaussian", "dataset=wine", "features=[16,32]")
SINGLE = ("dataset=wine", "sketch=gaussian", "features=16")
RIDGE = ("task=ridge", "dataset=diabetes", "sketch=rff", "features=16", "task.save=true")


@pytest.fixture
def machines(tmp_path):
    places = [tmp_path / name for name in ("one", "two", "both")]
    for place in places:
        place.mkdir()
    return places


def numbers(path):
    """The rows but times, in one order."""
    return sorted(tuple(row.values()) for row in read_rows(path) if row["unit"] != "s")


@pytest.mark.slow
def test_two_halves_are_the_whole(rfbench, machines, tmp_path):
    """The same numbers, figures of the same numbers, models and curves as one machine with all seeds."""
    seeds = ("seeds=2", "seeds=[1,2,3]", "seeds=4")
    for place, asked in zip(machines, seeds, strict=True):
        for words in (SWEEP, RIDGE, ("task=profile", "sketch=rff", "features=16")):
            assert rfbench(*words, asked, cwd=place).returncode == 0
    done = rfbench("merge", "one", "two/outputs", "--output", "merged")
    assert done.returncode == 0, done.stderr
    assert "2 jobs, 4 seeds" in done.stdout
    merged, whole = tmp_path / "merged", machines[-1] / "outputs"
    tables = sorted(path.relative_to(whole) for path in whole.rglob("results.csv"))
    assert len(tables) == 5
    assert tables == sorted(path.relative_to(merged) for path in merged.rglob("results.csv"))
    for table in tables:
        assert numbers(merged / table) == numbers(whole / table), table
    (job,) = merged.glob("diabetes-rff-ridge/*")
    assert {path.name for path in (job / "models").iterdir()} == {f"features16-seed{seed}.npz" for seed in range(4)}
    (curves,) = (path.relative_to(whole) for path in whole.glob("*-profile/*/series.csv"))
    assert sorted((merged / curves).read_text().split()) == sorted((whole / curves).read_text().split())
    for path in whole.rglob("figure.csv"):
        assert (merged / path.relative_to(whole)).exists()
    manifest = json.loads((job / "run.json").read_text())
    assert manifest["config"]["seeds"] == [0, 1, 2, 3]
    assert len(manifest["merged"]) == 2


def test_a_merged_job_is_finished_and_resumes(rfbench, machines, tmp_path):
    for place, asked in zip(machines, ("seeds=[0]", "seeds=[1]"), strict=False):
        assert rfbench(*SINGLE, asked, cwd=place).returncode == 0
    assert rfbench("merge", "one", "two").returncode == 0
    before = {path: path.read_bytes() for path in tmp_path.glob("outputs/*/*/results.csv")}
    assert rfbench(*SINGLE, "seeds=2").returncode == 0
    assert {path: path.read_bytes() for path in before} == before  # nothing was computed
    assert rfbench(*SINGLE, "seeds=3").returncode == 0
    for path, content in before.items():
        assert path.read_bytes().startswith(content)
        assert read_whole(path).damaged == 0
        assert len(json.loads((path.parent / "run.json").read_text())["merged"]) == 2


@pytest.mark.slow
def test_merging_again_changes_nothing(rfbench, machines, tmp_path):
    for place, asked in zip(machines, ("seeds=1", "seeds=2"), strict=False):
        assert rfbench(*SINGLE, asked, cwd=place).returncode == 0
    assert rfbench("merge", "one", "two").returncode == 0
    before = {path: path.read_bytes() for path in tmp_path.glob("outputs/**/*.[cj]s*")}
    assert rfbench("merge", "two", "outputs", "one").returncode == 0
    assert {path: path.read_bytes() for path in tmp_path.glob("outputs/**/*.[cj]s*")} == before


@pytest.mark.parametrize("spoil", ["number", pytest.param("data", marks=pytest.mark.slow)])
def test_conflicts_are_refused_before_anything_is_written(rfbench, machines, tmp_path, spoil):
    for place in machines[:2]:
        assert rfbench(*SINGLE, "seeds=2", cwd=place).returncode == 0
    (path,) = machines[1].glob("outputs/wine-*/*/results.csv")
    if spoil == "number":
        row = next(row for row in read_rows(path) if row["metric"] == "rel_frobenius" and row["seed"] == "1")
        path.write_text(path.read_text().replace(row["value"], "0.5"))
        (path.parent / ".results.csv.sums").unlink()  # as of a copy
        wanted = f"rel_frobenius of 16 features, seed 1 is {row['value']} in "
    else:
        file = path.with_name("run.json")
        file.write_text(json.dumps(json.loads(file.read_text()) | {"data": "other"}))
        wanted = "were computed from different data"
    done = rfbench("merge", "one", "two")
    assert done.returncode == 2
    assert wanted in done.stderr
    assert str(path.parent) in done.stderr
    assert "--first" in done.stderr
    assert not (tmp_path / "outputs").exists()
    assert rfbench("merge", "two", "one", "--first").returncode == 0
    (merged,) = tmp_path.glob("outputs/wine-*/*/results.csv")
    assert numbers(merged) == numbers(path)


def test_trials_of_other_data_are_never_joined(rfbench, tmp_path):
    """With --first, too: a job has one dataset."""
    for name, seed in (("one", "0"), ("two", "1")):
        job = tmp_path / name / "digits-rff" / "0123456789ab"
        row = {"features": 8, "seed": seed, "metric": "rel_frobenius", "value": "0.5"}
        write_run(job, config_of(), [row])
        file = job / "run.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"data": name}))
    assert "different data" in rfbench("merge", "one", "two").stderr
    done = rfbench("merge", "two", "one", "--first")
    assert done.returncode == 0, done.stderr
    assert "left out one/digits-rff/0123456789ab: " in done.stdout
    (merged,) = tmp_path.glob("outputs/*/*/results.csv")
    assert [row["seed"] for row in read_rows(merged)] == ["1"]


@pytest.mark.slow
def test_rounding_and_times_are_no_conflict(rfbench, machines):
    for place in machines[:2]:
        assert rfbench(*SINGLE, "seeds=1", cwd=place).returncode == 0
    (path,) = machines[1].glob("outputs/*/*/results.csv")
    row = next(row for row in read_rows(path) if row["metric"] == "rel_frobenius")
    path.write_text(path.read_text().replace(row["value"], repr(float(row["value"]) * (1 + 1e-6))))
    (path.parent / ".results.csv.sums").unlink()
    assert rfbench("merge", "one", "two").returncode == 0


def test_of_a_trial_that_failed_on_one_machine_the_other_is_taken(rfbench, machines, tmp_path):
    for place in machines[:2]:
        assert rfbench(*SINGLE, "seeds=1", cwd=place).returncode == 0
    (path,) = machines[0].glob("outputs/*/*/results.csv")
    header, first, *_ = path.read_text().splitlines()
    trial = first.split(",")[: header.split(",").index("metric")]
    path.write_text(f"{header}\n{','.join(trial)},,,,failed,out of memory\n")
    (path.parent / ".results.csv.sums").unlink()
    assert rfbench("merge", "one", "two").returncode == 0
    (merged,) = tmp_path.glob("outputs/*/*/results.csv")
    assert numbers(merged) == numbers(next(machines[1].glob("outputs/*/*/results.csv")))


@pytest.mark.slow
def test_an_experiment_keeps_its_name_wherever_it_lies(rfbench, tmp_path):
    words = ("experiment=wacker/fig4_1", "dataset=digits", "degree=3", "task.rows=50", "seeds=1")
    assert rfbench(*words).returncode == 0
    done = rfbench("merge", "outputs/wacker/fig4_1", "--output", "merged")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "merged" / "wacker" / "fig4_1" / "results.csv").exists()


@pytest.mark.slow
def test_samples_of_sensors_come_with_their_trials(rfbench, machines, tmp_path):
    for place, asked in zip(machines, ("seeds=[0]", "seeds=[1]"), strict=False):
        assert rfbench(*SINGLE, asked, cwd=place).returncode == 0
        (job,) = place.glob("outputs/*/*")
        seed = asked[-2]
        (job / "samples.csv").write_text(f"{','.join(KEY)},source,seconds,value,unit\n16,{seed},cpu,rapl,0.1,5.0,J\n")
    assert rfbench("merge", "one", "two").returncode == 0
    (job,) = tmp_path.glob("outputs/*/*")
    assert [line[1] for line in read_samples(job)] == ["0", "1"]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [((), "the following arguments are required: DIR"), (("nowhere",), "no directory nowhere"), ((".",), "no results")],
)
def test_mistakes(rfbench, words, wanted):
    done = rfbench("merge", *words)
    assert done.returncode == 2
    assert wanted in done.stderr
