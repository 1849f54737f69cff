"""Where blocks of rows are computed."""

from rfbench.engines.base import Engine, Rows, Sums
from rfbench.engines.local import Local

__all__ = ["Engine", "Local", "Rows", "Sums"]
