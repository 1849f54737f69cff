"""What a user sees while work goes on: lines, and bars on a terminal."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm


def bar(total: int | None, what: str, unit: str = "it", **options: Any) -> "tqdm[Any]":
    """Shown after two seconds, gone at the end; hidden where it has no description.  Total None: not known."""
    from tqdm import tqdm

    hidden = None if what else True  # None: shown on a terminal only
    return tqdm(total=total, desc=what, unit=unit, delay=2, disable=hidden, leave=False, **options)


def with_progress(blocks: Iterable[tuple[Any, Any]], shown: "tqdm[Any]") -> Iterator[tuple[Any, Any]]:
    """The same blocks of rows; the bar advances when one is done."""
    for X, y in blocks:
        yield X, y
        shown.update(len(X))


def columns(otherwise: int) -> int:
    """How wide a text may be: the terminal, or COLUMNS where it is set, or what is given where there is neither."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size().columns if known else otherwise


def say(text: str) -> None:
    """Print a line.  Once the reader, such as head, has seen enough, the work continues without output."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
