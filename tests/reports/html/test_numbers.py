"""Rankings, winners and changes, computed again from results.csv by loops over what the pages say about them."""

import copy
import csv
import math
import re
from collections import defaultdict
from itertools import pairwise
from statistics import mean, median

import numpy as np
import pytest
from scipy.stats import ttest_rel
from support.page import Page
from support.results import config_of, made_up, write_run

from rfbench.cli import main

pytestmark = pytest.mark.medium
METRICS = {"kernel_error": "rel_frobenius", "ridge": "nmse", "gpc": "mnll"}
SECONDS = {"kernel_error": "transform_seconds", "ridge": "fit_seconds", "gpc": "fit_seconds"}
SKETCHES = ("rademacher", "gaussian", "tensorsketch", "tensorsrht")
SETTING = ("dataset", "n_train", "n_test", "d", "task", "kernel", "degree")
CELL = ("dataset", "task", "kernel", "degree", "sketch", "features", "metric")
NO_NUMBER = {"metric": "", "value": "", "status": "failed", "message": "it broke"}
BASE = config_of()
NOWHERE = NO_NUMBER | {"n_train": "", "n_test": "", "d": "", "features": "", "seed": ""}


def write_job(place, dataset, task, sketch, rows):
    """One job, by names."""
    config = copy.deepcopy(BASE) | {"features": [64, 128, 256], "seeds": 5}
    for group, name in (("dataset", dataset), ("task", task), ("sketch", sketch)):
        config[group]["name"] = name
    write_run(place, config, rows)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Sketches of different speed in five settings; a seed and jobs that failed, a missing seed, values below 0."""
    place, rng = tmp_path_factory.mktemp("results"), np.random.default_rng(7)
    settings = [("digits", "kernel_error", 2), ("digits", "kernel_error", 4), ("wine", "kernel_error", 3)]
    settings += [("digits", "ridge", 3), ("wine", "gpc", 3)]
    for number, (dataset, task, degree) in enumerate(settings):
        for sketch in SKETCHES:
            speed, level = rng.uniform(1, 4), rng.choice([1, 1.3, 4])
            rows = [
                row | {"degree": degree, "value": repr(float(row["value"]) * (speed if row["unit"] else 1))}
                for row in made_up(rng, level, metrics=(METRICS[task], SECONDS[task]))
            ]
            if (task, sketch) == ("gpc", "gaussian"):
                rows = [row | {"value": repr(0.05 - float(row["value"]))} if not row["unit"] else row for row in rows]
            if (task, sketch) == ("ridge", "gaussian"):
                rows = [row for row in rows if (row["features"], row["seed"]) != (128, 3)]
                rows.append(NO_NUMBER | {"features": 128, "seed": 3})
            if (task, sketch) == ("ridge", "tensorsketch"):
                rows = [row for row in rows if row["seed"] != 4]
            if (dataset, task, sketch) == ("wine", "kernel_error", "tensorsrht"):
                rows = [NOWHERE]
            write_job(place / f"{number}-{sketch}", dataset, task, sketch, rows)
    write_job(place / "lost", "digits", "gpc", "gaussian", [NOWHERE])
    return place


def rows_below(place):
    """The rows of all results, read without the code under test."""
    return [row for path in sorted(place.rglob("results.csv")) for row in csv.DictReader(path.open())]


def entries(rows, setting, kind):
    """sketch → seed → value at equal features or time, None where the sketch failed."""
    dataset, *_, task, kernel, degree = setting
    points = defaultdict(lambda: defaultdict(dict))  # sketch → features → seed → value
    seconds = defaultdict(list)
    failed = defaultdict(set)
    for row in rows:
        if row["status"] == "failed":
            known = (row["dataset"], row["task"], row["kernel"]) == (dataset, task, kernel)
            if known and row["degree"] in ("", degree):
                failed[row["sketch"]].add(row["features"])
        elif tuple(row[key] for key in SETTING) == setting:
            if row["metric"] == METRICS[task]:
                points[row["sketch"]][int(row["features"])][row["seed"]] = float(row["value"])
            elif row["metric"] == SECONDS[task]:
                seconds[row["sketch"], int(row["features"])].append(float(row["value"]))
    curves = {}  # sketch → (cost, seed → value), ascending
    for sketch, sizes in points.items():
        costs = [D if kind == "features" else median(seconds[sketch, D]) for D in sizes]
        curves[sketch] = sorted(zip(costs, sizes.values(), strict=True), key=lambda point: point[0])
    most, where = 0, 0.0
    for x in sorted(cost for curve in curves.values() for cost, _ in curve):
        reaching = sum(between(curve, x, kind) is not None for curve in curves.values())
        if reaching >= most:
            most, where = reaching, x
    found = {sketch: between(curve, where, kind) for sketch, curve in curves.items()}
    found = {sketch: values for sketch, values in found.items() if values is not None}
    for sketch, sizes in failed.items():
        if kind == "time" or sizes & {"", f"{where:.0f}"}:
            found[sketch] = None
    return found


def between(curve, x, kind):
    """seed → value at cost x, in logarithms where all values are positive; None where the curve does not reach it."""
    for cost, values in curve:
        if cost == x:
            return values
    for (low, before), (high, after) in pairwise(curve):
        if kind == "time" and low < x < high:
            w = math.log(x / low) / math.log(high / low)
            if min(*before.values(), *after.values()) > 0:
                return {seed: before[seed] ** (1 - w) * after[seed] ** w for seed in before if seed in after}
            return {seed: (1 - w) * before[seed] + w * after[seed] for seed in before if seed in after}
    return None


def winner(found):
    """(the best sketch, whether it is beyond chance)."""
    ranked = sorted((s for s in found if found[s]), key=lambda sketch: mean(found[sketch].values()))
    best, *others = ranked
    tests = []
    for other in others:
        seeds = sorted(found[best].keys() & found[other].keys())
        tests.append(ttest_rel(*([found[sketch][seed] for seed in seeds] for sketch in (best, other))).pvalue)
    return best, bool(tests) and max(tests) * len(tests) < 0.05


def expected_ranking(rows, kind):
    """sketch → cells of its line."""
    ratios, won = defaultdict(list), defaultdict(int)
    for setting in {tuple(row[key] for key in SETTING) for row in rows if row["status"] == "ok"}:
        found = entries(rows, setting, kind)
        means = {sketch: mean(values.values()) for sketch, values in found.items() if values}
        if min(means.values()) > 0:
            won[winner(found)[0]] += 1
            for sketch in found:
                ratios[sketch].append(means[sketch] / min(means.values()) if sketch in means else None)
    worst = max(ratio for one in ratios.values() for ratio in one if ratio)
    lines = {}
    for sketch, one in ratios.items():
        score = math.exp(mean(math.log(ratio or worst) for ratio in one))
        lines[sketch] = [f"{score:.3f}", str(len(one)), str(won[sketch]), str(one.count(None))]
    return lines


def expected_matrix(rows):
    """(lines of cells, names in bold)."""
    settings = sorted({tuple(row[key] for key in SETTING) for row in rows if row["status"] == "ok"})
    datasets, tasks = (sorted({row[key] for row in rows}) for key in ("dataset", "task"))
    lines, bold = [[["dataset"], *([task] for task in tasks)]], []
    for dataset in datasets:
        lines.append([[dataset]])
        for task in tasks:
            here = [setting for setting in settings if (setting[0], setting[4]) == (dataset, task)]
            winners = [winner(entries(rows, setting, "features")) for setting in here]
            bold += [best for best, sure in winners if sure]
            words = [f" {setting[5]}, degree {setting[6]}" if len(here) > 1 else "" for setting in here]
            names = [best + word for (best, _), word in zip(winners, words, strict=True)]
            lost = any((row["dataset"], row["task"], row["status"]) == (dataset, task, "failed") for row in rows)
            lines[-1].append(names or ["failed" if lost else "–"])
    return lines, bold


def texts(table):
    return [[text for text, _ in row] for row in table]


def expected_overview(rows):
    return {kind: expected_ranking(rows, kind) for kind in ("features", "time")} | {"matrix": expected_matrix(rows)}


def check_overview(text, expected):
    """The rankings and the matrix."""
    page = Page(text)
    for kind in ("features", "time"):
        shown = {sketch: cells for sketch, *cells in texts(page.tables[f"ranking-{kind}"])[1:]}
        assert shown == expected[kind]
        assert list(shown) == sorted(shown, key=lambda sketch: float(shown[sketch][0]))
        orders = [float(row[1][1]["data-order"]) for row in page.tables[f"ranking-{kind}"][1:]]
        assert [f"{order:.3f}" for order in orders] == [cells[0] for cells in shown.values()]
    cells = texts(page.tables["matrix"])
    matrix = [[[one.strip() for one in cell.split("\n") if one.strip()] for cell in row] for row in cells]
    assert (matrix, page.bold["matrix"]) == expected["matrix"]


def by_cell(rows):
    """cell → seed → value."""
    found = defaultdict(dict)
    for row in rows:
        if row["status"] == "ok":
            found[tuple(row[key] for key in CELL)][row["seed"]] = float(row["value"])
    return found


def expected_changes(before, after):
    """table → its lines."""
    a, b = by_cell(before), by_cell(after)
    pairs = {cell: [(a[cell][seed], b[cell][seed]) for seed in a[cell] if seed in b[cell]] for cell in a if cell in b}
    differ = {cell for cell, both in pairs.items() if any(abs(y - x) > 1e-6 * abs(x) for x, y in both)}
    raw = {cell: ttest_rel(*zip(*pairs[cell], strict=True)).pvalue for cell in differ if len(pairs[cell]) > 1}
    lines = {"equal": [cell for cell in pairs if cell not in differ], "moved": [], "within": [], "changed": []}
    for cell in differ:
        x, y = (mean(side) for side in zip(*pairs[cell], strict=True))
        p, shown = 1.0, "–"
        if cell in raw:
            for other in raw.values():  # of Benjamini and Hochberg
                if other >= raw[cell]:
                    p = min(p, other * len(raw) / sum(one <= other for one in raw.values()))
            shown = "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
        kind = "changed" if cell not in raw else "moved" if p < 0.05 else "within"
        numbers = [f"{x:.4g}", f"{y:.4g}", f"{100 * (y / x - 1):+.2f} %", str(len(pairs[cell])), shown]
        lines[kind].append([*named(cell), *numbers])
    lines["new"] = [[*named(cell), f"{len(b[cell])} seeds"] for cell in b if cell not in a]
    lines["gone"] = [[*named(cell), f"{len(a[cell])} seeds"] for cell in a if cell not in b]
    return lines


def named(cell):
    dataset, task, kernel, degree, sketch, features, metric = cell
    return [dataset, task, f"{kernel}, degree {degree}", sketch, features, metric]


def check_changes(text, expected):
    """All tables, and the counts above them."""
    page = Page(text)
    for kind in ("moved", "within", "changed", "new", "gone"):
        shown = texts(page.tables.get(f"{kind}-cells", []))[1:]
        assert sorted(shown) == sorted(expected[kind]), kind
    changes = [abs(float(row[8].removesuffix(" %"))) for row in texts(page.tables["moved-cells"])[1:]]
    assert changes == sorted(changes, reverse=True)
    n = {kind: len(lines) for kind, lines in expected.items()}
    both = n["moved"] + n["within"] + n["changed"] + n["equal"]
    counts = [both, n["moved"], n["within"], n["changed"], n["equal"], n["new"], n["gone"]]
    told = next(words for words in page.words if words.startswith("Both sides have"))
    assert re.findall(r"\d+", told) == list(map(str, counts))


def readable(path):
    """What a reader sees before the experiments, without the libraries."""
    text = path.read_text()
    return re.split('<section class="experiment"|</main>', text[text.index("<header") :])[0]


def spoiled(text, tables):
    """The page with one digit changed, for each number in some tables."""
    for name in tables:
        start = text.index("<tbody>", text.index(name))
        for number in re.finditer(r">[^<]*?(\d)[^<]*<", text[start : text.index("</tbody>", start)]):
            at = start + number.start(1)
            yield text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]


@pytest.fixture(scope="module")
def overview(results):
    assert main(["report", str(results)]) == 0
    return readable(results / "report.html")


def test_rankings_and_winners_follow_from_the_rows(overview, results):
    """The made-up results have what the definitions tell apart: failures, wins of several sketches, certain ones."""
    expected = expected_overview(rows_below(results))
    check_overview(overview, expected)
    assert expected["features"] != expected["time"]
    assert [sum(int(line[3]) for line in expected[kind].values()) for kind in ("features", "time")] == [1, 2]
    assert 0 < len(expected["matrix"][1]) < 5


def test_one_wrong_number_or_winner_in_the_overview_is_found(overview, results):
    expected = expected_overview(rows_below(results))
    wrong = list(spoiled(overview, ["ranking-features", "ranking-time", 'class="matrix"']))
    assert len(wrong) == 2 * 4 * len(SKETCHES) + 2  # two degrees in the matrix
    matrix = overview[: overview.index("</table>")]
    for name in re.finditer(r"<div>(?:<strong>)?(\w)", matrix):
        wrong.append(f"{overview[: name.start(1)]}x{overview[name.end(1) :]}")
    wrong.append(re.sub("</?strong>", "", matrix, count=2) + overview[len(matrix) :])
    for text in wrong:
        with pytest.raises(AssertionError):
            check_overview(text, expected)


@pytest.fixture(scope="module")
def sides(results, tmp_path_factory):
    """The results, and others in which numbers moved, clearly or a little, are equal, new, gone or of one seed."""
    place, rng = tmp_path_factory.mktemp("after"), np.random.default_rng(8)
    for path in sorted(results.rglob("results.csv")):
        rows = [row for row in csv.DictReader(path.open()) if row["status"] == "ok"]
        if not rows or path.parent.name == "0-gaussian":
            continue
        for row in rows:
            shift = {"64": 0.1, "128": 0.0, "256": 0.0}[row["features"]]
            noise = 0.03 * rng.normal() if row["features"] != "256" else 1e-9
            row["value"] = repr(float(row["value"]) * (1 + shift + noise))
            row["sketch"] = {"4-tensorsrht": "tensorsrht2"}.get(path.parent.name, row["sketch"])
        if path.parent.name == "1-rademacher":
            rows = [row for row in rows if row["seed"] == "2"]
        write_job(place / path.parent.name, rows[0]["dataset"], rows[0]["task"], rows[0]["sketch"], rows)
    assert main(["report", "--compare", str(results), str(place)]) == 0
    return readable(place / "changes.html"), expected_changes(rows_below(results), rows_below(place))


def test_changes_follow_from_the_rows(sides):
    text, expected = sides
    check_changes(text, expected)
    assert all(expected.values())


def test_one_wrong_number_among_the_changes_is_found(sides):
    text, expected = sides
    tables = [f'id="{kind}-cells"' for kind in ("moved", "within", "changed", "new", "gone")]
    wrong = list(spoiled(text, tables))
    assert len(wrong) > 200
    for one in wrong[::5]:
        with pytest.raises(AssertionError):
            check_changes(one, expected)
