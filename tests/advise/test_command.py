"""`rfbench advise` and features=auto as users meet them."""

import csv
import json
import shlex

import pytest
from support.answers import one_line

KEYS = ["sketch", "features", "predicted_error", "closed_form", "seconds_per_million_rows", "bytes", "command"]
SOME = "sketch=tensorsrht,mean_split,ctr_rademacher,hierarchical"


def test_json_is_a_list_best_first_whose_commands_run(rfbench, tmp_path):
    done = rfbench("advise", "dataset=digits", "features=128", SOME, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [list(one) for one in found] == [KEYS] * 4
    errors = [one["predicted_error"] for one in found]
    assert errors == sorted(errors)
    assert found[0]["sketch"] == "mean_split"
    assert [one["sketch"] for one in found if not one["closed_form"]] == ["hierarchical"]
    assert all(one["features"] == 128 and one["bytes"] > 128 * 4e6 for one in found)
    done = rfbench(*shlex.split(found[0]["command"])[1:], "seeds=1")
    assert done.returncode == 0, done.stderr
    assert "mean_split" in done.stdout


def test_the_table_names_the_winner_and_its_command(rfbench, tmp_path):
    done = rfbench("advise", "error=0.1", "degree=2", SOME)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    first = lines[3].split()
    (command,) = [line for line in lines if line.startswith("rfbench ")]
    assert command == f"rfbench degree=2 kernel=polynomial sketch={first[0]} features={first[1]}"
    assert "° from draws" in done.stdout
    assert list(tmp_path.glob("outputs/advise-*/figure.png"))


def test_help(rfbench):
    done = rfbench("advise", "--help")
    assert done.returncode == 0, done.stderr
    assert all(word in done.stdout for word in ("error=", "features=", "seconds=", "kernel=auto", "--json"))


@pytest.mark.parametrize(("sketches", "biased"), [("nystrom,tensorsrht", True), ("mean_split,tensorsrht", False)])
def test_the_sentence_says_when_the_best_is_biased(rfbench, sketches, biased):
    done = rfbench("advise", "dataset=wine", "degree=2", "error=0.2", f"sketch={sketches}")
    assert f"{sketches.partition(',')[0]} is best" in done.stdout
    assert ("it is biased" in done.stdout) == biased


def test_seconds_and_own_files(rfbench, tmp_path, monkeypatch):
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.csv").write_text("a,b,y\n" + "".join(f"{i},{i * i % 7},{i % 5 + 0.5}\n" for i in range(60)))
    rfbench("data", "add", "mine.csv", "--name", "mine_to_advise", "--target", "y")
    words = ("dataset=mine_to_advise", "kernel=gaussian", "seconds=5", "sketch=rff,phase_rff", "--json")
    done = rfbench("advise", *words)
    assert done.returncode == 0, done.stderr
    assert all(one["seconds_per_million_rows"] <= 5 for one in json.loads(done.stdout))


def test_a_local_function_gets_a_kernel_of_the_distance(rfbench, tmp_path):
    done = rfbench("advise", "dataset=sinc", "kernel=auto:60", "features=64", "sketch=rff")
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()[0]
    assert said.startswith("kernel=auto: ")
    assert said.split()[1] in ("gaussian", "laplacian", "matern")
    assert "6 of 6 kernels" in said


def test_the_search_for_a_kernel_ends_in_time(rfbench, tmp_path):
    done = rfbench("advise", "dataset=digits", "kernel=auto:0.001", "features=64", "sketch=tensorsrht")
    assert "1 of 6 kernels tried" in done.stdout.splitlines()[0]
    assert "degree=3" in done.stdout.splitlines()[0]


def results(directory):
    (path,) = directory.glob("outputs/*/results.csv")
    return list(csv.DictReader(path.open()))


def test_features_for_an_error_in_a_sweep(rfbench, tmp_path):
    words = ("-m", "sketch=tensorsrht,mean_split", "features=auto:0.2", "seeds=4")
    assert rfbench(*words).returncode == 0
    rows = [row for row in results(tmp_path) if row["metric"] == "rel_frobenius"]
    counts = {row["sketch"].partition("(")[0]: int(row["features"]) for row in rows}
    assert counts["mean_split"] < counts["tensorsrht"] < 1000
    errors = [float(row["value"]) for row in rows if row["sketch"] == "tensorsrht"]
    assert 0.1 < sum(errors) / 4 < 0.3
    before = results(tmp_path)
    assert rfbench(*words).returncode == 0
    assert results(tmp_path) == before  # found again, and not computed


MISTAKES = {
    "advise dataset=mnsit": "did you mean 'mnist'",
    "advise eror=0.1": "did you mean 'error'",
    "advise error=2": "error must be between 0 and 1",
    "advise error=0.1 features=64": "one of error=…, features=… and seconds=…",
    "advise features=2d": "features must be a whole number",
    "advise seconds=0": "seconds must be above 0",
    "advise digits": "not of the form key=value",
    "advise --jsn": "no option '--jsn'",
    "advise seeds=3": "has no effect on advice",
    "advise sketch=rff,tensorsrht": "compares sketches of one kernel",
    "advise dataset=digits,wine": "compares sketches of one dataset",
    "advise kernel=auto:x": "kernel=auto must be alone or followed by seconds",
    "advise kernel=auto degree=3": "chooses the kernel's options",
    "advise error=0.00001 sketch=rademacher": "no sketch reaches error=1e-05",
    "advice": "did you mean 'advise'",
    "features=auto:2": "features=auto must be followed by an error between 0 and 1",
    "features=auto": "features must be a whole number above 0",
    "sketch=exact features=auto:0.1": "has no error to choose by",
    "features=auto:0.0001 sketch=rademacher": "out of reach of sketch=rademacher",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes_are_one_line(words, rfbench, tmp_path):
    one_line(rfbench(*words.split()), MISTAKES[words])
    assert not list(tmp_path.glob("outputs/*/*"))
