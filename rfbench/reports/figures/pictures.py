"""Pictures of all jobs as files: maps, posteriors and grids."""

from collections.abc import Iterable
from pathlib import Path

from rfbench.reports.figures.grids import draw_grids
from rfbench.reports.figures.maps import draw_maps
from rfbench.reports.figures.posteriors import draw_posteriors
from rfbench.reports.figures.save import save
from rfbench.reports.figures.style import settings
from rfbench.results.pictures import GRIDS, MAPS, POSTERIORS, read_pictures

DRAWN = {MAPS: draw_maps, POSTERIORS: draw_posteriors, GRIDS: draw_grids}


def write_pictures(target: Path, directories: Iterable[Path]) -> None:
    """Files for each kind of picture that the jobs have."""
    directories = list(directories)
    for kind, draw in DRAWN.items():
        pictures = {key: A for directory in directories for key, A in read_pictures(directory, kind).items()}
        if pictures:
            import matplotlib as mpl

            with mpl.rc_context(settings()):
                save(draw(pictures), target, kind)
