"""Commands that are finished: recognised by their files, without composing a config or reading a result.

After a command whose jobs all succeeded, the cache keeps what it printed, and size and time of the last change of all
that it has read and written: the program, its configs, the results, the figure.  If nothing of it has changed, the
command has nothing to do and would print the same again.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from rfbench.cache import trim
from rfbench.checks import InputError
from rfbench.config.files import PACKAGE, roots
from rfbench.progress import columns
from rfbench.results.manifest import read_manifest
from rfbench.results.rows import only_writer
from rfbench.storage import cache_dir, digest, ensure_dir, is_temporary, replace_file

MOST = 1 << 26  # bytes of all that is kept
ABOUT_A_RUN = (".hydra", ".lock", "rfbench.log", "jobs")  # beginnings of names
SETTINGS = ("RFBENCH_", "MATPLOTLIBRC", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "HOME")  # beginnings of variables
Stamps = dict[str, list[int]]


def recall(words: Sequence[str]) -> dict[str, Any] | None:
    """What is known of a finished command, if nothing has changed since."""
    with suppress(OSError, ValueError, LookupError, TypeError):
        found: dict[str, Any] = json.loads(_place(words).read_text(encoding="utf-8"))
        jobs = [Path(job) for job in found["jobs"]]
        if found["stamps"] != stamps(Path(found["target"]), jobs) or not all(map(is_unchanged, found["data"])):
            return None
        with ExitStack() as stack:
            for job in jobs:  # a run that writes there would be told to wait, and so are we
                stack.enter_context(only_writer(job))
        os.utime(_place(words))
        return found
    return None


def is_unchanged(data: Mapping[str, Any]) -> bool:
    """Whether a dataset is what it was; one that ships with a library has no digest."""
    if not data["digest"]:
        return True
    from rfbench.datasets import load

    with suppress(InputError):
        dataset = load(data["dataset"], data_dir=data["data_dir"], download=False)
        return dataset.digest == data["digest"]
    return False


def remember(words: Sequence[str], target: Path, jobs: Iterable[Path], facts: Mapping[str, Any]) -> None:
    """Keep what is known of a finished command, unless another process writes there now: it may leave something."""
    places = list(jobs)
    seen = stamps(target, places)
    if any(is_temporary(Path(path)) for path in seen):
        return
    content = {**facts, "target": str(target), "jobs": list(map(str, places)), "stamps": seen}
    with suppress(InputError):  # a cache that cannot be written
        ensure_dir(_place(words).parent)
        replace_file(_place(words), json.dumps(content))
        trim(_place(words).parent, MOST)


def data_of(configs: Iterable[Mapping[str, Any]], places: Iterable[Path]) -> list[dict[str, Any]] | None:
    """The datasets of jobs; None where a job must be looked at again: it has other files, plugins, or may go on."""
    found = {}
    for config, place in zip(configs, places, strict=True):
        manifest = read_manifest(place)
        dataset = config["dataset"]
        files = {"file", "x", "qk"} & set(dataset)
        if files or config["force"] or config["shard"] or config["opu"] or manifest.get("plugins") != {}:
            return None
        one = {"dataset": dataset, "data_dir": config["data_dir"], "digest": manifest["data"]}
        found[json.dumps(one, sort_keys=True)] = one
    return list(found.values())


def stamps(target: Path, jobs: Iterable[Path]) -> Stamps:
    """Size and time of the last change of what the jobs have written, and of what they have in common."""
    found = {}
    for folder in dict.fromkeys((target, *jobs)):
        for path in _files(folder):
            found[str(path)] = _stamp(path)
    return found


def _files(folder: Path) -> Iterator[Path]:
    """Results, figures, curves and models of one directory."""
    for entry in os.scandir(folder):
        if not entry.name.startswith(ABOUT_A_RUN):
            yield from _files(Path(entry.path)) if entry.is_dir() else (Path(entry.path),)


def _stamp(path: Path) -> list[int]:
    try:
        stat = path.stat()
    except OSError:
        return []
    return [stat.st_size, stat.st_mtime_ns]


def _place(words: Sequence[str]) -> Path:
    """The file of a command: of its words, where it is given, and the program, configs and settings it would meet."""
    # A user may have no home, which Path.home refuses.
    config = Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "matplotlib")
    styles = [Path(os.environ.get("MPLCONFIGDIR") or config) / "matplotlibrc", Path("matplotlibrc")]
    styles += [Path(os.environ["MATPLOTLIBRC"])] if "MATPLOTLIBRC" in os.environ else []
    settings = sorted((key, value) for key, value in os.environ.items() if key.startswith(SETTINGS))
    sources = [PACKAGE, *roots()]
    program = [(str(path), _stamp(path)) for root in sources for path in sorted(root.rglob("*.[py]*[yl]"))]
    libraries = [(place, _stamp(Path(place))) for place in sys.path]
    about = os.getcwd(), list(words), columns(sys.maxsize), settings, list(map(_stamp, styles)), program, libraries
    return cache_dir() / "finished" / f"{digest(*about)}.json"
