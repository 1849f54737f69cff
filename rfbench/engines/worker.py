"""What a process that takes part in a pass does with its share: read rows, draw the map, add up."""

import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import cache
from tempfile import mkstemp
from threading import Thread
from time import sleep
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from rfbench.blocks import regrouped
from rfbench.checks import InputError
from rfbench.engines.base import A, B, Rows, State, Sums
from rfbench.engines.local import Local


class Alone(Local):
    """One block after the other on the thread that asks; a process may do several parts on several threads."""

    def __init__(self, block_rows: int) -> None:
        super().__init__(1, block_rows)

    def running(self) -> Any:
        threadpool_limits(1)  # for good: other threads of this process may be at work
        return nullcontext(self)

    def map(
        self, function: Callable[[A], B], items: Iterable[A], what: str = "", total: int | None = None
    ) -> Iterator[B]:
        return map(function, items)


def described(start: Callable[[], Sums], rows: Rows, size: int, block_rows: int) -> bytes:
    """A share of a pass as recipes, seeds and a range of rows."""
    try:
        return pickle.dumps((start, rows, size, block_rows), protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"this run cannot be described to other processes ({reason}); use engine=local") from None


def partial_sums(description: bytes) -> State:
    """The sums of a share."""
    start, rows, size, block_rows = pickle.loads(description)
    with Alone(block_rows).running() as engine:
        sums: Sums = start()
        for X, y in regrouped(rows.blocks(), size):
            sums.add(X, y, engine)
        return sums.state()


def sums_in_file(description: bytes, folder: str) -> str:
    """The file with the sums of a share.

    A long message of a process that is killed may end in the middle, and its reader would wait for ever.
    """
    handle, path = mkstemp(".npz", dir=folder)
    with os.fdopen(handle, "wb") as file:
        arrays: dict[str, Any] = {name: np.asarray(value) for name, value in partial_sums(description).items()}
        np.savez(file, **arrays)
    return path


@cache
def end_with(parent: int) -> None:
    """End this worker soon after the process that started it; what counts is whole, so nothing is lost."""

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def end_joblib_with_us() -> None:
    """From now on workers of joblib end with this process, also one that waits for the rest of its first job."""
    from joblib.parallel import LokyBackend, register_parallel_backend

    class Ending(LokyBackend):  # type: ignore[misc]
        def configure(self, *args: Any, **options: Any) -> int:
            count: int = super().configure(*args, initializer=end_with, initargs=(os.getpid(),), **options)
            return count

    register_parallel_backend("loky", Ending)


def begin() -> None:
    """The first call in a worker."""
    end_with(os.getppid())
