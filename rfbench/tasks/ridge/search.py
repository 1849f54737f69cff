"""Which of several candidates in a row has the least loss, by rounds that cost more as fewer candidates are left.

Successive halving [Jamieson & Talwalkar 2016].  What is best with few features and rows is too smooth for many: a round
whose best candidate is at an end of what is left also tries the next one beyond, until the loss grows.
"""

from collections.abc import Callable
from math import inf
from typing import NamedTuple

LEAST_ROWS = 2000  # of a round, if there are as many: fewer say little
SHARES = ((4, 8), (2, 4), (1, 2))  # of features and rows, one over so much


class Round(NamedTuple):
    features: int
    rows: int


def rounds(D: int, least: int, n: int) -> list[Round]:
    """From a quarter of D features and an eighth of n rows up to all features and half of the rows; no two alike."""
    sizes = (Round(max(D // features, least), max(n // rows, min(n, LEAST_ROWS))) for features, rows in SHARES)
    return list(dict.fromkeys(sizes))


def narrowed(loss: Callable[[int, Round], float], sizes: list[Round], count: int, beyond: int = 0) -> tuple[int, float]:
    """(place, loss in the last round) of the best of `count` candidates, or of one of so many beyond either end."""
    places, known = range(count), range(-beyond, count + beyond)
    for size in sizes:
        found = {place: loss(place, size) for place in places}
        best = min(found, key=lambda place: found[place])
        while len(places) > 2 and (near := {best - 1, best + 1} & set(known) - set(found)):
            found |= {place: loss(place, size) for place in near}
            best = min(found, key=lambda place: found[place])
        places = around(best, found, (len(found) + 1) // 2)
    return best, found[best]


def around(best: int, losses: dict[int, float], count: int) -> range:
    """So many places in a row with the best among them, each the better neighbour of those before."""
    low, high = best, best
    while high - low + 1 < count:
        if high + 1 not in losses or losses.get(low - 1, inf) < losses[high + 1]:
            low -= 1
        else:
            high += 1
    return range(low, high + 1)
