"""Figures as files: the same figure gives the same bytes."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

from rfbench.storage import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save(figure: "Figure", directory: Path, name: str) -> None:
    """name.png and name.svg."""
    for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
        content = io.BytesIO()
        figure.savefig(content, format=kind, dpi=200, metadata=metadata)
        replace_file(directory / f"{name}.{kind}", content.getvalue())
