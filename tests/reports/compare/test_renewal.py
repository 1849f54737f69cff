"""bench/cells.py and bench/paper.py: which cells are run, and how their verdicts reach the page."""

import csv
import subprocess
import sys

import pytest
from support import ROOT

from rfbench.reports.compare.command import COLUMNS, as_csv
from rfbench.reports.compare.verdicts import AGREE, DISAGREE, NOT_COMPUTED

CELL = dict.fromkeys(COLUMNS, "") | {
    "kind": "cell",
    "source": "T Fig. 4.8",
    "published": "0.5",
    "verdict": NOT_COMPUTED,
}
CLAIM = CELL | {"kind": "claim", "source": "T Fig. 4.9, T Fig. 4.10", "published": "is smaller"}
ROW = "| T Fig. {0} | `make fig-wacker-{0}` | errors | {1} | {2} |"


def python(script, *words, cwd):
    done = subprocess.run([sys.executable, ROOT / "bench" / script, *words], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.medium
def test_the_plan_has_cells_without_verdict_and_fault(tmp_path, data_dir):
    judged = tmp_path / "compare.csv"
    judged.write_text(as_csv([]))
    everything = python("cells.py", "--plan", "--judged", judged, cwd=tmp_path).splitlines()
    assert sum(int(line.split()[1]) for line in everything[:-1]) == int(everything[-1].split()[0]) > 50
    rates = [float(line.split()[3]) / int(line.split()[1]) for line in everything[:-1]]
    assert rates == pytest.approx(sorted(rates), abs=1)
    boston = "task=kernel_error dataset=boston 'dataset.prepare=[unit_norm]' sketch=srf"
    assert sum(boston in line for line in everything) == 1
    assert not any("_seconds" in line or "opu=" in line for line in everything)
    setting = {"source": "T Table D.1", "dataset": "boston", "prepare": "unit_norm", "task": "gpr", "degree": "20"}
    setting |= {"kernel": "polynomial(0.125, 0.875)", "sketch": "srf", "features": "80", "metric": "rel_frobenius"}
    judged.write_text(as_csv([CELL | setting | {"verdict": DISAGREE}]))
    assert not any(
        boston in line for line in python("cells.py", "--plan", "--judged", judged, cwd=tmp_path).splitlines()
    )


@pytest.fixture
def page(tmp_path):
    """A page with two figures, of which one has run, and the verdicts of an earlier run."""
    for name in ("docs/paper", "outputs"):
        (tmp_path / name).mkdir(parents=True)
    rows = [ROW.format("4.8", "not run", ""), ROW.format("4.9", "old", "12"), ROW.format("4.10", "old", "3"), "text"]
    (tmp_path / "docs" / "paper.md").write_text("\n".join(rows) + "\n")
    old = [CELL | {"features": "1", "verdict": DISAGREE}, CLAIM | {"dataset": "mnist", "verdict": "holds"}]
    (tmp_path / "docs" / "paper" / "compare.csv").write_text(as_csv(old))
    new = [CELL | {"features": "1", "verdict": AGREE}, CELL | {"features": "2"}, CLAIM | {"verdict": "fails"}]
    (tmp_path / "outputs" / "compare.csv").write_text(as_csv(new))
    return tmp_path


def test_a_cell_with_more_seeds_replaces_its_old_verdict(page):
    for name, verdict, ours in (("docs/paper", DISAGREE, "1 ± 0.1 (3)"), ("outputs", AGREE, "1 ± 0.1 (30)")):
        (page / name / "compare.csv").write_text(as_csv([CELL | {"verdict": verdict, "ours": ours}]))
    assert "1 of 1 cells agree" in python("paper.py", "--keep", cwd=page)


@pytest.mark.parametrize(
    ("words", "wanted", "shown"),
    [
        ((), [AGREE, NOT_COMPUTED, "fails"], "0 of 1 claims hold (none clearly)"),
        (("--keep",), [DISAGREE, NOT_COMPUTED, "holds"], "1 of 1 claims hold (none clearly)"),
    ],
)
def test_every_row_is_kept_and_old_verdicts_on_request(page, words, wanted, shown):
    python("paper.py", *words, cwd=page)
    with open(page / "docs" / "paper" / "compare.csv") as file:
        assert [line["verdict"] for line in csv.DictReader(file)] == wanted
    rows = (page / "docs" / "paper.md").read_text().splitlines()
    wanted = ROW.format("4.8", "not run", ""), ROW.format("4.9", shown, "12"), ROW.format("4.10", "see T Fig. 4.9", "3")
    assert rows == [*wanted, "text"]
