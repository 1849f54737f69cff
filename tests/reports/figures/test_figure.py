"""Figures: every kind of panel keeps settings apart, and files are the same for the same numbers."""

import xml.etree.ElementTree as ET
from itertools import product

import pytest
from support.figures import NO_CURVES, NO_ROWS, curves, lines, metrics

from rfbench.reports.figures.figure import PANELS, choose, draw, write_figure

pytestmark = pytest.mark.medium

ARROWS = ("x0", "x1", "field0", "field1", "predicted0", "predicted1")
TEXTS = ("text", "title", "desc")
POINTS = [(1, 2), (2, 3)]
KINDS = {  # kind → (metrics, curves) of one task
    "FIELDS": ([], [{"name": name, "task": "vector_field", "points": POINTS} for name in ARROWS]),
    "LEARNING": ([{"metric": name, "task": "vector_field"} for name in ("error", "fit_seconds")], []),
    "TRAINING": ([], [{"name": name, "task": "gpc_svi", "points": POINTS} for name in ("error", "seconds")]),
    "CLUSTERS": (
        [
            {"metric": name, "task": "gpr", "sketch": f"localized_maclaurin(threshold={k})", "more": k}
            for k in (1, 2)
            for name in ("kl", "clusters")
        ],
        [],
    ),
    "PROFILES": ([], [{"name": name, "task": "profile", "points": POINTS} for name in ("kernel", "variance")]),
    "TERMS": ([], [{"name": name, "task": "maclaurin_terms", "points": POINTS} for name in ("variance", "bias")]),
    "BOUNDS": ([], [{"name": name, "task": "bounds", "points": POINTS} for name in ("tail", "bound_chebyshev")]),
    "PROCESSES": ([{"metric": "kl", "task": "gpr"}], []),
    "RIDGE": ([{"metric": "nmse", "task": "ridge"}], []),
    "PROJECTIONS": ([{"metric": "transform_seconds", "task": "projection"}], []),
    "RATIOS": ([], [{"name": "ratio_to_real", "task": "variance", "points": [(0.5, 1), (0.95, 2)]}]),
    "VARIANCE": ([{"metric": "variance_closed_form", "task": "variance"}], []),
    "DISTANCES": ([{"metric": name, "task": "kid", "set": "a"} for name in ("kid", "kid_error")], []),
    "DEVIATIONS": ([{"metric": name, "task": "kid"} for name in ("kid_std", "kid_seconds")], []),
    "FIRST_ERROR": ([{"metric": "rel_frobenius", "task": "kernel_error"}], []),
}


def tables(kind, column="task", values=("",), features=(8,)):
    """The rows of one kind for every value of a part of the setting and every number of features."""

    def every(rows):
        for value, D, row in product(values, features, rows):
            one = row | {"features": D, column: row["task"] + value if column == "task" else value}
            if row.get("set"):
                one["dataset"] = f"{one.get('dataset', 'made')}:{row['set']}"
            yield one

    numbers, points = KINDS[kind]
    return metrics(row | {"value": 1 + row.get("more", 0)} for row in every(numbers)), curves(list(every(points)))


@pytest.mark.parametrize(("kind", "panel"), list(zip(KINDS, PANELS, strict=True)), ids=KINDS)
def test_there_is_a_case_for_every_kind(kind, panel):
    assert choose(*tables(kind))[0] is panel


SETTINGS = {
    "task": ("", "(solver=dual)", "(solver=cg)"),
    "degree": (2, 3),
    "n_train": (10, 20),
    "kernel": ("gaussian", "laplacian"),
    "dataset": ("made", "other"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("features", [(8,), (8, 16)])
@pytest.mark.parametrize("column", SETTINGS)
def test_settings_of_one_sketch_are_never_on_one_line(kind, column, features):
    """A panel or a line for each of several tasks, degrees, kernels or numbers of rows, and no error."""
    panel, shown = choose(*tables(kind, column, SETTINGS[column], features))
    parts = [part for _, part in panel.divide(shown)]
    assert sum(map(len, parts)) == len(shown)
    for part in parts if column not in panel.drawn else ():
        assert column not in part or part.groupby("sketch")[column].nunique(dropna=False).max() == 1
    for ax in draw(panel, shown).axes:
        for points in lines(ax).values():
            assert len({x for x, _ in points}) == len(points) or kind == "DEVIATIONS"  # whose times are equal here


def test_long_names_stay_inside_the_figure():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    names = [f"arc_cosine(directions=orthogonal, truncation={k}, signs=lapack, opu=analog)" for k in (2, 3)]
    figure = draw(*choose(*tables("FIRST_ERROR", "sketch", names, (8, 16))))
    FigureCanvasAgg(figure).draw()
    box = figure.legends[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width
    assert box.y0 >= 0


def test_a_sweep_over_solvers_is_drawn_and_joined(rfbench, tmp_path):
    words = ("-m", "task=ridge", "task.solver=cholesky,dual,cg", "sketch=rff", "features=128", "seeds=1")
    done = rfbench(*words, "task.alpha=1e-3", "dataset=wine")
    assert done.returncode == 0, done.stderr
    assert "figure.png" in done.stdout.splitlines()[-2]


def test_the_same_numbers_are_the_same_files(tmp_path):
    table, _ = tables("FIRST_ERROR")
    for name in ("one", "two"):
        assert write_figure(tmp_path / name, table, NO_CURVES)
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two
    assert set(one) == {"figure.png", "figure.svg", "figure.pdf", "figure.csv"}
    assert one["figure.pdf"][:4] == b"%PDF"
    assert one["figure.png"][:4] == b"\x89PNG"


def test_an_svg_has_text_a_title_and_a_description(tmp_path):
    write_figure(tmp_path, tables("FIRST_ERROR", features=(8, 16))[0], NO_CURVES)
    root = ET.fromstring((tmp_path / "figure.svg").read_text())
    found = {name: [one.text for one in root.iter(f"{{http://www.w3.org/2000/svg}}{name}")] for name in TEXTS}
    assert {"relative Frobenius error", "made, Gaussian", "RFF"} <= set(found["text"])
    assert found["title"] == ["made, Gaussian"]
    assert found["desc"] == ["relative Frobenius error against features; lines: RFF"]


def test_the_users_matplotlibrc_is_respected(tmp_path, monkeypatch):
    """What it names; the rest is ours, and nothing stays behind."""
    import matplotlib as mpl

    from rfbench.reports.figures.style import RC, settings

    (tmp_path / "matplotlibrc").write_text("font.size: 10\nsvg.fonttype: path\n")
    monkeypatch.setenv("MATPLOTLIBRC", str(tmp_path / "matplotlibrc"))
    found = settings({"lines.linewidth": 3})
    assert {key: found[key] for key in RC} == RC | {"font.size": 10, "svg.fonttype": "path", "lines.linewidth": 3}
    before = dict(mpl.rcParams)
    write_figure(tmp_path, tables("FIRST_ERROR")[0], NO_CURVES)
    assert "<text" not in (tmp_path / "figure.svg").read_text()
    assert dict(mpl.rcParams) == before


def test_nothing_to_draw_is_no_figure(tmp_path):
    assert not write_figure(tmp_path, NO_ROWS, NO_CURVES)
    assert not write_figure(tmp_path, metrics([{"metric": "alpha", "value": 1}]), NO_CURVES)
    assert not list(tmp_path.iterdir())
