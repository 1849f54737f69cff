"""`rfbench compare`: our results beside the published numbers, cell by cell."""

import argparse
import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from rfbench.checks import InputError
from rfbench.reports.compare.author import author
from rfbench.reports.compare.claims import Check, check, read_claims
from rfbench.reports.compare.ours import read_ours
from rfbench.reports.compare.published import printed
from rfbench.reports.compare.verdicts import AGREE, DISAGREE, NOT_COMPUTED, Results, Verdict, judge
from rfbench.storage import replace_file

COLUMNS = (
    "source", "dataset", "prepare", "task", "kernel", "degree", "sketch", "features", "metric",
    "published", "ours", "z", "verdict", "reason",
)  # fmt: skip
SHOWN = ("dataset", "prepare", "kernel", "degree", "sketch", "features", "metric", "published", "ours", "z", "verdict")
Line = dict[str, str]


def main(words: list[str]) -> int:
    """Print the cells of both sides, the reasons for the others, and the count of verdicts; write compare.csv."""
    args = _parse(words)
    cells = [*printed(), *(author(args.truth) if args.truth else ())]
    ours = read_ours(args.directory)
    lines = [_of_cell(one) for one in judge(cells, Results(ours, _available))]
    lines += [_of_claim(one) for one in check(read_claims(), ours)]
    for part in _tables(lines):
        print(part, end="\n\n")
    path = args.directory / "compare.csv"
    replace_file(path, _as_csv(lines))
    print(f"{path}: all cells with their reasons")
    print(counted(lines))
    return 0


def _parse(words: list[str]) -> argparse.Namespace:
    def refuse(message: str) -> NoReturn:
        raise InputError(f"{message}; rfbench compare takes a directory of results and --truth DIR")

    parser = argparse.ArgumentParser("rfbench compare", add_help=False)
    parser.error = refuse  # type: ignore[method-assign]
    parser.add_argument("directory", nargs="?", type=Path, default=Path("outputs"))
    parser.add_argument("--truth", type=Path)
    return parser.parse_args(words)


def _available(dataset: str) -> bool:
    """Whether a dataset is here or can be downloaded or extracted."""
    from rfbench.datasets import status

    return status(dataset, None) not in ("unknown", "manual download")


def _of_cell(one: Verdict) -> Line:
    cell, ours = one.cell, one.ours
    setting = {name: str(getattr(cell, name)) for name in COLUMNS[:9]}
    numbers = {
        "published": _number(cell.mean, cell.std, cell.count),
        "ours": _number(ours.mean, ours.std, ours.count) if ours and ours.count else "",
        "z": "" if one.z is None else f"{one.z:+.2f}",
    }
    return setting | numbers | {"verdict": one.verdict, "reason": one.reason}


def _of_claim(one: Check) -> Line:
    names = ("dataset", "prepare", "task", "kernel", "degree", "features")
    own = {"source": one.claim.source, "sketch": one.claim.sketch, "metric": one.claim.metric}
    said = {"published": one.claim.claim, "ours": one.found, "z": "" if one.z is None else f"{one.z:+.2f}"}
    reason = "not run" if one.verdict == NOT_COMPUTED else one.claim.relation
    return own | dict(zip(names, one.setting, strict=True)) | said | {"verdict": one.verdict, "reason": reason}


def _number(mean: float, std: float | None, count: int | None) -> str:
    spread = "" if std is None else f" ± {std:.2g}"
    return f"{mean:.4g}{spread}" + (f" ({count})" if count else "")


def _tables(lines: list[Line]) -> Iterator[str]:
    """For each source the cells that were compared, then the count of the others by reason."""
    for source in dict.fromkeys(line["source"] for line in lines):
        part = [line for line in lines if line["source"] == source]
        compared = [line for line in part if line["verdict"] != NOT_COMPUTED]
        rest = Counter(line["reason"] for line in part if line["verdict"] == NOT_COMPUTED)
        grid = [_grid(compared)] if compared else []
        why = [f"not computed: {count} ({reason})" for reason, count in rest.most_common()]
        yield "\n".join([f"{source}: {counted(part)}", *grid, *why])


def _grid(lines: list[Line]) -> str:
    shown = [name for name in SHOWN if len({line[name] for line in lines}) > 1 or name in SHOWN[-5:]]
    rows = [shown, *([line[name] for name in shown] for line in lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["─" * width for width in widths])
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _as_csv(lines: list[Line]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def counted(lines: list[Line]) -> str:
    """N agree, M disagree, K not computed."""
    found = Counter(line["verdict"] for line in lines)
    return ", ".join(f"{found[word]} {word}" for word in (AGREE, DISAGREE, NOT_COMPUTED))
