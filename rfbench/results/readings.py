"""What meters have read in a job: sources for run.json, and every sample of a sensor in samples.csv."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rfbench.devices.meters import Meter, Reading
from rfbench.storage import replace_file

KEY = ("features", "seed", "device")


class Readings:
    """Those of the trials that are not yet on disk, and where all have come from."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}  # by device; a reason where there is none
        self.new: dict[tuple[str, ...], Reading] = {}

    @contextmanager
    def taken(self, meter: Meter, key: tuple[int, int, str]) -> Iterator[Reading]:
        with meter.measure() as reading:
            yield reading
        if told := reading.reason or (reading.source if reading.joules is not None else ""):
            self.sources[key[-1]] = told
        self.new[tuple(map(str, key))] = reading

    def keep(self, directory: Path) -> None:
        """Add to those that are there, in place of those of the same trials."""
        path = directory / "samples.csv"
        fresh = [
            [*key, reading.source, f"{seconds:.6f}", repr(shown), reading.unit]
            for key, reading in self.new.items()
            for seconds, shown in reading.samples
        ]
        if fresh:
            lines = list(csv.reader(io.StringIO(path.read_text()))) if path.exists() else []
            kept = [line for line in lines[1:] if tuple(line[: len(KEY)]) not in self.new]
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerows([[*KEY, "source", "seconds", "value", "unit"], *kept, *fresh])
            replace_file(path, text.getvalue())
        self.new.clear()
