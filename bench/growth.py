"""How the time of ctr_tensorsrht and its real twin grows when n, D, d or p doubles, and the exponent.

over_copies    time divided by that of p copies of the output, with as many threads
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from timing import best_of
from transforms import Row, feature_map, rows_of

from rfbench.blocks import spans
from rfbench.engines import Local

BASE = {"rows": 4096, "features": 10_240, "columns": 1024, "degree": 3}


def measure(turns: int, share: float = 1.0) -> list[Row]:
    """A row for each sketch and what is doubled; with a share of the rows."""
    base, found = BASE | {"rows": int(BASE["rows"] * share)}, []
    with Local().running() as engine:
        for name in ("tensorsrht", "ctr_tensorsrht"):
            work: dict[str, Callable[[], object]] = {}
            for what in ("nothing", *base):
                size = {key: value * (1 + (key == what)) for key, value in base.items()}
                features = feature_map(name, size["degree"], size["columns"], size["features"])
                X, Phi = rows_of(size["rows"], size["columns"]), features.empty(size["rows"])
                work[what] = partial(engine.transform, features, X, Phi)
                work[what + " copies"] = partial(copies, size["degree"], Phi, np.ones_like(Phi), engine)
            seconds = best_of(turns, work)
            for what in ("nothing", *base):
                ratio = seconds[what] / seconds["nothing"]
                found.append(
                    {
                        "sketch": name,
                        "doubled": what,
                        "times": round(ratio, 2),
                        "exponent": round(np.log2(ratio), 2),
                        "over_copies": round(seconds[what] / seconds[what + " copies"], 2),
                    }
                )
    return found


def copies(count: int, A: np.ndarray, B: np.ndarray, engine: Local) -> None:
    """B = A, several times; a share of the memory on each thread."""
    A, B = A.ravel("K"), B.ravel("K")
    shares = [span for _ in range(count) for span in spans(len(A), -(-len(A) // engine.workers))]
    engine.run(lambda rows: np.copyto(B[rows], A[rows]), shares)
