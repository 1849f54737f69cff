"""From a table to predictions: the sequence of a new user, in a clean directory, and what can go wrong on the way."""

import csv
import io
import json

import numpy as np
import pandas
import pytest

from rfbench.checks import InputError
from rfbench.commands.predict import find_model, load_model

HEADER = "patient_id,sex,bmi,crp,age,outcome\n"


@pytest.fixture
def patients(tmp_path, monkeypatch):
    """A table with words and empty cells, and new rows of it without the outcome."""
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))
    rng, lines = np.random.default_rng(0), []
    for i in range(200):
        bmi, crp, age, man = rng.normal(25, 3), rng.exponential(), rng.integers(20, 80), rng.random() < 0.5
        outcome = 0.3 * bmi + np.sqrt(crp) + 2 * man + rng.normal(0, 0.3)
        cell = "" if i % 19 == 0 else f"{bmi:.2f}"
        lines.append(f"p{i},{'fm'[int(man)]},{cell},{crp:.3f},{age},{outcome:.3f}")
    (tmp_path / "patients.csv").write_text(HEADER + "\n".join(lines) + "\n")
    rows = [line.rpartition(",")[0] for line in (HEADER.strip(), *lines[:20])]
    (tmp_path / "new.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def saved_without_report(directory, *words):
    """A run without its table and figure."""
    from rfbench.config.compose import compose_jobs, with_search_path, without_hydra
    from rfbench.job import build_job, plain_config
    from rfbench.trials import run

    (config,) = compose_jobs(with_search_path(["seeds=1", "task.save=true", *words]), False)
    place = directory / "run"
    place.mkdir(parents=True, exist_ok=True)
    run(build_job(plain_config(without_hydra(config))), place, keep_going=False)
    return place


def saved_run(rfbench, *words):
    done = rfbench(*words, "task.save=true", "seeds=1")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-2].partition("/:")[0]


def test_add_run_save_predict(patients, rfbench, rfbench_process, tmp_path_factory):
    """As on the pages; the prediction runs in another process and directory, with the same bits."""
    options = ["--drop", "patient_id", "--onehot", "sex", "--missing", "median"]
    assert rfbench("data", "add", "patients.csv", "--name", "patients", *options).returncode == 0
    run = patients / saved_run(rfbench, "task=gpr", "dataset=patients", "sketch=rff", "features=64")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    done = rfbench_process("predict", run, patients / "new.csv", "--output", "predicted.csv", cwd=elsewhere)
    assert (done.returncode, done.stdout) == (0, "predicted.csv: 20 predictions\n"), done.stderr
    found = table((elsewhere / "predicted.csv").read_text())
    assert list(found[0]) == ["prediction", "std"]
    assert found == table(rfbench("predict", run, "new.csv").stdout)  # repr of every float: the same bits
    truth = [float(row["outcome"]) for row in table((patients / "patients.csv").read_text())[:20]]
    error = np.array([float(row["prediction"]) for row in found]) - truth
    assert np.sqrt(np.mean(error**2)) < 0.6 < np.std(truth)
    assert 0.2 < float(found[0]["std"]) < 0.6

    model = load_model(run)
    frame = pandas.read_csv(patients / "new.csv")
    assert [repr(one) for one in model.predict(frame).tolist()] == [row["prediction"] for row in found]
    with pytest.raises(InputError, match="X has no column 'age'"):
        model.predict(frame.drop(columns="age"))
    assert model.column_names == ["sex=f", "sex=m", "bmi", "crp", "age"]
    X = np.array([[0, 1, 25.0, 1.0, 50], [1, 0, 22.0, 0.5, 30]])
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == (2,)
    assert model.about["digest"]


@pytest.mark.parametrize(
    ("task", "sketch"),
    [
        ("ridge", "anchored"),
        ("ridge", "exact"),
        ("ridge", "complex_rademacher"),
        ("ridge", "optimized_maclaurin"),
        ("gpc", "rff"),
        ("gpc", "exact"),
        ("svm", "rff"),
    ],
)
def test_a_saved_model_predicts_the_test_rows_as_the_run_did(task, sketch, tmp_path):
    """The error on the test rows, from the file of the model, is the one in results.csv."""
    from rfbench.datasets import load
    from rfbench.datasets.splits import split

    run = saved_without_report(tmp_path, f"task={task}", "dataset=wine", f"sketch={sketch}", "features=64")
    rows = table((run / "results.csv").read_text())
    (error,) = (float(row["value"]) for row in rows if row["metric"] == "error")
    _, test = split(load({"name": "wine"}, data_dir=None, download=False), 0)
    X, y = test.take(np.arange(len(test)))
    model = load_model(run)
    assert np.mean(model.predict(X) != y.astype(str)) == pytest.approx(error)
    if task == "gpc":
        p = [column for name, column in model.table(X).items() if name.startswith("p_")]
        np.testing.assert_allclose(np.sum(p, axis=0), 1, rtol=1e-3)


def test_rows_in_blocks_and_in_any_file_have_the_same_bits(rfbench, tmp_path, monkeypatch):
    run = saved_without_report(tmp_path, "task=ridge", "sketch=ctr_tensorsrht", "features=64", "train_rows=200")
    model, X = load_model(run), np.random.default_rng(0).random((5000, 64))
    np.save(tmp_path / "new.npy", X)
    printed = [row["prediction"] for row in table(rfbench("predict", run, "new.npy").stdout)]
    assert printed == model.predict(X).tolist()
    monkeypatch.setattr("rfbench.datasets.formats.cells.CELLS_PER_CHUNK", 64 * 7)
    np.savetxt(tmp_path / "new.csv", X[:300], delimiter=",", fmt="%.17g")
    assert printed[:300] == [row["prediction"] for row in table(rfbench("predict", run, "new.csv").stdout)]


def test_saving_later_computes_only_missing_models(tmp_path):
    words = ["task=ridge", "dataset=wine", "sketch=rff", "features=16"]
    run = saved_without_report(tmp_path, *words, "task.save=false")
    assert not (run / "models").exists()
    saved_without_report(tmp_path, *words)
    (model,) = (run / "models").iterdir()
    stamp = model.stat().st_mtime_ns
    saved_without_report(tmp_path, *words)
    assert model.stat().st_mtime_ns == stamp
    saved_without_report(tmp_path, *words, "seeds=2")
    assert model.stat().st_mtime_ns == stamp
    assert len(list((run / "models").iterdir())) == 2
    rows = table((run / "results.csv").read_text())
    assert len([row for row in rows if row["metric"] == "error"]) == 2


def test_wrong_columns_are_one_clear_line(patients, rfbench):
    options = ["--drop", "patient_id", "--onehot", "sex", "--missing", "drop"]
    rfbench("data", "add", "patients.csv", "--name", "patients", *options)
    run = saved_without_report(patients, "task=ridge", "dataset=patients", "sketch=rff", "features=[16,32]", "seeds=2")
    for text, words in (
        ("sex,bmi,crp\nm,20,1\n", "has no column 'age'; expected 4 columns in this order: sex, bmi, crp, age"),
        ("sex,crp,bmi,age\nm,1,20,30\n", "has its columns in another order"),
        ("sex,bmi,crp,age,height\nm,1,20,30,2\n", "has 'height', which the training data have not"),
        ("m,20,1\n", "has 3 columns; expected 4"),
        ("sex,bmi,crp,age\nm,20,,30\n", "line 2, column 'crp' is empty"),
        ("sex,bmi,crp,age\nm,20,x,30\n", "line 2, column 'crp' is not a number: 'x'"),
        ("sex,bmi,crp,age\nd,20,1,30\n", "line 2, column 'sex' has 'd', not 'f' or 'm'"),
        ("", "has no rows"),
    ):
        (patients / "bad.csv").write_text(text)
        done = rfbench("predict", run, "bad.csv", "--output", "out.csv")
        assert (done.returncode, done.stderr.count("\n")) == (2, 2), done.stderr  # and which model it takes
        assert words in done.stderr
        assert not (patients / "out.csv").exists()
    (patients / "good.csv").write_text("m,20,1,30\n")
    assert rfbench("predict", run, "good.csv", "--features", "16", "--seed", "1").stderr == ""
    for words, message in (
        (["nowhere", "new.csv"], "no directory nowhere"),
        ([run, "none.csv"], "no file none.csv"),
        ([run, "new.csv", "--features", "5"], "it has 16 features seed 0, 16 features seed 1, 32"),
        ([patients / "cache", "new.csv"], "no saved model; run a command of task=ridge, gpr, gpc or svm again with"),
        (["new.csv", run], "new.csv is no model; name the directory that rfbench printed first, then the rows: RUN"),
        ([run], "the following arguments are required: FILE"),
    ):
        done = rfbench("predict", *words)
        assert done.returncode == 2
        assert message in done.stderr


def test_models_that_cannot_be_saved_are_refused_before_the_run(rfbench):
    for words in (["task=svm", "sketch=exact"], ["task=gpr", "dataset=diabetes", "sketch=localized_maclaurin"]):
        done = rfbench(*words, "task.save=true", "seeds=1")
        assert done.returncode == 2
        assert "task.save=true" in done.stderr


def test_the_directory_above_all_runs_is_enough_for_one_model(tmp_path):
    run = saved_without_report(tmp_path / "outputs" / "wine-rff-ridge", "task=ridge", "dataset=wine", "sketch=rff")
    assert find_model(tmp_path / "outputs").parent == run / "models"
    saved_without_report(tmp_path / "outputs" / "wine-rff-svm", "task=svm", "dataset=wine", "sketch=rff")
    with pytest.raises(InputError, match=r"has models of 2 jobs; name one: .*wine-rff-ridge.*wine-rff-svm"):
        find_model(tmp_path / "outputs")


def test_probabilities_are_the_same_bits_with_other_exponentials(tmp_path, monkeypatch):
    """Versions of NumPy differ in the last bit of exponentials in double precision, and in no bit of single ones."""
    run = saved_without_report(tmp_path, "task=gpc", "dataset=wine", "sketch=rff", "features=64")
    model, X, exp = load_model(run), np.random.default_rng(0).normal(size=(50, 13)), np.exp
    before = model.table(X)

    def other_exp(x, *more, **options):
        y = exp(x, *more, **options)
        return np.nextafter(y, np.inf) if y.dtype == np.float64 else y

    monkeypatch.setattr(np, "exp", other_exp)
    for name, column in model.table(X).items():
        np.testing.assert_array_equal(column, before[name])


def test_other_features_than_those_saved_are_noticed(tmp_path):
    """As if another NumPy had other streams of random numbers."""
    run = saved_without_report(tmp_path, "task=ridge", "dataset=wine", "sketch=rff", "features=16")
    (path,) = (run / "models").iterdir()
    with np.load(path) as file:
        arrays = dict(file)
    head = json.loads(str(arrays["recipe"]))
    head["value"]["fields"]["fitted"]["fields"]["draw"]["fields"]["seed"] = 7
    np.savez(path, **arrays | {"recipe": np.array(json.dumps(head))})
    with pytest.raises(InputError, match="draws other features"):
        load_model(run)
