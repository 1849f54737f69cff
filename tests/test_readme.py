"""Every command of the README runs, in order, and prints what the README shows."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import ROOT

TEXT = (ROOT / "README.md").read_text()
SHOWN = [block.split("\n", 1) for block in re.findall(r"```console\n\$ (.*?)\n```", TEXT, re.DOTALL)]
LISTED = [line.strip().partition("  #")[0].strip() for line in re.findall(r"^    (rfbench .*)$", TEXT, re.MULTILINE)]
# One after another only where one needs what another has made or added.
GROUPS: list[list[str]] = []
for command in LISTED:
    if command == "rfbench compare" or (GROUPS and GROUPS[-1][0].startswith("rfbench data add")):
        GROUPS[-1].append(command)
    else:
        GROUPS.append([command])
MADE = [line.partition("#")[0].strip() for line in re.findall(r"^    (make .*)$", TEXT, re.MULTILINE)]


def run(command, cwd):
    words = shlex.split(command)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    call = [sys.executable, "-m", "rfbench", *words[1:]]
    return subprocess.run(call, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


def words_of(text):
    """Words and numbers of an output; numbers of seconds differ from run to run, and progress lines are left out."""
    lines = [line for line in text.splitlines() if not line.startswith("[")]
    timed = any("transform [s]" in line for line in lines)
    return [word for line in lines for word in re.split(r"  +", line.strip())[: -1 if timed and "±" in line else None]]


def same(shown, printed):
    """Equal, or numbers that another processor's rounding may move in the last digit."""
    numbers = [[float(x) for x in word.split(" ± ") if re.fullmatch(r"[\d.e+-]+", x)] for word in (shown, printed)]
    return shown == printed or (bool(numbers[0]) and numbers[0] == pytest.approx(numbers[1], rel=0.1)) or "─" in shown


def test_there_is_something_to_run():
    assert len(SHOWN) == 4
    assert len(LISTED) >= 9
    assert MADE == ["make demo", "make test"]


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[c for c, _ in SHOWN])
def test_shown_output_is_real(command, output, tmp_path, request):
    if "mnist " in command:
        request.getfixturevalue("data_dir")
    done = run(command, tmp_path)
    printed = done.stdout if done.returncode == 0 else done.stderr
    for shown, got in zip(words_of(output), words_of(printed), strict=True):
        assert same(shown, got)


@pytest.mark.parametrize("commands", GROUPS, ids=lambda commands: commands[0])
def test_listed_commands_run(commands, tmp_path, monkeypatch):
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))  # what they add is not for other tests
    (tmp_path / "measurements.csv").write_text(
        "a,b,yield\n" + "".join(f"{i},{i * i % 7},{i % 5 + 0.5}\n" for i in range(50))
    )
    for seed, name in enumerate(("real", "fake")):
        np.save(tmp_path / f"{name}.npy", np.random.default_rng(seed).standard_normal((1200, 16)))
    for command in commands:
        done = run(command, tmp_path)
        assert done.returncode == 0, (command, done.stderr)


@pytest.mark.parametrize("command", MADE)
def test_make_targets(command, tmp_path):
    """In this environment, not a new one; of `make test` one file, since the whole is what runs here."""
    arguments = ["ARGS=tests/kernels/test_kernels.py"] if "test" in command else ["ARGS=seeds=1 features=64"]
    environment = Path(sys.executable).parent.parent
    ready = environment / ".ready"
    if not ready.exists():
        pytest.skip("not in the environment that make sets up")
    call = ["make", "-C", str(ROOT), command.split()[1], f"VENV={environment}", *arguments, "-o", str(ready)]
    done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "kernel_error" in done.stdout or " passed" in done.stdout


def test_help_is_the_default_of_make():
    done = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True)
    for target in ("demo", "test", "lint", "bench", "clean"):
        assert f"make {target}" in done.stdout
