"""The page: results, plots, tables and the libraries that show them, in one file that loads nothing."""

import base64
import csv
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from rfbench import __version__
from rfbench.checks import InputError
from rfbench.progress import bar
from rfbench.reports.figures.style import looks
from rfbench.reports.formats import csv_lines, latex_lines, plain, records
from rfbench.reports.html import contests
from rfbench.reports.html.again import command
from rfbench.reports.html.changes import CHANGED, EQUAL, MOVED, WITHIN, Changes
from rfbench.reports.html.collect import Collection, Experiment, makers_of
from rfbench.reports.html.provenance import configs_as_yaml, provenance
from rfbench.reports.html.svg import inline
from rfbench.reports.html.unfinished import NOT_RUN
from rfbench.reports.tables import sign

PICTURES = {
    "maps": "Attention maps",
    "posteriors": "Posteriors",
    "grids": "Searches over penalties",
}
DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
SYMBOLS = {
    "o": "circle", "^": "triangle-up", "s": "square", "D": "diamond",
    "v": "triangle-down", "P": "cross", "X": "x", "*": "star",
}  # fmt: skip


def report_page(found: Collection, published: Sequence[dict[str, str]], metric: str | None = None) -> str:
    """Everything below a directory; `published` are the lines of compare.csv."""
    settings = list(contests.settings(*found.frames, metric))
    shown = []
    with bar(len(found.experiments), "report", "experiment") as progress:
        for number, experiment in enumerate(found.experiments):
            shown.append(_shown(experiment, f"e{number}-{_slug(experiment.name)}", metric))
            progress.update()
    return _render(
        "report.html",
        title=found.directory.resolve().name,
        experiments=shown,
        rows=sum(len(one.rows) for one in found.experiments),
        settings=settings,
        operations=any(contests.OPERATIONS in setting.contests for setting in settings),
        **_matrix(found, settings),
        rankings={kind: contests.ranking(settings, kind) for kind in (contests.FEATURES, contests.TIME)},
        gaps=_gaps(found),
        unreadable=found.unreadable,
        NOT_RUN=NOT_RUN,
        published=[line for line in published if line["verdict"] != "not computed"],
    )


def changes_page(found: Changes, before: str, after: str) -> str:
    words = {"MOVED": MOVED, "CHANGED": CHANGED, "WITHIN": WITHIN, "EQUAL": EQUAL}
    return _render("changes.html", title=f"{before} → {after}", before=before, after=after, found=found, **words)


def _render(template: str, **values: Any) -> str:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise InputError("the page needs the extra `report`: pip install 'rfbench[report]'") from None
    page = Environment(
        loader=PackageLoader("rfbench.reports.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page.filters |= {"number": "{:.4g}".format, "plain": plain, "percent": "{:.1%}".format, "probability": probability}
    script = _asset("report.js")
    return page.get_template(template).render(
        version=__version__,
        script=script,
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style=_asset("report.css"),
        libraries=_libraries(),
        **values,
    )


def probability(p: float) -> str:
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def _asset(name: str) -> str:
    return files("rfbench.reports.html").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _libraries() -> dict[str, str]:
    """The scripts inside the wheels of itables and plotly, compressed, and the style of tables."""
    try:
        tables, plots = files("itables").joinpath("html"), files("plotly").joinpath("package_data")
    except ModuleNotFoundError:
        raise InputError("the page needs the extra `report`: pip install 'rfbench[report]'") from None
    packed = {"datatables": tables / "dt_bundle.js", "plotly": plots / "plotly.min.js"}
    found = {name: pack(path.read_bytes()) for name, path in packed.items()}
    return found | {"style": (tables / "dt_bundle.css").read_text(encoding="utf-8")}


def pack(content: bytes) -> str:
    """Compressed, in letters that mean nothing to HTML."""
    return base64.b64encode(gzip.compress(content, compresslevel=6, mtime=0)).decode()


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _shown(experiment: Experiment, name: str, metric: str | None) -> dict[str, Any]:
    """What the template shows of an experiment."""
    table, makers = experiment.table, list(makers_of(experiment))
    rows = records(table)
    for row, run in zip(rows, makers, strict=True):
        row["command"] = command(run.manifest["config"], row["features"]) if run and run.manifest else ""
    metrics = [*table.headers, *table.shared]
    data = {
        "name": _slug(experiment.name),
        "keys": table.keys,
        "metrics": {m: {"label": table.headers.get(m, m), "better": _better(m)} for m in metrics},
        "y": next((m for m in (metric, *contests.METRICS, *table.headers) if m in table.headers), ""),
        "rows": rows,
        "csv": csv_lines(rows, metrics),
        "latex": latex_lines(table),
        "looks": {sketch: _look(style) for sketch, style in looks(row["sketch"] for row in rows).items()},
    }

    def drawn(kind: str, what: str) -> str:
        return inline(experiment.directory / f"{kind}.svg", f"{name}-{kind}-", f"{what}: {table.title}")

    return {
        "id": name,
        "experiment": experiment,
        "about": _about(rows),
        "commands": [bool(row["command"]) for row in rows],
        "table": table,
        "data": pack(json.dumps(data, allow_nan=False, separators=(",", ":")).encode()),
        "figure": drawn("figure", "Figure"),
        "pictures": [(what, svg) for kind, what in PICTURES.items() if (svg := drawn(kind, what))],
        "yaml": configs_as_yaml(experiment.runs),
        "provenance": provenance(experiment.runs),
    }


def _about(rows: Sequence[dict[str, Any]]) -> str:
    """The tasks, datasets and sketches of an experiment, in few words."""
    found = [list(dict.fromkeys(row[key] for row in rows)) for key in ("task", "dataset", "sketch")]
    tasks, datasets, sketches = (
        ", ".join(names) if len(names) < 4 else f"{len(names)} {what}"
        for names, what in zip(found, ("tasks", "datasets", "sketches"), strict=True)
    )
    return f"{tasks} on {datasets}, {sketches}"


def _better(metric: str) -> int:
    better = sign(metric)
    return int(better) if better == better else 0


def _look(style: dict[str, Any]) -> dict[str, str]:
    """matplotlib's style in plotly's words."""
    open_ = "-open" if style.get("markerfacecolor") == "white" else ""
    symbol = SYMBOLS.get(style["marker"], "circle") + open_
    return {"color": style["color"], "dash": DASHES[style["linestyle"]], "symbol": symbol}


def _matrix(found: Collection, settings: Sequence[contests.Setting]) -> dict[str, Any]:
    """dataset → task → its settings that were compared at equal features, and where something failed."""
    numbers, gaps = found.frames
    compared = [setting for setting in settings if contests.FEATURES in setting.contests]
    lost = gaps[gaps["status"] == "failed"]
    datasets, tasks = (sorted({*numbers[key], *lost[key]}) for key in ("dataset", "task"))
    matrix = {
        dataset: {
            task: [one for one in compared if (one.names["dataset"], one.names["task"]) == (dataset, task)]
            for task in tasks
        }
        for dataset in datasets
    }
    failed = set(zip(lost["dataset"], lost["task"], strict=True))
    return {"matrix": matrix if compared else {}, "tasks": tasks, "failed": failed}


def _gaps(found: Collection) -> list[dict[str, Any]]:
    """What failed or is missing, each reason of a sketch once, with its number of rows."""
    gaps = found.frames[1]
    keys = ["status", "dataset", "task", "kernel", "degree", "sketch", "metric", "message"]
    lines = gaps.groupby(keys, sort=True, dropna=False).agg(
        rows=("message", "size"),
        features=("features", lambda D: ", ".join(plain(one) for one in sorted(set(D.dropna())))),
    )
    return [{str(key): value for key, value in line.items()} for line in lines.reset_index().to_dict("records")]


def read_published(directory: Path) -> list[dict[str, str]]:
    """The lines that `rfbench compare` has written there, or none."""
    path = directory / "compare.csv"
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        lines = list(csv.DictReader(file))
    wanted = {"source", "dataset", "kernel", "degree", "sketch", "features", "metric", "published", "ours", "verdict"}
    return lines if lines and wanted <= lines[0].keys() and None not in lines[0] else []
