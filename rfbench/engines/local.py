"""Blocks on the threads of this process, one BLAS thread each.

NumPy releases the lock in products, gathers and ufuncs, so blocks run side by side; many small threaded BLAS calls
would wait for one another instead.  A block is computed alike on any thread and results come in the order of the
blocks: no number depends on the number of workers.
"""

import os
from collections.abc import Callable, Container, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice

from threadpoolctl import threadpool_limits

from rfbench.arrays import Array
from rfbench.blocks import regrouped, spans
from rfbench.checks import require
from rfbench.engines.base import A, B, Rows, S, ShardWritten, State
from rfbench.engines.ledger import Ledger, Pass, Record
from rfbench.progress import bar, with_progress
from rfbench.sketches.base import FeatureMap

PART_ROWS = 1 << 17  # by default; runs of no more rows have one part


def cores() -> int:
    """Cores this process may use: no more than OMP_NUM_THREADS, which joblib sets in sweeps."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = os.environ.get("OMP_NUM_THREADS", "")
    return min(found, int(share)) if share.isdigit() and int(share) else found


def count_of(workers: int | str) -> int:
    """How many workers there shall be; auto is one for each core this process may use."""
    good = workers == "auto" or (type(workers) is int and workers >= 1)
    require(good, "engine.workers", "auto or at least 1", workers)
    return cores() if workers == "auto" else int(workers)


class Local:
    """A pool of `workers` threads; long passes write how far they have come every `checkpoint` seconds."""

    spread = False
    shard: tuple[int, int] | None = None

    def __init__(
        self,
        workers: int | str = "auto",
        block_rows: int = 256,
        part_rows: int = PART_ROWS,
        checkpoint: float = 60.0,
    ) -> None:
        require(part_rows >= 1, "engine.part_rows", "at least 1", part_rows)
        require(checkpoint >= 0, "engine.checkpoint", "a number of seconds, at least 0", checkpoint)
        self.workers, self.block_rows, self.part_rows = count_of(workers), block_rows, part_rows
        self.ledger = Ledger(interval=checkpoint)

    @contextmanager
    def running(self) -> Iterator["Local"]:
        with threadpool_limits(1), ThreadPoolExecutor(self.workers) as self._pool:
            yield self

    def accumulate(
        self, start: Callable[[], S], rows: Rows, size: int, what: str = "rows", part: int | None = None
    ) -> S:
        """Part after part and block after block; sums use all workers for each."""
        passed = Pass.of(start, rows, size, part or self.part_rows)
        record = self.ledger.open(passed)
        if self.shard:
            self._write_share(record, what)
        total, first, begun, done = record.resumed()
        with bar(len(rows), what, " rows", initial=min(passed.rows_before(first) + done * size, len(rows))) as shown:
            for number, piece in islice(enumerate(passed.parts()), first, None):
                sums = record.take(number)
                if sums is None:
                    sums = begun or start()
                    blocks = islice(regrouped(piece.blocks(), size), done, None)
                    for block, (X, y) in enumerate(with_progress(blocks, shown), done + 1):
                        sums.add(X, y, self)
                        if record.due:
                            record.save(total, number, sums, block)
                total, begun, done = merged(total, sums), None, 0
        return record.finish(start() if total is None else total)

    def _write_share(self, record: Record[S], what: str) -> None:
        """Write the sums of this share of the parts, and stop unless those of all others are there."""
        assert self.shard
        (i, n), passed = self.shard, record.passed
        if record.resumed()[1] == passed.count:
            return
        mine = range(passed.count * (i - 1) // n, passed.count * i // n)
        with bar(len(mine), f"shard {i}/{n}, {what}", " parts") as shown:
            for number, state in self.computed(passed, [one for one in mine if not record.has(one)]):
                record.put(number, state)
                shown.update()
        if missing := [number for number in range(passed.count) if not record.has(number)]:
            share = f"{len(mine)} of {passed.count} parts" if what else "its parts"
            raise ShardWritten(f"shard {i}/{n} has {share} of {what}; {len(missing)} parts are missing")

    def computed(self, passed: Pass[S], wanted: Container[int]) -> Iterator[tuple[int, State]]:
        """The sums of some parts, with their numbers, in any order."""
        for number, piece in enumerate(passed.parts()):
            if number in wanted:
                sums = passed.start()
                for X, y in regrouped(piece.blocks(), passed.size):
                    sums.add(X, y, self)
                yield number, sums.state()

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
        self.run(lambda rows: features(X[rows], Phi[rows]), spans(len(X), features.whole_chunks(self.block_rows)))
        return Phi


def merged(total: S | None, sums: S) -> S:
    """The sums of all rows so far and of those that follow."""
    if total is None:
        return sums
    total.merge(sums)
    return total
