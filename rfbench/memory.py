"""How much memory the machine has and this process has used, on Linux, macOS and Windows."""

from contextlib import suppress
from pathlib import Path


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
