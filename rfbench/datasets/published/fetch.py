"""Download a dataset from the first mirror that works, and accept it only if its rows are the published ones."""

import shutil
import sys
from pathlib import Path

from rfbench.checks import InputError
from rfbench.datasets.base import OnDisk
from rfbench.datasets.formats.files import find
from rfbench.datasets.published.catalogue import CATALOGUE
from rfbench.datasets.published.convert import converted, directories, files_in
from rfbench.datasets.published.fingerprints import FINGERPRINTS
from rfbench.datasets.published.mirrors import Installed, Mirror
from rfbench.datasets.published.sources import SOURCES
from rfbench.datasets.store import fingerprint
from rfbench.storage import atomic_dir, cache_dir, ensure_dir, exclusive_lock


def fetch(name: str, data_dir: str | None, download: bool) -> list[Path]:
    """The files of a dataset, now in the cache; or an error that says which file is missing and what was tried."""
    final, reasons = cache_dir() / "files" / name, []
    with exclusive_lock(ensure_dir(cache_dir() / "locks") / name):
        for mirror in SOURCES.get(name, ()):
            if files := files_in(name, final):  # of the mirror before, or of another process that held the lock
                return files
            if download or isinstance(mirror, Installed):
                try:
                    _accept(name, mirror, final)
                except ValueError as error:
                    reasons.append(str(error).splitlines()[0])
        if files := files_in(name, final):
            return files
    raise InputError(_missing(name, data_dir, reasons))


def _accept(name: str, mirror: Mirror, final: Path) -> None:
    """Put the files of a mirror into the directory, unless their rows differ from the published ones."""
    if mirror.megabytes:
        print(f"rfbench: downloading {name} ({mirror.megabytes} MB) from {mirror.origin}", file=sys.stderr)
    with atomic_dir(final) as part:
        mirror.fetch(part)
        files = files_in(name, part)
        if files is None:
            raise InputError(f"{mirror.origin} does not have all files of {name}")
        data = converted(name, files)
        known = FINGERPRINTS.get(name)
        if known and fingerprint(data) != known:
            if isinstance(data.X, OnDisk):
                shutil.rmtree(data.X.path.parent)
            raise InputError(f"{mirror.origin} has other rows than the published {name}")


def _missing(name: str, data_dir: str | None, reasons: list[str]) -> str:
    user = directories(name, data_dir)[:-1]
    where, then = (str(user[0]), "") if user else (f"<dir>/{name}", " and set data_dir=<dir>")
    file = next((f for f in CATALOGUE[name].files if not (user and find(user[0], f))), "")
    tried = f"; the download failed ({'; '.join(reasons)})" if reasons else ""
    return (
        f"dataset '{name}': the file {file} (plain, .gz or .xz) is missing{tried}; "
        f"put it into {where}{then}, or use dataset=digits, which needs no file"
    )
