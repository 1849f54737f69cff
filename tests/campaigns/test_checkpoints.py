"""A long run that is killed goes on from the sums that it has written, and ends with the same numbers."""

import random
import shutil
import signal

import pytest
from support.faults import LONG, begun, files, kill, leftovers, numbers, until

from rfbench.engines.ledger import read_sums

pytestmark = pytest.mark.slow
KILLS = 8


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("engine=local", "task.alpha=1e-3"), id="local"),
        pytest.param(("engine=local",), id="local, with held-out rows"),
        pytest.param(("engine=processes", "engine.workers=2", "task.alpha=1e-3"), id="processes"),
    ],
)
def test_a_run_killed_several_times_has_the_numbers_of_an_undisturbed_one(words, tmp_path):
    calm, wild = tmp_path / "calm", tmp_path / "wild"
    for directory in (calm, wild):
        directory.mkdir()
    undisturbed = begun(*LONG, *words, cwd=calm)
    assert undisturbed.wait(600) == 0, (calm / "stderr").read_text()
    command, kills, chance = (*LONG, *words, "engine.checkpoint=0"), 0, random.Random(5)
    seen = []
    while kills < KILLS:
        writes, process = chance.randint(1, 5), begun(*command, cwd=wild)
        for _ in range(writes):
            # Wait for something new on disk: a start that makes no progress would never be killed.
            before = files(wild, "sums.npz")
            if not until(lambda b=before: files(wild, "sums.npz") != b, process):
                break
        kill(process)
        assert process.returncode in (0, -signal.SIGKILL), (wild / "stderr").read_text()
        if process.returncode == 0:  # it was over before the test looked
            assert numbers(wild) == numbers(calm)
            shutil.rmtree(wild / "outputs")
            seen.clear()
            continue
        kills += 1
        heads = [read_sums(path)[0] for path in wild.rglob("sums.npz")]
        if heads:  # else the results are written
            seen.append(sorted((head["rows"], head["parts"], head["blocks"]) for head in heads))
        assert seen == sorted(seen), "every start goes on from the one before"
    last = begun(*command, cwd=wild)
    assert last.wait(600) == 0, (wild / "stderr").read_text()
    assert numbers(wild) == numbers(calm)
    assert leftovers(wild) == []
