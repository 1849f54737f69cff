"""rfbench data add: what goes in comes out, and nonsense is refused."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
import yaml

from rfbench.checks import InputError
from rfbench.datasets import commands, load, own, status
from rfbench.datasets.columns import Wishes

X = np.array([[0.5, 1.0], [2.0, -3.25], [4.0, 5.0]])
Y = np.array([1.0, 0.0, 1.0])


def add(*words):
    return commands.main(["add", *map(str, words)])


def loaded(name):
    config = yaml.safe_load(own.recipe(name).read_text())
    assert config["name"] == name
    data = load(config, data_dir=None, download=False)
    assert config["prepare"] == (["standardize", "unit_norm"] if data.classes else ["standardize"])
    return data


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
    with pytest.raises(InputError, match=r"different content; choose another --name, or rfbench data remove mine"):
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
    with pytest.raises(InputError, match=r"b.csv has no column '2'; expected 3 columns"):
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
        own.add(own.Addition(tmp_path / name, "mine", Wishes(options.get("target")), test=test))


PATIENTS = """patient_id,sex,bmi,crp,age,outcome
p1,m,22.5,3.0,50,1.5
p2,f,,2.0,60,2.5
p3,f,25.0,NA,40,2.25
p4,m,26.5,1.0,70,
p5,,24.5,1.0,30,2.0
p6,m,24.0,5.0,30,9.5
"""


@pytest.fixture
def patients(tmp_path):
    path = tmp_path / "patients.csv"
    path.write_text(PATIENTS)
    return path


def test_tabs_separate_words_with_spaces_and_empty_cells(tmp_path):
    (tmp_path / "own.tsv").write_text("age\tbody mass\toutcome\n50\t22.5\t1.5\n60\t\t2.5\n40\t25\t2.25\n")
    add(tmp_path / "own.tsv", "--name", "mine", "--missing", "median")
    np.testing.assert_array_equal(loaded("mine").X.read(0, 3), [[50, 22.5], [60, 23.75], [40, 25]])


def test_decimal_commas_are_named(tmp_path):
    """A target of them would be words, and so classes."""
    (tmp_path / "own.csv").write_text("a;b;y\n1,5;x;3\n4;z;6,25\n")
    with pytest.raises(InputError, match=r"'a' and 'y' have decimal commas \(1,5\): write points; 'b' is text"):
        add(tmp_path / "own.csv", "--name", "mine")


def test_all_problems_are_in_one_message_with_their_solutions(patients):
    with pytest.raises(InputError) as refused:
        add(patients, "--name", "mine")
    message = str(refused.value)
    for part in (
        "'patient_id' and 'sex' are text: --drop patient_id sex, or --onehot sex (2 values)",
        "'sex', 'bmi' and 'crp' have empty cells (1, 1 and 1 of 6 rows): --missing drop or --missing median",
        "the target 'outcome' has empty cells (1 of 6 rows): --missing drop",
    ):
        assert part in message
    assert "\n" not in message


def test_rows_with_empty_cells_are_dropped(patients, capsys):
    add(patients, "--name", "mine", "--drop", "patient_id", "--onehot", "sex", "--missing", "drop")
    assert "2 rows (4 with empty cells left out), 5 columns, regression" in capsys.readouterr().out
    data = loaded("mine")
    assert data.columns.outputs == ["sex=f", "sex=m", "bmi", "crp", "age"]
    np.testing.assert_array_equal(data.X.read(0, 2), [[0, 1, 22.5, 3, 50], [0, 1, 24, 5, 30]])
    assert data.y.read(0, 2).tolist() == [1.5, 9.5]


def test_empty_cells_get_the_median_of_their_column(patients):
    add(patients, "--name", "mine", "--drop", "patient_id", "--onehot", "sex", "--missing", "median")
    data = loaded("mine")  # without the row that has no target
    np.testing.assert_array_equal(data.X.read(1, 4), [[1, 0, 24.25, 2, 60], [1, 0, 25, 2.5, 40], [0, 0, 24.5, 1, 30]])
    assert [one.fill for one in data.columns.used] == [None, 24.25, 2.5, 40.0]


def test_the_median_of_many_rows_is_that_of_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr(own, "MEDIAN_ROWS", 1000)
    rows = np.random.default_rng(0).exponential(size=20_000)
    np.save(tmp_path / "X.npy", np.where(np.arange(20_000) % 7 == 0, np.nan, rows)[:, None])
    median = own.fill_medians(tmp_path / "X.npy", (0,), 20_000)[0]
    assert 0 < abs(median - np.log(2)) < 4.8 / np.sqrt(1000 * 6 / 7)  # standard error 1 / (2 f √m), density f = 1/2
    filled = np.load(tmp_path / "X.npy")[:, 0]
    np.testing.assert_array_equal(filled[::7], median)
    np.testing.assert_array_equal(filled[1:7], rows[1:7])


def test_a_dry_run_writes_nothing(patients, cache, capsys):
    add(patients, "--name", "mine", "--drop", "patient_id", "sex", "--missing", "median", "--dry-run")
    assert "5 rows (1 with empty cells left out), 3 columns" in capsys.readouterr().out
    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_show_and_remove(patients, cache, capsys):
    add(patients, "--name", "mine", "--drop", "patient_id", "--onehot", "sex", "--missing", "median")
    capsys.readouterr()
    assert commands.main(["show", "mine"]) == 0
    shown = capsys.readouterr().out
    assert "5 rows, 5 columns; target: outcome, numbers" in shown
    assert "preparation: standardize" in shown
    lines = [line.split() for line in shown.splitlines()]
    (bmi,) = (line for line in lines if line[0] == "bmi")
    assert [*bmi[1:6], *bmi[-3:]] == ["real;", "an", "empty", "cell", "is", "22.5", "24.05", "25"]
    assert any(line[:4] == ["sex=f", "0", "or", "1"] for line in lines)
    assert commands.main(["remove", "mine"]) == 0
    assert status("mine", None) == "unknown"
    assert not list((cache / "own").iterdir())
    assert patients.exists()
    with pytest.raises(InputError, match="built-in"):
        commands.main(["remove", "digits"])


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (",a,y\n0,1,2.5\n", [], "column 0 has no name: name it, or --drop 0"),
        ("a,a,y\n0,1,2.5\n", [], "two columns are named 'a'"),
        ("y,b,y\n0,1,2.5\n", [], "two columns are named 'y': rename one, or --drop 0"),
        (
            "a,id\n" + "".join(f"{i},p{i}\n" for i in range(30)),
            [],
            "no two rows have the same target 'id', such as 'p0'",
        ),
        ("a,b,y\n1,,2.5\n2,,1.5\n", ["--missing", "median"], "'b' is empty: --drop b"),
        ("a,b,y\n1,2,2.5\n", ["--target", "y", "--drop", "y"], "'y' is named twice"),
        ("a,b,y\n1,2,2.5\n", ["--onehot", "c"], "has no column 'c'"),
        ("a,b,y\n1,2,2.5\n3,4,red\n5,6,1\n", [], "a number in some rows and a word in others (line 3: 'red')"),
        ("a,b,y\n" + "".join(f"w{i},1,2.5\n" for i in range(200)), ["--onehot", "a"], "more than 100 values"),
    ],
)
def test_tables_that_are_refused(text, options, words, tmp_path):
    (tmp_path / "own.csv").write_text(text)
    with pytest.raises(InputError) as refused:
        add(tmp_path / "own.csv", "--name", "mine", *options)
    assert words in str(refused.value)


def test_options_of_tables_are_refused_elsewhere(tmp_path):
    np.save(tmp_path / "own.npy", np.column_stack([X, Y]))
    with pytest.raises(InputError, match="are for tables"):
        add(tmp_path / "own.npy", "--name", "mine", "--drop", "0")


def test_standardize_keeps_the_lengths_of_rows(tmp_path, capsys):
    write(tmp_path / "own.csv", "bare")
    add(tmp_path / "own.csv", "--name", "mine", "--standardize")
    assert "preparation: standardize (row lengths are kept)" in capsys.readouterr().out
    assert yaml.safe_load(own.recipe("mine").read_text())["prepare"] == ["standardize"]


def test_parquet_is_read_like_csv(patients, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.read_csv(patients).to_parquet(tmp_path / "patients.parquet")
    options = ["--drop", "patient_id", "--onehot", "sex", "--missing", "median"]
    for path, name in ((patients, "a"), (tmp_path / "patients.parquet", "b")):
        add(path, "--name", name, *options)
    a, b = loaded("a"), loaded("b")
    np.testing.assert_array_equal(a.X.read(0, 5), b.X.read(0, 5))
    assert a.columns == b.columns


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "own.parquet").write_bytes(b"PAR1....PAR1")
    with pytest.raises(InputError, match="pip install pyarrow"):
        add(tmp_path / "own.parquet", "--name", "mine")


def test_chunks_of_a_table_give_the_whole(patients, monkeypatch):
    options = ["--drop", "patient_id", "--onehot", "sex", "--missing", "median"]
    add(patients, "--name", "a", *options)
    monkeypatch.setattr("rfbench.datasets.formats.cells.CELLS_PER_CHUNK", 12)
    add(patients, "--name", "b", *options)
    np.testing.assert_array_equal(loaded("a").X.read(0, 5), loaded("b").X.read(0, 5))


def test_the_names_of_classes_are_kept(tmp_path):
    (tmp_path / "own.csv").write_text("1,red\n2,green\n3,red\n")
    add(tmp_path / "own.csv", "--name", "mine")
    assert loaded("mine").labels == ("green", "red")


@pytest.mark.parametrize(("old", "new"), [(b"order'", b"ord'("), (b"False", b"Falsd"), (b"20, 5", b"-1, 5")])
def test_a_damaged_header_of_a_npy_file(old, new, cache, tmp_path):
    np.save(tmp_path / "own.npy", np.ones((20, 5)))
    whole = (tmp_path / "own.npy").read_bytes()
    (tmp_path / "own.npy").write_bytes(whole.replace(old, new))
    with pytest.raises(
        InputError, match=r"own.npy is not a numeric NPY file \((?!.*( 0x|Error|Errno)).*\); save it again"
    ):
        add(tmp_path / "own.npy", "--name", "mine")


def test_a_damaged_page_of_a_parquet_file(cache, tmp_path):
    pd.DataFrame({"a": np.arange(20.0), "y": np.arange(20.0)}).to_parquet(tmp_path / "own.parquet")
    content = bytearray((tmp_path / "own.parquet").read_bytes())
    content[5:9] = b"\xff" * 4
    (tmp_path / "own.parquet").write_bytes(content)
    with pytest.raises(InputError, match=r"cannot read .*own.parquet \((?!.*Exception).*\); save it again"):
        add(tmp_path / "own.parquet", "--name", "mine")
