"""rfbench: experiments with random-feature approximations of kernels, from config files; `kid` for programs."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rfbench.tasks.kid.arrays import kid as kid

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import what programs use on first use, so that `import rfbench` takes no time."""
    if name == "kid":
        from importlib import import_module

        return import_module("rfbench.tasks.kid.arrays").kid
    raise AttributeError(f"module 'rfbench' has no attribute '{name}'")
