"""What every OPU backend and every meter promises, as checks that they pass or fail with a reason."""

import json
from collections.abc import Callable

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.devices.meters import Meter
from rfbench.devices.opu import OpticalBackend

D = 1000
LIMIT = 4.8  # of a z-score


def rows_give_counts(opu: OpticalBackend, bits: Array) -> str | None:
    """(n, D) unsigned counts, the same for bits of any type."""
    opu.fit(bits.shape[1], D, 5, 20.0)
    counts = opu.intensities(bits)
    if counts.shape != (len(bits), D) or counts.dtype.kind != "u":
        return f"intensities are {counts.dtype} {counts.shape}, not unsigned {(len(bits), D)}"
    same = np.array_equal(opu.intensities(bits.astype(np.float32)), counts)
    return None if same else "bits as float32 have other intensities than as uint8"


def other_rows_are_refused(opu: OpticalBackend, bits: Array) -> str | None:
    """Rows that are not 0 and 1 are refused as a mistake in the input."""
    opu.fit(bits.shape[1], 10)
    for wrong in (0.5, 2, np.nan):
        rows = bits.astype(np.float64)
        rows[7, 3] = wrong
        try:
            opu.intensities(rows)
        except InputError:
            continue
        return f"a row with {wrong} is not refused with an InputError"
    return None


def batches_do_not_matter(opu: OpticalBackend, bits: Array) -> str | None:
    """A row is seen alike in any batch, but for one count in a few of many."""
    opu.fit(bits.shape[1], D, 5, 20.0)
    whole = opu.intensities(bits).astype(int)
    alone = np.concatenate([opu.intensities(bits[i : i + 1]) for i in range(5)]).astype(int)
    wrong = np.abs(whole[:5] - alone)
    return (
        "a row alone has other intensities than among others" if wrong.max() > 1 or (wrong > 0).mean() > 1e-3 else None
    )


def a_key_is_a_medium(opu: OpticalBackend, bits: Array) -> str | None:
    """The same key is the same medium, another key an independent one."""
    seen = []
    for key in (3, 2**62 + 3, 3):
        opu.fit(bits.shape[1], D, key, 20.0)
        seen.append(opu.intensities(bits).astype(float))
    if not np.array_equal(seen[0], seen[2]):
        return "the same key is not the same medium"
    one, other = ((part - part.mean(1, keepdims=True)).ravel() for part in seen[:2])
    same = abs(float(np.corrcoef(one, other)[0, 1]))
    return f"two keys have media with a correlation of {same:.2f}" if same > 0.05 else None


def a_count_is_its_level(opu: OpticalBackend, bits: Array) -> str | None:
    """`level` times a count is an intensity: exponential with mean ‖x‖²."""
    many = 20 * D
    opu.fit(bits.shape[1], many, 5, 20.0)
    z = (opu.level * opu.intensities(bits).mean(1) / bits.sum(1) - 1) * np.sqrt(many)
    return f"the mean intensity is not ‖x‖² (z = {np.abs(z).max():.1f})" if np.abs(z).max() > LIMIT else None


def it_says_what_it_is(opu: OpticalBackend, bits: Array) -> str | None:
    """`info` fits into run.json."""
    opu.fit(bits.shape[1], 10)
    json.dumps(opu.info())
    return None


OPU_CHECKS: tuple[Callable[[OpticalBackend, Array], str | None], ...] = (
    rows_give_counts,
    other_rows_are_refused,
    batches_do_not_matter,
    a_key_is_a_medium,
    a_count_is_its_level,
    it_says_what_it_is,
)


def a_reading_or_a_reason(meter: Meter, work: Callable[[], object]) -> str | None:
    """After the work there are joules above zero, or a reason why not; never an error."""
    with meter.measure() as reading:
        work()
    if reading.joules is None:
        return None if reading.reason else "there are neither joules nor a reason"
    if not 0 < reading.joules < np.inf:
        return f"it reads {reading.joules} J"
    return None if reading.seconds > 0 else "the seconds of the work are missing"


def errors_of_the_work_are_raised(meter: Meter, work: Callable[[], object]) -> str | None:
    """An error of the work is handed on."""
    try:
        with meter.measure():
            raise ZeroDivisionError
    except ZeroDivisionError:
        return None
    return "an error of the work is swallowed"


METER_CHECKS: tuple[Callable[[Meter, Callable[[], object]], str | None], ...] = (
    a_reading_or_a_reason,
    errors_of_the_work_are_raised,
)
