"""Pictures of matrices: a row for each dataset, the exact matrix first [Wacker 2022, Fig. 7.1]."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rfbench.arrays import Array
from rfbench.reports.names import printed
from rfbench.results.pictures import PictureKey, most_features

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_maps(pictures: Mapping[PictureKey, Array]) -> "Figure":
    """The most features of each sketch, and last a histogram of the logarithms of the exact matrix."""
    from matplotlib.figure import Figure

    most = most_features(pictures)
    datasets = list(dict.fromkeys(key.dataset for key in pictures))
    sketches = sorted(dict.fromkeys(key.sketch for key in pictures), key=lambda name: name != "exact")
    figure = Figure((1.9 * len(sketches) + 1.9, 2.1 * len(datasets)), layout="constrained")
    axes = figure.subplots(len(datasets), len(sketches) + 1, squeeze=False)
    for row, dataset in zip(axes, datasets, strict=True):
        exact = pictures[most[dataset, "exact"]]
        for ax, sketch in zip(row, sketches, strict=False):
            if key := most.get((dataset, sketch)):
                _draw(ax, key, pictures[key], exact)
            else:
                ax.set_axis_off()
        row[0].set_ylabel(printed(dataset))
        row[-1].hist(np.log(exact[exact > 0]), bins=40, color="#7F7F7F")
        row[-1].set_title("exponents", fontsize="small")
    return figure


def _draw(ax: "Axes", key: PictureKey, picture: Array, exact: Array) -> None:
    """On the logarithmic scale of the exact matrix; estimates that are not positive stay white."""
    from matplotlib.colors import LogNorm

    shown = ax.imshow(
        np.where(picture > 0, picture, np.nan),
        norm=LogNorm(exact[exact > 0].min(), exact.max()),
        cmap="viridis",
        interpolation="nearest",
    )
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)
    title = f"{printed(key.sketch)}\nD = {key.features}, error {key.error:.2g}" if key.features else "exact"
    ax.set_title(title, fontsize="small")
    if not key.features:
        ax.figure.colorbar(shown, ax=ax, location="left", shrink=0.8)
