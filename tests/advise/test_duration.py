"""How long an experiment will take: what the page records, scaled."""

import pytest
from support import ROOT

from rfbench.advise import duration
from rfbench.config.files import choices

PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")


def test_the_times_are_those_of_the_page():
    found = duration.recorded()
    assert set(found) <= set(choices("experiment"))
    assert len(found) >= 40
    assert f"| {found['wacker/fig4_8']} |\n" in PAGE
    assert "wacker/fig4_11_blocks" not in found  # not run


@pytest.mark.parametrize(
    ("words", "share", "processes", "wanted"),
    [
        ((), 1.0, 1, "wacker/fig4_8 takes about 50 min on this machine"),  # 1000 s on a machine a third as fast
        (("force=true", "hydra/launcher=joblib"), 1.0, 4, "wacker/fig4_8 takes about 12 min on this machine"),
        ((), 0.1, 1, "wacker/fig4_8 takes about 5 min on this machine"),
        ((), 0.005, 1, "wacker/fig4_8 takes some seconds"),
        ((), 0.0, 1, ""),
        (("size=quick",), 1.0, 1, ""),
        (("dataset=wine",), 1.0, 1, ""),
    ],
)
def test_a_forecast_is_the_recorded_time_of_what_is_left(monkeypatch, words, share, processes, wanted):
    monkeypatch.setattr(duration, "recorded", lambda: {"wacker/fig4_8": 1000})
    monkeypatch.setattr(duration, "slowness", lambda: 3.0)
    assert duration.forecast("wacker/fig4_8", ["experiment=wacker/fig4_8", *words], share, processes) == wanted
    assert duration.forecast("demo", ["experiment=demo"], 1.0, 1) == ""


def test_slowness_is_one_over_the_speed(monkeypatch):
    """A machine whose rates are half of those of the page takes twice as long."""
    monkeypatch.setattr(duration, "rate", lambda work, seconds: next(rates))
    rates = iter([one / 2 for one in duration.PAGE_RATES.values()])
    assert duration.slowness() == pytest.approx(2)


def test_the_calibration_takes_two_seconds_of_the_processor_and_counts_repetitions(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(duration, "process_time", lambda: next(clock))
    assert 0 < duration.rate(lambda: None, 10) <= 1  # the clock advances by a second at every look
    assert duration.CALIBRATION == 2
    assert duration.WORK.keys() == duration.PAGE_RATES.keys()


@pytest.mark.slow
def test_an_experiment_says_how_long_it_will_take_before_it_starts(rfbench, monkeypatch):
    monkeypatch.setattr(duration, "slowness", lambda: 1.0)
    done = rfbench("experiment=wacker/fig2_1")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "wacker/fig2_1 takes some seconds\n"
    assert rfbench("experiment=wacker/fig2_1").stderr == ""  # nothing is left
