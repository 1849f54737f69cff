"""Passes over rows by several processes.

Each gets a description of some part of the rows: recipes, seeds and a range.  Its sums are written to disk as they
arrive, and added up in the order of the rows: neither the number of processes nor their order or death changes a bit.
"""

from abc import abstractmethod
from collections.abc import Callable, Container, Generator, Iterable
from contextlib import closing

from rfbench.engines.base import Rows, S, State
from rfbench.engines.ledger import Pass
from rfbench.engines.local import Local, count_of, merged
from rfbench.engines.worker import described
from rfbench.progress import bar

Arrival = tuple[int, State]
Share = tuple[int, bytes]  # the number of a part, and its description


class Spread(Local):
    """This process hands out parts and adds up; what is not a pass over rows it computes itself, on all its cores."""

    spread = True

    def __init__(self, workers: int | str, block_rows: int, part_rows: int, checkpoint: float) -> None:
        super().__init__("auto", block_rows, part_rows, checkpoint)
        self.processes = count_of(workers)

    @abstractmethod
    def arriving(self, shares: Iterable[Share]) -> Generator[Arrival]:
        """The sums of all shares with their numbers, as they arrive; few shares are described ahead of their turn."""

    def computed(self, passed: Pass[S], wanted: Container[int]) -> Generator[Arrival]:
        return self.arriving(
            (number, described(passed.start, piece, passed.size, self.block_rows))
            for number, piece in enumerate(passed.parts())
            if number in wanted
        )

    def accumulate(
        self, start: Callable[[], S], rows: Rows, size: int, what: str = "rows", part: int | None = None
    ) -> S:
        passed = Pass.of(start, rows, size, part or self.part_rows)
        if passed.count <= 1:
            return super().accumulate(start, rows, size, what, part)
        record = self.ledger.open(passed)
        if self.shard:
            self._write_share(record, what)
        total, first, _, _ = record.resumed()
        ahead = {number for number in range(first, passed.count) if record.has(number)}
        missing = set(range(first, passed.count)) - ahead
        done = passed.rows_before(first) + len(ahead) * passed.step
        with bar(len(rows), what, " rows", initial=done) as shown, closing(self.computed(passed, missing)) as arriving:
            while first < passed.count:
                if first not in ahead:
                    number, state = next(arriving)
                    record.put(number, state)
                    ahead.add(number)
                    shown.update(passed.rows_before(number + 1) - passed.rows_before(number))
                    continue
                sums = record.take(first)
                assert sums is not None
                total, first = merged(total, sums), first + 1
                if record.due:
                    record.save(total, first)
        assert total is not None
        return record.finish(total)
