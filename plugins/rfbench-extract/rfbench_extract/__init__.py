"""rfbench data extract and rfbench data extract-attention."""

from pathlib import Path

from rfbench.checks import Parser
from rfbench.datasets.published.networks import NETWORKS
from rfbench_extract.bert import MODELS, write_heads
from rfbench_extract.features import write_dataset
from rfbench_extract.folder import inception

__all__ = ["extract", "extract_attention", "inception"]


def extract(words: list[str]) -> int:
    """Compute the features of the CIFAR-10 images in one layer of a network trained on ImageNet."""
    parser = Parser(prog="rfbench data extract", description=extract.__doc__)
    parser.add_argument("--model", choices=list(NETWORKS), required=True)
    parser.add_argument("--layer", default="final", help="as in dataset.layer (default: final)")
    parser.add_argument("--images", choices=["cifar10"], default="cifar10", help="the dataset of images")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32", help="precision of the network")
    parser.add_argument("--out", type=Path, metavar="DIR", help="default: the cache; read it with data_dir=DIR")
    options = parser.parse_args(words)
    print(write_dataset(options.model, options.layer, options.dtype, options.out))
    return 0


def extract_attention(words: list[str]) -> int:
    """Compute the queries, keys and values of every attention head of a BERT on a text."""
    parser = Parser(prog="rfbench data extract-attention", description=extract_attention.__doc__)
    parser.add_argument("--model", choices=list(MODELS), default="minilm", help="its weights must be installed")
    parser.add_argument("--text", type=Path, required=True, metavar="FILE", help="a text, cut to the longest input")
    parser.add_argument(
        "--out", type=Path, metavar="NPZ", help="default: the name of the text with .npz, in this folder"
    )
    options = parser.parse_args(words)
    print(write_heads(options.model, options.text, options.out or Path(f"{options.text.stem}.npz")))
    return 0
