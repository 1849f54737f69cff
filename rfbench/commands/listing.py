"""`rfbench list`: every choice of every group, in a few words each."""

import sys
from importlib.metadata import entry_points
from typing import Any

from rfbench.checks import InputError, did_you_mean
from rfbench.config.files import choices
from rfbench.registry import GROUPS, loaded

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
        table = {"datasets": _datasets, "sketches": _sketches}.get(kind, _plain)(KINDS[kind])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for line in table:
            print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        print()
    return 0


def _plain(group: str) -> list[tuple[str, ...]]:
    return list(choices(group).items())


def _datasets(group: str) -> list[tuple[str, ...]]:
    from rfbench.datasets import status

    return [(name, status(name, None), about) for name, about in choices(group).items()]


def _plugged(group: str) -> dict[str, Any]:
    """What plugins add to a group; one that does not work is a warning."""
    found = {}
    for point in entry_points(group=GROUPS[group][1]):
        try:
            found[point.name] = loaded(point)
        except InputError as error:
            print(f"rfbench: warning: {error}", file=sys.stderr)
    return found


def _sketches(group: str) -> list[tuple[str, ...]]:
    from rfbench.sketches import SKETCHES

    plugged = _plugged("sketch")
    lines: list[tuple[str, ...]] = [("", "kernel", "variance", "cost per row", "")]
    for name, about in choices(group).items():
        if family := SKETCHES.get(name) or plugged.get(name):
            lines.append((name, family.kernels[0] if family.kernels else "any", family.variance, family.cost, about))
        else:
            lines.append((name, "", "", "", about))
    return lines
