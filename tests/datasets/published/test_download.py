"""Downloads against a server on this machine that misbehaves: the cache has the complete file or none."""

import hashlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rfbench.checks import InputError
from rfbench.datasets.published import download as fetch
from rfbench.datasets.published.catalogue import CATALOGUE
from rfbench.datasets.published.convert import converted
from rfbench.datasets.published.fingerprints import FINGERPRINTS, UNVERIFIED
from rfbench.datasets.published.sources import SHA256 as SHA256_OF_MEMBERS

CONTENT = bytes(range(256)) * 2000
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()


class Server(BaseHTTPRequestHandler):
    """Serves CONTENT; the first word of the path says how."""

    ranges: list = []  # noqa: RUF012

    def do_GET(self):
        how, wanted = self.path.split("/")[1], self.headers.get("Range")
        self.ranges.append(wanted)
        start = int(wanted[6:-1]) if wanted and how != "norange" else 0
        if how == "missing" or (how == "busy" and len(self.ranges) == 1):
            self.send_error(404 if how == "missing" else 503)
        elif start >= len(CONTENT):
            self.send_error(416)
        else:
            self.send_content(how, start)

    def send_content(self, how, start):
        body = CONTENT[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        cut = how == "always_cut" or (how in ("norange", "cut") and len(self.ranges) == 1)
        self.wfile.write(body[: len(body) // 3] if cut else body[:1000])
        if how == "stalls":
            time.sleep(1)
        if not cut:
            self.wfile.write(body[1000:])

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(fetch, "sleep", lambda seconds: None)
    Server.ranges = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def whole_files(cache):
    return [path for path in (cache / "downloads").iterdir() if path.suffix != ".part"]


@pytest.mark.parametrize("how", ["fine", "cut", "norange", "busy"])
def test_the_file_arrives_whole(how, server):
    path = fetch.download(f"{server}/{how}/file.bin", SHA256)
    assert path.read_bytes() == CONTENT
    assert not list(path.parent.glob("*.part"))


def test_a_cut_file_is_resumed_where_it_ended(server):
    fetch.download(f"{server}/cut/file.bin", SHA256)
    assert Server.ranges == [None, f"bytes={len(CONTENT) // 3}-"]


def test_a_later_run_resumes(server, cache):
    with pytest.raises(InputError, match="cut off 3 times"):
        fetch.download(f"{server}/always_cut/file.bin", SHA256)
    assert not whole_files(cache)
    (part,) = (cache / "downloads").iterdir()
    assert CONTENT.startswith(part.read_bytes())
    with pytest.raises(InputError, match="cut off"):
        fetch.download(f"{server}/always_cut/file.bin", SHA256)
    assert Server.ranges[3] is not None


def test_wrong_bytes_are_deleted(server, cache):
    with pytest.raises(InputError, match=r"checksum mismatch \(expected md5 0123, got"):
        fetch.download(f"{server}/fine/file.bin", "md5:0123")
    assert not list((cache / "downloads").iterdir())


def test_a_part_of_another_file_is_deleted(server, cache):
    fetch.download(f"{server}/fine/file.bin", SHA256).rename(cache / "old")
    for rubbish in (b"x" * 10, b"x" * 2 * len(CONTENT)):
        (name,) = {path.name for path in [fetch.download(f"{server}/fine/file.bin")]}
        (cache / "downloads" / name).unlink()
        (cache / "downloads" / f"{name}.part").write_bytes(rubbish)
        if len(rubbish) < len(CONTENT):
            with pytest.raises(InputError, match="checksum mismatch"):
                fetch.download(f"{server}/fine/file.bin", SHA256)
        else:
            assert fetch.download(f"{server}/fine/file.bin", SHA256).read_bytes() == CONTENT


def test_404_is_one_line_and_not_tried_again(server, cache):
    with pytest.raises(InputError, match=r"missing/file.bin answers 404"):
        fetch.download(f"{server}/missing/file.bin", SHA256)
    assert len(Server.ranges) == 1
    assert not list((cache / "downloads").iterdir())


def test_a_stalling_server_is_left(server, cache, monkeypatch):
    monkeypatch.setattr(fetch, "TIMEOUT_SECONDS", 0.2)
    with pytest.raises(InputError, match=r"cut off 3 times \(timed out\)"):
        fetch.download(f"{server}/stalls/file.bin", SHA256)
    assert not whole_files(cache)


def test_a_host_that_is_not_there_fails_at_once():
    start = time.perf_counter()
    with pytest.raises(InputError, match=r"cannot reach 127\.0\.0\.1 \((?!\[)"):  # no number of an error
        fetch.download("http://127.0.0.1:9/file.bin")
    assert time.perf_counter() - start < 3


@pytest.mark.parametrize("url", ["http://example.org/a", "file:///etc/hostname", "ftp://example.org/a"])
def test_only_https_is_allowed(url):
    with pytest.raises(InputError, match="only https"):
        fetch.download(url)


def test_a_complete_file_in_the_cache_is_verified_again(server, tmp_path, monkeypatch):
    """A download that was stopped after its last byte, and damaged since."""
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path))
    path = fetch.download(f"{server}/plain/file", SHA256)
    assert fetch.download(f"{server}/plain/file", SHA256) == path
    assert len(Server.ranges) == 1
    path.write_bytes(CONTENT[:-1] + b"x")
    assert fetch.download(f"{server}/plain/file", SHA256).read_bytes() == CONTENT
    assert len(Server.ranges) == 2


@pytest.mark.parametrize("suffix", ["", ".part"])
def test_a_download_does_not_go_through_a_symbolic_link(server, tmp_path, monkeypatch, suffix):
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path))
    path = fetch.download(f"{server}/plain/file")
    path.unlink()
    (tmp_path / "precious").write_text("mine")
    path.with_name(path.name + suffix).symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="is a symbolic link"):
        fetch.download(f"{server}/plain/file")
    assert (tmp_path / "precious").read_text() == "mine"


def test_every_dataset_has_a_checksum_or_says_that_it_has_none():
    for name, entry in CATALOGUE.items():
        known = name in FINGERPRINTS or all(file in SHA256_OF_MEMBERS for file in entry.files)
        assert known or name in (*UNVERIFIED, "uk_house_prices"), name  # which comes in a file of the user


def test_a_dataset_without_checksum_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path))
    (tmp_path / "drive.txt").write_text("1 2 3")
    with pytest.raises(InputError, match="drive"):
        converted("drive", [tmp_path / "drive.txt"])
    assert "drive: no checksum of the published files is known" in capsys.readouterr().err
