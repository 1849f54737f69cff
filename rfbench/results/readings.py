"""Energy readings of a job: their sources for run.json, and all samples of the sensors in samples.csv."""

import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rfbench.devices.meters import Meter, Reading
from rfbench.storage import replace_file

FILE = "samples.csv"
KEY = ("features", "seed", "device")


class Readings:
    """Readings of trials that are not yet on disk, and the sources of all."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}  # by device; the reason if there is none
        self.new: dict[tuple[str, ...], Reading] = {}

    @contextmanager
    def taken(self, meter: Meter, key: tuple[int, int, str]) -> Iterator[Reading]:
        with meter.measure() as reading:
            yield reading
        if source := reading.reason or (reading.source if reading.joules is not None else ""):
            self.sources[key[-1]] = source
        self.new[tuple(map(str, key))] = reading

    def keep(self, directory: Path) -> None:
        """Add the samples to samples.csv, in place of earlier ones of the same trials."""
        fresh = [
            [*key, reading.source, f"{seconds:.6f}", repr(value), reading.unit]
            for key, reading in self.new.items()
            for seconds, value in reading.samples
        ]
        if fresh:
            kept = [line for line in read_samples(directory) if tuple(line[: len(KEY)]) not in self.new]
            write_samples(directory, [*kept, *fresh])
        self.new.clear()


def read_samples(directory: Path) -> list[list[str]]:
    path = directory / FILE
    return list(csv.reader(io.StringIO(path.read_text())))[1:] if path.exists() else []


def write_samples(directory: Path, lines: Iterable[list[str]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([[*KEY, "source", "seconds", "value", "unit"], *lines])
    replace_file(directory / FILE, text.getvalue())
