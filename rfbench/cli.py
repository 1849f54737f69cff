"""The command line: a bare first word is a verb, everything else goes to Hydra."""

import io
import os
import sys

from rfbench import __version__
from rfbench.checks import InputError

HELP = """\
rfbench {version}: experiments with random-feature approximations of kernels

  rfbench                                        the default experiment: table, figure and files in seconds
  rfbench sketch=ctr_tensorsrht degree=6 dataset=mnist
  rfbench -m sketch=rademacher,ctr_tensorsrht features=2d,4d     a sweep: all combinations, one joined table
  rfbench list [datasets|sketches|kernels|tasks|opus|experiments]   what there is
  rfbench data get NAME | add FILE --name N | check              data sets: fetch, add your own, verify
  rfbench compare [DIR] [--truth DIR]                            ours beside the published numbers, cell by cell

Groups (group=choice; rfbench list shows the choices): {groups}
Numbers:
  degree=3             p of polynomial kernels
  features=2d          a number, a multiple of the padded columns (1.5d), or a list ([1d,2d])
  seeds=5              how many repetitions, or a list ([0,7])
  dtype=float32        or float64
  train_rows=null      how many of the training rows, drawn for every seed
  block_rows=256       rows of features computed at once
  data_dir=DIR         where data files are looked for first; also RFBENCH_DATA
  download=true        fetch what is not at hand
  force=false          redo what is done
  plot=[error:features]  what the figure shows: metrics against features, degree, n_train or other metrics
  size=normal          of an experiment: quick, normal, or full as in its paper
Options of a choice: sketch.…, kernel.gamma, task.rows, dataset.prepare=[standardize,unit_norm], engine.workers

Results: outputs/<dataset-sketch-task>/<hash>/ with results.csv, summary.csv, run.json, figure.png, figure.svg.
The same command finds its finished work and does only what is missing.
  --cfg job            print the composed config        --version            print the version
  --hydra-help         Hydra's own options"""


def main(words: list[str] | None = None) -> int:
    """Exit code: 0 done, 1 something failed and is a row of the results, 2 a mistake in the input."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ± gets a ?
    try:
        return dispatch(sys.argv[1:] if words is None else words)
    except InputError as error:
        print(f"rfbench: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("RFBENCH_DEBUG"):
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"rfbench: error: {reason}; with RFBENCH_DEBUG=1 it is told where", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("rfbench: interrupted; the same command goes on from here", file=sys.stderr)
        return 130


def dispatch(words: list[str]) -> int:
    first = words[0] if words else ""
    if first == "data":
        from rfbench.datasets.commands import main as data

        return data(words[1:])
    if first == "help" or {"-h", "--help"} & set(words):
        from rfbench.config.compose import groups

        print(HELP.format(version=__version__, groups=", ".join(groups())))
        return 0
    if "--version" in words:
        print(f"rfbench {__version__}")
        return 0
    if first == "list":
        from rfbench.listing import show

        return show(words[1:])
    if first == "compare":
        from rfbench.reports.compare.command import main as compare

        return compare(words[1:])
    if first and "=" not in first and not first.startswith(("-", "~")):
        raise InputError(
            f"no command '{first}'; there are list, data, compare and help, and an experiment is given as key=value"
        )
    from rfbench.launch import experiment

    return experiment(words)
