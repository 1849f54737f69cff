"""One colour for each family of sketches, one line for each of its variants and a marker for its base, in every figure.

The colours are those of Okabe and Ito (2008) and Tol (2021), which colour-blind readers can tell apart; families of
different kernels may share one.
"""

from typing import Any

FAMILIES = {
    "gaussian": "#E69F00",
    "rademacher": "#0072B2",
    "tensorsrht": "#D55E00",
    "stacked_tensorsrht": "#009E73",
    "ahle_tensorsrht": "#56B4E9",
    "tensorsketch": "#CC79A7",
    "hierarchical": "#882255",
    "craft": "#999933",
    "random_maclaurin": "#117733",
    "optimized_maclaurin": "#332288",
    "localized_maclaurin": "#E69F00",
    "rff": "#0072B2",
    "orf": "#E69F00",
    "sorf": "#D55E00",
    "srf": "#009E73",
    "srf_orthogonal": "#CC79A7",
    "compressive_rff": "#56B4E9",
    "favor": "#882255",
    "exponential_rff": "#0072B2",
    "optical": "#AA4499",
    "orff_decomposable": "#0072B2",
    "orff_curl_free": "#D55E00",
    "orff_div_free": "#009E73",
    "orff_helmholtz": "#CC79A7",
    "identity": "#000000",
    "exact": "#7F7F7F",
}
OTHERS = ("#44AA99", "#DDCC77", "#88CCEE")
VARIANTS: dict[str, dict[str, Any]] = {
    "": {"linestyle": "-", "marker": "o"},
    "complex": {"linestyle": ":", "marker": "^", "markerfacecolor": "white"},
    "ctr": {"linestyle": "--", "marker": "s"},
}
BASES = {"gaussian": "v", "tensorsrht": "P", "stacked_tensorsrht": "D", "tensorsketch": "X", "ahle_tensorsrht": "*"}

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
    "svg.hashsalt": "rfbench",
}


def line_style(sketch: str) -> dict[str, Any]:
    """By name, and by base where there is one: optimized_maclaurin(ctr_rademacher)."""
    name, _, options = sketch.partition("(")
    variant = next((v for v in ("complex", "ctr") if f"{v}_" in name + options), "")
    family = name.removeprefix(f"{variant}_")
    colour = FAMILIES.get(family) or OTHERS[sum(map(ord, family)) % len(OTHERS)]
    base = options.rstrip(")").partition(",")[0].removeprefix(f"{variant}_")
    return {"color": colour, "label": sketch, **VARIANTS[variant]} | ({"marker": BASES[base]} if base in BASES else {})
