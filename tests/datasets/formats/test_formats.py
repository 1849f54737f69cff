"""A file that is not what it should be is refused in one line that names the place."""

import gzip
import lzma

import numpy as np
import pytest

from rfbench.checks import InputError
from rfbench.datasets.formats.binary import read_idx, read_npy, read_npz
from rfbench.datasets.formats.tables import read_table
from rfbench.datasets.published.readers import libsvm, miniboo, postures


def refused(reader, path):
    with pytest.raises(InputError) as caught:
        list(reader(path))
    line = str(caught.value)
    assert "\n" not in line
    assert path.name in line
    return line


def table(tmp_path, text, **options):
    (tmp_path / "own.csv").write_text(text)
    blocks = list(read_table(tmp_path / "own.csv", **options))
    return np.concatenate([X for X, _ in blocks]).tolist(), np.concatenate([y for _, y in blocks]).tolist()


@pytest.mark.parametrize(
    "text",
    [
        "1,2,3\n4,5,6\n",
        "a,b,c\n1,2,3\n4,5,6\n",
        "1;2;3\n4;5;6\n",
        "1\t2\t3\n4\t5\t6\n",
        " 1   2 3\n\n4 5\t6 \n\n",
        "a\tb c\ty\n1\t2\t3\n4\t5\t6\n",
        "1\t 2\t 3 \n4\t 5\t6\n",
        "1\t2 3\t\n4 5\t6\n",
        '"a","b","c"\r\n"1","2","3"\r\n4, 5 ,6',
        "\ufeffa,b,c\n1,2,3\n4,5,6\n",
        "% note\n@relation r\n@attribute a numeric\n@attribute 'b b' real\n@ATTRIBUTE c {3,6}\n\n@data\n1,2,3\n4,5,6\n",
    ],
)
def test_layouts_of_one_table(text, tmp_path):
    assert table(tmp_path, text) == ([[1, 2], [4, 5]], [3, 6])


def test_target_by_name_or_index_and_words_as_labels(tmp_path):
    text = "kind,a,b\nred,1,2\ngreen or so,3,4\n"
    assert table(tmp_path, text, target="kind") == ([[1, 2], [3, 4]], ["red", "green or so"])
    assert table(tmp_path, "x,1,2\ny,3,4\n", target=0) == ([[1, 2], [3, 4]], ["x", "y"])
    with pytest.raises(InputError, match="no column 'knd'; did you mean 'kind'"):
        table(tmp_path, text, target="knd")


def test_missing_cells_become_zero_only_on_request(tmp_path):
    assert table(tmp_path, "1,?,3\n?,5,6\n", missing="?") == ([[1, 0], [0, 5]], [3, 6])


def test_chunks_make_no_difference(tmp_path, monkeypatch):
    text = "\n".join(f"{i},{i * i},{i % 3}" for i in range(100))
    whole = table(tmp_path, text)
    monkeypatch.setattr("rfbench.datasets.formats.tables.CELLS_PER_CHUNK", 21)
    assert table(tmp_path, text) == whole


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,c\n1,2,3\n\n4,x7,6\n", "line 4, column 'b' is not a number: 'x7'"),
        ("1,2,3\n4,nan,6\n", "line 2, column '1' is not a number: 'nan'"),
        ("1,2,3\n4,5,inf\n", "line 2, column '2' is not a number: 'inf'"),
        ("1,2,3\n4,,6\n", "line 2, column '1' is not a number: ''"),
        ("1,2,3\n4,NA,6\n", "line 2, column '1' is not a number: 'NA'"),
        ("1,2,3\n4,5\n", "line 2 has 2 cells; the lines before have 3"),
        ("1,2,3\n4,5,6,7\n", "line 2 has 4 cells; the lines before have 3"),
        ("1,2,g\n4,5,h,7\n", "line 2 has 4 cells; the lines before have 3"),
        ("1,2,g\n4,True,h\n", "line 2, column '1' is not a number: 'True'"),
        ("1,x,3\n4,5,6\n", "line 1 has 'x' above '5'"),
        (",a,b\n0,1,2\n", "column 0 has no name"),
        ("a,b,c\n", "has no rows"),
        ("", "has no rows"),
        ("1\n2\n", "no column besides the target"),
    ],
)
def test_bad_tables(text, words, tmp_path):
    (tmp_path / "own.csv").write_text(text)
    assert words in refused(read_table, tmp_path / "own.csv")


def test_a_cut_off_gzip_file(tmp_path):
    packed = gzip.compress(b"1,2\n" * 100_000 + np.random.default_rng(0).bytes(1000))
    (tmp_path / "own.csv.gz").write_bytes(packed[:-20])
    assert "cannot read" in refused(read_table, tmp_path / "own.csv.gz")
    (tmp_path / "own.csv.xz").write_bytes(lzma.compress(b"1,2\n" * 1000)[:-20])
    assert "cannot read" in refused(read_table, tmp_path / "own.csv.xz")
    (tmp_path / "no.csv.gz").write_bytes(b"1,2\n3,4\n")
    assert "cannot read" in refused(read_table, tmp_path / "no.csv.gz")


def test_idx_names_the_bytes_expected_and_found(tmp_path):
    path = tmp_path / "images"
    path.write_bytes(b"\0\0\x08\x02" + np.array([3, 4], ">i4").tobytes() + bytes(12))
    assert read_idx(path).shape == (3, 4)
    path.write_bytes(path.read_bytes()[:-5])
    assert "has 7 bytes of data; its header says 12" in refused(read_idx, path)
    path.write_bytes(b"<html>")
    assert "not an IDX file" in refused(read_idx, path)


@pytest.mark.parametrize("content", [np.array([[1, "x"]], dtype=object), b"rubbish", b"\x93NUMPY"])
def test_npy_and_npz_are_never_unpickled(content, tmp_path):
    for name, reader, save in (("a.npy", read_npy, np.save), ("a.npz", read_npz, np.savez)):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            save(path, content) if name == "a.npy" else save(path, X=content, y=content)
        assert "not a numeric NP" in refused(reader, path)


def test_npz_without_the_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", features=np.eye(2))
    assert "X and y" in refused(read_npz, tmp_path / "a.npz")


def test_libsvm_files_get_the_columns_of_the_widest(tmp_path):
    (tmp_path / "a").write_text("1 1:0.5 2:2\n-1 2:1\n")
    (tmp_path / "b").write_text("1 4:7\n")
    (X, y), (X_test, y_test) = libsvm([tmp_path / "a", tmp_path / "b"])
    assert X.tolist() == [[0.5, 2, 0, 0], [0, 1, 0, 0]]
    assert X_test.tolist() == [[0, 0, 0, 7]]
    assert [*y, *y_test] == [1, -1, 1]
    for bad in ("1 1:x\n", "1 a:2\n", "1 1:nan\n"):
        (tmp_path / "a").write_text(bad)
        with pytest.raises(InputError, match=r"^a( or b)?\b"):
            list(libsvm([tmp_path / "a", tmp_path / "b"]))


def test_miniboo_counts_signal_rows_in_its_first_line(tmp_path):
    (tmp_path / "m.txt").write_text("  1  2\n 1 2\n 3 4\n 5 6\n")
    ((X, y),) = miniboo([tmp_path / "m.txt"])
    assert X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert y.tolist() == [1, 0, 0]


def test_postures_leave_out_the_dummy_record_and_the_user(tmp_path):
    (tmp_path / "p.csv").write_text("Class,User,X0,Y0\n0,0,0,0\n1,0,5.5,?\n2,9,?,7\n")
    ((X, y),) = postures([tmp_path / "p.csv"])
    assert X.tolist() == [[5.5, 0], [0, 7]]
    assert y.tolist() == [1, 2]
