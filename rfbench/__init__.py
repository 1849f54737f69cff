"""rfbench: experiments with random-feature approximations of kernels, from config files and from Python."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rfbench.checks import InputError
    from rfbench.commands.predict import load_model
    from rfbench.kernels import make_kernel
    from rfbench.python import load_dataset, run
    from rfbench.sketches import make_sketch
    from rfbench.tasks.kid.arrays import kid

__version__ = "0.1.0"
__all__ = ["InputError", "kid", "load_dataset", "load_model", "make_kernel", "make_sketch", "run"]

# The Python interface, imported when it is used: `rfbench --help` needs none of it.
HOMES = {
    "InputError": "rfbench.checks",
    "kid": "rfbench.tasks.kid.arrays",
    "load_dataset": "rfbench.python",
    "load_model": "rfbench.commands.predict",
    "make_kernel": "rfbench.kernels",
    "make_sketch": "rfbench.sketches",
    "run": "rfbench.python",
}


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    raise AttributeError(f"module 'rfbench' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*globals(), *HOMES]
