"""The folders of YAML files: where they are, which choices they hold, and the comments that explain them."""

import re
from functools import cache
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

from rfbench.registry import GROUPS, broken, entry_points, warn
from rfbench.storage import cache_dir

PACKAGE = Path(__file__).resolve().parent.parent
# Inside the package in a wheel, beside it in a checkout.
CONF = next(path for path in (PACKAGE / "conf", PACKAGE.parent / "conf") if (path / "config.yaml").exists())


def roots() -> list[Path]:
    """Folders of configs: ours, those of `rfbench data add`, and packages named by entry points in rfbench.conf."""
    places = [place for point in entry_points(group="rfbench.conf") for place in _folders(point)]
    return [CONF, *(path for path in (cache_dir() / "conf", *places) if path.is_dir())]


@cache
def _folders(point: EntryPoint) -> list[Path]:
    """The folders of a plugin's package of configs; a plugin that does not work is a warning, and has none."""
    try:
        spec = find_spec(point.value)
        if spec is None:
            raise ModuleNotFoundError(f"no package {point.value}")
    except Exception as error:
        warn(point, broken(point, error))
        return []
    return [Path(place) for place in spec.submodule_search_locations or ()]


def choices(group: str) -> dict[str, str]:
    """The options of a group with the first comment line of each."""
    found = {}
    for root in roots():
        folder = root / group
        for path in sorted(folder.rglob("*.yaml"), key=as_counted) if folder.is_dir() else ():
            text = path.read_text(encoding="utf-8", errors="replace").splitlines()[:2]
            lines = [*(line.removeprefix("#").strip() for line in text), "", ""]
            about = lines[lines[0].startswith("@package")]
            found[path.relative_to(folder).with_suffix("").as_posix()] = about
    return found


def as_counted(path: Path) -> list[str | int]:
    """The key of an order in which fig4_2 is before fig4_10."""
    words = re.split(r"(\d+)", path.with_suffix("").as_posix())
    return [int(word) if word.isdigit() else word for word in words]


def root_keys() -> dict[str, tuple[str, str]]:
    """The keys of config.yaml that are no group, each with its default and its comment."""
    text = (CONF / "config.yaml").read_text(encoding="utf-8")
    found = re.findall(r"^(\w+): +(\S.*?) *# (.+)$", text, re.MULTILINE)
    return {key: (default, about) for key, default, about in found if key not in GROUPS}
