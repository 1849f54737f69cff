"""The published datasets: their files, the shape they must have, and how to read them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rfbench.datasets.formats.tables import Block
from rfbench.datasets.published import readers

EMBEDDED = ("digits", "digit_halves", "diabetes", "breast_cancer", "wine")


@dataclass(frozen=True)
class Entry:
    """A published dataset; files that yield another shape are refused."""

    rows: int
    columns: int
    classes: int | None
    files: tuple[str, ...]  # each may also be compressed, as .gz or .xz
    read: Callable[[Sequence[Path]], Iterator[Block]]
    n_test: int = 0  # the last rows; 0: there is no published split
    scale: float = 1.0
    dtype: str = "float64"
    optional: tuple[str, ...] = ()  # files of 10,000 rows each that may be missing
    folds: bool = False  # whether the last file has the standard splits
    note: str = ""  # what a user of its numbers must know


def _table(rows: int, columns: int, classes: int | None, file: str, **options: Any) -> Entry:
    return Entry(rows, columns, classes, (file,), partial(readers.tables, **options))


def _data_txt(rows: int, columns: int, **options: Any) -> Entry:
    return _table(rows, columns, None, "data.txt", **options)


def _evans(rows: int, columns: int, note: str = "", **options: Any) -> Entry:
    """A set with the ten standard splits of the literature on scalable Gaussian processes."""
    read = partial(readers.tables, **options)
    return Entry(rows, columns, None, ("data.csv", "fold.npy"), read, folds=True, note=note)


def _repeated(percent: int) -> str:
    return f"{percent} % of the test rows are training rows too, so errors say little about new rows"


IDX_FILES = tuple(f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1"))
IDX_IMAGES = Entry(70_000, 784, 10, IDX_FILES, readers.idx, 10_000, 255.0, "uint8")
CIFAR_BATCHES = tuple(f"train_images_{i}.npy" for i in range(1, 6))
CIFAR_FILES = (*CIFAR_BATCHES, "test_images.npy", "train_labels.npy", "test_labels.npy")
EFFICIENTNET_BATCHES = tuple(f"train_features_{i}.npy" for i in range(1, 6))
CIFAR_LABELS = tuple(f"../cifar10/{part}_labels.npy" for part in ("train", "test"))
EFFICIENTNET_FILES = (*EFFICIENTNET_BATCHES, "test_features.npy", "scale.npy", *CIFAR_LABELS)
GISETTE_FILES = tuple(f"gisette_{part}.{kind}" for part in ("train", "valid") for kind in ("data", "labels"))

CATALOGUE = {
    "mnist": IDX_IMAGES,
    "fashion_mnist": IDX_IMAGES,
    "cifar10": Entry(60_000, 3072, 10, CIFAR_FILES, readers.cifar, 10_000, 255.0, "uint8", CIFAR_BATCHES[1:]),
    "cifar10_efficientnet": Entry(
        *(60_000, 1280, 10, EFFICIENTNET_FILES, readers.efficientnet, 10_000),
        dtype="float32",
        optional=EFFICIENTNET_BATCHES[1:],
    ),
    "boston": _data_txt(506, 13),
    "concrete": _data_txt(1030, 8),
    "energy": _data_txt(768, 8),
    "kin8nm": _data_txt(8192, 8),
    "naval": _data_txt(11_934, 16, target=16, drop=(17,)),
    "powerplant": _data_txt(9568, 4),
    "protein": _data_txt(45_730, 9),
    "yacht": _data_txt(308, 6),
    "kin40k": _evans(40_000, 8),
    "keggdirected": _evans(48_827, 20, _repeated(73)),
    "keggundirected": _evans(63_608, 27, _repeated(78)),
    "pol": _evans(15_000, 26),
    "elevators": _evans(16_599, 18),
    "bike": _evans(17_379, 15, drop=(15, 16)),  # casual and registered rentals, whose sum is the target
    "tamielectric": _evans(45_781, 3),
    "pumadyn32nm": _evans(8192, 32),
    "flights": Entry(3_000_000, 9, None, ("flights.npz",), readers.flights, dtype="float32"),
    "uk_house_prices": Entry(98_513, 2, None, ("uk_house_prices_2018-11.csv",), readers.prices),
    "letter": _table(20_000, 16, 26, "letter-recognition.data", target=0),
    "magic": _table(19_020, 10, 2, "magic04.data"),
    "eeg": _table(14_980, 14, 2, "EEG_Eye_State.arff"),
    "cod_rna": Entry(331_152, 8, 2, ("cod-rna", "cod-rna.t"), readers.libsvm, 271_617),
    "covertype": Entry(581_012, 54, 7, ("covtype.data",), readers.tables, dtype="int16"),
    "adult": Entry(48_842, 108, 2, ("adult.data", "adult.test"), readers.adult, 16_281),
    "usps": Entry(9298, 256, 2, ("usps.npz",), readers.npz, 2007),
    "miniboo": Entry(130_064, 50, 2, ("MiniBooNE_PID.txt",), readers.miniboo),
    "drive": _table(58_509, 48, 11, "Sensorless_drive_diagnosis.txt"),
    "drive_subset": Entry(2200, 48, 11, ("drive_subset.npz",), readers.npz),
    "mocap": Entry(78_095, 36, 5, ("Postures.csv",), readers.postures),
    "mocap_subset": Entry(11_022, 36, 3, ("Postures_subset.csv",), readers.postures),
    "gisette": Entry(7000, 5000, 2, GISETTE_FILES, readers.gisette, 1000, dtype="int16"),
}
