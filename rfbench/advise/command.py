"""`rfbench advise`: which sketch, and how many features, for a dataset and a kernel."""

import json
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rfbench.advise.ranking import GOALS, Choice, Goal, ranked, rankings
from rfbench.checks import InputError, did_you_mean, require
from rfbench.config.files import root_keys
from rfbench.progress import say
from rfbench.registry import GROUPS

DEFAULT = Goal("error", 0.05)
USAGE = "rfbench advise dataset=NAME [kernel=NAME] [degree=P] [error=0.05 | features=D | seconds=S] [--json]"
HELP = f"""usage: {USAGE}

Predict the error of every sketch that fits a kernel, from training rows, and say which one to use.

  error=0.05       the fewest features that reach this error (the default)
  features=256     the least error with so many features
  seconds=5        the least error in so many seconds, to fit a sketch and to compute a million rows
  sketch=a,b       these sketches only
  kernel=auto:20   choose the kernel first, in so many seconds (auto: 10)
  --json           print a list of objects, best first, and nothing else

Other words are overrides of a run, such as dataset.prepare=[unit_norm]; docs/advise.md says more."""
RUN_ONLY = ("experiment", "seeds", "plot", "size", "force", "opu", "meter")  # they do not change advice


def main(words: list[str]) -> int:
    """Print advice, and write its table and figure."""
    if {"-h", "--help"} & set(words):
        print(HELP)
        return 0
    as_json, goal, overrides = parse(words)
    from rfbench.advise.choice import with_kernel
    from rfbench.config.identity import results_dir

    overrides, note = with_kernel(overrides)
    job, choices = advice(overrides, goal)
    title = f"{job.columns['dataset']}, {described(choices[0])}"
    directory = write(results_dir(job.config), overrides, goal, choices, title)
    if as_json:
        print(json.dumps([as_dict(choice, overrides) for choice in choices], indent=1))
        return 0
    from rfbench.advise.report import rankings_text, reason, table

    heading = f"{title}: {wanted(goal)}, kernel matrices of {choices[0].one.evidence.n} rows"
    say("\n".join([*filter(None, [note]), heading, table(choices)]))
    say(f"\n{rankings_text(rankings(choices))}\n\n{reason(*choices[:2])}\n\n{command(choices[0], overrides)}")
    files = sorted(path.name for path in directory.iterdir() if path.suffix in (".csv", ".png", ".svg"))
    say(f"\n{os.path.relpath(directory)}/: {' '.join(files)}")
    return 0


def parse(words: list[str]) -> tuple[bool, Goal, list[str]]:
    """(whether JSON is wanted, the goal, the overrides of an experiment)."""
    flags = [word for word in words if word.startswith("-")]
    for flag in flags:
        if flag != "--json":
            raise InputError(f"no option '{flag}' of advise; usage: {USAGE}")
    goals: list[Goal] = []
    overrides: list[str] = []
    for word in (word for word in words if word not in flags):
        key, equals, value = word.partition("=")
        if not equals:
            raise InputError(f"'{word}' is not of the form key=value; usage: {USAGE}")
        if key in RUN_ONLY:
            raise InputError(f"'{word}' has no effect on advice; remove it")
        if key.isidentifier() and key not in (known := {*GOALS, *GROUPS, *root_keys()}):
            raise InputError(f"no '{key}' in advise; {did_you_mean(key, known)}")
        if key in GOALS:
            goals.append(Goal(key, number(key, value)))
        else:
            overrides.append(word)
    if len(goals) > 1:
        raise InputError("give one of error=…, features=… and seconds=…")
    return bool(flags), goals[0] if goals else DEFAULT, overrides


def number(key: str, value: str) -> float:
    """The value of a goal, checked."""
    ranges = {"error": (0, 1, "between 0 and 1"), "features": (1, 1 << 16, "a whole number from 2 to 65536")}
    low, high, wanted = ranges.get(key, (0, float("inf"), "above 0, the seconds to fit and to compute a million rows"))
    good = bool(re.fullmatch(r"\d+" if key == "features" else r"\d*\.?\d+(e[+-]?\d+)?", value))
    found = float(value) if good else 0.0
    require(good and low < found <= high, key, wanted, value)
    return found


def advice(overrides: list[str], goal: Goal) -> tuple[Any, list[Choice]]:
    """The job that the overrides describe, and the choices that reach the goal, best first."""
    from rfbench.advise.candidates import candidates_of, with_every_sketch
    from rfbench.advise.cost import measured
    from rfbench.advise.evidence import observe
    from rfbench.config.compose import compose_jobs, with_search_path
    from rfbench.datasets import load
    from rfbench.job import build_job, plain_config

    given = any(word.startswith("sketch") for word in overrides)
    configs = compose_jobs(with_search_path([*overrides, *([] if given else suitable(overrides))]), multirun=True)
    jobs = [build_job(plain_config(config)) for config in configs]
    job = jobs[0]
    for other in jobs:
        for key in (key for key in job.config if key != "sketch" and other.config[key] != job.config[key]):
            raise InputError(f"advise compares sketches of one {key}; give one {key}")
    dataset = load(job.config["dataset"], data_dir=job.config["data_dir"], download=job.config["download"])
    evidence = observe(job, dataset)
    candidates = candidates_of(jobs if given else with_every_sketch(job), evidence)
    if not candidates:
        raise InputError(f"no sketch with features of single rows fits kernel '{evidence.kernel.name}' and this task")
    choices = ranked(candidates, measured(candidates, job.engine), goal)
    if not choices:
        raise InputError(f"no sketch reaches {goal.kind}={goal.value:g} with at most 65,536 features; ask for less")
    return job, choices


def suitable(overrides: Sequence[str]) -> list[str]:
    """A sketch of the kernel that the overrides name, since the default one may be of another kernel."""
    from rfbench.sketches import SKETCHES

    kernel = next((word.partition("=")[2] for word in overrides if word.startswith("kernel=")), "")
    return [f"sketch={name}" for name, family in SKETCHES.items() if kernel in family.kernels][:1]


def described(choice: Choice) -> str:
    kernel = choice.one.evidence.kernel
    power = f" of degree {kernel.power}" if kernel.power and kernel.name != "linear" else ""
    return f"{kernel.name} kernel{power}"


def wanted(goal: Goal) -> str:
    return {
        "error": f"fewest features for a predicted error of {goal.value:g}",
        "features": f"least predicted error of {goal.value:g} features",
        "seconds": f"least predicted error in {goal.value:g} seconds to fit and to compute a million rows",
    }[goal.kind]


def command(choice: Choice, overrides: Sequence[str]) -> str:
    """The command that runs a choice."""
    words = [word for word in overrides if not word.startswith("sketch=")]
    if not any(word.startswith("kernel=") for word in words):
        words.append(f"kernel={choice.one.evidence.kernel.name}")
    return shlex.join(["rfbench", *words, f"sketch={choice.one.name}", f"features={choice.features}"])


def as_dict(choice: Choice, overrides: Sequence[str]) -> dict[str, Any]:
    """What --json prints of a choice, and a line of advice.csv."""
    return {
        "sketch": choice.one.name,
        "features": choice.features,
        "predicted_error": choice.error,
        "closed_form": choice.one.closed_form,
        "seconds_per_million_rows": choice.seconds,
        "bytes": choice.bytes,
        "command": command(choice, overrides),
    }


def write(outputs: Path, overrides: list[str], goal: Goal, choices: Sequence[Choice], title: str) -> Path:
    """advice.csv and the figure, in a directory of their own for every question."""
    import pandas as pd

    from rfbench.advise.report import write_front
    from rfbench.config.identity import short_hash
    from rfbench.storage import replace_file

    asked = sorted(word for word in overrides if not word.startswith("output_dir="))
    directory = outputs / f"advise-{short_hash([asked, goal.kind, goal.value])}"
    frame = pd.DataFrame([as_dict(choice, overrides) for choice in choices])
    replace_file(directory / "advice.csv", frame.to_csv(index=False, lineterminator="\n"))
    write_front(directory, choices, title)
    return directory
