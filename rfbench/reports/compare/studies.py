"""Results of two other studies as cells, from files in a condensed format.

analog_rbf.csv, analog_arccos.csv: kernels on an analogue chip, and the same in floating point [Büchel et al. 2024].
The rows of two of their datasets are known up to an unseeded permutation, over which errors of kernels and of
classification vary as SPREAD says.  xgpr.csv: Gaussian process regression with up to 32768 features [Parkinson & Wang
2023]; a cell is one run, and mean absolute errors of other seeds land within the fraction OTHER_SEEDS of it.  Datasets
of theirs that are not among ours, and other models than random features, are left out.
"""

import csv
from collections.abc import Callable, Iterator
from math import exp, sqrt
from pathlib import Path

from rfbench.reports.compare.published import Cell

CHIP = "measured on their chip, whose calibration is not public"
STEPS = "another preconditioner and another stopping rule"
ROWS = {"cod_rna": (59_535, 271_617), "magic": (9510, 9510), "eeg": (7490, 7490)}
HALVES = "test_fraction=0.5, prepare_on=all"  # and one permutation for all seeds, which is not known
PREPARED = {"cod_rna": "prepare_on=each", "magic": HALVES, "eeg": HALVES}
SPREAD = {  # of an error of the kernel, as factors, and of a fraction of wrong answers
    ("magic", "rbf"): (0.97, 1.08, 0.013),
    ("eeg", "rbf"): (0.93, 1.18, 0.021),
    ("magic", "arccos0"): (0.97, 1.03, 0.013),
    ("eeg", "arccos0"): (0.97, 1.03, 0.021),
}
DRAWN = {"rff": "truncation=3", "orf": "truncation=3, signs=lapack", "sorf": "signs=last"}
DIRECTIONS = {"rff": "", "orf": "directions=orthogonal, ", "sorf": "directions=structured, "}
OTHER_SEEDS = {"kin40k": 0.06, "protein": 0.01}
TABLES = {"kin40k": 40_000, "protein": 45_730}


def studies(directory: Path) -> Iterator[Cell]:
    """The cells of all files of the two studies that the directory has."""
    for name, cells in FILES.items():
        if (path := directory / f"{name}.csv").is_file():
            with open(path, newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    yield from cells(row)


def analogue(row: dict[str, str]) -> Iterator[Cell]:
    """One line of a file on the chip; their γ is 0.05, and λ of their ridge regression 0.5."""
    dataset, kernel, sketch = row["dataset"], row["kernel"], row["sketch"]
    if dataset not in ROWS or kernel not in ("rbf", "arccos0"):
        return
    n_train, n_test = ROWS[dataset]
    kernel_error, chip = row["metric"] == "rel_frobenius", row["platform"] == "analog"
    mean = float(row["mean"]) if kernel_error else 1 - float(row["mean"])
    between = None
    if (dataset, kernel) in SPREAD:
        low, high, wrong = SPREAD[dataset, kernel]
        between = (low * mean, high * mean) if kernel_error else (mean - wrong, mean + wrong)
    first = "kernel_error(order=first)" if dataset == "cod_rna" else "kernel_error"
    device = ", opu=analog" if chip else ""
    label = f"{sketch}({DRAWN[sketch]}{device})"
    if kernel == "arccos0":
        label = f"arc_cosine({DIRECTIONS[sketch]}{DRAWN[sketch]}{device})"
    yield Cell(
        source=f"analog_{'rbf' if kernel == 'rbf' else 'arccos'}.csv",
        dataset=f"{dataset}({PREPARED[dataset]})",
        n=n_train + n_test,
        prepare="standardize",
        task=first if kernel_error else f"ridge(alpha={0.5 / n_train:.6g}, intercept=True)",
        kernel=f"gaussian(length_scale={sqrt(10):.6g})" if kernel == "rbf" else "arc_cosine(order=0)",
        degree="",
        sketch=label,
        features=row["features"],
        metric="rel_frobenius" if kernel_error else "error",
        mean=mean,
        std=float(row["std"]),
        count=int(row["seeds"]),
        unit=0.0,
        fault=CHIP if chip else "",
        between=between,
    )


def regression(row: dict[str, str]) -> Iterator[Cell]:
    """One line of xgpr.csv: λ, β and σ are the noise, the scale of the features and an inverse length scale."""
    dataset, model, metric, value = row["dataset"], row["model"], row["metric"], float(row["value"])
    if dataset not in TABLES or not model.startswith("xgpr_sorf_rbf"):
        return
    intercept = model.endswith("_intercept")
    logs = list(map(float, row["log_hyperparameters"].split()))
    lam, beta, sigma = (logs[0], 0.0, logs[1]) if intercept else logs
    n_train = int(row["n_train"])
    task, fault, other = f"ridge(alpha={exp(2 * (lam - beta)) / n_train:.6g})", "", OTHER_SEEDS[dataset] * value
    if metric == "nmll":
        task = f"gpr(noise={exp(2 * lam):.6g}, signal={exp(2 * beta):.6g})"
    elif metric.endswith("_iterations"):
        metric, fault = "iterations", STEPS
    split = "split=scikit_learn, test_fraction=0.2, split_seed=123"
    yield Cell(
        source="xgpr.csv",
        dataset=f"{dataset}({split if intercept else 'test_fraction=0.2, prepare_on=all, target=standardize'})",
        n=TABLES[dataset],
        prepare="standardize",
        task=task,
        kernel=f"gaussian(length_scale={exp(-sigma):.6g})",
        degree="",
        sketch="sorf(norms=independent)",
        features=row["features"],
        metric="mae" if metric == "mae_raw" else metric,
        mean=value,
        std=None,
        count=1,
        unit=0.0,
        fault=fault,
        between=(value - other, value + other) if metric.startswith("mae") else None,
    )


FILES: dict[str, Callable[[dict[str, str]], Iterator[Cell]]] = {
    "analog_rbf": analogue,
    "analog_arccos": analogue,
    "xgpr": regression,
}
