"""A TorchScript of convolutions as modules of Python that compute the same in less than half the time.

Batch norms of a trained network are affine and become part of the convolutions before them.  An average pooling with
stride 1 commutes with the 1 × 1 convolution after it, which has fewer outputs than inputs.  Copies to another layout
are left out.  Only the loader of TorchScript imports this module: it needs torch.
"""

from typing import Any

import torch
from torch import nn

# Checks of the shape of the input, and the flattening of the output.
IDLE = {"prim::dtype", "prim::If", "prim::ListUnpack", "aten::size", "aten::eq", "aten::reshape"}


class Folded(nn.Module):  # type: ignore[misc]
    """Steps in their order: a module for each name of an output, and the names of its inputs."""

    def __init__(self, image: str, modules: dict[str, Any], inputs: dict[str, list[str]]) -> None:
        super().__init__()
        self.image, self.inputs = image, inputs
        self.names, self.steps = list(modules), nn.ModuleList(modules.values())
        self.last = {one: name for name in modules for one in inputs[name]}

    def forward(self, images: Any) -> Any:
        values = {self.image: images}
        for name, step in zip(self.names, self.steps, strict=True):
            values[name] = step(*(values[one] for one in self.inputs[name]))
            for one in self.inputs[name]:
                if self.last[one] == name:
                    del values[one]
        return values[self.names[-1]]


class Join(nn.Module):  # type: ignore[misc]
    def forward(self, *parts: Any) -> Any:
        return torch.cat(parts, 1)


def folded(script: Any) -> Folded:
    """The modules of a frozen TorchScript, in single precision; each operation that it does not know is an error."""
    known: dict[str, Any] = {}  # constants
    same: dict[str, str] = {}  # names of what is part of an earlier step
    modules: dict[str, Any] = {}
    inputs: dict[str, list[str]] = {}
    for node in script.graph.nodes():
        if (kind := node.kind()) in IDLE:
            continue
        out, names = node.output().debugName(), [value.debugName() for value in node.inputs()]
        names = [same.get(name, name) for name in names]
        numbers = [known.get(name, name) for name in names]
        alone = sum(use.user.kind() not in IDLE for value in [*node.inputs()][:1] for use in value.uses()) == 1
        if kind == "prim::Constant":
            known[out] = node.output().toIValue()
        elif kind == "prim::ListConstruct":
            known[out] = numbers
        elif kind == "aten::to":
            known[out] = numbers[0]
        elif kind == "aten::contiguous":
            same[out] = names[0]
        elif kind == "aten::batch_norm" and alone:
            fold(modules[names[0]][0], numbers)
            same[out] = names[0]
        elif kind == "aten::relu" and alone:
            modules[names[0]].append(nn.ReLU(inplace=True))
            same[out] = names[0]
        elif kind == "aten::cat":
            modules[out], inputs[out] = Join(), numbers[0]
        elif kind == "aten::conv2d":
            layer = convolution(*numbers[1:])
            modules[out], inputs[out] = nn.Sequential(layer), names[:1]
            if alone and commute(modules.get(names[0]), layer):
                modules[out].append(modules.pop(names[0]))
                inputs[out] = inputs.pop(names[0])
        elif kind == "aten::avg_pool2d":
            modules[out], inputs[out] = nn.AvgPool2d(*numbers[1:]), names[:1]
        elif kind == "aten::max_pool2d":
            window, stride, padding, dilation, ceil = numbers[1:]
            modules[out], inputs[out] = nn.MaxPool2d(window, stride, padding, dilation, ceil_mode=ceil), names[:1]
        else:
            raise ValueError(f"unknown operation {kind}, or one on values that others need")
    return Folded(next(iter(inputs.values()))[0], modules, inputs)


def commute(pool: Any, layer: Any) -> bool:
    """Whether an average pooling before a convolution may come after it: where it averages the bias to itself."""
    if not isinstance(pool, nn.AvgPool2d) or (pool.count_include_pad and any(pool.padding)) or pool.divisor_override:
        return False
    return [*pool.stride] == [*layer.stride] == [1, 1] and layer.weight.shape[2:] == (1, 1) and not any(layer.padding)


def convolution(weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    outputs, columns, *window = weight.shape
    layer = nn.Conv2d(columns * groups, outputs, window, stride, padding, dilation, groups)
    layer.weight = nn.Parameter(weight.clone())
    layer.bias = nn.Parameter(torch.zeros(outputs) if bias is None else bias.clone())
    return layer


def fold(layer: Any, numbers: list[Any]) -> None:
    """γ (z − mean)/√(var + ε) + β of the outputs z of a convolution, by its weights."""
    _, gamma, beta, mean, variance, _, _, epsilon, _ = numbers
    scale = torch.rsqrt(variance + epsilon) * (1 if gamma is None else gamma)
    layer.weight.data *= scale[:, None, None, None]
    layer.bias.data = (layer.bias.data - mean) * scale + beta
