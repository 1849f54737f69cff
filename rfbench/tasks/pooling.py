"""Compact bilinear pooling of the patches of images [Wacker 2022, 1.3.1; Gao et al. 2016; Fukui et al. 2016].

An image is the set of its patches; its features are the sum of theirs (rfbench/sketches/products/pooling.py).  The
task measures the estimate of the kernel between images, as kernel_error does, and a linear classifier, as ridge does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rfbench.checks import InputError
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.kernels.pooled import Patches
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch, pooled, pooled_kernel
from rfbench.tasks.base import KERNEL_ROWS, Measure, Size, Task, Trial, no_localized, of_one_output
from rfbench.tasks.kernel_error import KernelError
from rfbench.tasks.ridge.task import Ridge

OF_KERNEL = ("rel_frobenius", "rel_frobenius_complex", "transform_seconds")
OF_RIDGE = ("error", "rmse", "alpha", "fit_seconds")


@dataclass(frozen=True)
class Pooling(Task):
    """Relative error of the kernel matrix of `rows` test images, and error of ridge regression on the features."""

    name = "pooling"
    several_outputs = True
    patch: int | None = 4
    stride: int = 2
    halves: bool = False
    rows: int = 1000
    alpha: float | str = "auto"

    def __post_init__(self) -> None:
        _ = self.patches, self.kernel_error, self.ridge  # refuse wrong options

    @cached_property
    def patches(self) -> Patches:
        return Patches(self.patch, self.stride, self.halves)

    @cached_property
    def kernel_error(self) -> KernelError:
        return KernelError(self.rows)

    @cached_property
    def ridge(self) -> Ridge:
        return Ridge(self.alpha)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        if self.halves and not (recipe.power == 2 and (sketch.factored or not sketch.explicit)):
            return (
                "task.halves=true multiplies two inputs, which takes degree=2 and a product sketch such as "
                "ctr_tensorsrht or tensorsketch"
            )
        unsuited = of_one_output(self.name, recipe) or no_localized(self.name, sketch)
        return unsuited or super().objection(sketch, recipe)

    def fit(self, recipe: KernelRecipe, train: Prepared, seed: int, engine: Engine, D: int | None = None) -> Kernel:
        """The kernel for descriptors of training rows."""
        X, _ = train.sample(KERNEL_ROWS, rng_for(seed, "kernel"))
        descriptors = self.patches.one_each(X)
        kernel = recipe.fit(descriptors)
        if kernel.objection(descriptors):
            raise InputError(f"kernel '{kernel.name}' does not suit the patches of images; use kernel=polynomial")
        return kernel

    def wrapped(self, sketch: Sketch, kernel: Kernel) -> Sketch:
        return pooled(sketch, kernel, self.patches)

    def memory(self, size: Size) -> int:
        return max(self.kernel_error.memory(size), self.ridge.memory(size))

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> tuple[Any, Any]:
        kernel = pooled_kernel(kernel, self.patches)
        first, second = (task.reference(split, kernel, seed, engine) for task in (self.kernel_error, self.ridge))
        return first, second

    def measure(self, trial: Trial, reference: tuple[Any, Any]) -> Iterator[Measure]:
        shown = ((self.kernel_error, OF_KERNEL), (self.ridge, OF_RIDGE))
        for (task, metrics), exact in zip(shown, reference, strict=True):
            for measure in task.measure(trial, exact):
                if measure.metric in metrics:
                    yield measure
                if measure.metric == "error":
                    yield Measure("accuracy", 1 - measure.value)
