"""Pictures of predictive distributions on data of one or two columns, the most features of each sketch."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rfbench.arrays import Array
from rfbench.reports.figures.axes import panels_in
from rfbench.reports.names import printed
from rfbench.results.pictures import PictureKey, most_features

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_posteriors(pictures: Mapping[PictureKey, Array]) -> "Figure":
    """A panel for each sketch; means on the plane are drawn beside the exact ones."""
    from matplotlib.figure import Figure

    keys = sorted(most_features(pictures).values(), key=lambda key: key.dataset)
    shown = [(key, False) for key in keys]
    if _on_plane(pictures[keys[0]]):
        shown.insert(0, (keys[0], True))
    across = 2 if len(shown) == 4 else min(len(shown), 3)
    figure = Figure((3.2 * across, 2.7 * -(-len(shown) // across)), layout="constrained")
    for ax, (key, exact) in zip(panels_in(figure, len(shown), across), shown, strict=True):
        if _on_plane(pictures[key]):
            _draw_means(ax, pictures[key], exact)
        else:
            _draw_bands(ax, pictures[key])
        title = "exact process" if exact else f"{printed(key.sketch)}\nD = {key.features}, KL {key.error:.2g}"
        title = f"{printed(key.dataset)}\n{title}" if len({key.dataset for key in keys}) > 1 else title
        ax.set_title(title, fontsize="small")
    return figure


def _on_plane(picture: Array) -> bool:
    """Rows are (x, exact mean, exact variance, mean, variance), where x has one or two numbers."""
    return picture.shape[1] == 6


def _draw_bands(ax: "Axes", picture: Array) -> None:
    """Mean and two standard deviations on both sides [Wacker 2022, Fig. 5.2 and 5.8]."""
    x, mu, v, mean, variance = picture[picture[:, 0].argsort()].T
    ax.fill_between(x, mu - 2 * np.sqrt(v), mu + 2 * np.sqrt(v), color="#BBBBBB", linewidth=0)
    ax.plot(x, mu, color="black", linewidth=1)
    ax.plot(x, mean, color="#0072B2", linestyle="--", linewidth=1)
    for sign in (-2, 2):
        ax.plot(x, mean + sign * np.sqrt(variance), color="#0072B2", linewidth=0.7)
    low, high = np.min(mu - 2 * np.sqrt(v)), np.max(mu + 2 * np.sqrt(v))
    ax.set_ylim(low - 0.3 * (high - low), high + 0.3 * (high - low))


def _draw_means(ax: "Axes", picture: Array, exact: bool) -> None:
    """Means as colours on the scale of the exact ones [Wacker 2022, Fig. 5.9]."""
    low, high = np.quantile(picture[:, 2], (0.01, 0.99))
    x, y, means = picture[:, 0], picture[:, 1], picture[:, 2 if exact else 4]
    across, down = (len(np.unique(values)) for values in (x, y))
    if across * down == len(means):  # all points of a grid, column by column
        places = (values.reshape(across, down) for values in (x, y, means))
        shown: Artist = ax.pcolormesh(*places, vmin=low, vmax=high, shading="nearest")
    else:
        shown = ax.scatter(x, y, c=means, vmin=low, vmax=high, s=1.5, linewidths=0)
    shown.set_rasterized(True)
    ax.set_aspect("equal", adjustable="datalim")
    ax.grid(visible=False)
