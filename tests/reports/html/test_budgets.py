"""Tables at equal cost, computed again from the rows by interpolation in NumPy; contests at measured costs."""

import json

import numpy as np
import pytest
from support.results import config_of, made_up, write_run

from rfbench.cli import main
from rfbench.reports.html import contests
from rfbench.reports.html.collect import collect

SIZES, SEEDS = (64, 128, 256), 3
SPEED = {"rff": 1.0, "orf": 3.0, "nystrom": 40.0}  # how much more a sketch costs


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Three sketches whose costs grow with the features; one is so dear that a small budget does not reach it."""
    place, rng = tmp_path_factory.mktemp("budgets"), np.random.default_rng(3)
    for sketch, factor in SPEED.items():
        rows = list(made_up(rng, 1 + (sketch == "rff"), SIZES, SEEDS, ("rel_frobenius", "fit_seconds")))
        for D in SIZES:
            for seed in range(SEEDS):
                where = {"features": D, "seed": seed}
                for metric, value in (("seconds_total", D * factor / 64), ("bytes", 4e6 * D), ("flops", 1e9 * D)):
                    rows.append(where | {"metric": metric, "value": repr(value * (1 + 0.1 * (seed == 0)))})
        config = config_of("kernel=gaussian", "sketch=rff")
        config["sketch"]["name"] = sketch
        write_run(place / sketch, config, [row | {"sketch": sketch} for row in rows])
    return place


def expected(results, sketch, at):
    """Mean over seeds of the metric at a cost, or at the largest one that was run; None below the smallest."""
    numbers, _ = collect(results).frames
    rows = numbers[numbers["sketch"] == sketch]
    x = [np.median(rows[(rows.metric == "seconds_total") & (rows.features == D)].value) for D in SIZES]
    if at < x[0]:
        return None
    found = []
    for seed in range(SEEDS):
        one = rows[(rows.metric == "rel_frobenius") & (rows.seed == seed)].sort_values("features").value
        found.append(np.exp(np.interp(np.log(at), np.log(x), np.log(one))))
    return np.mean(found)


def test_a_table_at_equal_seconds_follows_from_the_rows(results, tmp_path):
    out, budgets = tmp_path / "at.json", (1.5, 6.0, 50.0)
    words = ["--metric", "rel_frobenius", "--at", f"seconds_total={','.join(map(str, budgets))}"]
    assert main(["report", str(results), *words, "--format", "json", "--output", str(out)]) == 0
    lines = {line["sketch"]: line["metrics"] for line in json.loads(out.read_text())}
    assert lines.keys() == SPEED.keys()
    for at in budgets:
        means = {sketch: expected(results, sketch, at) for sketch in SPEED}
        reached = [(mean, sketch) for sketch, mean in means.items() if mean is not None]
        best = min(reached)[1] if len(reached) > 1 else None
        for sketch, mean in means.items():
            cell = lines[sketch][f"seconds_total {at:g}"]
            assert cell.get("mean") == (mean if mean is None else pytest.approx(mean, rel=1e-12))
            assert bool(cell.get("best")) == (sketch == best)
            assert ("reason" in cell) == (mean is None or at > SIZES[-1] * SPEED[sketch] / 64)


def test_every_format_has_the_table_and_says_what_is_missing(results, capsys):
    for kind in ("md", "latex", "csv"):
        assert main(["report", str(results), "--format", kind, "--at", "seconds_total=6"]) == 0
        text = capsys.readouterr().out
        assert "seconds_total 6" in text.replace("\\_", "_")
        assert "costs more with the fewest features" in text


def test_a_table_at_equal_features_has_the_measured_means(results, capsys):
    assert main(["report", str(results), "--format", "json", "--at", "features=128"]) == 0
    numbers, _ = collect(results).frames
    for line in json.loads(capsys.readouterr().out):
        rows = numbers[(numbers.sketch == line["sketch"]) & (numbers.features == 128)]
        assert line["metrics"]["features 128"]["mean"] == pytest.approx(
            rows[rows.metric == "rel_frobenius"].value.mean()
        )


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--format", "md", "--at", "joules=1"], "no 'joules' below"),
        (["--format", "md", "--at", "seconds_total=0"], "wanted a cost and numbers"),
        (["--format", "md", "--at", "seconds_total"], "wanted a cost and numbers"),
        (["--at", "seconds_total=1"], "needs --format md"),
    ],
)
def test_a_mistake_costs_one_line(results, capsys, words, hint):
    assert main(["report", str(results), *words]) == 2
    assert hint in capsys.readouterr().err


def test_contests_are_at_the_costs_that_were_measured(results):
    """Not at the seconds of a model's fit, in which nystrom is as cheap as the others, nor at the bytes of a row."""
    (setting,) = contests.settings(*collect(results).frames)
    assert setting.costs == {"features": "features", "time": "seconds_total", "memory": "bytes", "operations": "flops"}
    assert setting.contests["memory"].at == 4e6 * 256
    assert setting.contests["operations"].at == 1e9 * 256
    assert {entry.sketch for entry in setting.contests["time"].entries} == {"rff", "orf"}
