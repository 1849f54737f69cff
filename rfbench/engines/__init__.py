"""Where blocks of rows are computed."""

from typing import Any

from rfbench.engines.base import Engine, Rows, ShardWritten, State, Sums
from rfbench.engines.cluster import Dask
from rfbench.engines.local import PART_ROWS, Local
from rfbench.engines.processes import Processes
from rfbench.registry import build, find

__all__ = ["ENGINES", "PART_ROWS", "Engine", "Local", "Rows", "ShardWritten", "State", "Sums", "make_engine"]

ENGINES: dict[str, type[Engine]] = {"local": Local, "processes": Processes, "dask": Dask}


def make_engine(name: str, **options: Any) -> Engine:
    return build("engine", find("engine", name, ENGINES), options)
