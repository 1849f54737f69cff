"""Fitted objects in files: what is read is what was written, and nothing else is ever looked up."""

import json

import numpy as np
import pytest
from support import zoo

from rfbench import recipes
from rfbench.checks import InputError
from rfbench.commands.check import rows
from rfbench.sketches.draw import Draw


@pytest.mark.parametrize("name", [name for name in zoo.CASES if name != "localized_maclaurin"])
def test_every_fitted_sketch_comes_back_with_the_same_bits(name, tmp_path):
    sketch, X = zoo.sketch_of(name), rows().astype(np.float32)
    d = X.shape[1]
    D = sketch.count(d, 64)
    draw = Draw(sketch.adapt(X, D), d, D, 3, ("sketch", name), "float32")
    recipes.write_recipe(tmp_path / "draw.npz", draw)
    again = recipes.read_recipe(tmp_path / "draw.npz")
    np.testing.assert_array_equal(again()(X), draw()(X))


@pytest.mark.parametrize("word", ["os:system", "rfbench.storage:replace_file", "rfbench.sketches.base:np.load"])
def test_other_functions_are_refused(word, tmp_path):
    head = {"format": recipes.FORMAT, "versions": {}, "value": {"partial": {"name": word}, "arguments": ["true"]}}
    np.savez(tmp_path / "bad.npz", recipe=np.array(json.dumps(head)))
    with pytest.raises(InputError, match="not a part of a model"):
        recipes.read_recipe(tmp_path / "bad.npz")


def test_pickled_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "bad.npz", recipe=np.array([{"a": 1}], object))
    with pytest.raises(InputError, match="damaged"):
        recipes.read_recipe(tmp_path / "bad.npz")


def test_another_format_and_half_a_file_are_refused_in_a_line(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    recipes.write_recipe(path, (1, 2.5, "a", None, {"b": np.arange(3)}))
    assert recipes.read_recipe(path)[:4] == (1, 2.5, "a", None)
    monkeypatch.setattr(recipes, "FORMAT", 2)
    with pytest.raises(InputError, match="run the command that saved it again"):
        recipes.read_recipe(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="damaged"):
        recipes.read_recipe(path)


def test_what_cannot_be_saved_leaves_no_file(tmp_path):
    with pytest.raises(TypeError, match="object cannot be saved"):
        recipes.write_recipe(tmp_path / "a.npz", object())
    assert not list(tmp_path.iterdir())
