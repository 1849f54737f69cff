"""Candidates in order: for the wanted error, features or seconds, and at equal features, time and memory."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from rfbench.advise.candidates import Candidate
from rfbench.advise.cost import Cost
from rfbench.checks import InputError
from rfbench.progress import bar

GOALS = ("error", "features", "seconds")
SPARED = 0.9  # of the seconds given: timings are off by some percent, and a transform takes as long for few features


@dataclass(frozen=True)
class Goal:
    """What is given: the error, the features, or the seconds to fit and to compute a million rows."""

    kind: str
    value: float

    def features(self, one: Candidate, cost: Cost) -> int | None:
        """The features that a candidate needs or may have, or None where it cannot reach the goal."""
        if self.kind == "error":
            return one.needed(self.value)
        wanted = self.value if self.kind == "features" else cost.total.within(SPARED * self.value)
        return affordable(one, int(wanted), exactly=self.kind == "features")


@dataclass(frozen=True, eq=False)
class Choice:
    """A candidate with a number of features."""

    one: Candidate
    cost: Cost
    features: int

    @property
    def error(self) -> float:
        return self.one.error(self.features)

    @property
    def seconds(self) -> float:
        return self.cost.seconds(self.features)

    @property
    def bytes(self) -> int:
        return self.cost.bytes_of(self.features)

    @property
    def fit_seconds(self) -> float:
        return self.one.fit_seconds.get(self.features, 0.0)


def affordable(one: Candidate, most: int, exactly: bool = False) -> int | None:
    """The largest possible number of features up to `most`; exactly so many, or as many as the sketch has anyway."""
    most = min(most, one.most)
    for D in range(most, max(most - 1 - (not exactly), 0), -1):
        if not one.sketch.objection(D):
            return one.sketch.count(one.evidence.d, D)
    return None


def ranked(candidates: Sequence[Candidate], costs: dict[str, Cost], goal: Goal) -> list[Choice]:
    """The choices that reach the goal, best first: least memory and then time for an error, else least error."""
    found = []
    with bar(len(costs), "predictions") as shown:
        for one in (one for one in candidates if one.name in costs):
            with suppress(InputError):  # such as a series that is too long for these rows
                if D := goal.features(one, costs[one.name]):
                    choice = Choice(one, costs[one.name], D)
                    found.append((choice.error, choice))
            shown.update()
    if goal.kind == "error":
        return sorted((choice for _, choice in found), key=lambda c: (c.features * c.cost.feature_bytes, c.seconds))
    return [choice for _, choice in sorted(found, key=lambda pair: pair[0])]


def at_equal(choices: Sequence[Choice], features: Callable[[Choice], int]) -> list[Choice]:
    """The same candidates with as many features as a function allows each, least error first."""
    found = []
    with bar(len(choices), "comparison") as shown:
        for choice in choices:
            if D := affordable(choice.one, features(choice)):
                with suppress(InputError):
                    found.append((choice.one.error(D), Choice(choice.one, choice.cost, D)))
            shown.update()
    return [choice for _, choice in sorted(found, key=lambda pair: pair[0])]


def rankings(choices: Sequence[Choice]) -> dict[str, list[Choice]]:
    """All candidates with the features, the time and the memory of the first."""
    first = choices[0]
    seconds = first.cost.total(first.features)
    return {
        f"{first.features} features": at_equal(choices, lambda _: first.features),
        f"{seconds:.3g} s": at_equal(choices, lambda c: c.cost.total.within(seconds)),
        f"{first.bytes / 1e9:.3g} GB": at_equal(choices, lambda c: c.cost.within_bytes(first.bytes)),
    }


def front(choices: Sequence[Choice]) -> list[Choice]:
    """Those of which no other has both a smaller error and less time, fastest first."""
    found: list[Choice] = []
    for choice in sorted(choices, key=lambda c: (c.seconds, c.error)):
        if not found or choice.error < found[-1].error:
            found.append(choice)
    return found
