"""`rfbench list`: every choice of every group, in a few words each."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from rfbench.checks import InputError, did_you_mean
from rfbench.config.files import choices
from rfbench.progress import columns
from rfbench.registry import GROUPS, entry_points, loaded, warn

WIDTH, LONGEST, NARROWEST = 120, 24, 30  # of the output without a terminal, of names beside their text, of texts
KINDS = {word: group for group, (word, _) in GROUPS.items()}


def show(words: list[str]) -> int:
    """Print one kind, or all."""
    if {"-h", "--help"} & set(words):
        print(f"rfbench list [{'|'.join(KINDS)}]\n\nPrint the choices of one kind, or of all, in a few words each.")
        return 0
    for word in words:
        if word not in KINDS:
            raise InputError(f"no list of '{word}'; {did_you_mean(word, KINDS)}")
    for kind in words or KINDS:
        print(f"{kind}  ({KINDS[kind]}=…)")
        table = {"datasets": _datasets, "sketches": _sketches}.get(kind, choices)(KINDS[kind])
        print(*_lines(table, columns(WIDTH)), "", sep="\n")
    return 0


def _lines(table: dict[str, str], width: int) -> Iterator[str]:
    """Names, and beside them texts within the width; a name too long for its column has a line of its own."""
    room = min(max(map(len, table), default=0), LONGEST) + 4
    for name, text in table.items():
        start = f"  {name}"
        if len(start) > room - 2:
            yield start
            start = ""
        for paragraph in text.split("\n"):
            lines = wrap(paragraph, max(width - room, NARROWEST), break_on_hyphens=False) or [""]
            for line in lines:
                yield f"{start:<{room}}{line}".rstrip()
                start = ""


def _datasets(group: str) -> dict[str, str]:
    from rfbench.datasets import status

    return {name: f"{status(name, None):<16}  {about}" for name, about in choices(group).items()}


def _plugged(group: str) -> dict[str, Any]:
    """What plugins add to a group; one that does not work is a warning."""
    found = {}
    for point in entry_points(group=GROUPS[group][1]):
        try:
            found[point.name] = loaded(point)
        except InputError as error:
            warn(point, error)
    return found


def _sketches(group: str) -> dict[str, str]:
    """What a sketch is, then its kernel, its variance and its cost."""
    from rfbench.sketches import SKETCHES

    plugged = _plugged("sketch")
    found = choices(group)
    for name in found:
        if family := SKETCHES.get(name) or plugged.get(name):
            kernel = family.kernels[0] if family.kernels else "any"
            found[name] += f"\nkernel: {kernel}; variance: {family.variance}; cost per row: {family.cost}"
    return found
