"""rfbench from Python: datasets as arrays or blocks, and the command line as a function."""

from contextlib import nullcontext, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from rfbench.config.compose import compose_jobs, with_search_path
from rfbench.config.experiments import as_word
from rfbench.datasets import load
from rfbench.datasets.prepare import Split, prepared_split
from rfbench.job import plain_config, preparation_of
from rfbench.launch import conclude, perform

if TYPE_CHECKING:
    import pandas as pd


def load_dataset(
    name: str, seed: int = 0, train_rows: int | None = None, dtype: str = "float32", **options: Any
) -> Split:
    """Prepared training and test rows of one repetition, as `rfbench dataset=NAME` has them.

    Options are those of the dataset: `load_dataset("wine", prepare=["standardize"])`.  `split.train.arrays()` is (X, y)
    in memory, `split.train.blocks()` the same rows block by block.
    """
    words = [f"dataset={name}", *(f"dataset.{key}={as_word(value)}" for key, value in options.items())]
    (config,) = compose_jobs(with_search_path(words), multirun=False)
    plain = plain_config(config)
    dataset = load(plain["dataset"], data_dir=plain["data_dir"], download=plain["download"])
    return prepared_split(dataset, preparation_of(plain["dataset"]), seed, np.dtype(dtype), train_rows)


def run(*words: str, quiet: bool = True, **options: Any) -> "pd.DataFrame":
    """Run what `rfbench WORDS OPTIONS` runs, and return the rows of its results.csv.

    `run("-m", "sketch=rff,orf", task="ridge", features=[64, 128])`: words as on the command line, with `-m` for a
    sweep; options are the keys of the config without a dot.  Finished work is not computed again.  Files are those of
    the command line; its table is printed unless quiet.
    """
    import pandas as pd

    asked = [*words, *(f"{key}={as_word(value)}" for key, value in options.items())]
    with redirect_stdout(StringIO()) if quiet else nullcontext():
        done = perform(asked or ["experiment=demo"])
        assert done, "words that only print a config have no results"
        conclude(done)
    return pd.read_csv(done.target / "results.csv")
