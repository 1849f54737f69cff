"""Heat maps of the error on held-out rows, over the scale of the features and α [Ohana et al. 2019, Fig. 4].

Features s φ with penalty α are features φ with penalty α/s², so cells on a diagonal are one number; those whose α/s² is
outside the grid stay white.
"""

from collections.abc import Iterable, Mapping
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from rfbench.arrays import Array
from rfbench.reports.figures.axes import panels_in
from rfbench.reports.names import printed
from rfbench.results.pictures import PictureKey

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

SCALES = np.arange(-2.0, 2.5, 0.5)  # log10 of s
MOST_PANELS = 24


def draw_grids(pictures: Mapping[PictureKey, Array]) -> "Figure":
    """A panel for each kernel, sketch and number of features."""
    from matplotlib.figure import Figure

    shown = list(pictures.items())[:MOST_PANELS]
    finite = np.concatenate([losses[np.isfinite(losses)] for _, (_, losses) in shown])
    across = min(len(shown), 4)
    figure = Figure((2.3 * across + 1.0, 2.4 * -(-len(shown) // across)), layout="constrained")
    axes = panels_in(figure, len(shown), across, sharex=True, sharey=True)
    for ax, (key, (alphas, losses)) in zip(axes, shown, strict=True):
        image = _draw(ax, alphas, losses, (finite.min(), np.quantile(finite, 0.8)))
        ax.set_title(fill(_title(key, pictures), 38), fontsize="x-small")
    figure.colorbar(image, ax=figure.axes, label="error on held-out rows", extend="max")
    figure.supxlabel("log₁₀ of the scale of the features")
    figure.supylabel("log₁₀ α")
    return figure


def _title(key: PictureKey, keys: Iterable[PictureKey]) -> str:
    """What tells a panel from the others, and its error."""
    words = {"dataset": key.dataset, "kernel": key.kernel, "sketch": key.sketch, "features": f"D = {key.features}"}
    other = {name: word for name, word in words.items() if len({getattr(one, name) for one in keys}) > 1}
    return f"{printed(', '.join((other or words).values()))}: {key.error:.3g}"


def cells(alphas: Array, losses: Array) -> Array:
    """The loss at every α (rows) and scale s (columns), which is that at α/s²; NaN outside the grid."""
    powers = np.round(np.log10(alphas))
    at = dict(zip(powers, losses, strict=True))
    return np.array([[at.get(ratio, np.nan) for ratio in row] for row in powers[:, None] - 2 * SCALES])


def _draw(ax: "Axes", alphas: Array, losses: Array, limits: tuple[float, float]) -> "AxesImage":
    """Bright is good, as in the paper."""
    powers = np.round(np.log10(alphas))
    edges = (SCALES[0] - 0.25, SCALES[-1] + 0.25, powers[0] - 0.5, powers[-1] + 0.5)
    low, high = limits
    image = ax.imshow(
        cells(alphas, losses), cmap="viridis_r", vmin=low, vmax=high, origin="lower", extent=edges, aspect="auto"
    )
    ax.plot(0, powers[losses.argmin()], "o", color="white", markeredgecolor="black")
    ax.grid(visible=False)
    return image
