"""Where the time of a computation goes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter


class Stopwatch(dict[str, float]):
    """Seconds by name; `with watch("gram"):` adds to them."""

    def __missing__(self, name: str) -> float:
        return 0.0

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self[name] += perf_counter() - start

    def add(self, other: Mapping[str, float]) -> None:
        """Add the seconds of another watch."""
        for name, seconds in other.items():
            self[name] += seconds
