"""The command that runs the setting of a published cell: the inverse of reading a setting from run.json."""

from collections.abc import Iterator
from math import sqrt

from rfbench.reports.compare.published import Cell
from rfbench.reports.compare.verdicts import KERNEL_ERRORS


def words(cell: Cell) -> tuple[str, ...]:
    """The overrides of a cell, without the number of features and of seeds."""
    rows = (f"train_rows={cell.n}",) if cell.task.startswith("vector_field") else ()
    named = cell.metric not in KERNEL_ERRORS or cell.task.startswith("kernel_error")
    task = cell.task if named else "kernel_error"
    degree = (f"degree={cell.degree}",) if cell.degree and cell.kernel != "linear" else ()
    prepare = f"dataset.prepare=[{','.join(cell.prepare.split())}]"
    return (
        *_choice("task", task), *_choice("dataset", cell.dataset), prepare, *rows, *_choice("sketch", cell.sketch),
        *_kernel(cell), *degree,
    )  # fmt: skip


def _choice(group: str, label: str) -> Iterator[str]:
    """hierarchical(ctr_tensorsrht, shape=tree) → sketch=hierarchical sketch.base=ctr_tensorsrht sketch.shape=tree."""
    name, options = parts(label)
    yield f"{group}={name}"
    for option in options:
        if option.startswith("opu="):
            yield option
        else:
            yield f"{group}.{option}" if "=" in option else f"{group}.base={option}"


def parts(label: str) -> tuple[str, list[str]]:
    """(name, options) of a label."""
    name, _, options = label.removesuffix(")").partition("(")
    return name, options.split(", ") if options else []


def _kernel(cell: Cell) -> Iterator[str]:
    """Fourier and Maclaurin features of (γ x·y + ν)^p know it as 1 − ‖x−y‖²/a² on the sphere, a² = 2/γ."""
    name, options = parts(cell.kernel)
    if name != "polynomial":
        yield from _choice("kernel", cell.kernel)
    elif "srf" in cell.sketch or "maclaurin" in cell.sketch:
        yield from ("kernel=polynomial_sphere", f"kernel.a={sqrt(2 / float(options[0])):.6g}")
    else:
        yield from ("kernel=polynomial", f"kernel.gamma={options[0]}", f"kernel.bias={options[1]}")
