"""`rfbench compare`: our results beside the published numbers, cell by cell."""

import argparse
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

from rfbench.checks import InputError, Parser
from rfbench.config.files import choices
from rfbench.reports.compare.author import EXPERIMENTS, author
from rfbench.reports.compare.claims import FAILS, HOLDS, Check, check, read_claims
from rfbench.reports.compare.ours import read_ours
from rfbench.reports.compare.published import Cell, printed
from rfbench.reports.compare.studies import FILES, studies
from rfbench.reports.compare.verdicts import AGREE, DISAGREE, NOT_COMPUTED, WEAK, Results, Verdict, judge
from rfbench.storage import replace_file

SETTING = ("source", "dataset", "prepare", "task", "kernel", "degree", "sketch", "features", "metric")
COLUMNS = ("kind", *SETTING, "published", "ours", "z", "verdict", "reason")
SHOWN = ("dataset", "prepare", "kernel", "degree", "sketch", "features", "metric", "published", "ours", "z", "verdict")
CELL, CLAIM = "cell", "claim"
WORKS = {  # letters of sources: the folder of experiments, and the work
    "T": ("wacker", "Wacker 2022"),
    "O": ("ohana", "Ohana et al. 2019"),
    "C": ("chang", "Chang et al. 2016"),
    "B": ("brault", "Brault et al. 2016"),
}
CLEARLY = ", clearly"
Line = dict[str, str]


def main(words: list[str]) -> int:
    """Print the cells of both sides, the reasons for the others, and the count of verdicts; write compare.csv."""
    args = _parse(words)
    cells = [*printed(), *(of_files(args.truth) if args.truth else ())]
    ours = read_ours(args.directory)
    lines = [_of_cell(one) for one in judge(cells, Results(ours, _available))]
    lines += [_of_claim(one) for one in check(read_claims(), ours)]
    shown = _of_source(lines, args.source) if args.source else lines
    for part in _tables(shown):
        print(part, end="\n\n")
    path = args.directory / "compare.csv"
    replace_file(path, as_csv(lines))
    print(f"{path}: all cells and claims with their reasons")
    if weak := [line for line in shown if line["verdict"] == WEAK]:
        print(f"{len(weak)} weak cells want more seeds:", *map(_name, weak), sep="\n  ")
    print(counted(shown) or "nothing to compare: no published setting was run")
    return 0


def of_files(directory: Path) -> list[Cell]:
    """The cells of all files of results that the directory has."""
    cells = [*author(directory), *studies(directory)]
    if not cells:
        names = " or ".join(f"{name}.csv" for name in (*EXPERIMENTS, *FILES))
        raise InputError(f"no {names} in {directory}; give --truth the directory that has them")
    return cells


def spelled_out(source: str) -> str:
    """Table D.1 (Wacker 2022) for T Table D.1."""
    letter, _, place = source.partition(" ")
    return f"{place} ({WORKS[letter][1]})" if letter in WORKS else source


def _of_source(lines: list[Line], source: str) -> list[Line]:
    found = [line for line in lines if re.split(r"[(,]", line["source"])[0] == source]
    if not found:
        raise InputError(f"{spelled_out(source)} has no published numbers to compare with")
    return found


def _name(line: Line) -> str:
    return ", ".join(filter(None, (line[name] for name in ("source", *SHOWN[:7]))))


def _parse(words: list[str]) -> argparse.Namespace:
    parser = Parser("rfbench compare", description=main.__doc__)
    parser.add_argument("directory", nargs="?", metavar="DIR", help="of results (default: outputs)")
    parser.add_argument("experiment", nargs="?", metavar="EXPERIMENT", help="one table or figure: wacker/tableD_1")
    parser.add_argument("--truth", type=Path, metavar="DIR", help="files with the results of others")
    args = parser.parse_args(words)
    if args.directory and not args.experiment and not Path(args.directory).exists() and source_of(args.directory):
        args.directory, args.experiment = None, args.directory
    if args.directory and not Path(args.directory).exists() and (near := nearest(args.directory)):
        raise InputError(f"no directory or experiment '{args.directory}'; did you mean '{near}'?")
    args.directory, args.source = Path(args.directory or "outputs"), source_of(args.experiment or "")
    if args.experiment and not args.source:
        near = nearest(args.experiment) or "wacker/tableD_1"
        raise InputError(f"no published numbers of '{args.experiment}'; name an experiment such as {near}")
    return args


def nearest(word: str) -> str:
    """The experiment with published numbers whose name is like a word, or nothing."""
    return next(iter(get_close_matches(word, filter(source_of, choices("experiment")), 1, 0.75)), "")


def source_of(experiment: str) -> str | None:
    """The table or figure that an experiment repeats: T Table D.1 for wacker/tableD_1."""
    paper, _, name = experiment.partition("/")
    letters = {folder: letter for letter, (folder, _) in WORKS.items()}
    if paper not in letters or not (match := re.match(r"(fig|table)([A-Z\d]\d*)(?:_(\d+))?", name)):
        return None
    return f"{letters[paper]} {'Fig.' if match[1] == 'fig' else 'Table'} {'.'.join(filter(None, match.groups()[1:]))}"


def _available(dataset: str) -> bool:
    """Whether a dataset is here or can be downloaded."""
    from rfbench.datasets import status

    return status(dataset, None) not in ("unknown", "manual download", "needs extraction")


def _of_cell(one: Verdict) -> Line:
    cell, ours = one.cell, one.ours
    setting = {name: str(getattr(cell, name)) for name in SETTING}
    numbers = {
        "published": _number(cell.mean, cell.std, cell.count),
        "ours": _number(ours.mean, ours.std, ours.count) if ours and ours.count else "",
        "z": "" if one.z is None else f"{one.z:+.2f}",
    }
    return {"kind": CELL} | setting | numbers | {"verdict": one.verdict, "reason": one.reason}


def _of_claim(one: Check) -> Line:
    names = ("dataset", "prepare", "task", "kernel", "degree", "features")
    own = {"kind": CLAIM, "source": one.claim.source, "sketch": one.claim.sketch, "metric": one.claim.metric}
    said = {"published": one.claim.claim, "ours": one.found, "z": "" if one.z is None else f"{one.z:+.2f}"}
    reason = "not run" if one.verdict == NOT_COMPUTED else one.claim.relation + CLEARLY * one.shown
    return own | dict(zip(names, one.setting, strict=True)) | said | {"verdict": one.verdict, "reason": reason}


def _number(mean: float, std: float | None, count: int | None) -> str:
    spread = "" if std is None else f" ± {std:.2g}"
    return f"{mean:.4g}{spread}" + (f" ({count})" if count else "")


def _tables(lines: list[Line]) -> Iterator[str]:
    """For each source that was run the cells that were compared, then the count of the others by reason."""
    sources = list(dict.fromkeys(line["source"] for line in lines))
    run = {line["source"] for line in lines if line["verdict"] != NOT_COMPUTED}
    for source in sources if len(sources) == 1 else filter(run.__contains__, sources):
        part = [line for line in lines if line["source"] == source]
        compared = [line for line in part if line["verdict"] != NOT_COMPUTED]
        rest = Counter(line["reason"] for line in part if line["verdict"] == NOT_COMPUTED)
        grid = [_grid(compared)] if compared else []
        why = [f"not computed: {count} ({reason})" for reason, count in rest.most_common()]
        yield "\n".join([f"{spelled_out(source)}: {counted(part)}".removesuffix(": "), *grid, *why])
    if len(sources) > 1 and len(run) < len(sources):
        yield f"{len(sources) - len(run)} tables and figures were not run"


def _grid(lines: list[Line]) -> str:
    shown = [name for name in SHOWN if len({line[name] for line in lines}) > 1 or name in SHOWN[-5:]]
    rows = [shown, *([line[name] for name in shown] for line in lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["─" * width for width in widths])
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def as_csv(lines: Iterable[Line]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def counted(lines: list[Line]) -> str:
    """N of M cells agree; K of L claims hold: never one sum, as a claim asks for less than a number does."""
    found = Counter((line["kind"], line["verdict"]) for line in lines)
    cells = sum(found[CELL, word] for word in (AGREE, WEAK, DISAGREE))
    claims = sum(found[CLAIM, word] for word in (HOLDS, FAILS))
    clear = sum(line["verdict"] == HOLDS and line["reason"].endswith(CLEARLY) for line in lines)
    weak = f" ({found[CELL, WEAK]} weak)" if found[CELL, WEAK] else ""
    both = (
        f"{found[CELL, AGREE]} of {cells} cells agree{weak}" if cells else "",
        f"{found[CLAIM, HOLDS]} of {claims} claims hold ({clear or 'none'} clearly)" if claims else "",
    )
    return "; ".join(filter(None, both))
