"""The catalogue, the YAML files and the sources speak of the same sets."""

import numpy as np
import pytest
import sklearn.datasets
import yaml
from support import ROOT

from rfbench.checks import InputError
from rfbench.datasets import GENERATED, load, names, status
from rfbench.datasets.published.catalogue import CATALOGUE, EMBEDDED
from rfbench.datasets.published.fingerprints import FINGERPRINTS
from rfbench.datasets.published.networks import MODELS, NETWORKS
from rfbench.datasets.published.sources import SOURCES

CONF = ROOT / "conf" / "dataset"
IMAGES = {"digits", "mnist", "fashion_mnist", "cifar10", "usps", *MODELS}


def test_every_set_has_a_yaml_and_every_yaml_a_set():
    assert {path.stem for path in CONF.glob("*.yaml")} == set(names())


@pytest.mark.parametrize("name", names())
def test_yaml_says_what_it_is_and_how_it_is_prepared(name):
    text = (CONF / f"{name}.yaml").read_text()
    assert text.startswith("# ")
    assert len(text.splitlines()[0]) <= 70
    config = yaml.safe_load(text)
    assert config["name"] == name
    if name not in (*GENERATED, "shifted"):
        usual = ["unit_norm"] if name in IMAGES else ["standardize", "unit_norm"]
        assert config["prepare"] == {"uk_house_prices": ["center"], "digit_halves": []}.get(name, usual)
        layers = name in MODELS and len(NETWORKS[MODELS[name]]) > 1
        assert set(config) == {"name", "prepare"} | ({"layer"} if layers else set())
        assert config.get("layer", "final") == "final"


def test_sources_and_fingerprints_are_of_known_sets():
    assert set(SOURCES) | set(FINGERPRINTS) <= set(CATALOGUE)


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_sets_need_no_file(name):
    data = load({"name": name}, data_dir=None, download=False)
    n, d = data.X.shape
    assert data.y.shape == ((n, 32) if name == "digit_halves" else (n,))
    assert d > 1
    assert status(name, None) == "embedded"
    if data.classes:
        assert set(data.y.read(0, n)) == set(range(data.classes))


def test_halves_of_digits_are_their_upper_and_lower_pixels():
    data, images = load({"name": "digit_halves"}, data_dir=None, download=False), sklearn.datasets.load_digits().images
    upper, lower = (rows.read(0, 1797).reshape(-1, 4, 8) for rows in (data.X, data.y))
    np.testing.assert_array_equal(16 * np.concatenate((upper, lower), axis=1), images)


@pytest.mark.parametrize("name", [name for name in EMBEDDED if name != "digit_halves"])
def test_embedded_sets_are_those_of_scikit_learn(name):
    options = {"scaled": False} if name == "diabetes" else {}
    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True, **options)
    data = load({"name": name}, data_dir=None, download=False)
    np.testing.assert_array_equal(data.X.read(0, len(X)), X)
    np.testing.assert_array_equal(data.y.read(0, len(X)), y)


def test_status_without_files(tmp_path):
    assert status("mnist", None) == "downloadable"
    assert status("usps", None) == "manual download"
    assert status("synthetic", None) == "generated"
    (tmp_path / "yacht").mkdir()
    (tmp_path / "yacht" / "data.txt.gz").touch()
    assert status("yacht", str(tmp_path)) == "available"


def test_wrong_name_gets_the_nearest():
    with pytest.raises(InputError, match="did you mean 'mnist'"):
        load({"name": "mnsit"}, data_dir=None, download=False)


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist", "usps"])
def test_absent_files_are_named_with_the_way_out(name, tmp_path):
    with pytest.raises(InputError) as caught:
        load({"name": name}, data_dir=str(tmp_path), download=False)
    line = str(caught.value)
    assert CATALOGUE[name].files[0] in line
    assert str(tmp_path / name) in line
    assert "dataset=digits" in line
    assert "\n" not in line
