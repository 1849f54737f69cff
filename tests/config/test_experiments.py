"""Experiments of the papers: each exists, is short, and is told of in docs/paper.md (test_config.py composes them)."""

import pytest
from omegaconf import OmegaConf
from support import ROOT

from rfbench.checks import InputError
from rfbench.config.compose import CONF, choices
from rfbench.config.experiments import completed
from rfbench.results.rows import read_rows

WACKER = "2.1 2.2 2.3 3.2 3.3 3.4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 4.10 4.11 "
WACKER += "5.1 5.2 5.3 5.4 5.5 5.6 5.7 5.8 5.9 5.10 6.2 6.3 7.1 D.1 D.2 D.3 D.4 D.5"
FIGURES = [f"wacker/fig{name.replace('.', '_')}" for name in WACKER.split()]
FIGURES += [f"wacker/table{name}" for name in ("4_2", "6_1", "D_1")]
FIGURES += [f"brault/{name}" for name in ("fig1", "fig2", "fig3", "fig4", "fig5", "fig7", "table3")]
FIGURES += [f"ohana/{name}" for name in ("fig2", "fig3", "fig4", "table1")] + ["chang/fig2", "chang/fig5"]
NAMES = list(choices("experiment"))


def test_all_are_there():
    assert set(FIGURES) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_one_is_short_and_names_only_what_there_is(name):
    path = CONF / "experiment" / f"{name}.yaml"
    assert len(path.read_text().splitlines()) <= 25
    node = OmegaConf.load(path)
    assert set(node.get("sizes", {})) <= {"quick", "full"}
    blocks = [OmegaConf.select(node, "hydra.sweeper.params") or {}, *node.get("sizes", {}).values()]
    for key, value in (item for block in blocks for item in block.items()):
        if "." not in key and key in ("dataset", "sketch", "kernel", "task"):
            assert {word.strip() for word in str(value).split(",")} <= set(choices(key)), (name, key)


@pytest.mark.parametrize("name", NAMES)
def test_one_is_told_of(name):
    path = ROOT / "docs" / "paper.md"
    paper, figure = name.split("/")
    kind = "table" if figure.startswith("table") else "fig"
    assert f"`make {kind}-{paper}-{figure.removeprefix(kind).replace('_', '.')}`" in path.read_text(encoding="utf-8")


def test_a_size_is_overrides_and_what_was_given_goes_before():
    words, notes = completed(["experiment=wacker/fig4_8", "size=quick"])
    assert {"dataset=digits", "seeds=1", "features=2d"} <= set(words)
    assert "seeds 1 (paper: 100)" in notes[0]
    words, notes = completed(["experiment=wacker/fig4_8", "size=quick", "dataset=wine", "seeds=3"])
    assert not {"dataset=digits", "seeds=1"} & set(words)
    assert "seeds" not in notes[0]
    assert completed(["degree=3"]) == (["degree=3"], [])
    with pytest.raises(InputError, match="quick, normal or full"):
        completed(["experiment=wacker/fig4_8", "size=fast"])


def test_data_that_are_not_at_hand_are_left_out_and_told(monkeypatch, data_dir):
    """Mocap cannot be fetched by this command, and its place in the caption is kept."""
    words, notes = completed(["experiment=wacker/fig4_8", "download=false"])
    assert "dataset=letter,mnist" in words
    assert notes[-1] == "not at hand: mocap"
    words, notes = completed(["experiment=wacker/fig4_8", "download=false", "dataset=mocap"])
    assert not any(word.startswith("dataset=letter") for word in words)


def test_none_at_hand_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.delenv("RFBENCH_DATA", raising=False)
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="none of its data sets is at hand"):
        completed(["experiment=wacker/fig4_8", "download=false"])


def test_one_runs_quickly_and_twice_the_same(rfbench, tmp_path):
    name = "wacker/fig2_1"
    words = (f"experiment={name}", "size=quick")
    done = rfbench(*words)
    assert done.returncode == 0, done.stderr
    directory = next(path.parent for path in tmp_path.glob(f"outputs/{name}/*/multirun.yaml"))
    before = {path.name: path.read_bytes() for path in directory.iterdir() if path.suffix in (".png", ".svg", ".csv")}
    assert {"figure.png", "figure.svg", "figure.csv"} <= set(before)
    assert read_rows(directory / "results.csv")
    for path in directory.glob("figure.*"):
        path.unlink()
    assert rfbench(*words).returncode == 0
    assert before == {name: (directory / name).read_bytes() for name in before}
