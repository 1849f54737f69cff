"""rfbench data add: what goes in comes out, and nonsense is refused."""

import json

import numpy as np
import pytest
import yaml

from rfbench.checks import InputError
from rfbench.datasets import commands, load, own, status

X = np.array([[0.5, 1.0], [2.0, -3.25], [4.0, 5.0]])
Y = np.array([1.0, 0.0, 1.0])


def add(*words):
    return commands.main(["add", *map(str, words)])


def loaded(name):
    config = yaml.safe_load(own.recipe(name).read_text())
    assert config["name"] == name
    assert config["prepare"] == ["standardize", "unit_norm"]
    return load(config, data_dir=None, download=False)


def write(path, kind):
    rows = np.column_stack([X, Y])
    if kind == "npy":
        np.save(path, rows)
    elif kind == "npz":
        np.savez(path, X=X, y=Y)
    elif kind == "libsvm":
        path.write_text("".join(f"{y:g} 1:{a:g} 2:{b:g}\n" for a, b, y in rows))
    else:
        header = "a,b,y\n" if kind == "header" else ""
        path.write_text(header + "".join(f"{a},{b},{y:g}\n" for a, b, y in rows))


@pytest.mark.parametrize("kind", ["header", "bare", "npy", "npz", "libsvm"])
def test_what_goes_in_comes_out(kind, tmp_path, capsys):
    path = tmp_path / (f"own.{kind}" if kind in ("npy", "npz") else "own.data")
    write(path, kind)
    assert add(path, "--name", "mine") == 0
    assert "3 rows, 2 columns, 2 classes" in capsys.readouterr().out
    data = loaded("mine")
    np.testing.assert_array_equal(data.X.read(0, 3), X)
    np.testing.assert_array_equal(data.y.read(0, 3), Y)
    assert (data.classes, data.n_train) == (2, None)
    assert status("mine", None) == "own file"
    assert commands.main(["check", "mine"]) == 0


def test_a_test_file_follows_the_training_rows(tmp_path):
    for kind in ("bare", "npy", "npz", "libsvm"):
        train, test = tmp_path / f"train.{kind}", tmp_path / f"test.{kind}"
        write(tmp_path / f"train.{kind}", kind)
        write(tmp_path / f"test.{kind}", kind)
        if kind in ("npy", "npz"):
            train, test = (tmp_path / f"{part}.{kind}" for part in ("train", "test"))
        add(train, "--name", f"mine_{kind}", "--test", test)
        data = loaded(f"mine_{kind}")
        assert data.X.shape == (6, 2)
        assert data.n_train == 3


def test_npz_may_hold_the_test_rows(tmp_path):
    np.savez(tmp_path / "a.npz", X_train=X, y_train=Y, X_test=X[:1], y_test=Y[:1])
    add(tmp_path / "a.npz", "--name", "mine")
    assert loaded("mine").n_train == 3


@pytest.mark.parametrize(
    ("targets", "options", "classes"),
    [
        ("red green red", [], 2),
        ("10 9 10", [], 2),
        ("1.5 2 3", [], None),
        ("1 2 3", ["--task", "regression"], None),
        ("1.5 2 3", ["--task", "classification"], 3),
    ],
)
def test_the_task_follows_from_the_target_unless_given(targets, options, classes, tmp_path):
    (tmp_path / "own.csv").write_text("".join(f"{t},{i}\n" for i, t in enumerate(targets.split())))
    add(tmp_path / "own.csv", "--name", "mine", "--target", "0", *options)
    data = loaded("mine")
    assert data.classes == classes
    if targets.startswith("10"):
        assert data.y.read(0, 3).tolist() == [1, 0, 1]
    if classes is None:
        assert data.y.read(0, 3).dtype == np.float64


@pytest.mark.parametrize("name", ["mnist", "digits", "synthetic", "sinc", "cifar10_vgg16", "a b", "../x", "1st", ""])
def test_names_that_cannot_be(name, tmp_path):
    write(tmp_path / "own.csv", "bare")
    with pytest.raises(InputError, match=r"--name"):
        add(tmp_path / "own.csv", "--name", name)


def test_the_same_again_is_fine_and_other_content_is_refused(tmp_path, cache):
    write(tmp_path / "own.csv", "bare")
    add(tmp_path / "own.csv", "--name", "mine")
    before = own.recipe("mine").read_text()
    assert add(tmp_path / "own.csv", "--name", "mine") == 0
    assert own.recipe("mine").read_text() == before
    with pytest.raises(InputError, match=r"different content; choose another --name or delete .*mine.yaml"):
        add(tmp_path / "own.csv", "--name", "mine", "--target", "0")
    assert own.recipe("mine").read_text() == before


@pytest.mark.parametrize(
    ("write_bad", "words"),
    [
        (lambda path: path.write_text("a,b,y\n1,2,3\n4,x7,6\n"), "line 3, column 'b' is not a number: 'x7'"),
        (lambda path: np.save(path.open("wb"), np.array([[1, 2.0], [np.nan, 3]])), "row 1, column 0 is nan"),
        (lambda path: np.save(path.open("wb"), np.array([[1, 2.0], [1, np.inf]])), "target of row 1 is inf"),
        (lambda path: np.save(path.open("wb"), np.arange(3.0)), r"its shape is \(3,\)"),
        (lambda path: np.savez(path.open("wb"), X=X, y=Y[:2]), r"\(3, 2\) and float64 \(2,\)"),
    ],
)
def test_bad_files_leave_nothing(write_bad, words, tmp_path, cache):
    write_bad(tmp_path / "own.data")
    with pytest.raises(InputError, match=words):
        add(tmp_path / "own.data", "--name", "mine")
    assert not [path for path in cache.rglob("*") if path.is_file()]
    assert status("mine", None) == "unknown"


def test_regression_on_words_is_refused(tmp_path):
    (tmp_path / "own.csv").write_text("1,red\n2,green\n")
    with pytest.raises(InputError, match="--task regression needs numbers"):
        add(tmp_path / "own.csv", "--name", "mine", "--task", "regression")


def test_train_and_test_must_agree(tmp_path):
    (tmp_path / "a.csv").write_text("1,2,3\n4,5,6\n")
    (tmp_path / "b.csv").write_text("1,2\n")
    (tmp_path / "c.csv").write_text("1,2,red\n")
    with pytest.raises(InputError, match="have 1 columns; expected 2"):
        add(tmp_path / "a.csv", "--name", "mine", "--test", tmp_path / "b.csv")
    with pytest.raises(InputError, match="a number in some rows and a word in others"):
        add(tmp_path / "a.csv", "--name", "mine", "--test", tmp_path / "c.csv")


def test_missing_or_changed_arrays_are_noticed(tmp_path, cache):
    write(tmp_path / "own.csv", "bare")
    add(tmp_path / "own.csv", "--name", "mine")
    config = yaml.safe_load(own.recipe("mine").read_text())
    for changed, words in (({"sha256": "0"}, "belong to another file"), ({"file": str(tmp_path)}, "are damaged")):
        with pytest.raises(InputError, match=f"{words}.*; add the file again: rfbench data add FILE --name mine"):
            load({**config, **changed}, data_dir=None, download=False)
    assert json.loads((cache / "own").glob("mine-*/meta.json").__next__().read_text())["sha256"] == config["sha256"]


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("own.npz", {"target": "a"}, "--target is for tables"),
        ("own.svm", {"target": "a"}, "--target is for tables"),
        ("own.npz", {"test": "own.npz"}, "drop --test"),
        ("wide.svm", {}, "the limit is 1000000"),
        ("negative.svm", {}, "not a LIBSVM file"),
    ],
)
def test_what_would_be_ignored_or_absurd_is_refused(name, options, words, tmp_path):
    X, y = np.eye(6), np.arange(6.0)
    np.savez(tmp_path / "own.npz", X_train=X, y_train=y, X_test=X, y_test=y)
    (tmp_path / "own.svm").write_text("1 1:2\n2 2:3\n")
    (tmp_path / "wide.svm").write_text("1 2000000000:1\n")
    (tmp_path / "negative.svm").write_text("1 -1:2\n1 1:2\n")
    test = tmp_path / options["test"] if "test" in options else None
    with pytest.raises(InputError, match=words):
        own.add(tmp_path / name, "mine", options.get("target"), None, test)
