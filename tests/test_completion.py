"""Tab completion as Hydra documents it, in the shells that are installed."""

import os
import shutil
import subprocess
import sys

import pytest
from support import ROOT


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("rfbench pre", {"predict"}),
        ("rfbench dat", {"data", "data_dir=", "dataset="}),
        ("rfbench dataset=win", {"dataset=wine"}),
        ("rfbench -m sketch=rff,sor", {"sketch=rff,sorf"}),
        ("rfbench task=ridge task.sol", {"task.solver="}),
        ("rfbench task.row", {"task.rows="}),  # of the default task
        ("rfbench size=", {"size=full", "size=normal", "size=quick"}),
        ("rfbench force=t", {"force=true"}),
        ("rfbench spread=", {"spread=std", "spread=stderr"}),
        ("rfbench clean --o", {"--older", "--orphans"}),
        ("rfbench data sh", {"show"}),
        ("rfbench data add --on", {"--onehot"}),
        ("rfbench data show win", {"wine"}),
        ("rfbench list me", {"meters"}),
        ("rfbench check ker", {"kernel="}),
        ("rfbench compare wacker/tableD_1", {"wacker/tableD_1"}),
        ("rfbench nonsense=", set()),
    ],
)
def test_the_choices_of_a_line(rfbench, line, wanted):
    for shell, separator in (("bash", " "), ("fish", "\n")):
        done = rfbench("-sc", f"query={shell}", env={"COMP_LINE": line})
        assert done.returncode == 0, done.stderr
        assert set(filter(None, done.stdout.rstrip("\n").split(separator))) >= wanted
        assert bool(done.stdout.strip()) == bool(wanted)


def test_the_way_out_of_a_mistake(rfbench):
    for words in ((), ("install=tcsh",), ("remove=bash",)):
        done = rfbench("-sc", *words)
        assert done.returncode == 2
        assert 'eval "$(rfbench -sc install=bash)"' in done.stderr


BASH = """eval "$(rfbench -sc install=bash)"
COMP_LINE='rfbench clea'; COMP_POINT=12; COMP_CWORD=1; hydra_bash_completion; echo "${COMPREPLY[@]}"
COMP_LINE='rfbench -m sketch=rff,fas'; COMP_POINT=25; COMP_CWORD=2; hydra_bash_completion; echo "${COMPREPLY[@]}"
"""
FISH = """rfbench -sc install=fish | source
complete -C 'rfbench clea'
complete -C 'rfbench -m sketch=rff,fas'
"""
ZSH = """zmodload zsh/zpty
zpty -b z zsh -f -i
zpty -w z 'PS1=""; autoload -Uz compinit bashcompinit; compinit -u; bashcompinit; eval "$(rfbench -sc install=bash)"'
zpty -w z 'echo READY-NOW'
zpty -r z seen '*READY-NOW*READY-NOW*'
zpty -w -n z $'rfbench clea\\t'
zpty -r z seen '*rfbench clean*' && echo clean
zpty -w -n z $'\\C-urfbench -m sketch=rff,fas\\t'
zpty -r z seen '*sketch=rff,fastfood*' && echo sketch=rff,fastfood
zpty -d z
"""


@pytest.mark.slow
@pytest.mark.parametrize(("shell", "script"), [("bash", BASH), ("fish", FISH), ("zsh", ZSH)])
def test_completion_in_a_shell(tmp_path, shell, script):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    program = tmp_path / "bin" / "rfbench"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m rfbench "$@"\n')
    program.chmod(0o755)
    environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    (tmp_path / "script").write_text(script)
    command = [shell, *(["-f"] if shell == "zsh" else []), str(tmp_path / "script")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert done.stdout.split() == ["clean", "sketch=rff,fastfood"], done.stderr
