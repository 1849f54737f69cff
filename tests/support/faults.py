"""Commands that run beside the test, which kills them or their workers."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil

from rfbench.results.rows import read_rows
from support import ROOT

ROWS = ("dataset=synthetic", "dataset.columns=16", "engine.part_rows=2048")
DATA = (*ROWS, "dataset.rows=60000")
FIT = ("task=ridge", "sketch=rff", "kernel.length_scale=4", "features=256", "seeds=1")
RIDGE = (*FIT, *DATA)
LONG = (*FIT, *ROWS, "dataset.rows=400000")  # there is time to be killed
STARTS = 20  # of a run, until one is killed in the middle: on a busy machine it may be over before the test looks


def begun(*words, cwd):
    """A command that goes on while the test does; its output goes to files in its directory."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with open(cwd / "stdout", "w") as out, open(cwd / "stderr", "w") as err:
        command = [sys.executable, "-m", "rfbench", *words]
        return subprocess.Popen(command, cwd=cwd, env=environment, stdout=out, stderr=err, start_new_session=True)


def numbers(directory):
    """The rows of the results below, times aside."""
    (path,) = directory.glob("outputs/*/*/results.csv")
    return [row for row in read_rows(path) if "seconds" not in row["metric"]]


def until(holds, process=None, seconds=600):
    """Wait until something holds; False where the process has ended before."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        if process is not None and process.poll() is not None:
            return False
        assert time.monotonic() < end, "it never holds"
        time.sleep(0.005)
    return found


def files(directory, pattern):
    return {path.name: path.stat().st_mtime_ns for path in directory.rglob(pattern) if path.exists()}


def fresh(directory):
    """Directories of their own, one for each start."""
    for number in range(STARTS):
        place = directory / f"start{number}"
        place.mkdir()
        yield place
    raise AssertionError("every start was over before it could be killed in the middle")


def kill_one(processes):
    """Kill the last of some processes, if there is one."""
    for one in processes[-1:]:
        with suppress(psutil.NoSuchProcess):
            one.kill()


def kill(process):
    """As kill -9 does it, alone: its workers must notice."""
    process.send_signal(signal.SIGKILL)
    process.wait()


def workers(process):
    """The processes that compute: those below that import the package, but not the one that watches resources.

    That one has its import on its command line; others may have its name, in what they are told to ignore.
    """
    with suppress(psutil.NoSuchProcess):
        below = psutil.Process(process.pid).children(recursive=True)
        return [one for one in below if "resource_tracker import" not in " ".join(line_of(one))]
    return []


def line_of(process):
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def leftovers(directory):
    """What only an unfinished run may have."""
    return [str(path) for pattern in ("partial", ".*.npz.*") for path in directory.rglob(pattern)]
