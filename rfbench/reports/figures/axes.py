"""Axes whose numbers can be read."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def log_values(ax: "Axes") -> None:
    """A logarithmic axis of values with plain numbers at 1, 2 and 5, at powers of ten where there are many.

    Where all of it is within a factor of four, at round numbers.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, StrMethodFormatter

    ax.set_yscale("log")
    ax.minorticks_off()
    low, high = ax.get_ylim()
    subs = (1, 2, 5) if high < 500 * low else (1,)
    ax.yaxis.set_major_locator(LogLocator(subs=subs) if high > 4 * low else MaxNLocator(5))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def in_decades(ax: "Axes") -> None:
    """Both axes logarithmic, with plain numbers at powers of ten, or at 1, 2 and 5 where there are few of them."""
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.minorticks_off()
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,)))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
