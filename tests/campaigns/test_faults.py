"""Faults: kills, a full disk, damaged files, jumps of the clock, several processes at once.

Whatever happens in between, the last rerun of the command leaves the table and the files of an undisturbed run.
"""

import contextlib
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import psutil
import pytest
from support import ROOT
from support.campaign import alone_in
from support.limits import in_words

from rfbench.checks import InputError
from rfbench.cli import main
from rfbench.datasets.published.download import download
from rfbench.results.rows import read_rows

pytestmark = pytest.mark.slow
KILLS = {"basic": 24, "joblib": 16}  # and 1 at every write, 24 of runs with checkpoints, 42 of workers: above 100
WORDS = ["-m", "dataset=wine", "task=ridge", "kernel.length_scale=1", "task.alpha=0.1", "task.save=true"]
WORDS += ["sketch=rff,orf", "features=[8,16]", "seeds=2"]


def table(place):
    """The rows of the sweep, times aside."""
    (path,) = place.glob("outputs/sweep-*/results.csv")
    rows = read_rows(path)
    return sorted(tuple(row.values()) for row in rows if row["unit"] not in ("s", "B"))


def files(place):
    return sorted(path.relative_to(place) for path in place.glob("outputs/**/*"))


def killing(call, left):
    """The call, while there are any left; then kill -9."""

    def counted(*given):
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*given)

    return counted


class Started:
    """A command in a process of its own, forked from this one so that it need not import the program again."""

    def __init__(self, place, words, writes=None):
        """A command; one that writes files so many times is killed before the next."""
        self.log = place / "log"
        self.pid = os.fork()
        if not self.pid:
            if writes is not None:
                left = iter(range(writes))
                os.fsync, os.replace = killing(os.fsync, left), killing(os.replace, left)
            self._run(place, words)

    def _run(self, place, words):
        code = 70
        try:
            os.setsid()
            os.chdir(place)
            log = os.open(self.log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            os.dup2(log, 1)
            os.dup2(log, 2)
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
            code = main(words)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def wait(self, seconds=None):
        """The exit code; None if it runs on."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while deadline is None or time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.003)
        return None

    def members(self):
        """All processes of its session, first its own."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(ProcessLookupError, psutil.Error):
                if os.getsid(process.pid) == self.pid and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process.pid)
        return sorted(found, key=lambda pid: pid != self.pid)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """(table, files, seconds) of a run that nothing disturbs."""
    place = tmp_path_factory.mktemp("undisturbed")
    with alone_in(tmp_path_factory.mktemp("warm")):
        assert main(WORDS) == 0  # imports all that the forked processes need
    with alone_in(place):
        start = time.monotonic()
        assert Started(place, WORDS).wait() == 0, (place / "log").read_text()
        return table(place), files(place), time.monotonic() - start


def works(pid):
    """Whether a process computes.  A worker without a first job yet idles up to five minutes, by joblib's own limit."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        before = sum(process.cpu_times()[:2])
        time.sleep(0.3)
        return sum(process.cpu_times()[:2]) > before + 0.05
    return False


def last_line(place):
    return ((place / "log").read_text().splitlines() or [""])[-1]


def check_undisturbed(place, undisturbed, words=WORDS):
    """After one more run all is as if nothing had happened; a worker may have to notice first that it is alone."""
    for _ in range(1000):
        code = Started(place, words).wait()
        if code != 2 or "another run is writing" not in last_line(place):
            break
        time.sleep(0.2)
    assert code == 0, (place / "log").read_text()
    assert table(place) == undisturbed[0]
    assert files(place) == undisturbed[1]
    in_words((place / "log").read_text())
    leftovers = [path for path in place.rglob(".*") if path.name.rpartition(".")[2].isdecimal()]
    assert not leftovers


@pytest.mark.parametrize("launcher", KILLS)
def test_kills(launcher, undisturbed, tmp_path):
    """Kill -9 at a random moment: the process; of a sweep side by side also its parent alone, or one worker."""
    words, chance = [f"hydra/launcher={launcher}", *WORDS], random.Random(1)
    longest, kills = undisturbed[2] + (2.0 if launcher == "joblib" else 0.0), 0
    with alone_in(tmp_path):
        while kills < KILLS[launcher]:
            started = Started(tmp_path, words)
            code = started.wait(chance.uniform(0.0, longest))
            if code is None:
                members = started.members()
                whom = chance.choice([members, members[:1], members[-1:]])
                for pid in whom:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                kills += 1
                code = started.wait(600)
                assert code is not None, "a worker was killed, and the sweep waits for ever"
            if code == 0:
                assert table(tmp_path) == undisturbed[0]
                shutil.rmtree(tmp_path / "outputs")
            deadline = time.monotonic() + 600
            while any(map(works, started.members())):
                assert time.monotonic() < deadline, "workers of a killed sweep run on"
                time.sleep(0.05)
        check_undisturbed(tmp_path, undisturbed, words)


def test_a_kill_before_every_write(tmp_path):
    """Of a sweep that copies the trial of a finished run, computes another, and writes tables and figures."""
    single = ["dataset=wine", "task=ridge", "kernel.length_scale=1", "task.alpha=0.1", "task.save=true", "seeds=1"]
    single, sweep = [*single, "features=8", "sketch=rff"], ["-m", *single, "features=8", "sketch=rff,orf"]
    begun, calm = tmp_path / "begun", tmp_path / "calm"
    begun.mkdir()
    with alone_in(tmp_path):
        assert Started(begun, single).wait() == 0, (begun / "log").read_text()
        shutil.copytree(begun, calm)
        assert Started(calm, sweep).wait() == 0, (calm / "log").read_text()
        for writes in range(1000):
            place = tmp_path / str(writes)
            shutil.copytree(begun, place)
            if (code := Started(place, sweep, writes).wait()) == 0:
                break
            assert code == -signal.SIGKILL, (place / "log").read_text()
            check_undisturbed(place, (table(calm), files(calm)), sweep)
            shutil.rmtree(place)
    assert writes > 20


@pytest.mark.parametrize("count", [2, 4])
def test_processes_at_once(count, undisturbed, tmp_path):
    """One of them works; the others wait, or say that it does."""
    with alone_in(tmp_path):
        started = [Started(tmp_path, WORDS) for _ in range(count)]
        assert {one.wait() for one in started} <= {0, 2}
        in_words((tmp_path / "log").read_text())
        check_undisturbed(tmp_path, undisturbed)


def test_clock(undisturbed, tmp_path):
    """Files of the future and of the past: nothing depends on the time of a file."""
    with alone_in(tmp_path):
        for years in (0, 30, -30):
            started = Started(tmp_path, WORDS)
            if started.wait(undisturbed[2] / 2) is None:
                os.kill(started.pid, signal.SIGKILL)
                started.wait()
            for path in tmp_path.rglob("*"):
                os.utime(path, (time.time() + years * 31e6,) * 2)
        check_undisturbed(tmp_path, undisturbed)


@pytest.mark.skipif(not shutil.which("faketime"), reason="faketime is not installed")
@pytest.mark.parametrize("jump", ["+400d", "-400d"])
def test_clock_of_a_process(jump, undisturbed, tmp_path):
    """A run between whose starts the clock jumps."""
    with alone_in(tmp_path):
        command = ["faketime", "-f", jump, sys.executable, "-m", "rfbench", *WORDS[:-1], "seeds=1"]
        done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        check_undisturbed(tmp_path, undisturbed)


MOUNT = """
set -e
mount -t tmpfs -o size={size}k none "$PLACE/small"
cd "$PLACE/small"
set +e
"$@" >../full.log 2>&1; echo "full $?" >>../codes
mount -o remount,size=50m .
"$@" >../more.log 2>&1; echo "more $?" >>../codes
mount -o remount,ro .
"$@" force=true >../only.log 2>&1; echo "only $?" >>../codes
mount -o remount,rw .
"$@" >../last.log 2>&1; echo "last $?" >>../codes
cp -r outputs ..
"""


def may_mount():
    return (
        bool(shutil.which("unshare"))
        and not subprocess.run(["unshare", "-Urm", "true"], capture_output=True).returncode
    )


@pytest.mark.skipif(not may_mount(), reason="mounting in a namespace of its own is not permitted")
@pytest.mark.parametrize("size", [60, 160])
def test_full_and_read_only_disks(size, undisturbed, tmp_path):
    """One line each, and the run goes on once there is room."""
    (tmp_path / "small").mkdir()
    with alone_in(tmp_path):
        command = [
            "unshare",
            "-Urm",
            "sh",
            "-c",
            MOUNT.format(size=size),
            "sh",
            sys.executable,
            "-m",
            "rfbench",
            *WORDS,
        ]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PLACE": str(tmp_path)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "codes").read_text().split() == ["full", "2", "more", "0", "only", "2", "last", "0"]
    for name, reason in (("full", "No space left on device"), ("only", "Read-only file system")):
        text = in_words((tmp_path / f"{name}.log").read_text())
        (line,) = [line for line in text.splitlines() if line.startswith("rfbench: ")]
        assert reason in line
    assert table(tmp_path) == undisturbed[0]
    assert files(tmp_path) == undisturbed[1]


def test_a_corrupted_cache(data_dir, tmp_path):
    """Every file of the cache, damaged at a random place, cut or emptied: converted or computed again."""
    words = ["-m", "dataset=boston", "task=gpr", "sketch=rff", "features=8", "seeds=1"]
    chance = random.Random(2)
    with alone_in(tmp_path):
        os.environ["RFBENCH_DATA"] = data_dir  # restored by alone_in
        assert Started(tmp_path, words).wait() == 0, (tmp_path / "log").read_text()
        whole = table(tmp_path)
        for path in sorted(path for path in (tmp_path / "cache").rglob("*") if path.is_file()):
            for way in ("flip", "cut", "empty"):
                content = bytearray(path.read_bytes())
                if not content:
                    continue
                at = chance.randrange(len(content))
                if way == "flip":
                    content[at] ^= 1 << chance.randrange(8)
                path.write_bytes({"flip": bytes(content), "cut": bytes(content[:at]), "empty": b""}[way])
                shutil.rmtree(tmp_path / "outputs")
                assert Started(tmp_path, words).wait() == 0, (path, way, (tmp_path / "log").read_text())
                assert table(tmp_path) == whole, (path, way)
        in_words((tmp_path / "log").read_text())


class Cutting(BaseHTTPRequestHandler):
    """Ends most connections at a random byte."""

    content, chance = random.Random(3).randbytes(300_000), random.Random(4)

    def do_GET(self):
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        left = self.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(left)))
        self.end_headers()
        self.wfile.write(left[: self.chance.randrange(2 * len(left) // 3 + 2)])

    def log_message(self, *_):
        pass


def test_truncated_downloads(tmp_path):
    """Resumed where they ended; the file is whole or not there."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Cutting)
    Thread(target=server.serve_forever, daemon=True).start()
    url, expected = f"http://127.0.0.1:{server.server_port}/rows.csv", hashlib.sha256(Cutting.content).hexdigest()
    with alone_in(tmp_path), pytest.MonkeyPatch.context() as patch:
        patch.setattr("rfbench.datasets.published.download.sleep", lambda seconds: None)
        patch.setenv("no_proxy", "127.0.0.1")
        downloads, whole = tmp_path / "cache" / "downloads", 0
        for _ in range(120):
            with contextlib.suppress(InputError):
                path = download(url, f"sha256:{expected}")
                assert path.read_bytes() == Cutting.content
                assert list(downloads.iterdir()) == [path]
                whole += 1
                path.unlink() if whole % 2 else path.write_bytes(Cutting.content[:1000])
                continue
            assert [one.suffix for one in downloads.iterdir()] == [".part"]
    assert whole > 5
    server.shutdown()
