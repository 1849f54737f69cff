"""Every command on every page runs and prints what the page shows; every link and every list is complete.

The commands of one code block, and those in the text and tables of one page, run in order in one directory.  In a
`console` block the output is compared too; the `pycon` blocks of one page are one doctest.  `python
tests/test_pages.py [PAGE …]` writes the outputs of commands, and the figures shown below them, anew.
"""

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from support import ROOT
from support.files import user_files

from rfbench.cli import main
from rfbench.config.compose import CONF, choices

PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "outputs" / "README.md")
}
CONSOLE = re.compile(r'^```console\n(.*?)^```\n(?:\n!\[[^\]]*\]\((\S+)(?: "(\S+)")?\))?', re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:rfbench|make) [^`]+)`")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]\d+)?")
MAY_LACK = "data extract"  # needs a plugin: without it the command must name the way to install it
SLOW = re.compile(r"experiment=|dataset=mnist|launcher=")


def shown_in(block):
    """(command, output) of every command of a console block."""
    return [tuple(part.split("\n", 1)) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


def commands_in(block):
    lines = block.replace("\\\n", " ").splitlines()
    return [command for line in lines if (command := line.partition("  #")[0].strip()) and command[0] != "#"]


def case(page, value, commands):
    """The commands of the README run in every test, those of the other pages in CI."""
    slow = page != "README.md" or any(map(SLOW.search, commands))
    mark = pytest.mark.slow if slow else pytest.mark.medium
    return pytest.param(value, id=f"{page}: {commands[0]}", marks=mark)


SHOWN = [
    case(page, shown, [command for command, _ in shown])
    for page, text in PAGES.items()
    for shown in (shown_in(block) for block, *_ in CONSOLE.findall(text))
]
LISTED = [(page, commands_in(block)) for page, text in PAGES.items() for block in SHELL.findall(text)]
LISTED += [(page, INLINE.findall(CONSOLE.sub("", SHELL.sub("", text)))) for page, text in PAGES.items()]
SESSIONS = [
    case(page, ours, ours)
    for page, commands in LISTED
    if (ours := [command for command in commands if command.split()[0] == "rfbench"])
]
OTHERS = sorted({command for _, commands in LISTED for command in commands if not command.startswith("rfbench")})


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """An empty cache, and a working directory with the files that the pages mention."""
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    user_files(tmp_path)
    return tmp_path


def run(command):
    """Exit code, standard output and errors of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(shlex.split(command)[1:])
        except SystemExit as end:  # argparse, after --help
            code = end.code or 0
    return code, out.getvalue(), err.getvalue()


def cells(text):
    """The cells of the tables in an output, but not seconds, joules and watts; other lines as a whole."""
    lines, kept = text.splitlines(), []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        rule = following if following.startswith("──") else ""
        if rule:
            spans = [match.span() for match in re.finditer("─+", rule)]
            kept = [(a, b) for a, b in spans if not re.search(r"\[[sJW]\]$", line[a:b].strip())]
            gap = slice(spans[0][1], spans[1][0])
        if kept and line.strip() and not line[gap].strip():
            yield from (line[a:b].strip("─ ") for a, b in kept)
        else:
            kept = []
            line = re.sub(r"^(\[\d+/\d+\]) \(about [^)]* left\)", r"\1", line)
            yield re.sub(r"[\d.e-]+( ± [\d.e-]+)? s\b", "… s", re.sub(r"\b[0-9a-f]{12}\b", "…", line))


def same(shown, printed):
    """Equal, or numbers that the rounding of another processor may move; spreads have two digits only."""
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (shown, printed)]
    return numbers[0] == pytest.approx(numbers[1], rel=0.1 if "±" in shown else 0.01)


def alike(shown, printed):
    """Whether two outputs differ in seconds and rounding only."""
    shown, printed = list(cells(shown)), list(cells(printed))
    return len(shown) == len(printed) and all(map(same, shown, printed))


def test_there_is_something_to_run():
    assert len(SHOWN) >= 15
    assert sum(len(commands) for _, commands in LISTED) >= 80
    assert {"make demo", "make test"} <= set(OTHERS)


def test_the_readme_is_short_and_counts_right():
    assert len(PAGES["README.md"].splitlines()) <= 150
    assert f"{len([name for name in choices('sketch') if '/' not in name])} sketches" in PAGES["README.md"]
    assert len(choices("task")) == 15, "the README says fifteen tasks"
    assert len(PAGES["CONTRIBUTING.md"].splitlines()) <= 70


@pytest.mark.parametrize("session", SHOWN)
def test_shown_output_is_real(session, directory, request):
    for command, output in session:
        if "mnist" in command:
            request.getfixturevalue("data_dir")
        code, out, err = run(command)
        printed = out if code == 0 else err
        assert alike(output, printed), f"{command}\n{printed}"


def test_a_changed_output_is_noticed():
    """Negative control of the comparison above."""
    shown = "sketch  error        time [s]\n──────  ───────────  ────────\nrff     0.1 ± 0.02   0.003\n\nexact 0.02 s\n"
    for changed, expected in (
        (shown.replace("0.003", "0.009").replace("0.02 s", "0.05 s"), True),
        (shown.replace("0.1 ±", "0.2 ±"), False),
        (shown.replace("rff", "orf"), False),
        (shown.replace("exact", "block"), False),
        (shown + "one line more\n", False),
    ):
        assert alike(shown, changed) == expected


@pytest.mark.parametrize("session", SESSIONS)
def test_listed_commands_run(session, directory, request):
    if any("mnist" in command for command in session):
        request.getfixturevalue("data_dir")
    for command in session:
        code, _, err = run(command)
        assert code == 0 or (MAY_LACK in command and "pip install" in err), (command, err)


@pytest.mark.medium
@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if PYTHON.search(text)])
def test_python_examples_print_what_is_shown(page, directory):
    examples = doctest.DocTestParser().get_doctest("\n".join(PYTHON.findall(PAGES[page])), {}, page, page, 0)
    assert len(examples.examples) > 5
    report = io.StringIO()
    assert (
        doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL).run(examples, out=report.write).failed == 0
    ), report.getvalue()


def test_importing_the_package_imports_nothing_heavy():
    code = "import rfbench, sys; sys.exit(any(m in sys.modules for m in ('numpy', 'scipy', 'pandas', 'hydra')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_make_targets_exist():
    made = [shlex.split(command)[1:] for command in OTHERS if command.startswith("make ")]
    targets = {word for words in made for word in words if "=" not in word}
    done = subprocess.run(["make", "-n", "-C", str(ROOT), *targets], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_make_targets_run(command, tmp_path):
    """In this environment, not a new one; `make test` runs one file, since this test is part of the suite."""
    arguments = ["ARGS=tests/kernels/test_kernels.py"] if "test" in command else ["ARGS=seeds=1 features=64"]
    environment = Path(sys.executable).parent.parent
    stamps = [environment / ".ready", environment / ".dev"]
    if not all(stamp.exists() for stamp in stamps):
        pytest.skip("not in the environment that make sets up")
    kept = [word for stamp in stamps for word in ("-o", str(stamp))]  # never installed again, however old
    call = ["make", "-C", str(ROOT), command.split()[1], f"VENV={environment}", *arguments, *kept]
    done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "kernel_error" in done.stdout or " passed" in done.stdout


def test_help_is_the_default_of_make():
    done = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True)
    for target in ("demo", "report-demo", "test", "lint", "bench", "clean"):
        assert f"make {target}" in done.stdout


def test_installable_parts_exist():
    """Folders of plugins, and extras of theirs and of rfbench."""
    for command in filter(lambda command: command.startswith("pip install"), OTHERS):
        name, _, extras = shlex.split(command)[-1].rstrip("]").partition("[")
        if name.startswith("./") or name == "rfbench":
            project = tomllib.loads((ROOT / name.removeprefix("rfbench") / "pyproject.toml").read_text())["project"]
            assert set(filter(None, extras.split(","))) <= set(project.get("optional-dependencies", {})), command


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)", PAGES[page]):
        path, _, anchor = target.partition("#")
        if path.startswith("http"):
            continue
        found = (ROOT / page).parent / path if path else ROOT / page
        assert found.exists(), target
        if anchor:
            heads = re.findall(r"^#+ (.*)$", found.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads], target


def test_named_files_exist():
    """Paths in the text, but those with a placeholder."""
    paths = {
        path for text in PAGES.values() for path in re.findall(r"(?<![\w/])(?:rfbench|tests|bench)/[\w/]+\.\w+", text)
    }
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_images_are_small():
    images = list((ROOT / "docs" / "images").iterdir())
    assert len(images) <= 13
    assert max(path.stat().st_size for path in images) < 60_000


def section(page, title):
    """The text below a heading."""
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGES[page], re.MULTILINE | re.DOTALL)
    assert match, f"{page} has no section '{title}'"
    return match[1]


@pytest.mark.parametrize("task", choices("task"))
def test_every_option_of_a_task_is_explained(task):
    from omegaconf import OmegaConf

    options = OmegaConf.load(CONF / "task" / f"{task}.yaml")
    options = options.get("task", options)
    text = section("docs/tasks.md", task)
    for option in set(options) - {"name", "defaults"}:
        assert f"`task.{option}" in text, option


@pytest.mark.parametrize(
    ("group", "page"),
    [
        ("sketch", "docs/sketches.md"),
        ("kernel", "docs/sketches.md"),
        ("dataset", "docs/data.md"),
        ("opu", "docs/devices.md"),
        ("meter", "docs/devices.md"),
    ],
)
def test_every_choice_is_on_its_page(group, page):
    assert [name for name in choices(group) if "/" not in name and f"`{name}`" not in PAGES[page]] == []


def test_every_cited_work_is_among_the_references():
    """Cited as [Surname … year] or Surname et al. year, in code, configs and pages."""
    places = (*(ROOT / "rfbench").rglob("*.py"), *CONF.rglob("*.yaml"), *(ROOT / "docs").glob("*.md"))
    name = r"[A-Z][\w'’-]+"
    cited = re.compile(rf"({name})(?:(?:, {name})*,? (?:and|&) {name}|(?:, {name})+| et al\.)? \(?((?:19|20)\d\d)\b")
    references = PAGES["docs/references.md"]
    missing = {
        match.groups()
        for path in places
        for match in cited.finditer(path.read_text(encoding="utf-8"))
        if not re.search(rf"{match[1]}[^\n]*(\n  [^\n]*)*{match[2]}", references)
    }
    assert missing == set()


def renew(pages):
    """Rewrite the outputs shown on pages, and the images below them."""
    from PIL import Image

    for page in pages or PAGES:
        text = PAGES[page]

        def renewed(match, page=page):
            with TemporaryDirectory() as scratch, chdir(scratch):
                os.environ["RFBENCH_CACHE"] = f"{scratch}/cache"
                user_files(Path(scratch))
                block = ""
                for command, old in shown_in(match[1]):
                    code, out, err = run(command)
                    new = out if code == 0 else err
                    block += f"$ {command}\n{old if alike(old, new) else new}"  # other seconds are no news
                target = match[2] or ("docs/images/default.png" if command == "rfbench" else None)
                if target:
                    results = re.findall(r"^(outputs/\S+): ", out, re.MULTILINE)[-1]
                    image = Image.open(Path(results, match[3] or "figure.png")).convert("RGB")
                    image.thumbnail((1000, 1000))
                    image.quantize(48).save((ROOT / page).parent / target, optimize=True)
            return match[0].replace(match[1], block)

        if (fresh := CONSOLE.sub(renewed, text)) != text:
            (ROOT / page).write_text(fresh, encoding="utf-8")


if __name__ == "__main__":
    renew(sys.argv[1:])
