"""Fuzzing: every file that the program reads, damaged.  An answer is right, or a line that says what is wrong."""

import gzip
import io
import lzma
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.campaign import alone_in, cases
from support.limits import answer

from rfbench.results.rows import read_rows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def place(tmp_path_factory):
    with alone_in(tmp_path_factory.mktemp("files")) as directory:
        yield directory


@st.composite
def damaged(draw, contents):
    """Some content with bytes flipped, cut, doubled, moved or put in between; or other bytes altogether."""
    data = bytearray(draw(st.sampled_from(contents)) if draw(st.integers(0, 9)) else draw(st.binary(max_size=200)))
    for _ in range(draw(st.integers(0, 4))):
        i, j = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        match draw(st.integers(0, 5)):
            case 0 if i < len(data):
                data[i] ^= 1 << draw(st.integers(0, 7))
            case 1:
                del data[i:]
            case 2:
                del data[i : min(j, i + 40)]
            case 3:
                data[i:i] = data[i : min(j, i + 40)]
            case 4:
                data[i:i] = draw(st.sampled_from(NASTY))
            case 5 if i < len(data):
                data[i : i + 4] = draw(st.sampled_from(WORDS))
    return bytes(data)


WORDS = [b"\xff" * 4, b"\0" * 4, b"9999", b"-1e9", b"nan,", b"\x7f\xff\xff\xff"]
NASTY = [
    b"\0",
    b"\n",
    b"\r",
    b",",
    b'"',
    b"nan",
    b"inf",
    b"1e999",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"?",
    b"@",
    b"%",
    b":",
]
NASTY += [
    b"9" * 400,
    "ü€😀".encode(),
    b"'",
    b"{",
    b"[" * 300,
    b"\x1b[2J",
    b" " * 50,
    b"1:1e400",
    b"-5:1",
    b"99999999999:1",
]


def table(separator, names=True):
    lines = [separator.join(["a", "b", "color", "y"])] if names else []
    lines += [separator.join([f"{i / 7:.3f}", str(-i), "red" if i % 3 else "blue", str(i % 4)]) for i in range(24)]
    return "\n".join(lines).encode() + b"\n"


def npz(**arrays):
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def npy(array):
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def parquet():
    content = io.BytesIO()
    pd.read_csv(io.BytesIO(table(","))).to_parquet(content)
    return content.getvalue()


ROWS = np.random.default_rng(0).standard_normal((20, 5))
LIBSVM = b"".join(b"%d 1:0.5 %d:1.5 9:2\n" % (i % 3, 2 + i % 5) for i in range(24))
ARFF = b"@relation r\n@attribute a numeric\n@attribute 'b c' numeric\n@attribute y {0,1}\n@data\n"
ARFF += b"1,2,0\n3,4,1\n" * 9
NUMBERS = b"".join(b"%d %d %d\n" % (i, i * i % 7, i % 2) for i in range(20))
ARRAYS = [npy(A) for A in (ROWS, ROWS.astype(">f4"), np.asfortranarray(ROWS), (ROWS > 0).astype(np.uint8), ROWS[0])]
ARRAYS += [npz(X=ROWS, y=ROWS[:, 0]), npz(X_train=ROWS, y_train=ROWS[:, 0], X_test=ROWS, y_test=ROWS[:, 1])]
FILES = [table(","), table(";"), table("\t"), table(" ", names=False), NUMBERS, ARFF, LIBSVM, *ARRAYS, parquet()]
FILES += [gzip.compress(table(",")), lzma.compress(NUMBERS), gzip.compress(ARRAYS[0])]
OPTIONS = ["--target=y", "--target=0", "--target=zz", "--drop=a", "--onehot=color", "--missing=drop"]
OPTIONS += ["--missing=median", "--standardize", "--task=regression", "--task=classification", "--dry-run"]
OPTIONS += ["--test=whole.csv"]
SUFFIXES = st.sampled_from(["", ".csv", ".npy", ".gz", ".xz"])


@cases(1400)
@given(damaged(FILES), SUFFIXES, st.lists(st.sampled_from(OPTIONS), max_size=2))
def test_own_files(content, suffix, options):
    Path("whole.csv").write_bytes(table(","))
    path = Path(f"own{suffix}")
    path.write_bytes(content)
    done = answer(["data", "add", path, "--name", "mine", *options])
    if done.returncode == 0 and "--dry-run" not in options:
        answer(["data", "show", "mine"])
        answer(["data", "check", "mine"])
        answer(["data", "remove", "mine"])


@pytest.fixture(scope="module")
def model(place):
    """A saved model of a table with words, and its file."""
    (place / "whole.csv").write_bytes(table(","))
    answer(["data", "add", "whole.csv", "--name", "whole", "--onehot", "color"])
    answer(["task=ridge", "dataset=whole", "sketch=rff", "features=8", "seeds=1", "task.save=true", "task.alpha=0.1"])
    (path,) = place.rglob("models/*.npz")
    return path


def test_models(model):
    whole = model.read_bytes()

    @cases(150)
    @given(damaged([whole]))
    def damaged_model(content):
        Path("model.npz").write_bytes(content)
        answer(["predict", "model.npz", "whole.csv"])

    @cases(150)
    @given(damaged(FILES), SUFFIXES)
    def damaged_rows(content, suffix):
        path = Path(f"new{suffix}")
        path.write_bytes(content)
        answer(["predict", model, path])

    damaged_model()
    damaged_rows()


SWEEP = ["-m", "task=ridge", "dataset=whole", "kernel=gaussian", "kernel.length_scale=validation", "task.alpha=auto"]
SWEEP += ["sketch=rff,orf", "features=4", "seeds=2"]


@pytest.fixture(scope="module")
def results(model, place):
    """A finished sweep of two jobs, with pictures, kept aside; and its table without times."""
    answer(SWEEP)
    (directory,) = place.glob("outputs/sweep-*")
    shutil.copytree(directory, place / "kept")
    return directory, numbers(directory)


def numbers(directory):
    rows = read_rows(directory / "results.csv")
    return [(row["sketch"], row["seed"], row["metric"], row["value"]) for row in rows if row["unit"] != "s"]


def test_results(results, place):
    directory, whole = results
    names = [path.relative_to(place / "kept") for path in (place / "kept").glob("jobs/*/*") if path.is_file()]
    names += [path.relative_to(place / "kept") for path in (place / "kept").glob("jobs/*/.results.csv.sums")]

    @cases(200)
    @given(st.data())
    def damaged_results(data):
        """Refused, or healed: the table is that of an undisturbed run, and no trial is lost that counts as done."""
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(place / "kept", directory)
        for name in data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)):
            content = data.draw(damaged([(place / "kept" / name).read_bytes()]))
            (directory / name).write_bytes(content) if data.draw(st.integers(0, 9)) else (directory / name).unlink()
        done = answer(SWEEP)
        assert done.returncode in (1, 2) or numbers(directory) == whole
        answer(["report", "--format", "csv"])

    damaged_results()
