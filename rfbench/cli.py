"""The command line: a bare first word is a verb, everything else goes to Hydra."""

import io
import os
import sys

from rfbench import __version__
from rfbench.checks import InputError

VERBS = ("list", "data", "compare", "predict", "check", "help")
# Exit codes.  FAILED: something failed and is a row of the results.  INTERNAL is EX_SOFTWARE of sysexits.h.
DONE, FAILED, MISTAKE, INTERNAL, INTERRUPTED = 0, 1, 2, 70, 130

HELP = """\
rfbench {version}: experiments with random-feature approximations of kernels

  rfbench                                        compare four sketches on embedded data: table, figure, files
  rfbench sketch=ctr_tensorsrht degree=6 dataset=mnist
  rfbench -m sketch=rademacher,ctr_tensorsrht features=2d,4d     a sweep: all combinations, one joined table
  rfbench list [{lists}]
  rfbench data get NAME | add FILE --name N | check              download datasets, add your own, verify them
  rfbench predict RUN FILE [--output FILE]                       apply a model that task.save=true kept
  rfbench check sketch=NAME                                      the contract of a sketch, kernel, OPU or meter
  rfbench compare [DIR] [EXPERIMENT] [--truth DIR]               our results beside the published numbers

Groups (group=choice; rfbench list shows the choices): {groups}
Numbers (key=value; the default is shown):
{keys}
Options of a choice: sketch.…, kernel.gamma, task.rows, dataset.prepare=[standardize,unit_norm], engine.workers

Results: outputs/<dataset-sketch-task>/<hash>/, outputs/<experiment>/ or outputs/sweep-<hash>/, with results.csv,
summary.csv, figure.png and figure.svg; run.json says what was run.  The same command resumes where it stopped.
Exit codes: 0 done, 1 something failed (a row says why), 2 a mistake in the input, 70 internal error, 130 interrupted.
  --cfg job            print the composed config        --version            print the version
  --hydra-help         Hydra's own options              rfbench COMMAND --help   the options of a command"""


def main(words: list[str] | None = None) -> int:
    """Run a command; the result is its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ± gets a ?
    try:
        return dispatch(sys.argv[1:] if words is None else words)
    except InputError as error:
        print(f"rfbench: error: {error}", file=sys.stderr)
        return MISTAKE
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        if os.environ.get("RFBENCH_DEBUG"):
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"rfbench: internal error: {reason}; set RFBENCH_DEBUG=1 for the traceback", file=sys.stderr)
        return INTERNAL
    except KeyboardInterrupt:
        print("rfbench: interrupted; rerun the command to resume", file=sys.stderr)
        return INTERRUPTED


def dispatch(words: list[str]) -> int:
    first = words[0] if words else ""
    if first == "data":
        from rfbench.datasets.commands import main as data

        return data(words[1:])
    if first == "predict":
        from rfbench.commands.predict import main as predict

        return predict(words[1:])
    if first == "check":
        from rfbench.commands.check import main as check

        return check(words[1:])
    if first == "compare":
        from rfbench.reports.compare.command import main as compare

        return compare(words[1:])
    if first == "list":
        from rfbench.commands.listing import show

        return show(words[1:])
    if first == "help" or {"-h", "--help"} & set(words):
        return show_help()
    if "--version" in words:
        print(f"rfbench {__version__}")
        return DONE
    if first and "=" not in first and not first.startswith(("-", "~")):
        from rfbench.checks import did_you_mean

        raise InputError(
            f"no command '{first}'; {did_you_mean(first, VERBS)} (options are key=value, as in sketch=rff)"
        )
    from rfbench.launch import experiment

    return experiment(words or ["experiment=demo"])


def show_help() -> int:
    from rfbench.config.files import root_keys
    from rfbench.registry import GROUPS

    keys = "\n".join(f"  {f'{key}={default}':<26} {about}" for key, (default, about) in root_keys().items())
    lists = "|".join(word for word, _ in GROUPS.values())
    print(HELP.format(version=__version__, lists=lists, groups=", ".join(sorted(GROUPS)), keys=keys))
    return DONE
