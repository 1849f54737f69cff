"""Sums of passes on disk: what arrived from other processes, and how far a pass has come.

A pass has a directory named by the digest of its description, so another process finds its sums if and only if it does
the same.  In it, sums.npz has the sums of all parts up to some part and of the first blocks of the next one, and
part-NNNNNN.npz those of one part.  Each file has arrays and a JSON text with their digest, and appears when it is
complete; one that is damaged counts as absent.  Nothing is ever unpickled.
"""

import io
import json
import pickle
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, Generic

import numpy as np

from rfbench import __version__
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, Rescaled
from rfbench.engines.base import Rows, S, State
from rfbench.storage import atomic_file, digest

SUMS = "sums.npz"


@dataclass(frozen=True, eq=False)
class Pass(Generic[S]):
    """A pass over rows in blocks of `size`, in parts of `step` rows."""

    start: Callable[[], S]
    rows: Rows
    size: int
    step: int

    @classmethod
    def of(cls, start: Callable[[], S], rows: Rows, size: int, part: int) -> "Pass[S]":
        return cls(start, rows, size, max(part // size, 1) * size)

    @property
    def count(self) -> int:
        return -(-len(self.rows) // self.step)

    def parts(self) -> Iterator[Rows]:
        return iter(self.rows.cut(self.step) if self.count > 1 else [self.rows])

    def rows_before(self, part: int) -> int:
        return min(part * self.step, len(self.rows))

    @cached_property
    def key(self) -> str:
        """A digest of all that the sums depend on; a dataset counts by its content, wherever it lies."""
        content = io.BytesIO()
        pickler = ByContent(content, protocol=5)
        pickler.fast = True  # equal values give equal bytes, whether or not they are the same object
        pickler.dump((self.start, self.rows))
        return digest(content.getvalue(), self.size, self.step, __version__)


class ByContent(pickle.Pickler):
    """Pickles for a digest."""

    def persistent_id(self, value: Any) -> Any:
        if not isinstance(value, Dataset) or isinstance(value.y, Rescaled):  # of which both numbers count, too
            return None
        return "dataset", value.name, value.digest or (value.X, value.y, value.classes, value.n_train)


class Ledger:
    """The passes of a run, below a directory; without one, nothing outlives the process."""

    def __init__(self, directory: Path | None = None, interval: float = 60.0) -> None:
        self.directory, self.interval = directory, interval

    def open(self, passed: Pass[S]) -> "Record[S]":
        return Record(passed, self)

    def clear(self) -> None:
        """Forget all passes, once their results are written."""
        if self.directory:
            shutil.rmtree(self.directory, ignore_errors=True)


class Record(Generic[S]):
    """The sums of one pass."""

    def __init__(self, passed: Pass[S], ledger: Ledger) -> None:
        self.passed, self.interval, self.written = passed, ledger.interval, monotonic()
        self.home, self.held = ledger.directory, dict[int, State]()

    @property
    def directory(self) -> Path | None:
        """None for a pass that cannot be described, such as one through a device: it leaves nothing behind."""
        try:
            return self.home and self.home / self.passed.key
        except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError):
            self.home = None
            return None

    def resumed(self) -> tuple[S | None, int, S | None, int]:
        """(sums of all parts up to a part, its number, sums of its first blocks, their number)."""
        if not (found := self._read(SUMS)):
            return None, 0, None, 0
        head, state = found
        total, part = (self._sums(within(state, name)) for name in ("total", "part"))
        return total, head["parts"], part, head["blocks"]

    @property
    def due(self) -> bool:
        return self.home is not None and monotonic() - self.written >= self.interval

    def save(self, total: S | None, parts: int, part: S | None = None, blocks: int = 0) -> None:
        """Write how far the pass has come; the parts that are in it are needed no more."""
        if not self.directory:
            return
        states = {name: sums.state() for name, sums in (("total", total), ("part", part)) if sums is not None}
        flat = {f"{name}/{key}": value for name, state in states.items() for key, value in state.items()}
        self._write(SUMS, flat, parts=parts, blocks=blocks)
        for file in self.directory.glob("part-*.npz"):
            if file.name < name_of(parts):
                file.unlink(missing_ok=True)
        self.written = monotonic()

    def finish(self, total: S) -> S:
        """Keep the sums of a pass that has written some, until the run has its results."""
        if self.home and self.home.is_dir() and self.directory and self.directory.is_dir():
            self.save(total, self.passed.count)
        return total

    def put(self, part: int, state: State) -> None:
        """Keep the sums of a part that arrived."""
        if self.directory:
            self._write(name_of(part), state, part=part)
        else:
            self.held[part] = state

    def take(self, part: int) -> S | None:
        """The sums of a part, if they are there."""
        if part in self.held:
            return self._sums(self.held.pop(part))
        found = self._read(name_of(part))
        return self._sums(found[1]) if found else None

    def has(self, part: int) -> bool:
        return part in self.held or self._read(name_of(part)) is not None

    def _sums(self, state: State) -> S | None:
        if not state:
            return None
        sums = self.passed.start()
        sums.load(state)
        return sums

    def _write(self, name: str, state: State, **head: int) -> None:
        assert self.directory
        write_sums(self.directory / name, state, self.passed, head)

    def _read(self, name: str) -> tuple[dict[str, Any], State] | None:
        if not (self.home and self.home.is_dir() and self.directory):  # without sums on disk no key is needed
            return None
        with suppress(InputError):
            head, state = read_sums(self.directory / name)
            if head["key"] == self.passed.key:
                return head, state
        return None


def name_of(part: int) -> str:
    return f"part-{part:06}.npz"


def within(state: State, name: str) -> State:
    return {key.removeprefix(f"{name}/"): value for key, value in state.items() if key.startswith(f"{name}/")}


def write_sums(path: Path, state: State, passed: Pass[Any], head: dict[str, int]) -> None:
    """Write arrays and what they are the sums of."""
    arrays = {key: np.asarray(value) for key, value in state.items()}
    about = head | {"key": passed.key, "count": passed.count, "step": passed.step, "rows": len(passed.rows)}
    text = json.dumps(about | {"version": __version__, "digest": content_of(arrays)})
    with atomic_file(path) as file:
        np.savez(file, **{"about": np.array(text)} | arrays)  # type: ignore[arg-type]


def read_sums(path: Path) -> tuple[dict[str, Any], State]:
    """The head and the arrays of a file, which must be as they were written."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        head = json.loads(str(arrays.pop("about")))
        if head["digest"] != content_of(arrays):
            raise ValueError("checksum mismatch")
    except (OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is damaged ({' '.join(str(error).split())}); compute it again") from None
    return head, arrays


def content_of(arrays: dict[str, Any]) -> str:
    return digest(*(part for name in sorted(arrays) for part in (name, arrays[name])))
