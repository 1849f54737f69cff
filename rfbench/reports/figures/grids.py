"""Heat maps of the error on rows left out, over the scale of the features and α [Ohana et al. 2019, Fig. 4].

Only α/s² matters, so cells on a diagonal are one number; what lies outside the grid of α is left white.
"""

from collections.abc import Iterable
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.reports.figures.save import save
from rfbench.reports.figures.style import RC
from rfbench.results.pictures import GRIDS, PictureKey, read_pictures

SCALES = np.arange(-2.0, 2.5, 0.5)  # log10 of s
MOST_PANELS = 24


def write_grids(target: Path, directories: Iterable[Path]) -> None:
    """grids.png and grids.svg of all jobs, where there are any: a panel for each kernel, sketch and feature count."""
    pictures = {key: A for directory in directories for key, A in read_pictures(directory, GRIDS).items()}
    if not pictures:
        return
    import matplotlib as mpl
    from matplotlib.figure import Figure

    shown = list(pictures.items())[:MOST_PANELS]
    finite = np.concatenate([losses[np.isfinite(losses)] for _, (_, losses) in shown])
    across = min(len(shown), 4)
    down = -(-len(shown) // across)
    with mpl.rc_context(RC):  # type: ignore[arg-type]
        figure = Figure((2.3 * across + 1.0, 2.4 * down), layout="constrained")
        axes = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
        for ax in axes.flat[len(shown) :]:
            ax.set_axis_off()
        for ax, (key, (alphas, losses)) in zip(axes.flat, shown, strict=False):
            image = _draw(ax, alphas, losses, (finite.min(), np.quantile(finite, 0.8)))
            ax.set_title(fill(_title(key, pictures), 38), fontsize="x-small")
        figure.colorbar(image, ax=axes, label="error on rows left out", extend="max")
        figure.supxlabel("log₁₀ of the scale of the features")
        figure.supylabel("log₁₀ α")
        save(figure, target, "grids")


def _title(key: PictureKey, keys: Iterable[PictureKey]) -> str:
    """What tells a panel from the others."""
    words = {"dataset": key.dataset, "kernel": key.kernel, "sketch": key.sketch, "features": f"D = {key.features}"}
    other = {name: word for name, word in words.items() if len({getattr(one, name) for one in keys}) > 1}
    return f"{', '.join((other or words).values())}: {key.error:.3g}"


def _draw(ax: Any, alphas: Array, losses: Array, limits: tuple[float, float]) -> Any:
    """Bright is good, as in the paper."""
    powers = np.round(np.log10(alphas))
    ratio = powers[:, None] - 2 * SCALES
    cells = np.array([[losses[powers == r][0] if r in powers else np.nan for r in row] for row in ratio])
    edges = (SCALES[0] - 0.25, SCALES[-1] + 0.25, powers[0] - 0.5, powers[-1] + 0.5)
    image = ax.imshow(
        cells, cmap="viridis_r", vmin=limits[0], vmax=limits[1], origin="lower", extent=edges, aspect="auto"
    )
    ax.plot(0, powers[losses.argmin()], "o", color="white", markeredgecolor="black")
    ax.grid(visible=False)
    return image
