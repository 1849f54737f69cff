"""One colour for each family of sketches, one line for each of its variants and a marker for its base, in every figure.

The colours are those of Okabe and Ito (2008) and Tol (2021), which colour-blind readers can tell apart; families of
different kernels may share one.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Drawn = TypeVar("Drawn")

FAMILIES = {
    "gaussian": "#E69F00",
    "rademacher": "#0072B2",
    "tensorsrht": "#D55E00",
    "stacked_tensorsrht": "#009E73",
    "ahle_tensorsrht": "#56B4E9",
    "hamid_tensorsrht": "#AA4499",
    "mixed_weights": "#44AA99",
    "circle_weights": "#DDCC77",
    "tensorsketch": "#CC79A7",
    "hierarchical": "#882255",
    "craft": "#999933",
    "random_maclaurin": "#117733",
    "optimized_maclaurin": "#332288",
    "localized_maclaurin": "#E69F00",
    "rff": "#0072B2",
    "orf": "#E69F00",
    "sorf": "#D55E00",
    "fastfood": "#009E73",
    "srf": "#009E73",
    "srf_orthogonal": "#CC79A7",
    "compressive_rff": "#56B4E9",
    "compressive_phase_rff": "#0072B2",
    "compressive_identity": "#882255",
    "compressive_exact": "#DDCC77",
    "arc_cosine": "#0072B2",
    "favor": "#882255",
    "exponential_rff": "#0072B2",
    "optical": "#AA4499",
    "orff_decomposable": "#0072B2",
    "orff_curl_free": "#D55E00",
    "orff_div_free": "#009E73",
    "orff_helmholtz": "#CC79A7",
    "numpy": "#0072B2",
    "torch": "#E69F00",
    "identity": "#000000",
    "exact": "#7F7F7F",
}
OTHERS = ("#44AA99", "#DDCC77", "#88CCEE")
VARIANTS: dict[str, dict[str, Any]] = {
    "": {"linestyle": "-", "marker": "o"},
    "complex_": {"linestyle": ":", "marker": "^", "markerfacecolor": "white"},
    "ctr_": {"linestyle": "--", "marker": "s"},
    "phase_": {"linestyle": "-.", "marker": "D"},
    "opu=simulated": {"linestyle": "--", "marker": "s"},
    "opu=analog": {"linestyle": "--", "marker": "s"},
    "opu=replay": {"linestyle": ":", "marker": "^", "markerfacecolor": "white"},
    "opu=lightonml": {"linestyle": "-.", "marker": "D"},
}
BASES = {"gaussian": "v", "tensorsrht": "P", "stacked_tensorsrht": "D", "tensorsketch": "X", "ahle_tensorsrht": "*"}

DIRECTIONS = {"directions=orthogonal": "orf", "directions=structured": "sorf"}  # the families that have them

MARKERS = "oDv^Xs*P"

# Column width of a paper, readable there; the salt makes the same figure the same file.
RC = {
    "font.size": 8,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "legend.frameon": False,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,  # TrueType, which can be edited
    "svg.fonttype": "none",  # text is text
    "svg.hashsalt": "rfbench",
}


def settings(more: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Ours, those that the user's matplotlibrc names in their place, and those given."""
    import matplotlib as mpl

    users = mpl.rc_params_from_file(mpl.matplotlib_fname(), use_default_template=False)
    return {**RC, **{key: value for key, value in users.items() if key != "backend"}, **more}


def line_style(sketch: str) -> dict[str, Any]:
    """The style of a name; options such as optimized_maclaurin(ctr_rademacher) or optical(opu=replay) change it."""
    name, _, options = sketch.partition("(")
    variant = next((word for word in VARIANTS if word and word in name + options), "")
    family = next((like for words, like in DIRECTIONS.items() if words in options), name.removeprefix(variant))
    colour = FAMILIES.get(family) or OTHERS[sum(map(ord, family)) % len(OTHERS)]
    base = options.rstrip(")").partition(",")[0].removeprefix(variant)
    return {"color": colour, "label": sketch, **VARIANTS[variant]} | ({"marker": BASES[base]} if base in BASES else {})


def tell_apart(panels: Iterable["Axes"]) -> None:
    """Give lines that look alike and have different names, such as those of other options, shades and markers."""
    looks: dict[Any, dict[str, list[list[Any]]]] = defaultdict(lambda: defaultdict(list))
    for ax in panels:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            artists: list[Any] = [*handle.get_children()] or [handle]  # of an error bar: the line, its caps, its bars
            line = artists[0]
            looks[line.get_color(), line.get_linestyle(), line.get_marker()][name].append(artists)
    for drawn, shade, marker in _told_apart({look: list(names.values()) for look, names in looks.items()}):
        for artists in drawn:
            _restyle(artists, shade, marker)


def looks(sketches: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The styles of names that are drawn together, told apart like the lines of a figure."""
    from matplotlib.colors import to_hex

    alike: dict[Any, list[str]] = defaultdict(list)
    for name in dict.fromkeys(sketches):
        style = line_style(name)
        alike[style["color"], style["linestyle"], style["marker"]].append(name)
    found = {name: line_style(name) for names in alike.values() for name in names}
    for name, shade, marker in _told_apart(alike):
        found[name] |= {"color": to_hex(shade), "marker": marker}
    return found


def _told_apart(alike: Mapping[Any, Sequence[Drawn]]) -> Iterator[tuple[Drawn, tuple[float, float, float], Any]]:
    """A shade and a marker for all that share colour, line and marker; no other of this colour and line has it too."""
    taken: dict[Any, set[Any]] = defaultdict(set)
    for (*look, marker), names in alike.items():
        if len(names) == 1:
            taken[tuple(look)].add(marker)
    for (*look, marker), names in alike.items():
        used = taken[tuple(look)]
        for place, name in enumerate(names if len(names) > 1 else ()):
            free = (one for one in MARKERS if one not in used)
            new = marker if marker in ("", "None") else next(free, MARKERS[place % len(MARKERS)])
            used.add(new)
            yield name, _shade(look[0], place / (len(names) - 1)), new


def _shade(colour: Any, light: float) -> tuple[float, float, float]:
    """From half black (0) to half white (1)."""
    from matplotlib.colors import to_rgb

    red, green, blue = ((c + light) / 2 for c in to_rgb(colour))
    return red, green, blue


def _restyle(artists: list[Any], colour: tuple[float, float, float], marker: Any) -> None:
    from matplotlib.lines import Line2D

    for artist in artists:
        artist.set_color(colour)
        if isinstance(artist, Line2D):  # caps are markers
            artist.set_markeredgecolor(colour)
    artists[0].set_marker(marker)
