"""Mistakes in the input are explained in one sentence: what was wanted, what came, the way out."""

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
    """Refuse a path that Hydra would read as an interpolation or an escape, and write elsewhere."""
    if "${" in path or "\\" in path:
        raise InputError(f"{what} must not have ${{ or a backslash in its path; {path!r} has one")


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """The end of an error message: the nearest choice, or all of them."""
    choices = sorted(choices)
    close = get_close_matches(word, choices, n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else f"choose from {', '.join(choices)}"
