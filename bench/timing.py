"""The shortest of several turns: absolute times mean nothing on a shared machine, so the candidates alternate."""

import tracemalloc
from collections.abc import Callable
from time import perf_counter

import numpy as np


def best_of(turns: int, work: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The shortest time of each candidate; they alternate."""
    seconds = dict.fromkeys(work, np.inf)
    for _ in range(turns):
        for name, call in work.items():
            start = perf_counter()
            call()
            seconds[name] = min(seconds[name], perf_counter() - start)
    return seconds


def megabytes(call: Callable[[], object]) -> float:
    """The most that a call holds beyond what was there before; BLAS keeps buffers of its own."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return round(peak / 2**20, 1)
