"""Where the time of a computation goes."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Stopwatch(defaultdict[str, float]):
    """Seconds by name; `with watch("gram"):` adds to them."""

    def __init__(self) -> None:
        super().__init__(float)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self[name] += perf_counter() - start
