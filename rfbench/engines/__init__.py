"""Where blocks run."""

from rfbench.engines.local import Local

__all__ = ["Local"]
