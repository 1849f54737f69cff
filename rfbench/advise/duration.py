"""How long an experiment will take: the seconds that docs/paper.md records, scaled to this machine.

Two seconds of a matrix product, of sums and differences of columns, and of a sort are compared with the same work on
the machine of the page.  Both count processor time, so that other programs do not matter; a busy machine takes longer
than is said.
"""

import re
from collections.abc import Callable, Sequence
from math import exp, log
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from rfbench.config.files import CONF
from rfbench.results.tally import duration

CALIBRATION = 2.0  # seconds
PAGE_RATES = {"product": 347.0, "sums": 6000.0, "sort": 178.0}  # repetitions a second on the machine of the page
SHORT = 10  # seconds; less is not worth a calibration
SAME_WORK = ("experiment=", "size=normal", "output_dir=", "data_dir=", "download=", "force=", "plot=", "hydra")
LINE = re.compile(r"^\| .*`make (fig|table)-([a-z]+)-(\S+)` .*\| (\d+)(?: of CPU)? \|$", re.MULTILINE)


def forecast(experiment: str, overrides: Sequence[str], share: float, processes: int) -> str:
    """What to say before a share of an experiment is computed; nothing where the page has no time of what is asked."""
    seconds = recorded().get(experiment)
    if seconds is None or not share or any(not word.startswith(SAME_WORK) for word in overrides):
        return ""
    left = seconds * share / processes
    if left < SHORT:
        return f"{experiment} takes some seconds"
    return f"{experiment} takes about {duration(left * slowness())} on this machine"


def recorded() -> dict[str, int]:
    """Seconds of experiments at their normal size, one job after the other; unfinished and loaded ones do not count."""
    pages = (CONF / "paper.md", CONF.parent / "docs" / "paper.md")  # in a wheel, in a checkout
    text = next((page.read_text(encoding="utf-8") for page in pages if page.exists()), "")
    return {f"{work}/{kind}{name.replace('.', '_')}": int(seconds) for kind, work, name, seconds in LINE.findall(text)}


def slowness(seconds: float = CALIBRATION) -> float:
    """How many times longer this machine takes than that of the page: the geometric mean over three kinds of work."""
    rates = {name: rate(work, seconds / len(WORK)) for name, work in WORK.items()}
    return exp(sum(log(PAGE_RATES[name] / found) for name, found in rates.items()) / len(rates))


def rate(work: Callable[[], object], seconds: float) -> float:
    """Repetitions in a second of the processor."""
    with threadpool_limits(1):
        work()
        start, repeats = process_time(), 0
        while process_time() - start < seconds:
            work()
            repeats += 1
        return repeats / (process_time() - start)


_A = np.linspace(-1, 1, 512 * 512, dtype=np.float32).reshape(512, 512)
_SHUFFLED = np.sin(np.arange(1 << 17, dtype=np.float64))
WORK: dict[str, Callable[[], object]] = {
    "product": lambda: _A @ _A,
    "sums": lambda: np.concatenate([_A[:, ::2] + _A[:, 1::2], _A[:, ::2] - _A[:, 1::2]], axis=1),
    "sort": lambda: np.sort(_SHUFFLED),
}
