"""Tab completion as Hydra documents it: eval "$(rfbench -sc install=bash)", and `-sc query=SHELL` at every tab.

Hydra prints the scripts of the shells.  The choices are ours, since Hydra knows neither verbs nor plugins and composes
a config for every tab.
"""

import io
import os
import re
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout, suppress

from rfbench.checks import InputError
from rfbench.config.files import choices, root_keys
from rfbench.config.labels import default_options
from rfbench.registry import GROUPS

SHELLS = ("bash", "fish", "zsh")
RUN_FLAGS = ("-m", "--multirun", "--cfg", "--help", "--version", "--hydra-help")
CHECKED = ("sketch", "kernel", "opu", "meter")
WITH_NAMES = ("get", "show", "check", "remove")  # verbs of `rfbench data` that take names of datasets


def main(words: list[str]) -> int:
    """Print the script of a shell, or the choices for the line in COMP_LINE."""
    action, _, shell = (words[0] if words else "").partition("=")
    if action not in ("install", "uninstall", "query") or shell not in SHELLS:
        raise InputError('for completion use eval "$(rfbench -sc install=bash)", or install=fish; in zsh as in bash')
    if action != "query":
        from rfbench.launch import call_hydra

        call_hydra(["-sc", f"{action}={shell}"])
        return 0
    line = os.environ.get("COMP_LINE", "")
    given = line.split()[1:]
    word = given.pop() if given and not line[-1:].isspace() else ""
    with redirect_stderr(io.StringIO()):  # a warning would stand in the line that is typed
        found = sorted(one for one in candidates(given, word) if one.startswith(word))
    print(("\n" if shell == "fish" else " ").join(found))
    return 0


def candidates(given: list[str], word: str) -> Iterable[str]:
    """What may stand after the words that are given."""
    from rfbench.cli import COMMANDS

    if not given:
        return [*COMMANDS, *overrides(given, word), *RUN_FLAGS]
    verb = given[0]
    if verb not in COMMANDS:
        return [*overrides(given, word), *RUN_FLAGS]
    if verb == "list":
        return [kind for kind, _ in GROUPS.values()]
    if verb == "check":
        return overrides(given, word, CHECKED)
    own: dict[str, Callable[[], Iterable[str]]]
    own = {"advise": lambda: overrides(given, word), "compare": lambda: choices("experiment")}
    inner = given[1:2] if verb == "data" else []
    named = choices("dataset") if inner and inner[0] in WITH_NAMES else ()
    return [*own.get(verb, list)(), *named, *options_of([verb, *inner])]


def overrides(given: list[str], word: str, groups: Iterable[str] = ()) -> list[str]:
    """group=, key=, group=choice, also the last of a sweep, and the options of a choice."""
    groups = list(groups or GROUPS)
    key, equals, value = word.partition("=")
    before, comma, _ = value.rpartition(",")
    if equals:
        several = choices(key) if key in groups else dict.fromkeys(_values(key))
        return [f"{key}={before}{comma}{choice}" for choice in several]
    group = word.partition(".")[0]
    if "." in word and group in groups:
        chosen = [one.partition("=")[2] for one in given if one.startswith(f"{group}=")]
        return [
            f"{group}.{option}="
            for option in default_options(group, (chosen or [_default(group)])[-1])
            if option != "name"
        ]
    keys = root_keys() if len(groups) == len(GROUPS) else ()
    return [f"{one}=" for one in (*groups, *keys)]


def _values(key: str) -> Iterable[str]:
    """The values that a key may have, where they are few."""
    known = {"dtype": ("float32", "float64"), "size": ("quick", "normal", "full"), "spread": ("std", "stderr")}
    return known.get(key) or (("true", "false") if root_keys().get(key, ("",))[0] in ("true", "false") else ())


def _default(group: str) -> str:
    from omegaconf import OmegaConf

    from rfbench.config.files import CONF

    listed = OmegaConf.to_container(OmegaConf.load(CONF / "config.yaml"))
    assert isinstance(listed, dict)
    return str(next((one[group] for one in listed["defaults"] if isinstance(one, dict) and group in one), ""))


def options_of(verb: list[str]) -> list[str]:
    """The options and verbs that the help page of a verb names."""
    from rfbench.cli import dispatch

    page = io.StringIO()
    with redirect_stdout(page), suppress(SystemExit, InputError):
        dispatch([*verb, "--help"])
    found = re.findall(r"--[a-z][\w-]*|^    [a-z][a-z-]+(?=  )", page.getvalue(), re.MULTILINE)
    return list(dict.fromkeys(one.strip() for one in found))
