"""Fetch a set by the first way that works, and accept it only if its rows are the published ones."""

import shutil
import sys
from pathlib import Path

from rfbench.checks import InputError
from rfbench.datasets.base import OnDisk
from rfbench.datasets.formats.files import find
from rfbench.datasets.published.catalogue import CATALOGUE
from rfbench.datasets.published.convert import converted, directories, files_in
from rfbench.datasets.published.fingerprints import FINGERPRINTS
from rfbench.datasets.published.mirrors import Installed, Way
from rfbench.datasets.published.sources import SOURCES
from rfbench.datasets.store import fingerprint
from rfbench.storage import atomic_dir, cache_dir, ensure_dir, exclusive_lock


def fetched(name: str, data_dir: str | None, download: bool) -> list[Path]:
    """The files of a set, now in the cache; or one line on what is wanted, where, and what was tried."""
    final, reasons = cache_dir() / "files" / name, []
    with exclusive_lock(ensure_dir(cache_dir() / "locks") / name):
        for way in SOURCES.get(name, ()):
            if files := files_in(name, final):
                return files
            if download or isinstance(way, Installed):
                try:
                    _accept(name, way, final)
                except ValueError as error:
                    reasons.append(str(error).splitlines()[0])
        if files := files_in(name, final):
            return files
    raise InputError(_wanted(name, data_dir, reasons))


def _accept(name: str, way: Way, final: Path) -> None:
    if way.megabytes:
        print(f"rfbench: fetching {name} ({way.megabytes} MB) from {way.origin}", file=sys.stderr)
    with atomic_dir(final) as part:
        way.fetch(part)
        files = files_in(name, part)
        if files is None:
            raise InputError(f"{way.origin} does not hold all files of {name}")
        data = converted(name, files)
        known = FINGERPRINTS.get(name)
        if known and fingerprint(data) != known:
            if isinstance(data.X, OnDisk):
                shutil.rmtree(data.X.path.parent)
            raise InputError(f"{way.origin} has other rows than the published {name}")


def _wanted(name: str, data_dir: str | None, reasons: list[str]) -> str:
    user = directories(name, data_dir)[:-1]
    where, then = (str(user[0]), "") if user else (f"<dir>/{name}", " and give data_dir=<dir>")
    file = next((f for f in CATALOGUE[name].files if not (user and find(user[0], f))), "")
    tried = f" and it could not be fetched ({'; '.join(reasons)})" if reasons else ""
    return (
        f"dataset '{name}' wants the file {file} (plain, .gz or .xz), which is not at hand{tried}; "
        f"put it into {where}{then}, or use dataset=digits, which works now"
    )
