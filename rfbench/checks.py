"""Mistakes in the input are explained in one sentence: what was wanted, what came, the way out."""

import re
from argparse import ArgumentParser
from collections.abc import Iterable
from difflib import get_close_matches
from math import isfinite
from typing import NoReturn

MOST = 10**9  # of any whole number in a config


class InputError(ValueError):
    """A mistake in the input; it is shown as one line, never as a traceback."""


class Parser(ArgumentParser):
    """A mistake is one line, like every other mistake in the input."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see {self.prog} --help")


def require(holds: bool, name: str, wanted: str, got: object) -> None:
    """Raise an InputError that names the value unless the condition holds."""
    if not holds:
        raise InputError(f"{name} must be {wanted}; {got!r} was given")


def require_finite(name: str, value: object) -> None:
    """Refuse numbers that no computation ends with: those that are not finite, or whole and absurdly large."""
    if isinstance(value, float):
        require(isfinite(value), name, "a finite number", value)
    if isinstance(value, int):
        require(abs(value) <= MOST, name, f"at most {MOST:,}", value)


def require_plain(what: str, path: str) -> None:
    """Refuse a path that Hydra would read as an interpolation."""
    if "${" in path:
        raise InputError(f"{what} must not have ${{ in its path, as '{path}' has; use another one")


def in_short(error: BaseException | str) -> str:
    """What a library says is wrong, in one line and without the notation of Python."""
    line = " ".join((str(error).splitlines() or [""])[0].split())
    return re.sub(r"\[Errno -?\d+\] |\w+(Error|Exception): | ?<[^<>]* object at 0x[^<>]*>", "", line) or "unreadable"


def did_you_mean(word: str, choices: Iterable[str], always_all: bool = False) -> str:
    """The end of an error message: the nearest choice, or all of them, or both."""
    choices = sorted(choices)
    close = get_close_matches(word, choices, n=1, cutoff=0.6)
    nearest, every = [f"did you mean '{one}'?" for one in close], f"choose from {', '.join(choices)}"
    return " ".join([*nearest, every] if always_all else nearest or [every])
