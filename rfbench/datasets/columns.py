"""Columns of a table → columns of numbers: which ones, what an empty cell becomes, a one for each value of a word.

A first pass surveys all cells, so that every problem of a file is in one message with the options that solve it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.formats.cells import Chunk, Table, empty, numbers, words
from rfbench.datasets.formats.layout import column
from rfbench.datasets.formats.tables import Block

Missing = Literal["error", "drop", "median"]
MAX_VALUES = 100  # of a one-hot column


@dataclass(frozen=True)
class Column:
    """A column of the table that becomes one number, or a one for each of its values."""

    name: str
    place: int  # in the table
    values: tuple[str, ...] = ()  # of a one-hot column
    fill: float | None = None  # in place of an empty cell; None: it is refused

    @property
    def outputs(self) -> list[str]:
        """Names of the numbers that it becomes."""
        return [f"{self.name}={value}" for value in self.values] or [self.name]


@dataclass(frozen=True)
class Columns:
    """How rows of a table become rows of numbers."""

    used: tuple[Column, ...]
    target: str
    dropped: tuple[str, ...]
    named: bool  # by the file; else names are indices
    missing: Missing

    @classmethod
    def read(cls, saved: Mapping[str, Any]) -> "Columns":
        """From the values that `asdict` made, as JSON gives them back."""
        used = tuple(Column(**one | {"values": tuple(one["values"])}) for one in saved["used"])
        return cls(**{**saved, "used": used, "dropped": tuple(saved["dropped"])})

    @classmethod
    def plain(cls, d: int) -> "Columns":
        """d numbers without names."""
        return cls(tuple(Column(str(j), j) for j in range(d)), "", (), False, "error")

    def saved(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def outputs(self) -> list[str]:
        return [name for one in self.used for name in one.outputs]

    @property
    def numeric(self) -> tuple[int, ...]:
        """Which columns of X are numbers of the table."""
        starts = np.cumsum([0, *(len(one.outputs) for one in self.used)]).tolist()
        return tuple(start for start, one in zip(starts, self.used, strict=False) if not one.values)

    @property
    def fills(self) -> dict[int, float]:
        """The number that replaces an empty cell, by columns of X."""
        numbers = (one for one in self.used if not one.values)
        return {j: one.fill for j, one in zip(self.numeric, numbers, strict=True) if one.fill is not None}

    def filled(self, medians: Mapping[int, float]) -> "Columns":
        """The columns with the number that replaces an empty cell, by columns of X."""
        fills = iter([medians.get(j) for j in self.numeric])
        return replace(self, used=tuple(one if one.values else replace(one, fill=next(fills)) for one in self.used))

    def encode(self, chunk: Chunk, path_name: str) -> Array:
        """(rows, d); NaN where a number is missing and nothing fills it."""
        parts = []
        for one in self.used:
            found = (self._one_hot if one.values else self._numbers)(one, chunk, path_name)
            parts.append(found if one.fill is None else np.where(np.isnan(found), one.fill, found))
        return np.hstack(parts)

    def _numbers(self, one: Column, chunk: Chunk, path_name: str) -> Array:
        cells = chunk.columns[one.place]
        found = numbers(cells)
        if len(none := np.flatnonzero(np.isnan(found))) and len(bad := none[~empty(cells[none])]):
            line, cell = chunk.lines[bad[0]], cells[bad[0]]
            raise InputError(f"{path_name}: line {line}, column '{one.name}' is not a number: {cell!r}; fix the cell")
        return found[:, None]

    def _one_hot(self, one: Column, chunk: Chunk, path_name: str) -> Array:
        """A one for the value; zeros for an empty cell if empty cells are filled, else NaN."""
        cells, gone = words(chunk.columns[one.place]), empty(chunk.columns[one.place])
        found = (cells[:, None] == np.array(one.values, object)).astype(np.float64)
        if len(unknown := np.flatnonzero(~found.any(1) & ~gone)):
            line, cell = chunk.lines[unknown[0]], cells[unknown[0]]
            raise InputError(f"{path_name}: line {line}, column '{one.name}' has {cell!r}, not {_or(one.values)}")
        found[gone] = 0.0 if self.missing == "median" else np.nan
        return found

    def placed(self, table: Table) -> "Columns":
        """The same columns where they are in another table, whose target and dropped columns may be absent."""
        ignored = (self.target, *self.dropped)
        named, here = self.named and table.named, [name for name in table.names if name not in ignored]
        wanted = [one.name for one in self.used]
        if named and here != wanted:
            raise InputError(f"{table.path.name} {_difference(here, wanted)}")
        total = len(self.used) + len(ignored) if self.target else len(self.used)
        if named:
            places = [table.names.index(name) for name in wanted]
        elif len(table.names) in (len(wanted), total):
            places = [one.place for one in self.used] if len(table.names) == total else list(range(len(wanted)))
        else:
            raise InputError(f"{table.path.name} has {len(table.names)} columns; expected {_counted(wanted)}")
        used = tuple(replace(one, place=place) for one, place in zip(self.used, places, strict=True))
        return replace(self, used=used)

    def rows(self, table: Table) -> Iterator[Array]:
        """The rows of a table to predict; an empty cell that nothing fills is refused."""
        for chunk in table.chunks():
            X = self.encode(chunk, table.path.name)
            if len(bad := np.argwhere(np.isnan(X))):
                row, name = bad[0][0], self.outputs[bad[0][1]].partition("=")[0]
                raise InputError(
                    f"{table.path.name}: line {chunk.lines[row]}, column '{name}' is empty; "
                    "fill the cell, or add the training data with --missing median to fill such cells"
                )
            yield X


def _difference(here: Sequence[str], wanted: Sequence[str]) -> str:
    lacks, more = [name for name in wanted if name not in here], [name for name in here if name not in wanted]
    parts = [f"has no column {_and(lacks)}"] if lacks else []
    parts += [f"has {_and(more)}, which the training data have not"] if more else []
    return f"{' and '.join(parts) or 'has its columns in another order'}; expected {_counted(wanted)}"


def _counted(wanted: Sequence[str]) -> str:
    some = ", ".join(wanted[:12]) + (", …" if len(wanted) > 12 else "")
    return f"{len(wanted)} columns in this order: {some}"


@dataclass
class Facts:
    """What the survey finds in a column."""

    rows: int = 0
    empty: int = 0
    words: int = 0  # cells that are not finite numbers
    first: tuple[int, str] = (0, "")  # line and cell of the first such word
    values: set[str] = field(default_factory=set)  # until there are too many

    def add(self, lines: Array, cells: Array) -> None:
        gone = empty(cells)
        bad = np.flatnonzero(np.isnan(numbers(cells)) & ~gone)
        if len(bad) and not self.words:
            self.first = int(lines[bad[0]]), str(cells[bad[0]])
        self.rows, self.empty, self.words = self.rows + len(cells), self.empty + int(gone.sum()), self.words + len(bad)
        if len(self.values) <= MAX_VALUES:
            self.values.update(words(cells)[~gone].tolist())

    @property
    def is_text(self) -> bool:
        return 2 * self.words > self.rows - self.empty

    @property
    def has_commas(self) -> bool:
        """Whether the first word is a number like 1,5."""
        return self.words > 0 and bool(re.fullmatch(r"[+-]?\d+,\d+", self.first[1]))


@dataclass(frozen=True)
class Wishes:
    """The options of `rfbench data add` that are about columns."""

    target: str | None = None
    drop: tuple[str, ...] = ()
    onehot: tuple[str, ...] = ()
    missing: Missing = "error"


@dataclass(frozen=True)
class Plan:
    """The columns of a table, its test table if it has one, and their target."""

    tables: tuple[Table, ...]
    rows: int  # of all tables
    columns: Columns
    target: int
    words: bool  # whether targets are words
    fills: tuple[int, ...]  # columns of X whose medians fill empty cells

    def parts(self) -> list[Iterator[Block]]:
        """The rows of each table."""
        return [self.blocks(table) for table in self.tables]

    def blocks(self, table: Table) -> Iterator[Block]:
        """Rows and targets; rows without a target, or with an empty cell that is not filled, are left out."""
        for chunk in table.chunks():
            X, cells = self.columns.encode(chunk, table.path.name), chunk.columns[self.target]
            keep = ~empty(cells)
            if self.columns.missing == "drop":
                keep &= ~np.isnan(X).any(1)
            y = words(cells)[keep].astype(str) if self.words else numbers(cells)[keep]
            if len(y):
                yield X[keep], y


def plan(tables: Sequence[Table], wishes: Wishes, task: str | None) -> Plan:
    """Survey the cells and choose columns; refuse all problems at once."""
    first = tables[0]
    for other in tables[1:]:
        if len(other.names) != len(first.names) or (other.named and first.named and other.names != first.names):
            raise InputError(f"{other.path.name} {_difference(other.names, first.names)}")
    names = list(first.names)
    dropped, onehot = ([column(first.path, names, name) for name in some] for some in (wishes.drop, wishes.onehot))
    left = [j for j in range(len(names)) if j not in dropped]
    y = left[-1] if wishes.target is None and left else column(first.path, names, wishes.target or -1)
    if clash := {y} & {*dropped, *onehot} or {*dropped} & {*onehot}:
        raise InputError(f"column '{names[clash.pop()]}' is named twice among --target, --drop and --onehot")
    facts = {j: Facts() for j in left}
    for chunk in (chunk for table in tables for chunk in table.chunks()):
        for j, found in facts.items():
            found.add(chunk.lines, chunk.columns[j])
    if problems := [*_problems(names, facts, y, onehot, wishes), *_target_problems(names, facts[y], y, task, wishes)]:
        raise InputError(f"{first.path.name}: {'; '.join(problems)}")
    places = [j for j in facts if j != y]
    if not places:
        raise InputError(f"{first.path.name} has no column besides the target; add features")
    used = tuple(Column(names[j], j, tuple(sorted(facts[j].values)) if j in onehot else ()) for j in places)
    columns = Columns(used, names[y], tuple(names[j] for j in sorted(dropped)), first.named, wishes.missing)
    fills = columns.numeric if wishes.missing == "median" else ()
    return Plan(tuple(tables), facts[y].rows, columns, y, facts[y].words > 0, fills)


def _problems(
    names: Sequence[str], facts: Mapping[int, Facts], y: int, onehot: Sequence[int], wishes: Wishes
) -> Iterator[str]:
    features = {j: found for j, found in facts.items() if j != y}
    for j in features:
        if not names[j]:
            yield f"column {j} has no name: name it, or --drop {j}"
        elif list(names).index(names[j]) < j or names[j] == names[y]:
            yield f"two columns are named '{names[j]}': rename one, or --drop {j}"
    rows = facts[y].rows
    if commas := [names[j] for j, found in facts.items() if found.has_commas and j not in onehot]:
        cell = facts[list(names).index(commas[0])].first[1]
        yield f"{_and(commas)} {'has' if len(commas) == 1 else 'have'} decimal commas ({cell}): write points"
    plain = {j: found for j, found in features.items() if j not in onehot and not found.has_commas}
    if text := {names[j]: len(found.values) for j, found in plain.items() if found.is_text}:
        few = [name for name, count in text.items() if count <= min(MAX_VALUES, rows // 2)]
        way = f", or --onehot {' '.join(few)} ({_and([str(text[name]) for name in few], '')} values)" if few else ""
        yield f"{_and(list(text))} {_are(text)} text: --drop {' '.join(text)}{way}"
    for j, found in plain.items():
        if found.words and not found.is_text:
            count = f", and {found.words - 1} more" if found.words > 1 else ""
            yield f"line {found.first[0]}, column '{names[j]}' is not a number: {found.first[1]!r}{count}; fix the cell"
    for j in onehot:
        if len(facts[j].values) > MAX_VALUES:
            yield f"'{names[j]}' has more than {MAX_VALUES} values, too many for --onehot: --drop {names[j]}"
    if none := [names[j] for j, found in features.items() if found.empty == found.rows]:
        yield f"{_and(none)} {_are(none)} empty: --drop {' '.join(none)}"
    some = {names[j]: found for j, found in features.items() if 0 < found.empty < found.rows}
    if some and wishes.missing == "error":
        counts = _and([str(found.empty) for found in some.values()], "")
        yield f"{_and(list(some))} {'has' if len(some) == 1 else 'have'} empty cells ({counts} of {rows} rows): " + (
            "--missing drop or --missing median"
        )


def _target_problems(names: Sequence[str], found: Facts, y: int, task: str | None, wishes: Wishes) -> Iterator[str]:
    if found.empty and wishes.missing == "error":
        yield f"the target '{names[y]}' has empty cells ({found.empty} of {found.rows} rows): --missing drop"
    if 0 < found.words < found.rows - found.empty and not found.has_commas and task != "classification":
        line, cell = found.first
        yield (
            f"the target '{names[y]}' is a number in some rows and a word in others (line {line}: {cell!r}); "
            "fix the cell, or --task classification"
        )


def _and(names: Sequence[str], quote: str = "'") -> str:
    quoted = [f"{quote}{name}{quote}" for name in names]
    return " and ".join((", ".join(quoted[:-1]), quoted[-1]) if len(quoted) > 1 else quoted)


def _or(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:-1])) + (" or " if len(names) > 1 else "") + repr(names[-1])


def _are(names: Any) -> str:
    return "is" if len(names) == 1 else "are"
