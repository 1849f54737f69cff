"""Bars for what takes long, on a terminal only."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm


def bar(total: int, what: str, unit: str = "it") -> "tqdm[Any]":
    """Shown after two seconds, gone at the end."""
    from tqdm import tqdm

    return tqdm(total=total, desc=what, unit=unit, delay=2, disable=None, leave=False)


def told(blocks: Iterable[tuple[Any, Any]], shown: "tqdm[Any]") -> Iterator[tuple[Any, Any]]:
    """The same blocks of rows; a bar is told when one is done."""
    for X, y in blocks:
        yield X, y
        shown.update(len(X))
