"""What a user can mend is said in one sentence: what was wanted, what came, the way out."""

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """A mistake in the input: shown as one line, never as a traceback."""


def require(holds: bool, name: str, wanted: str, got: object) -> None:
    """Refuse a value in words unless it holds."""
    if not holds:
        raise InputError(f"{name} must be {wanted}; {got!r} was given")


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """The end of an error sentence that names the nearest choice, or lists them all."""
    choices = sorted(choices)
    close = get_close_matches(word, choices, n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else f"there are {', '.join(choices)}"
