"""`rfbench plot`: the figure of finished results, drawn again without computing anything."""

import re
from argparse import ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rfbench.checks import InputError, Parser
from rfbench.reports.figures.save import FORMATS
from rfbench.results.manifest import read_manifest
from rfbench.results.rows import read_rows, unique_rows
from rfbench.results.series import joined_series, of_finished

DESCRIPTION = """\
Draw the figure of finished results again, without computing anything.  RUN is a directory that rfbench printed; of a
directory above several runs, all are drawn together.  The files take the place of those in the directory, unless
--output names another one.  Colours and lines follow rfbench, everything else your matplotlibrc and --style."""
MOST_INCHES = 100
EPILOG = """\
examples:
  rfbench plot outputs/demo --format pdf --size 3.3x2.5 --font serif 8
  rfbench plot outputs/demo --y rel_frobenius max_abs_error --x transform_seconds --output front.svg"""


def size(text: str) -> tuple[float, float]:
    """Width and height in inches."""
    if not (match := re.fullmatch(r"(\d+\.?\d*)x(\d+\.?\d*)", text)) or not (float(match[1]) and float(match[2])):
        raise ArgumentTypeError(f"wanted WIDTHxHEIGHT in inches, such as 3.3x2.5; {text!r} was given")
    width, height = float(match[1]), float(match[2])
    if max(width, height) > MOST_INCHES:
        raise ArgumentTypeError(f"at most {MOST_INCHES} inches are drawn; {text!r} was given")
    return width, height


def _parser() -> Parser:
    from argparse import RawDescriptionHelpFormatter

    parser = Parser("rfbench plot", description=DESCRIPTION, epilog=EPILOG, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, metavar="RUN", help="directory of results, or one above several")
    parser.add_argument("--x", metavar="X", help="features, degree, n_train, or a metric such as fit_seconds")
    parser.add_argument("--y", nargs="+", metavar="METRIC", help="a panel for each; kl|mnll draws both into one")
    parser.add_argument("--format", nargs="+", choices=FORMATS, help="default: all three")
    parser.add_argument("--size", type=size, metavar="WxH", help="of the whole figure in inches, such as 3.3x2.5")
    parser.add_argument("--font", nargs="+", metavar="FONT", help="a family, a size in points, or both")
    parser.add_argument("--title", help="above the figure")
    parser.add_argument("--style", metavar="FILE", help="a matplotlib style: a file, or a name such as grayscale")
    parser.add_argument("--output", type=Path, metavar="FILE", help="its ending is the format unless --format is given")
    return parser


def main(words: list[str]) -> int:
    """Draw, and print the names of the files."""
    import matplotlib as mpl

    from rfbench.reports.figures.figure import choose, draw
    from rfbench.reports.figures.save import save
    from rfbench.reports.figures.style import settings
    from rfbench.reports.tables import summarize, summarize_curves, to_frame

    options = _parser().parse_args(words)
    places = directories(options.run)
    rows = unique_rows(row for place in places for row in read_rows(place / "results.csv"))
    summary = summarize(to_frame(rows))
    output = options.output or options.run / "figure"
    if options.output and not options.format and output.suffix.removeprefix(".") not in FORMATS:
        raise InputError(f"--output must end in .{', .'.join(FORMATS)}; {output} was given")
    formats = options.format or ([output.suffix[1:]] if options.output else FORMATS)
    with mpl.rc_context(settings({**style(options.style), **font(options.font or [])})):
        plot = pairs(options.x, options.y, list(summary["metric"].unique())) or stored(places)
        panel, shown = choose(summary, summarize_curves(of_finished(joined_series(places), rows)), plot)
        if shown.empty:
            raise InputError(f"{options.run} has nothing to draw by itself; name a metric with --y")
        notes = [options.title] if options.title else []
        figure = draw(panel, shown, len(plot or ()), notes, options.size)
        stem = output.stem if output.suffix.removeprefix(".") in FORMATS else output.name
        print(*save(figure, output.parent, stem, formats), sep="\n")
    return 0


def directories(run: Path) -> list[Path]:
    """The directory, or those below it that have results; jobs of a sweep are in its joined table."""
    if not run.is_dir():
        raise InputError(f"no directory {run}; name one that rfbench printed, such as outputs/demo")
    if (run / "results.csv").exists():
        return [run]
    found = sorted(path.parent for path in run.rglob("results.csv"))
    found = [path for path in found if not (path.parent.name == "jobs" and path.parents[1] in found)]
    if not found:
        raise InputError(f"no results in {run}; name a directory that rfbench printed, such as outputs/demo")
    return found


def pairs(x: str | None, ys: list[str] | None, metrics: list[str]) -> list[str]:
    """What against what, as `plot=` takes it; nothing where neither is given."""
    from rfbench.reports.figures.errors import ERRORS

    if not ys and x:
        ys = [next((metric for metric in ERRORS if metric in metrics), "")]
        if not ys[0]:
            raise InputError(f"name what to draw against {x}, --y METRIC: {', '.join(metrics)}")
    return [f"{y}:{x or 'features'}" for y in ys or []]


def stored(places: Sequence[Path]) -> list[str] | None:
    """`plot` of the config of a run, or of the jobs of a sweep; of several that differ, none."""
    found = []
    for place in places:
        paths = (path.parent for path in [place / "run.json", *sorted(place.glob("jobs/*/run.json"))] if path.exists())
        config: dict[str, Any] = next((read_manifest(path).get("config") or {} for path in paths), {})
        found.append(config.get("plot"))
    return found[0] if all(plot == found[0] for plot in found) else None


def style(name: str | None) -> Any:
    """The settings of a style of matplotlib."""
    if not name:
        return {}
    import matplotlib.style
    from matplotlib import rc_params_from_file

    try:
        if name in matplotlib.style.library:
            return matplotlib.style.library[name]
        return rc_params_from_file(name, use_default_template=False)
    except OSError:
        raise InputError(f"no style {name}; name a file, or one of {', '.join(matplotlib.style.available)}") from None


def font(words: list[str]) -> dict[str, Any]:
    """Family and size."""
    from matplotlib.font_manager import findfont

    found: dict[str, Any] = {}
    for word in words:
        if re.fullmatch(r"\d+\.?\d*", word):
            found["font.size"] = float(word)
            continue
        try:
            findfont(word, fallback_to_default=False)
        except ValueError:
            raise InputError(f"no font '{word}' on this machine; try serif, sans-serif or DejaVu Sans") from None
        found["font.family"] = word
    return found
