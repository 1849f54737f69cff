"""Figures as files: the same figure gives the same bytes, and says in words what it shows."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from rfbench.storage import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")


def save(figure: "Figure", directory: Path, name: str, formats: Sequence[str] = FORMATS) -> list[Path]:
    """name.png, name.svg and name.pdf, or some of them."""
    title, description = in_words(figure)
    metadata = {
        "png": {"Software": None, "Title": title, "Description": description},
        "svg": {"Date": None, "Title": title},
        "pdf": {"CreationDate": None, "Title": title, "Subject": description},
    }
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # once laid out for all formats
    paths = []
    for kind in formats:
        content = io.BytesIO()
        figure.savefig(content, format=kind, metadata=metadata[kind])
        data = content.getvalue()
        if kind == "svg":  # matplotlib has no element for it
            data = data.replace(b"</title>", f"</title>\n <desc>{escape(description)}</desc>".encode(), 1)
        paths.append(directory / f"{name}.{kind}")
        replace_file(paths[-1], data)
    return paths


def in_words(figure: "Figure") -> tuple[str, str]:
    """(the titles, what is drawn against what and the names in the legend)."""
    titles = dict.fromkeys(" ".join(ax.get_title().split()) for ax in figure.axes)
    axes = dict.fromkeys(
        f"{ax.get_ylabel()} against {ax.get_xlabel()}" for ax in figure.axes if ax.get_xlabel() and ax.get_ylabel()
    )
    lines = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    words = "; ".join([*axes, *([f"lines: {', '.join(lines)}"] if lines else [])])
    return figure.get_suptitle() or "; ".join(filter(None, titles)) or "rfbench", words
