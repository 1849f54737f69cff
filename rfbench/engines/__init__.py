"""Where blocks of rows are computed."""

from typing import Any

from rfbench.engines.base import Engine, Rows, Sums
from rfbench.engines.local import Local
from rfbench.registry import build, find

__all__ = ["ENGINES", "Engine", "Local", "Rows", "Sums", "make_engine"]

ENGINES: dict[str, type[Engine]] = {"local": Local}


def make_engine(name: str, **options: Any) -> Engine:
    return build("engine", find("engine", name, ENGINES), options)
