"""Blocks on the threads of this process, one BLAS thread each.

NumPy releases the lock in products, gathers and ufuncs, so blocks run side by side; many small threaded BLAS calls
would wait for one another instead.  A block is computed alike on any thread and results come in the order of the
blocks: no number depends on the number of workers.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice

from threadpoolctl import threadpool_limits

from rfbench.arrays import Array
from rfbench.blocks import regrouped, spans
from rfbench.checks import require
from rfbench.engines.base import A, B, Rows, S
from rfbench.progress import bar, with_progress
from rfbench.sketches.base import FeatureMap


def cores() -> int:
    """Cores this process may use: no more than OMP_NUM_THREADS, which joblib sets in sweeps."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = os.environ.get("OMP_NUM_THREADS", "")
    return min(found, int(share)) if share.isdigit() and int(share) else found


class Local:
    """A pool of `workers` threads; auto is one for each core this process may use."""

    def __init__(self, workers: int | str = "auto", block_rows: int = 256) -> None:
        good = workers == "auto" or (type(workers) is int and workers >= 1)
        require(good, "engine.workers", "auto or at least 1", workers)
        self.workers = cores() if workers == "auto" else int(workers)
        self.block_rows = block_rows

    @contextmanager
    def running(self) -> Iterator["Local"]:
        with threadpool_limits(1), ThreadPoolExecutor(self.workers) as self._pool:
            yield self

    def accumulate(self, start: Callable[[], S], rows: Rows, size: int, what: str = "rows") -> S:
        """Block after block; sums use all workers for each."""
        sums = start()
        with bar(len(rows), what, " rows") as shown:
            for X, y in with_progress(regrouped(rows.blocks(), size), shown):
                sums.add(X, y, self)
        return sums

    def map(
        self, function: Callable[[A], B], items: Iterable[A], what: str = "", total: int | None = None
    ) -> Iterator[B]:
        """Where the number of items is given, a bar shows the progress of long work."""
        items = iter(items)
        waiting: list[Future[B]] = [self._pool.submit(function, item) for item in islice(items, 2 * self.workers)]
        with bar(total, what) as shown:
            while waiting:
                result = waiting.pop(0).result()
                waiting.extend(self._pool.submit(function, item) for item in islice(items, 1))
                shown.update()
                yield result

    def run(self, function: Callable[[A], object], items: Iterable[A]) -> None:
        for _ in self.map(function, items):
            pass

    def transform(self, features: FeatureMap, X: Array, Phi: Array) -> Array:
        self.run(lambda rows: features(X[rows], Phi[rows]), spans(len(X), self.block_rows))
        return Phi
