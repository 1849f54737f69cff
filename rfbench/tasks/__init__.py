"""Step 4 of the pipeline: Φ → measures.  Every task by name."""

from typing import Any

from rfbench.registry import build, find
from rfbench.tasks.attention import Attention
from rfbench.tasks.base import Measure, Task, Trial
from rfbench.tasks.bounds import Bounds
from rfbench.tasks.gp.classification import GPC
from rfbench.tasks.gp.regression import GPR
from rfbench.tasks.gp.svi import GPCSVI
from rfbench.tasks.kernel_error import KernelError
from rfbench.tasks.kid.task import KID
from rfbench.tasks.maclaurin_terms import MaclaurinTerms
from rfbench.tasks.pooling import Pooling
from rfbench.tasks.profile import Profile
from rfbench.tasks.projection import Projection
from rfbench.tasks.ridge.task import Ridge
from rfbench.tasks.svm.task import SVM
from rfbench.tasks.variance import Variance
from rfbench.tasks.vector_field import VectorField

__all__ = ["TASKS", "Measure", "Task", "Trial", "make_task"]

TASKS: dict[str, type[Task]] = {
    cls.name: cls
    for cls in (
        KernelError,
        Variance,
        Bounds,
        GPR,
        GPC,
        GPCSVI,
        Ridge,
        SVM,
        KID,
        Pooling,
        Attention,
        VectorField,
        Projection,
        Profile,
        MaclaurinTerms,
    )
}


def make_task(name: str, **options: Any) -> Task:
    return build("task", find("task", name, TASKS), options)
