"""Experiments: each is there, is short, has a line in docs/paper.md or docs/beyond.md (test_config.py composes it)."""

import re

import pytest
from omegaconf import OmegaConf
from support import ROOT

from rfbench.checks import InputError
from rfbench.config.experiments import plan
from rfbench.config.files import CONF, choices
from rfbench.launch import without_missing
from rfbench.results.rows import read_rows

WACKER = "2.1 2.2 2.3 3.2 3.3 3.4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 4.10 4.11 "
WACKER += "5.1 5.2 5.3 5.4 5.5 5.6 5.7 5.8 5.9 5.10 6.2 6.3 7.1 D.1 D.2 D.3 D.4 D.5"
FIGURES = [f"wacker/fig{name.replace('.', '_')}" for name in WACKER.split()]
FIGURES += [f"wacker/table{name}" for name in ("4_2", "6_1", "D_1")]
FIGURES += [f"brault/{name}" for name in ("fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "table3")]
FIGURES += [f"ohana/{name}" for name in ("fig2", "fig3", "fig4", "table1")] + [f"chang/fig{n}" for n in range(2, 7)]
PAGES = {"beyond": "beyond.md", "frontier": "frontier.md", "buechel": "frontier.md"}  # of the others: paper.md
NAMES = [name for name in choices("experiment") if "/" in name]  # not the demo


# Counted in the works themselves.
NUMBERED = {"T": f"1.1 1.2 1.3 1.4 3.1 6.1 {WACKER}", "O": "1 2 3 4", "C": "1 2 3 4 5 6", "B": "1 2 3 4 5 6 7"}
TABLES = {"T": "4.1 4.2 5.1 5.2 6.1 D.1", "O": "1", "B": "1 2 3"}


def test_every_figure_and_table_of_the_works_has_a_line_on_the_page():
    """With its command, or with the reason why it has none."""
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    first = [line.split(" | ")[0] for line in page.splitlines() if re.match(r"\| [TOCB] ", line)]
    same = re.findall(r"`make (fig|table)-wacker-(6\.\d)`", page)  # experiments of O that the thesis repeats
    listed = {name for line in first for name in re.findall(r"[TOCB] (?:Fig\.|Table) [\w.]+", line)}
    listed |= {f"T {'Fig.' if kind == 'fig' else 'Table'} {number}" for kind, number in same}
    wanted = {f"{work} Fig. {number}" for work, numbers in NUMBERED.items() for number in numbers.split()}
    wanted |= {f"{work} Table {number}" for work, numbers in TABLES.items() for number in numbers.split()}
    assert wanted - listed == set()


def test_all_are_there():
    assert set(FIGURES) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_one_is_short_and_names_existing_choices(name):
    path = CONF / "experiment" / f"{name}.yaml"
    assert len(path.read_text().splitlines()) <= 25
    node = OmegaConf.load(path)
    assert set(node.get("sizes", {})) <= {"quick", "full"}
    blocks = [OmegaConf.select(node, "hydra.sweeper.params") or {}, *node.get("sizes", {}).values()]
    for key, value in (item for block in blocks for item in block.items()):
        if "." not in key and key in ("dataset", "sketch", "kernel", "task"):
            assert {word.strip() for word in str(value).split(",")} <= set(choices(key)), (name, key)


@pytest.mark.parametrize("name", NAMES)
def test_one_has_a_line_in_the_list(name):
    paper, figure = name.split("/")
    kind = "table" if figure.startswith("table") else "fig"
    target = f"{kind}-{paper}-{figure.removeprefix(kind).replace('_', '.')}"
    page = PAGES.get(paper, "paper.md")
    target = f"{paper}-{figure}" if paper in PAGES else target
    assert f"`make {target}`" in (ROOT / "docs" / page).read_text(encoding="utf-8")


def test_a_size_is_overrides_and_what_was_given_goes_before():
    planned = plan(["experiment=wacker/fig4_8", "size=quick"], False)
    assert {"dataset=digits", "seeds=1", "features=2d"} <= set(planned.words)
    assert "seeds 1 (paper: 100)" in planned.notes[0]
    planned = plan(["experiment=wacker/fig4_8", "size=quick", "dataset=wine", "seeds=3"], False)
    assert not {"dataset=digits", "seeds=1"} & set(planned.words)
    assert "seeds" not in planned.notes[0]
    planned = plan(["experiment=wacker/fig4_8", "data_dir=/here", "download=false"], False)
    assert (planned.data_dir, planned.download) == ("/here", False)
    planned = plan(["degree=3"], False)
    assert (planned.words, planned.multirun, planned.notes) == (["degree=3"], False, [])
    with pytest.raises(InputError, match="quick, normal or full"):
        plan(["experiment=wacker/fig4_8", "size=fast"], False)


def test_missing_datasets_are_left_out_and_named_in_the_caption(data_dir):
    """Mocap cannot be downloaded with download=false."""
    planned = without_missing(plan(["experiment=wacker/fig4_8", "download=false"], False))
    assert "dataset=letter,mnist" in planned.words
    assert planned.notes[-1] == "missing datasets: mocap"
    planned = without_missing(plan(["experiment=wacker/fig4_8", "download=false", "dataset=mocap"], False))
    assert not any(word.startswith("dataset=letter") for word in planned.words)


def test_no_dataset_at_all_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.delenv("RFBENCH_DATA", raising=False)
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="none of its datasets is available"):
        without_missing(plan(["experiment=wacker/fig4_8", "download=false"], False))


def test_printing_a_config_reads_and_downloads_nothing(rfbench, monkeypatch):
    monkeypatch.setattr("rfbench.datasets.load", None)
    monkeypatch.setattr("rfbench.datasets.status", None)
    done = rfbench("experiment=wacker/fig4_8", "--cfg", "job")
    assert done.returncode == 0, done.stderr
    assert "name: letter" in done.stdout


def test_one_runs_quickly_and_twice_the_same(rfbench, tmp_path):
    name = "wacker/fig2_1"
    words = (f"experiment={name}", "size=quick")
    done = rfbench(*words)
    assert done.returncode == 0, done.stderr
    directory = tmp_path / "outputs" / name
    before = {path.name: path.read_bytes() for path in directory.iterdir() if path.suffix in (".png", ".svg", ".csv")}
    assert {"figure.png", "figure.svg", "figure.csv"} <= set(before)
    assert read_rows(directory / "results.csv")
    for path in directory.glob("figure.*"):
        path.unlink()
    assert rfbench(*words).returncode == 0
    assert before == {name: (directory / name).read_bytes() for name in before}
