"""Kernels before the training rows are known: some options may be words, such as length_scale=median.

`median` and `1/d` depend on the training rows, `identity`, `covariance`, … on their outputs.  A task chooses the
numbers for `validation` (on held-out rows) and `likelihood` (of largest marginal likelihood).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from rfbench.arrays import Array
from rfbench.checks import InputError, did_you_mean
from rfbench.kernels.base import Kernel
from rfbench.registry import build


@dataclass(frozen=True)
class KernelRecipe:
    """A class of kernels and its options; wrong ones are refused."""

    cls: type[Kernel]
    options: Mapping[str, Any]

    def __post_init__(self) -> None:
        for key, value in self.options.items():
            words = self.cls.words.get(key)
            if words and isinstance(value, str) and value not in words:
                raise InputError(f"no kernel.{key} '{value}'; {did_you_mean(value, words)}")
        self.provisional()

    @classmethod
    def of(cls, kernel: Kernel) -> "KernelRecipe":
        """The recipe of a kernel whose numbers are known."""
        return cls(type(kernel), {field.name: getattr(kernel, field.name) for field in fields(kernel)})

    @property
    def name(self) -> str:
        return self.cls.name

    @property
    def power(self) -> int | None:
        """p of a polynomial kernel, for the column `degree`."""
        return self.provisional().power

    @property
    def tunable(self) -> str | None:
        """The option that a task chooses on held-out rows, or None."""
        return next((key for key, value in self.options.items() if value == "validation"), None)

    @property
    def by_likelihood(self) -> bool:
        """Whether a task maximises the likelihood over the length scale."""
        return self.options.get("length_scale") == "likelihood"

    def provisional(self) -> Kernel:
        """The kernel with default numbers in place of words, for checks before the training rows are known."""
        return self._build(None, None)

    def fit(self, X: Array, Y: Array | None = None) -> Kernel:
        """The kernel for training rows X, (n, d), and their outputs Y, (n, p)."""
        if self.tunable or self.by_likelihood:
            key = self.tunable or "length_scale"
            raise InputError(f"kernel.{key}={self.options[key]} needs a task that chooses it; use a number")
        return self._build(X, Y)

    def candidates(self, X: Array, Y: Array | None = None) -> list[Kernel]:
        """The kernels from which a task chooses, for training rows and their outputs."""
        key = self.tunable
        assert key
        return [replace(self, options={**self.options, key: number}).fit(X, Y) for number in self.cls.grid(X)]

    def learned(self, kernel: Kernel) -> dict[str, Any]:
        """The numbers of a fitted kernel that this recipe did not give, for run.json."""
        given = asdict(self.provisional()) | {key: word for key, word in self.options.items() if isinstance(word, str)}
        return {key: value for key, value in asdict(kernel).items() if value != given[key]}

    def _build(self, X: Array | None, Y: Array | None) -> Kernel:
        kernel: Kernel = build("kernel", self.cls, self.cls.resolve(self.options, X, Y))
        return kernel
