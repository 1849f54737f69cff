"""What a job learns, shows and measures beside its numbers, until it is on disk with the rows of its trial."""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from rfbench.arrays import Array
from rfbench.devices.meters import Meter, Reading
from rfbench.recipes import write_recipe
from rfbench.results.pictures import PictureKey, keep_pictures
from rfbench.results.readings import Readings
from rfbench.results.series import Curve, add_series

MODELS = "models"  # folder of fitted models


def model_file(D: int | str, seed: int | str) -> str:
    """The file of a trial's model in this folder."""
    return f"features{D}-seed{seed}.npz"


class Recorder:
    """One for each job; pictures are those of one seed, the others would look alike."""

    def __init__(self, pictured_seed: int | None = None, written: Collection[tuple[str, str]] = ()) -> None:
        self.pictured_seed, self.written = pictured_seed, written  # trials that have rows on disk
        self.learned: dict[str, Any] = {}  # by what learned it, for run.json
        self.readings = Readings()
        self.pictures: dict[PictureKey, Array] = {}
        self.points: list[dict[str, Any]] = []  # of curves, for series.csv
        self.models: dict[str, Any] = {}  # by the names of their files

    def learn(self, what: str, facts: Mapping[str, Any]) -> None:
        if facts:
            self.learned.setdefault(what, {}).update(facts)

    def show(self, key: PictureKey, seed: int, picture: Array) -> None:
        if self.pictured_seed in (None, seed):
            self.pictures[key] = picture

    def curve(self, columns: Mapping[str, Any], curve: Curve) -> None:
        self.points.extend(curve.rows(columns))

    def metered(self, meter: Meter, key: tuple[int, int, str]) -> AbstractContextManager[Reading]:
        return self.readings.taken(meter, key)

    def keep(self, directory: Path) -> None:
        """Write what came since the last call; a trial's row says that all of it is there, so this comes first."""
        self.readings.keep(directory)
        add_series(directory, self.points, self.written)
        keep_pictures(directory, self.pictures)
        for name, model in self.models.items():
            write_recipe(directory / MODELS / name, model)
        self.forget()

    def forget(self) -> None:
        """Drop what a trial that failed has left."""
        self.readings.new.clear()
        self.points.clear()
        self.pictures.clear()
        self.models.clear()
