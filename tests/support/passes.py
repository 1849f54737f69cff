"""A pass over some of the rows in another process."""

import pickle
from dataclasses import dataclass

from rfbench.blocks import regrouped
from rfbench.engines import Local, Rows


@dataclass(frozen=True)
class Range:
    """Some blocks of the rows, as an engine with several processes would hand them out."""

    rows: Rows
    size: int
    blocks_of: tuple[int, int]

    def __len__(self):
        return len(self.rows)

    def blocks(self):
        found = list(regrouped(self.rows.blocks(), self.size))
        return found[slice(*self.blocks_of)]


def in_a_process(description):
    """What a worker does with a pickled description: read rows, draw the map, add up."""
    start, rows, size = pickle.loads(description)
    with Local(1).running() as engine:
        return engine.accumulate(start, rows, size)
