"""Passes over rows by processes of this machine."""

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import gettempdir

import numpy as np

from rfbench.checks import InputError
from rfbench.engines.local import PART_ROWS
from rfbench.engines.spread import Arrival, Share, Spread
from rfbench.engines.worker import begin, sums_in_file
from rfbench.storage import ensure_dir

MOST_DEATHS = 3  # one after the other, without a part that arrived between them


class Processes(Spread):
    """A pool of `workers` processes, each with one thread; where one dies, a new pool does what is missing."""

    def __init__(
        self,
        workers: int | str = "auto",
        block_rows: int = 256,
        part_rows: int = PART_ROWS,
        checkpoint: float = 60.0,
    ) -> None:
        super().__init__(workers, block_rows, part_rows, checkpoint)
        self._others: ProcessPoolExecutor | None = None

    @contextmanager
    def running(self) -> Iterator["Processes"]:
        with super().running():
            try:
                yield self
            finally:
                self._stop()

    def arriving(self, shares: Iterable[Share]) -> Generator[Arrival]:
        shares, ready, waiting, deaths = iter(shares), list[Share](), dict[Future[str], Share](), 0
        folder = str(ensure_dir(self.ledger.directory)) if self.ledger.directory else gettempdir()
        while True:
            pool = self._others = self._others or self._start()
            try:
                ready += islice(shares, max(2 * self.processes - len(waiting) - len(ready), 0))
                while ready:
                    waiting[pool.submit(sums_in_file, ready[0][1], folder)] = ready[0]
                    del ready[0]  # not before: a pool that is broken takes none
                if not waiting:
                    return
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    path = Path(future.result())
                    number, _ = waiting.pop(future)
                    with np.load(path, allow_pickle=False) as arrays:
                        state = {name: arrays[name] for name in arrays.files}
                    path.unlink()
                    deaths = 0
                    yield number, state
            except BrokenProcessPool:
                deaths += 1
                if deaths > MOST_DEATHS:
                    raise InputError(
                        "processes of engine=processes die one after the other, perhaps for lack of memory; "
                        "what arrived is kept, rerun with fewer engine.workers to resume"
                    ) from None
                ready = sorted([*waiting.values(), *ready])
                waiting.clear()
                self._stop()

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.processes, get_context("spawn"), begin)

    def _stop(self) -> None:
        if self._others:
            self._others.shutdown(wait=False, cancel_futures=True)
        self._others = None
