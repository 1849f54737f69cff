"""Pictures of matrices beside each other: a row for each data set, the exact one first [Wacker 2022, Fig. 7.1]."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.reports.figures.save import save
from rfbench.reports.figures.style import RC
from rfbench.results.pictures import MAPS, PictureKey, read_pictures


def write_maps(target: Path, directories: Iterable[Path]) -> None:
    """maps.png and maps.svg of all jobs, where there are pictures; of each sketch the one with most features."""
    pictures = {key: A for directory in directories for key, A in read_pictures(directory, MAPS).items()}
    if not pictures:
        return
    import matplotlib as mpl
    from matplotlib.figure import Figure

    most = {(key.dataset, key.sketch): key for key in sorted(pictures, key=lambda key: key.features)}
    datasets = list(dict.fromkeys(key.dataset for key in pictures))
    sketches = sorted(dict.fromkeys(key.sketch for key in pictures), key=lambda name: name != "exact")
    with mpl.rc_context(RC):  # type: ignore[arg-type]
        figure = Figure((1.9 * len(sketches) + 1.9, 2.1 * len(datasets)), layout="constrained")
        axes = figure.subplots(len(datasets), len(sketches) + 1, squeeze=False)
        for row, dataset in zip(axes, datasets, strict=True):
            exact = pictures[most[dataset, "exact"]]
            for ax, sketch in zip(row, sketches, strict=False):
                if key := most.get((dataset, sketch)):
                    _draw(ax, key, pictures[key], exact)
                else:
                    ax.set_axis_off()
            row[0].set_ylabel(dataset)
            row[-1].hist(np.log(exact).ravel(), bins=40, color="#7F7F7F")
            row[-1].set_title("exponents", fontsize="small")
        save(figure, target, "maps")


def _draw(ax: Any, key: PictureKey, picture: NDArray[Any], exact: NDArray[Any]) -> None:
    """On the scale of the exact one, so that what is equal looks equal."""
    ax.imshow(picture, vmin=exact.min(), vmax=exact.max(), cmap="viridis", interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)
    ax.set_title(
        f"{key.sketch}\nD = {key.features}, error {key.error:.2g}" if key.features else "exact", fontsize="small"
    )
