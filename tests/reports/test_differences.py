"""Sentences on differences of distances: what they are of, and how many of them an interval is for."""

from math import nan
from statistics import NormalDist

import pandas as pd
import pytest

from rfbench.reports.differences import verdicts


def summary(degrees, pairs, size=1.0, error=0.5):
    same = {"kernel": "polynomial", "task": "kid", "sketch": "rff", "features": 64.0}
    rows = [
        {**same, "degree": degree, "dataset": f"x:{pair}", "metric": metric, "mean": value}
        for degree in degrees
        for pair in pairs
        for metric, value in (("kid_difference", -size), ("kid_difference_error", error))
    ]
    return pd.DataFrame(rows)


def test_differences_of_two_degrees_say_which():
    lines = verdicts(summary((2.0, 3.0), ("a - b",)))
    assert [line.partition("(")[2] for line in lines[:2]] == [
        "degree 2, rff, 64 features)",
        "degree 3, rff, 64 features)",
    ]
    assert "(" not in verdicts(summary((nan,), ("a - b",)))[0]


@pytest.mark.parametrize("pairs", [("a - b",), ("a - b", "a - c", "b - c")])
def test_an_interval_is_for_all_differences_together(pairs):
    """Just below and just above the quantile of 95 % over so many."""
    quantile = NormalDist().inv_cdf(1 - 0.025 / len(pairs))
    for error, said in ((1.001 / quantile, "within chance"), (0.999 / quantile, "beyond chance")):
        lines = verdicts(summary((nan,), pairs, error=error))
        assert all(line.endswith(said) for line in lines[:-1])
        assert len(lines) == len(pairs) + 1
