"""The page of a report: every number follows from results.csv, and no name becomes a part of the page."""

import base64
import csv
import gzip
import io
import json
import re
from collections import defaultdict
from decimal import Decimal
from statistics import mean, median, stdev

import numpy as np
import pytest
from scipy.stats import ttest_rel
from support.answers import one_line
from support.page import Page
from support.results import config_of, made_up, write_experiment, write_run

from rfbench import __version__
from rfbench.reports.html.collect import collect
from rfbench.reports.html.page import report_page
from rfbench.results.rows import read_rows

pytestmark = pytest.mark.medium
SKETCHES = {"rademacher": 1.0, "complex_rademacher": 0.9, "tensorsrht": 2.0}
NAMES = [(dataset, sketch) for dataset in ("digits", "wine") for sketch in SKETCHES]
D = (64, 128, 256)
PAYLOADS = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=alert(1)>",
    "\" onmouseover='alert(1)' x=\"",
    "=cmd|' /C calc'!A0",
    "{{ 7 * 7 }}\u2028</td>",
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Two experiments; a sketch that failed, a seed that failed, a number that is missing, a run that is damaged."""
    place, rng = tmp_path_factory.mktemp("results"), np.random.default_rng(1)
    write_experiment(place / "errors", NAMES, rng, SKETCHES, features=D)
    rows = list(made_up(rng, 0.5))
    rows = [row for row in rows if (row["features"], row["seed"]) != (128, 3)]
    rows.append({"features": 128, "seed": 3, "metric": "", "value": "", "status": "failed", "message": "no room"})
    rows += [{"features": 64, "seed": 0, "metric": "joules", "value": "", "status": "missing", "message": "no sensor"}]
    write_run(place / "single", config_of("dataset=wine", "sketch=tensorsketch"), rows)
    lost = {"metric": "", "value": "", "status": "failed", "message": "ValueError: it broke", "n_train": "", "seed": ""}
    write_run(place / "lost", config_of("sketch=gaussian"), [lost | {"n_test": "", "d": "", "features": ""}])
    (place / "damaged").mkdir()
    (place / "damaged" / "results.csv").write_text("dataset,value\nx,1\n")
    return place


@pytest.fixture(scope="module")
def page(directory):
    return Page(report_page(collect(directory), []))


@pytest.fixture(scope="module")
def values(directory):
    """(dataset, sketch, features, metric) → seed → value, read without the code under test."""
    found = defaultdict(dict)
    for path in directory.rglob("results.csv"):
        if path.parent.name != "damaged":
            for row in csv.DictReader(path.open()):
                if row["status"] == "ok":
                    key = row["dataset"], row["sketch"], int(row["features"]), row["metric"]
                    found[key][int(row["seed"])] = float(row["value"])
    return found


def spread(numbers):
    """The standard error with two digits, and the mean to the same place, by decimal arithmetic."""
    error = Decimal(f"{stdev(numbers) / len(numbers) ** 0.5:.1e}")
    return f"{Decimal(mean(numbers)).quantize(error):f} ± {error:f}"


def test_every_cell_of_the_tables_is_the_mean_and_its_standard_error(page, values):
    """All cells, and as many as there are means."""
    seen = 0
    for name in (name for name in page.tables if name.endswith("-table")):
        head, *rows = page.tables[name]
        heads = [text for text, _ in head]
        for row in rows:
            line = dict(zip(heads, row, strict=True))
            dataset = line["dataset"][0] if "dataset" in line else ("wine" if "single" in name else "digits")
            for metric, column in (("rel_frobenius", "rel_frobenius"), ("transform_seconds", "transform [s]")):
                text, attributes = line.get(column, ("", {}))
                if attributes.get("class") == "number":
                    numbers = values[dataset, line["sketch"][0], int(line["features"][0]), metric].values()
                    assert text.split("  ")[0].removesuffix(" 1 of 5 seeds: no room") == spread(numbers)
                    assert float(attributes["data-order"]) == pytest.approx(mean(numbers), rel=1e-14)
                    seen += 1
    assert seen == len(values)


def cost(kind, values, dataset, sketch, features):
    if kind == "time":
        return median(values[dataset, sketch, features, "transform_seconds"].values())
    return features * 4 * (2 if sketch.startswith("complex_") else 1) if kind == "memory" else features


def at(kind, x, values, dataset, sketch):
    """seed → error at cost x, interpolated in logarithms by NumPy; None outside of what was measured."""
    if kind == "features":
        return list(values[dataset, sketch, x, "rel_frobenius"].values())
    sizes = sorted((cost(kind, values, dataset, sketch, size), size) for size in D)
    costs = [one for one, _ in sizes]
    if not costs[0] <= x <= costs[-1]:
        return None
    curves = [values[dataset, sketch, size, "rel_frobenius"] for _, size in sizes]
    return [np.exp(np.interp(np.log(x), np.log(costs), np.log([curve[seed] for curve in curves]))) for seed in range(5)]


def expected_contest(kind, values, dataset, sketches, failed=()):
    """The words of a contest, computed from their definition."""
    found = {}
    for x in sorted(cost(kind, values, dataset, sketch, size) for sketch in sketches for size in D):
        reached = {sketch: at(kind, x, values, dataset, sketch) for sketch in sketches}
        reached = {sketch: errors for sketch, errors in reached.items() if errors is not None}
        if len(reached) >= len(found):
            found, where = reached, x
    first, second, *_ = ranked = sorted(found, key=lambda sketch: mean(found[sketch]))
    p = max(ttest_rel(found[first], found[other]).pvalue for other in ranked[1:]) * (len(ranked) - 1)
    chance = f"{'beyond' if p < 0.05 else 'within'} chance, " + ("p < 0.0001" if p < 1e-4 else f"p = {min(p, 1):.2g}")
    unit = {"features": f"{where:.0f} features", "time": f"{where:.4g} s", "memory": f"{where:.0f} bytes a row"}[kind]
    lines = [
        f"{first} {mean(found[first]):.4g}",
        f"then {second} {mean(found[second]):.4g}, margin {1 - mean(found[first]) / mean(found[second]):.1%}",
        f"{chance}, 5 seeds",
        f"at {unit}, {len(found) + len(failed)} sketches",
    ]
    return [*lines, f"failed: {', '.join(failed)}"] if failed else lines


@pytest.mark.parametrize(("dataset", "row"), [("digits", 1), ("wine", 2)])
@pytest.mark.parametrize(("kind", "column"), [("features", 4), ("time", 5), ("memory", 6)])
def test_the_best_sketch_its_margin_and_its_test_follow_from_the_rows(page, values, dataset, row, kind, column):
    """tensorsketch failed with one seed of 128 features, which counts at equal time and memory."""
    sketches = [*SKETCHES, "tensorsketch"] if (dataset, kind) == ("wine", "features") else SKETCHES
    failed = ["gaussian"] if dataset == "digits" else [] if kind == "features" else ["tensorsketch"]
    shown = [line.strip() for line in page.tables["margins"][row][column][0].split("\n") if line.strip()]
    assert shown == expected_contest(kind, values, dataset, sketches, failed)


def test_what_failed_or_is_missing_is_greyed_where_the_number_would_have_been(page):
    lines = [row for name, rows in page.tables.items() if name.endswith("single-table") for row in rows]
    cells = {row[1][0]: row for row in lines}
    assert any("1 of 5 seeds: no room" in text for text, _ in cells["128"])
    missing = cells["64"][-2]
    assert missing[0] == "none: no sensor"
    assert "gap" in missing[1]["class"]
    (lost,) = (rows[1] for name, rows in page.tables.items() if name.endswith("lost-table"))
    assert lost[0][0] == "gaussian"
    reasons = {row[-1][0]: row[-2][0] for row in page.tables["failures"][1:]}
    assert reasons == {"ValueError: it broke": "1", "no room": "1", "no sensor": "1"}
    assert "other columns than this version writes" in " ".join(page.words)


def test_no_other_number_is_on_the_page(page, directory):
    """Outside of the tables there are counts, and the constants of the formulas."""
    rows = sum(len(read_rows(path)) for path in directory.glob("[els]*/**/results.csv"))
    text = " ".join(page.words).replace(str(directory), "").replace(directory.name, "").replace(__version__, "")
    numbers = set(re.findall(r"\d+(?:\.\d+)?", text))
    training = {"90", "5", "4–5"}  # rows, columns and seeds in titles
    assert numbers <= {"3", str(rows), "1", "0.05", "4", "64", "2002", "2"} | training, numbers


def test_the_data_of_plots_and_exports_are_those_of_the_table(page, values):
    (text,) = (
        text
        for (attributes, text), n in zip(page.scripts, range(99), strict=False)
        if attributes.get("class") and n == 0
    )
    data = json.loads(gzip.decompress(base64.b64decode(text)))
    table = list(csv.DictReader(io.StringIO("\n".join(data["csv"]))))
    assert len(table) == len(data["rows"]) == len(data["latex"][1]) == len(NAMES) * len(D)
    for row, line, latex in zip(table, data["rows"], data["latex"][1], strict=True):
        numbers = values[row["dataset"], row["sketch"], int(row["features"]), "rel_frobenius"].values()
        assert float(row["rel_frobenius"]) == line["metrics"]["rel_frobenius"]["mean"] == pytest.approx(mean(numbers))
        assert spread(numbers).replace("±", r"$\pm$") in latex


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    place, rng = tmp_path_factory.mktemp("hostile"), np.random.default_rng(1)
    config = config_of()
    for name in PAYLOADS:
        for group in ("dataset", "sketch", "kernel", "task"):
            config[group] = config[group] | {"name": name}
        one_each = {(row["features"], row["seed"]): row for row in made_up(rng, 1, D, 2)}.values()
        rows = [row | {"metric": name, "unit": name, "message": name} for row in one_each]
        rows.append(rows[0] | {"features": 512, "status": "failed", "value": "", "message": name})
        run = place / "a <b>" / "jobs" / f"{len(list(place.rglob('run.json'))):03}"
        write_run(run, config, [row for row in rows if row["unit"]])
    return place


def test_names_inject_nothing_into_the_page(hostile):
    """The hostile page has the tags and attributes of a tame one, and scripts of its own only."""
    compare = [dict.fromkeys(("source", "dataset", "kernel", "degree", "sketch", "features", "metric"), PAYLOADS[0])]
    compare[0] |= {"published": PAYLOADS[1], "ours": "", "z": "", "verdict": PAYLOADS[2]}
    (hostile / "a <b>" / "figure.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1" onload="alert(1)"><script>alert(1)</script>'
        '<a href="javascript:alert(1)"><path d="M0 0"/></a><image href="http://x.invalid/a.png"/>'
        '<foreignObject><b>x</b></foreignObject><rect style="fill:url(http://x.invalid)" onclick="a()"/></svg>'
    )
    text = report_page(collect(hostile), compare)
    page = Page(text)
    assert [name for attributes in dict(page.tags).values() for name in attributes if name.startswith("on")] == []
    assert all(not name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert {tag for tag, _ in page.tags} & {"img", "a:href", "foreignobject", "iframe", "b"} == set()
    assert [attributes.get("type") for attributes, _ in page.scripts] == 3 * ["text/plain"] + ["module"]
    assert "x.invalid" not in text
    assert "7 * 7" in "".join(cell[0] for rows in page.tables.values() for row in rows for cell in row)


@pytest.mark.parametrize("kind", ["md", "latex", "csv", "json"])
def test_names_inject_nothing_into_other_formats(hostile, rfbench, kind):
    done = rfbench("report", hostile, "--format", kind)
    assert done.returncode == 0, done.stderr
    if kind == "csv":
        cells = [cell for row in csv.reader(io.StringIO(done.stdout)) for cell in row]
        assert any(cell.startswith("'=cmd") for cell in cells)
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]
    elif kind == "json":
        assert {line["sketch"] for line in json.loads(done.stdout)} == set(PAYLOADS)
    elif kind == "md":
        assert "<script" not in done.stdout
        assert "<img" not in done.stdout
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in done.stdout.splitlines() if line.startswith("| ")}
        assert len(widths) == 1
    else:
        body = [line for line in done.stdout.splitlines() if not line.startswith("%")]
        assert not re.search(r"(?<!\\)[#_^~]|(?<!\\)\{\{", "\n".join(body))


@pytest.mark.parametrize("kind", ["md", "latex"])
def test_tables_for_papers_have_the_same_numbers(directory, rfbench, values, kind):
    done = rfbench("report", directory, "--format", kind, "--metric", "rel_frobenius")
    text = done.stdout.replace(r"$\pm$", "±")
    for (_, _, _, metric), numbers in values.items():
        assert (spread(numbers.values()) in text) == (metric == "rel_frobenius")


def test_mistakes_are_one_line(tmp_path, rfbench, directory):
    (tmp_path / "empty").mkdir()
    one_line(rfbench("report"), "no directory outputs")
    one_line(rfbench("report", "empty"), "no results below empty")
    one_line(rfbench("report", directory / "damaged"), "other columns")
    one_line(rfbench("report", directory, "--metric", "rel_frobenus"), "did you mean 'rel_frobenius'")
    one_line(rfbench("report", directory, "--format", "pdf"), "html")
    one_line(rfbench("report", directory, "--output", "empty"), "is a directory")
    one_line(rfbench("report", "--compare", directory), "--compare")


def test_one_unreadable_run_among_many_is_listed(tmp_path, rfbench):
    write_experiment(tmp_path / "outputs" / "fine", NAMES[:2], np.random.default_rng(0))
    for name, content in (("other", b"\xff\xfe"), ("cut", b'{"config": {'), ("odd", b"[]")):
        place = tmp_path / "outputs" / name
        write_run(place, config_of(), list(made_up(np.random.default_rng(0), 1)))
        (place / "run.json").write_bytes(content)
    done = rfbench("report")
    assert done.returncode == 0, done.stderr
    assert sorted(re.findall(r"^unreadable: (\w+): run.json is damaged", done.stdout, re.MULTILINE)) == [
        "cut",
        "odd",
        "other",
    ]
    words = " ".join(Page((tmp_path / "outputs" / "report.html").read_text()).words)
    assert all(f"{name}" in words for name in ("cut", "odd", "other", "fine"))


def test_published_values_stand_beside_ours(directory):
    line = {"source": "T Fig. 1", "dataset": "mnist", "kernel": "k", "degree": "3", "sketch": "rff", "features": "64"}
    line |= {"metric": "error", "published": "0.1 ± 0.01 (10)", "ours": "0.11 ± 0.02 (10)", "z": "+0.5"}
    others = [line | {"verdict": "agree"}, line | {"verdict": "not computed"}]
    rows = Page(report_page(collect(directory), others)).tables["published-values"]
    assert [[text for text, _ in row][-4:] for row in rows[1:]] == [
        ["0.1 ± 0.01 (10)", "0.11 ± 0.02 (10)", "+0.5", "agree"]
    ]
