"""rfbench data get and check: one line per dataset, and an exit code."""

import numpy as np
import pytest

from rfbench.checks import InputError
from rfbench.datasets import commands
from rfbench.datasets.published import fetch


def test_unknown_names_get_the_nearest():
    for verb in ("get", "check"):
        with pytest.raises(InputError, match="did you mean 'mnist'"):
            commands.main([verb, "digits", "mnsit"])


def test_get_says_where_a_set_is(tmp_path, monkeypatch, capsys):
    (tmp_path / "yacht").mkdir()
    (tmp_path / "yacht" / "data.txt").touch()
    monkeypatch.setenv("RFBENCH_DATA", str(tmp_path))
    assert commands.main(["get", "yacht", "digits"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"yacht: already available in {tmp_path / 'yacht'}",
        "digits: embedded in scikit-learn",
    ]


def test_get_continues_after_a_failure(monkeypatch, capsys):
    monkeypatch.setitem(fetch.SOURCES, "boston", ())
    assert commands.main(["get", "boston", "usps", "digits"]) == 1
    printed = capsys.readouterr()
    assert len(printed.err.splitlines()) == 2
    assert "digits" in printed.out


def test_check_tells_good_from_bad(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RFBENCH_DATA", str(tmp_path))
    for name, rows, columns in (("yacht", 308, 7), ("boston", 506, 14), ("energy", 700, 9)):
        (tmp_path / name).mkdir()
        np.savetxt(tmp_path / name / "data.txt", np.random.default_rng(0).random((rows, columns)))
    monkeypatch.delitem(commands.FINGERPRINTS, "yacht")
    assert commands.main(["check", "yacht"]) == 0
    assert commands.main(["check"]) == 1
    lines = {line.split(": ", 1)[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "good, 308 rows of 6 columns" in lines["yacht"]
    assert "BAD" in lines["boston"]
    assert "other rows than the published" in lines["boston"]
    assert "BAD" in lines["energy"]
    assert "768 rows" in lines["energy"]
    assert "mnist" not in lines


def test_check_of_a_missing_dataset(capsys):
    assert commands.main(["check", "mnist"]) == 1
    assert "mnist: missing; download it with" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["add"], ["get"], ["add", "x.csv"], ["frob"]])
def test_a_mistake_is_one_line(words):
    with pytest.raises(InputError, match=r"see rfbench data( \w+)? --help"):
        commands.main(words)


def test_help_is_shown(capsys):
    with pytest.raises(SystemExit):
        commands.main(["--help"])
    shown = capsys.readouterr().out
    assert all(f"    {verb}  " in shown for verb in ("get", "add", "show", "remove", "check", "extract"))
