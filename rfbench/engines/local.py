"""Blocks on the threads of this process, one BLAS thread each.

NumPy lets go of the lock in products, gathers and ufuncs, so blocks run side by side; many small threaded BLAS
calls would wait for one another instead.  A block is computed alike on any thread and results come in the order
of the blocks: no number depends on how many workers there are.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from threadpoolctl import threadpool_limits

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import require
from rfbench.sketches.base import FeatureMap

A = TypeVar("A")
B = TypeVar("B")


def cores() -> int:
    """Cores this process may use, where the system tells: no more than OMP_NUM_THREADS, which joblib sets in sweeps."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = os.environ.get("OMP_NUM_THREADS", "")
    return min(found, int(share)) if share.isdigit() and int(share) else found


class Local:
    """A pool of `workers` threads; auto is one for each core this process may use."""

    def __init__(self, workers: int | str = "auto", block_rows: int = 256) -> None:
        require(
            workers == "auto" or (type(workers) is int and workers >= 1),
            "engine.workers",
            "auto or at least 1",
            workers,
        )
        self.workers = cores() if workers == "auto" else int(workers)
        self.block_rows = block_rows

    @contextmanager
    def running(self) -> Iterator["Local"]:
        """Within it, `map` may be called."""
        with threadpool_limits(1), ThreadPoolExecutor(self.workers) as self._pool:
            yield self

    def map(
        self, function: Callable[[A], B], items: Iterable[A], what: str = "", total: int | None = None
    ) -> Iterator[B]:
        """Results in order; no more than two items for each worker are under way, so a stream stays a stream.

        Where the number of items is told, a bar shows how far it is if it takes long.
        """
        from tqdm import tqdm

        items = iter(items)
        waiting: list[Future[B]] = [self._pool.submit(function, item) for item in islice(items, 2 * self.workers)]
        disable = None if total else True  # None: on a terminal only
        with tqdm(total=total, desc=what, delay=2, disable=disable, leave=False) as bar:
            while waiting:
                result = waiting.pop(0).result()
                waiting.extend(self._pool.submit(function, item) for item in islice(items, 1))
                bar.update()
                yield result

    def run(self, function: Callable[[A], object], items: Iterable[A]) -> None:
        """A function for what it does, on every item."""
        for _ in self.map(function, items):
            pass

    def transform(self, features: FeatureMap, X: Array, Phi: Array) -> Array:
        """Φ(X) into an array for it, block by block."""
        self.run(lambda span: features(X[span], Phi[span]), spans(len(X), self.block_rows))
        return Phi
