"""Experiments of the papers: each exists, is short, composes in every size and is told of in docs/paper.md."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from rfbench.checks import InputError
from rfbench.config.compose import CONF, choices, composing, first_config, parsed
from rfbench.config.experiments import completed
from rfbench.results.rows import read_rows

WACKER = (
    "2.1 2.3 3.2 3.3 3.4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 4.10 4.11 5.1 5.2 5.3 5.4 5.5 5.6 5.7 5.8 5.9 5.10 7.1"
)
FIGURES = [f"wacker/fig{name.replace('.', '_')}" for name in f"{WACKER} D.1 D.2 D.3 D.4 D.5".split()]
FIGURES += [f"wacker/table{name}" for name in ("4_2", "D_1")]
FIGURES += [f"brault/{name}" for name in ("fig1", "fig2", "fig3", "fig4", "fig5", "fig7", "table3")]
NAMES = list(choices("experiment"))


def test_all_are_there():
    assert set(FIGURES) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_one_is_short_and_names_only_what_there_is(name):
    path = CONF / "experiment" / f"{name}.yaml"
    assert len(path.read_text().splitlines()) <= 25
    node = OmegaConf.load(path)
    assert set(node.get("sizes", {})) <= {"quick", "full"}
    blocks = [node.hydra.sweeper.params, *node.get("sizes", {}).values()]
    for key, value in (item for block in blocks for item in block.items()):
        if "." not in key and key in ("dataset", "sketch", "kernel", "task"):
            assert {word.strip() for word in str(value).split(",")} <= set(choices(key)), (name, key)
    with composing():
        for size in ("quick", "normal", "full"):
            config = first_config(parsed([f"experiment={name}", f"size={size}"]))
            known = set(OmegaConf.to_container(config.sizes)) if config.sizes else set()
            assert known <= {"quick", "full"}


@pytest.mark.parametrize("name", NAMES)
def test_one_is_told_of(name):
    path = Path(__file__).parent.parent / "docs" / "paper.md"
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


def test_data_that_are_not_at_hand_are_left_out_and_told(monkeypatch, tmp_path):
    monkeypatch.delenv("RFBENCH_DATA", raising=False)
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path))
    words = ["experiment=wacker/fig4_8", "download=false"]
    with pytest.raises(InputError, match="none of its data sets is at hand"):
        completed(words)
    folder = tmp_path / "own" / "letter"
    folder.mkdir(parents=True)
    lines = "\n".join(f"{'AB'[i % 2]},{','.join(str(i + j) for j in range(16))}" for i in range(20_000))
    (folder / "letter-recognition.data").write_text(lines)
    found, notes = completed([*words, f"data_dir={tmp_path / 'own'}"])
    assert "dataset=letter" in found
    assert notes[-1] == "not at hand: mocap, mnist"


@pytest.mark.parametrize("name", ["wacker/fig3_2", "wacker/fig2_1"])
def test_some_run_quickly_and_twice_the_same(name, rfbench, tmp_path):
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
