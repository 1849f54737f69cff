"""What every answer of the program must be, whatever it was given: words, in time, within the memory allowed."""

import io
import os
import re
import resource
import signal
import subprocess
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import psutil

from rfbench.cli import main

SECONDS = 60
BYTES = 3_000_000_000  # beyond what the process has
RAW = re.compile(r"Traceback|\b[A-Z]\w*(Error|Exception|Warning|Interrupt)\b|\[Errno|<class|object at 0x|out of memory")


class HangError(BaseException):
    """Not an Exception: the program must not take it for a failure of its own."""


@contextmanager
def limited(seconds=SECONDS, extra=BYTES):
    """Stop what takes too long, on a busy machine later, and give it no more memory than it may have."""

    def stop(number, frame):
        raise HangError(f"no answer after {seconds} s")

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds * max(1, os.getloadavg()[0] / len(os.sched_getaffinity(0))))
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + extra, hard))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def in_words(text):
    """The text, without the name of an exception or a traceback."""
    assert not (found := RAW.search(text)), (found, text[-2000:])
    return text


def answer(words):
    """Run a command in this process and check its answer: done, failed with a row, or refused in one line."""
    out, err = io.StringIO(), io.StringIO()
    with limited(), redirect_stdout(out), redirect_stderr(err):
        try:
            code = main([str(word) for word in words])
        except SystemExit as stop:  # --help
            code = stop.code
    done = subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())
    in_words(done.stdout)
    in_words(done.stderr)
    assert code in (0, 1, 2), (code, done.stderr)
    if code == 2:
        lines = done.stderr.splitlines()
        assert len(lines) == 1, done.stderr
        assert lines[0].startswith("rfbench: error: ")
    return done
