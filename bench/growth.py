"""How the time of ctr_tensorsrht and its real twin grows: one of n, D, d, p doubled, and the exponent that shows."""

from functools import partial

import numpy as np
from timing import best_of
from transforms import Row, feature_map, rows_of

from rfbench.engines import Local

BASE = {"rows": 4096, "features": 10_240, "columns": 1024, "degree": 3}


def measure(turns: int, share: float = 1.0) -> list[Row]:
    """A row for each sketch and what is doubled; with a share of the rows."""
    base, found = BASE | {"rows": int(BASE["rows"] * share)}, []
    with Local().running() as engine:
        for name in ("tensorsrht", "ctr_tensorsrht"):
            work = {}
            for what in ("nothing", *base):
                size = {key: value * (1 + (key == what)) for key, value in base.items()}
                features = feature_map(name, size["degree"], size["columns"], size["features"])
                X = rows_of(size["rows"], size["columns"])
                work[what] = partial(engine.transform, features, X, features.empty(len(X)))
            seconds = best_of(turns, work)
            for what in base:
                ratio = seconds[what] / seconds["nothing"]
                row = {"sketch": name, "doubled": what, "times": round(ratio, 2), "exponent": round(np.log2(ratio), 2)}
                found.append(row)
    return found
