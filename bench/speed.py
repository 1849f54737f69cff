"""Speed of rfbench as ratios to references timed in the same process: feature maps, their growth, whole tasks.

Writes outputs/bench/{speed,growth,floors}.csv; with --docs DIR also speed.md and speed.png there.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import floors
import growth
import pandas as pd
import transforms

from rfbench.reports.figures.save import save
from rfbench.reports.figures.style import RC, line_style
from rfbench.storage import replace_file

SIZES = {  # rows, features, sketches, turns
    False: (10_000, (2048, 4096, 10_240), transforms.POLYNOMIAL, 5),
    True: (2048, (4096, 10_240), transforms.QUICK, 5),
}
COLUMNS = 1024
TITLES = {
    "over_gemm": "Time divided by that of one dense product of the same shape",
    "times_sklearn": "How many times faster than scikit-learn (PolynomialCountSketch; RBFSampler without p)",
    "megabytes": "Peak memory besides the rows, including the output, in megabytes",
}


def tables(quick: bool) -> Iterator[tuple[str, pd.DataFrame]]:
    """Name and content of each table, as soon as it is ready."""
    n, counts, names, turns = SIZES[quick]
    found: list[transforms.Row] = []
    for degree in (3, 6):
        for D in counts:
            found += transforms.measure(names, n, COLUMNS, D, degree, turns)
            yield "speed", pd.DataFrame(found)
    if quick:
        return
    for D in counts:
        found += transforms.measure(transforms.OTHERS, n, COLUMNS, D, 0, turns)
    yield "speed", pd.DataFrame(found)
    yield "growth", pd.DataFrame(growth.measure(turns))
    yield "floors", pd.DataFrame(floors.measure(60_000, 784, 4096, 3))


def draw(speed: pd.DataFrame, target: Path) -> None:
    """Time divided by that of a dense product, against the features."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(RC):
        figure = Figure((7.2, 3.4), layout="constrained")
        for ax, degree in zip(figure.subplots(1, 2, sharey=True), (3, 6), strict=True):
            part = speed[(speed["degree"] == degree) & ~speed["sketch"].isin(("gemm", "write"))]
            for name, curve in part.groupby("sketch", sort=False):
                ax.plot(curve["features"], curve["over_gemm"], **line_style(str(name)))
            ax.set(xscale="log", yscale="log", xlabel="features", title=f"p = {degree}")
            ax.minorticks_off()
            ax.set_xticks(ticks := sorted(set(part["features"])), map(str, ticks))
            ax.axhline(1, color="black", linewidth=0.8)
        figure.axes[0].set_ylabel("time / time of one product X W")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right center", fontsize="x-small")
        save(figure, target, "speed")


def page(found: dict[str, pd.DataFrame], n: int, turns: int) -> str:
    speed = found["speed"]
    parts = [
        "# Speed",
        f"`make bench` on {os.cpu_count()} cores: {n} rows of {COLUMNS} columns, float32, the best of {turns} turns "
        "in one\nprocess. Only ratios are meaningful; seconds are in outputs/bench/speed.csv.",
        str(transforms.__doc__).strip().split("\n\n")[-1],
        "![time against features](speed.png)",
    ]
    for column, title in TITLES.items():
        wide = speed.pivot_table(column, "sketch", ["degree", "features"], sort=False)
        wide.columns = [f"{f'p = {p}, ' if p else ''}{D}" for p, D in wide.columns]
        parts += [f"## {title}", markdown(wide.round(3 if column == "over_gemm" else 0).reset_index())]
    parts += ["## Growth", str(growth.__doc__).strip(), markdown(found["growth"])]
    parts += [
        "## Whole tasks over their BLAS floor",
        f"```\n{str(floors.__doc__).strip()}\n```",
        markdown(found["floors"]),
    ]
    return "\n\n".join(parts) + "\n"


def markdown(frame: pd.DataFrame) -> str:
    rows = (frame.columns, ["---"] * len(frame.columns), *frame.astype(object).fillna("").to_numpy())
    return "\n".join(
        f"| {' | '.join(f'{cell:g}' if isinstance(cell, float) else str(cell) for cell in row)} |" for row in rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer sketches and rows, in under three minutes")
    parser.add_argument("--docs", type=Path, help="write speed.md and speed.png to this directory")
    options = parser.parse_args()
    found: dict[str, pd.DataFrame] = {}
    for name, frame in tables(options.quick):
        new = frame.iloc[len(found.get(name, ())) :]
        print(new.to_string(index=False), end="\n\n", flush=True)
        found[name] = frame
        replace_file(Path("outputs/bench") / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))
    if options.docs:
        draw(found["speed"], options.docs)
        replace_file(options.docs / "speed.md", page(found, SIZES[options.quick][0], SIZES[options.quick][3]))
    print("outputs/bench/")


if __name__ == "__main__":
    main()
