"""How much memory a run may take: the least that its config, its process, its control group and the machine allow."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from rfbench.checks import InputError

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def parse_bytes(text: str | None) -> int | None:
    """4GB, 500 MB or 2GiB as a number of bytes."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+) *([A-Za-z]*)", text)
    if not match or match[2].upper() not in UNITS or not float(match[1]):
        raise InputError(f"memory_limit must be an amount such as 4GB or 500MB; {text!r} was given")
    return int(float(match[1]) * UNITS[match[2].upper()])


def refuse_beyond(need: int, what: str, limit: int | None) -> None:
    """Refuse work that needs more bytes than are left, instead of being killed in the middle of it."""
    left, source = room(limit)
    if need > left:
        raise InputError(
            f"{what} needs about {as_text(need)} of memory, and {source} leaves {as_text(left)}. "
            "Use fewer features or train_rows=…, or give it more memory"
        )


def as_text(count: int) -> str:
    """A number of bytes in the unit that people would use."""
    if count >= 1e8:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{max(count, 0) / 1e3:.0f} kB"


def room(limit: int | None = None, root: Path = Path("/")) -> tuple[int, str]:
    """(bytes that this process may still take, which limit it is)."""
    import psutil

    memory = psutil.Process().memory_info()
    found = [(physical_bytes() - memory.rss, "the machine")]
    found += [(most - memory.rss, "the control group") for most in cgroup_limits(root)]
    with suppress(ImportError):  # Windows has no such limits
        import resource

        for kind, name in ((resource.RLIMIT_AS, "ulimit -v"), (resource.RLIMIT_DATA, "ulimit -d")):
            if (most := resource.getrlimit(kind)[0]) != resource.RLIM_INFINITY:
                found.append((most - memory.vms, name))
    if limit is not None:
        found.append((limit - memory.rss, "memory_limit"))
    return min(found)


def cgroup_limits(root: Path) -> Iterator[int]:
    """The limits of this process's control group and of those around it, of version 1 and 2."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory") and "memory" not in controllers.split(","):
            continue
        place, file = ("memory", "memory.limit_in_bytes") if controllers else ("", "memory.max")
        group = Path(path.lstrip("/"))
        for folder in (group, *group.parents):
            try:
                text = (root / "sys/fs/cgroup" / place / folder / file).read_text().strip()
            except OSError:
                continue
            if text.isdecimal():  # else max
                yield int(text)


def physical_bytes() -> int:
    """The memory of the machine."""
    import psutil

    return int(psutil.virtual_memory().total)


def available_bytes() -> int:
    """The memory that new work can take without swapping."""
    import psutil

    return int(psutil.virtual_memory().available)


def peak_bytes() -> int:
    """The peak resident memory of this process."""
    with suppress(OSError, ValueError, StopIteration):  # Linux; getrusage would include what the parent process had
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    with suppress(ImportError):  # macOS, in bytes
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    import psutil

    memory = psutil.Process().memory_info()
    return int(getattr(memory, "peak_wset", memory.rss))  # Windows


def arrays_of(thing: Any) -> dict[int, int]:
    """The bytes of every array that an object holds, by its identity; views count once with what they share."""
    if isinstance(thing, np.ndarray):
        return {id(thing): thing.nbytes}
    parts = thing.values() if isinstance(thing, Mapping) else thing if isinstance(thing, list | tuple) else ()
    if hasattr(thing, "__dict__") and not isinstance(thing, type):
        parts = vars(thing).values()
    return {key: size for part in parts for key, size in arrays_of(part).items()}
