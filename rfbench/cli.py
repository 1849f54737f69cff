"""The command line: a bare first word is a verb, everything else goes to Hydra."""

import io
import os
import sys
from errno import ENAMETOOLONG, ENOSPC
from importlib import import_module

from rfbench import __version__
from rfbench.checks import InputError

COMMANDS = {  # verb: where its function is
    "advise": ("rfbench.advise.command", "main"),
    "check": ("rfbench.commands.check", "main"),
    "clean": ("rfbench.commands.clean", "main"),
    "compare": ("rfbench.reports.compare.command", "main"),
    "data": ("rfbench.datasets.commands", "main"),
    "list": ("rfbench.commands.listing", "show"),
    "merge": ("rfbench.commands.merge", "main"),
    "plot": ("rfbench.commands.plot", "main"),
    "predict": ("rfbench.commands.predict", "main"),
    "report": ("rfbench.reports.html.command", "main"),
    "results": ("rfbench.commands.results", "main"),
}
# Exit codes.  FAILED: something failed and is a row of the results.  INTERNAL is EX_SOFTWARE of sysexits.h.
DONE, FAILED, MISTAKE, INTERNAL, INTERRUPTED = 0, 1, 2, 70, 130

HELP = """\
rfbench {version}: experiments with random-feature approximations of kernels

  rfbench                                        compare four sketches on embedded data: table, figure, files
  rfbench sketch=ctr_tensorsrht degree=6 dataset=mnist
  rfbench -m sketch=rademacher,ctr_tensorsrht features=2d,4d     a sweep: all combinations, one joined table
  rfbench list [{lists}]
  rfbench data get NAME | add FILE --name N | show NAME | check  download datasets, add and show yours, verify them
  rfbench advise dataset=NAME [error=0.05] [--json]              which sketch, and how many features
  rfbench predict RUN FILE [--output FILE]                       apply a model that task.save=true kept
  rfbench plot RUN [--x … --y … --format pdf --size 3.3x2.5]     draw the figure of finished results again
  rfbench check sketch=NAME                                      the contract of a sketch, kernel, OPU or meter
  rfbench compare [DIR] [EXPERIMENT] [--truth DIR]               our results beside the published numbers
  rfbench report [DIR] [--format html|md|latex|csv|json]         all results as one page, or as tables
  rfbench results [DIR]                                          what was run, when, with how many seeds; what failed
  rfbench clean [DIR] --older 30d | --failed | --orphans [--dry-run]   remove results
  rfbench merge DIR … [--output DIR]                             results of several machines, joined trial by trial
  rfbench report --compare A B                                   what moved between two results

Groups (group=choice; rfbench list shows the choices): {groups}
Numbers (key=value; the default is shown):
{keys}
Options of a choice: sketch.…, kernel.gamma, task.rows, dataset.prepare=[standardize,unit_norm], engine.workers

Results: outputs/<dataset-sketch-task>/<hash>/, outputs/<experiment>/ or outputs/sweep-<hash>/, with results.csv,
summary.csv and figure.png, .svg and .pdf; run.json says what was run.  The same command resumes where it stopped.
Exit codes: 0 done, 1 something failed (a row says why), 2 a mistake in the input, 70 internal error, 130 interrupted.
  --cfg job            print the composed config        --version            print the version
  --hydra-help         Hydra's own options              rfbench COMMAND --help   the options of a command
  eval "$(rfbench -sc install=bash)"    tab completion; docs/shell.md has the lines for zsh and fish"""


def main(words: list[str] | None = None) -> int:
    """Run a command; the result is its exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed, as by >&-
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  (as long as the process)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ± gets a ?
    try:
        code = dispatch(sys.argv[1:] if words is None else words)
        sys.stdout.flush()
        return code
    except InputError as error:
        return mistake(str(error))
    except BrokenPipeError:  # the reader, such as head, has seen enough
        discard_output()
        return DONE
    except OSError as error:
        if error.errno == ENOSPC:
            return mistake(f"cannot write the output: {error.strerror}")
        if error.errno == ENAMETOOLONG:
            return mistake(f"cannot use '{error.filename}': {error.strerror}")
        return internal(error)
    except Exception as error:
        return internal(error)
    except KeyboardInterrupt:
        print("rfbench: interrupted; rerun the command to resume", file=sys.stderr)
        return INTERRUPTED
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # already said
            discard_output()


def mistake(text: str) -> int:
    """One line, even where it repeats what was given."""
    print("rfbench: error:", "".join(one if one.isprintable() else " " for one in text), file=sys.stderr)
    return MISTAKE


def internal(error: Exception) -> int:
    """An error of the program in one line, or with its traceback on request."""
    if os.environ.get("RFBENCH_DEBUG"):
        raise error
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    print(f"rfbench: internal error: {reason}; set RFBENCH_DEBUG=1 for the traceback", file=sys.stderr)
    return INTERNAL


def discard_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def dispatch(words: list[str]) -> int:
    first = words[0] if words else ""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise InputError("the working directory no longer exists; change to another one") from None
    if first in COMMANDS:
        module, function = COMMANDS[first]
        code: int = getattr(import_module(module), function)(words[1:])
        return code
    if first in ("-sc", "--shell-completion"):
        from rfbench.commands.completion import main as complete

        return complete(words[1:])
    if first == "help" or {"-h", "--help"} & set(words):
        return show_help()
    if "--version" in words:
        print(f"rfbench {__version__}")
        return DONE
    if first and "=" not in first and not first.startswith(("-", "~")):
        from rfbench.checks import did_you_mean

        near = did_you_mean(first, (*COMMANDS, "help"))
        raise InputError(f"no command '{first}'; {near} (options are key=value, as in sketch=rff)")
    from rfbench.launch import experiment

    words = [f"spread={word[2:]}" if word.startswith("±=") else word for word in words]  # Hydra takes no ± as a key
    return experiment(words or ["experiment=demo"])


def show_help() -> int:
    from rfbench.config.files import root_keys
    from rfbench.registry import GROUPS

    keys = "\n".join(f"  {f'{key}={default}':<26} {about}" for key, (default, about) in root_keys().items())
    lists = "|".join(word for word, _ in GROUPS.values())
    print(HELP.format(version=__version__, lists=lists, groups=", ".join(sorted(GROUPS)), keys=keys))
    return DONE
