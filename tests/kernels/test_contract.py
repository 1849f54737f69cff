"""Every kernel keeps its contract; kernels that are slightly wrong do not."""

from dataclasses import dataclass

import numpy as np
import pytest

from rfbench.arrays import inner, squared_distances
from rfbench.commands.check import outcomes, rows
from rfbench.kernels import KERNELS, Kernel, kernel_recipe
from rfbench.kernels.contract import CHECKS
from rfbench.kernels.polynomial import Polynomial

OPTIONS = {"decomposable": {"coupling": [[2, 1], [1, 2]]}}


def failed(kernel):
    return {what for what, wrong in outcomes(CHECKS, kernel, rows()[:30].copy()) if wrong}


@pytest.mark.parametrize("name", KERNELS)
def test_the_contract(name):
    assert failed(kernel_recipe(name, 3, **OPTIONS.get(name, {})).provisional()) == set()


@dataclass(frozen=True)
class Wrong(Kernel):
    name = "wrong"
    kind: str = ""

    def gram(self, X, Y):
        K = np.exp(-squared_distances(X, Y))
        if self.kind == "negative":
            return -squared_distances(X, Y)
        if self.kind == "asymmetric":
            return K * np.exp(0.1 * X[:, 3:4])
        if self.kind == "single":
            return K.astype(np.float32)
        if self.kind == "together":
            return K / len(Y)
        if self.kind == "changing":
            X *= 0.5
        return K


class OtherSeries(Polynomial):
    def gram(self, X, Y):
        return (inner(X, Y) + 1.01) ** 3


@pytest.mark.parametrize(
    ("kernel", "check"),
    [
        (Wrong("negative"), "matrix is symmetric and positive"),
        (Wrong("asymmetric"), "matrix is symmetric and positive"),
        (Wrong("single"), "values are doubles"),
        (Wrong("together"), "pairs are apart"),
        (Wrong("changing"), "pairs are apart"),
        (OtherSeries(3), "series is the kernel"),
    ],
)
def test_wrong_kernels_fail(kernel, check):
    assert check in failed(kernel)


def test_the_kernel_that_they_derive_from_passes():
    assert failed(Wrong()) == set()
