"""Figures of a run as parts of a page: nothing in them runs or loads, and their black and white follow the page."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

TAGS = {"svg", "g", "defs", "path", "use", "clipPath", "rect", "circle", "line", "polygon", "text", "tspan", "image"}
LINKS = re.compile(r"#|data:image/png;base64,")
INKS = {"#000000": "currentColor", "#ffffff": "var(--paper)"}


def inline(path: Path, prefix: str, label: str) -> str:
    """The figure, with the prefix before its names; empty where it is not an SVG file."""
    try:
        root = ET.fromstring(path.read_bytes())
    except (OSError, ET.ParseError):
        return ""
    if _local(root.tag) != "svg":
        return ""
    _clean(root, prefix)
    root.attrib = {"viewBox": root.get("viewBox", ""), "role": "img", "aria-label": label}
    text = ET.tostring(root, encoding="unicode")
    return re.sub("|".join(INKS), lambda ink: INKS[ink[0]], text)


def _clean(node: ET.Element, prefix: str) -> None:
    """Keep shapes, and of their attributes those that can do nothing; matplotlib's styles are in the page's."""
    node.tag = _local(node.tag)
    node.tail = None
    kept = {_local(name): value for name, value in node.attrib.items() if not _local(name).lower().startswith("on")}
    if not LINKS.match(kept.get("href", "#")):
        del kept["href"]
    if "id" in kept:
        kept["id"] = prefix + kept["id"]
    node.attrib = {
        name: re.sub(r"^#|(?<=url\(#)", f"#{prefix}" if name == "href" else prefix, value, count=name == "href")
        for name, value in kept.items()
        if not re.search(r"url\((?!#)|javascript:", value, re.IGNORECASE)
    }
    for child in list(node):
        if isinstance(child.tag, str) and _local(child.tag) in TAGS:
            _clean(child, prefix)
        else:
            node.remove(child)


def _local(name: str) -> str:
    return name.rpartition("}")[2]
