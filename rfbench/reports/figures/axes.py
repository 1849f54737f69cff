"""Grids of axes, and axes whose numbers can be read."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def panels_in(figure: "Figure", count: int, across: int, **options: Any) -> list["Axes"]:
    """`count` axes in rows of `across`; places that are left over in the last row stay empty."""
    axes = figure.subplots(-(-count // across), across, squeeze=False, **options).ravel().tolist()
    for ax in axes[count:]:
        ax.set_axis_off()
    return axes[:count]


def log_values(ax: "Axes") -> None:
    """A logarithmic y axis with plain numbers at 1, 2 and 5; at powers of ten only where it spans many of them.

    Within a factor of four the numbers are at round places.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, StrMethodFormatter

    ax.set_yscale("log")
    ax.minorticks_off()
    low, high = ax.get_ylim()
    subs = (1, 2, 5) if high < 500 * low else (1,)
    ax.yaxis.set_major_locator(LogLocator(subs=subs) if high > 4 * low else MaxNLocator(5))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def in_decades(ax: "Axes") -> None:
    """Two logarithmic axes with plain numbers at powers of ten, or at 1, 2 and 5 where they span few of them."""
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.minorticks_off()
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,)))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
