"""`rfbench check sketch=NAME`: the contract of a sketch, kernel, OPU backend or meter, on embedded rows."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.config.compose import compose_jobs, with_search_path
from rfbench.config.schema import typed
from rfbench.datasets.embedded import load_embedded
from rfbench.datasets.prepare import unit_norm
from rfbench.devices.contract import METER_CHECKS, OPU_CHECKS
from rfbench.devices.meters import make_meter
from rfbench.devices.opu import make_opu
from rfbench.devices.opu.analog import Analog
from rfbench.kernels import kernel_recipe
from rfbench.kernels.contract import CHECKS as KERNEL_CHECKS
from rfbench.sketches import make_sketch
from rfbench.sketches.contract import CHECKS as SKETCH_CHECKS
from rfbench.sketches.contract import DRAWS, Subject

GROUPS = ("sketch", "kernel", "opu", "meter")
FEATURES = 64
COLUMNS = slice(24, 40)  # of the digits: two lines of pixels in the middle

Outcome = tuple[str, str | None]  # a check in words, and what is wrong


def main(words: list[str]) -> int:
    """Run the checks of what the words choose; exit code 1 if one fails."""
    asked = [word.partition("=")[0] for word in words]
    group = next((group for group in GROUPS if group in asked), None)
    usage = f"rfbench check {'=NAME, or '.join(GROUPS)}=NAME, with their options"
    if {"-h", "--help"} & set(words):
        print(
            f"{usage}\n\nRun the contract of a component on embedded rows; exit code 1 if it fails one of the checks."
        )
        return 0
    if group is None:
        raise InputError(f"say what to check: {usage}")
    (config,) = compose_jobs(with_search_path(words), multirun=False)
    plain = typed(config)
    name, start = plain[group]["name"] if plain[group] else "none", perf_counter()
    (found, bias), failed = CHECKED[group](plain), 0
    for what, wrong in found:
        print(f"  {'FAILED' if wrong else 'ok':<6}  {what}{f': {wrong}' if wrong else ''}")
        failed += bool(wrong)
    if bias:
        print(f"  its mean is not tested closely, because it states a bias: {bias}")
    verdict = f"{failed} check{'s' if failed > 1 else ''} failed" if failed else "good"
    print(f"{group} '{name}': {verdict} ({perf_counter() - start:.1f} s)")
    return 1 if failed else 0


def rows() -> Array:
    """Rows of length 1 of 16 columns, some of whose inner products are large."""
    X = load_embedded("digits").X
    return unit_norm(X.read(0, 300).astype(np.float64)[:, COLUMNS])


def sketch_subject(plain: dict[str, Any], draws: int = DRAWS) -> Subject:
    """The sketch of a config with about 64 features, and the kernel fitted to the rows."""
    X = rows()
    recipe = kernel_recipe(degree=plain["degree"], **plain["kernel"])
    kernel = recipe.provisional() if recipe.tunable or recipe.by_likelihood else recipe.fit(X)
    sketch = make_sketch(kernel=kernel, **plain["sketch"])
    D = sketch.count(X.shape[1], FEATURES)
    if objection := sketch.objection(D) or kernel.objection(X):
        raise InputError(objection)
    return Subject(sketch, kernel, X, D, draws)


def outcomes(checks: Iterable[Callable[..., str | None]], *subject: Any) -> Iterator[Outcome]:
    """Every check in words, and what is wrong; an error of what is checked is wrong too."""
    for check in checks:
        try:
            wrong = check(*subject)
        except Exception as error:
            wrong = " ".join(f"{type(error).__name__}: {error}".split())
        yield check.__name__.replace("_", " "), wrong


def _sketch(plain: dict[str, Any]) -> tuple[Iterable[Outcome], str]:
    subject = sketch_subject(plain)
    try:
        bias = subject.fitted.stated_bias or ""
    except Exception:  # the checks say why
        bias = ""
    return outcomes(SKETCH_CHECKS, subject), bias


def _kernel(plain: dict[str, Any]) -> tuple[Iterable[Outcome], str]:
    X = rows()
    recipe = kernel_recipe(degree=plain["degree"], **plain["kernel"])
    kernel = recipe.provisional() if recipe.tunable or recipe.by_likelihood else recipe.fit(X)
    return outcomes(KERNEL_CHECKS, kernel, X[:30]), ""


def _opu(plain: dict[str, Any]) -> tuple[Iterable[Outcome], str]:
    def opened() -> Iterator[Outcome]:
        bits = np.unique((load_embedded("digits").X.read(0, 100) > 0.5 * 16).astype(np.uint8), axis=0)[:60]
        with make_opu(**plain["opu"] or {"name": "none"}) as opu:
            if isinstance(opu, Analog):
                raise InputError("an analogue chip has no camera; only backends of sketch=optical have a contract")
            yield from outcomes(OPU_CHECKS, opu, bits)

    return opened(), ""


def _meter(plain: dict[str, Any]) -> tuple[Iterable[Outcome], str]:
    chosen = plain["meter"] or {"name": "none"}
    if chosen["name"] == "none":
        raise InputError("meter=none measures nothing; name another one, such as meter=auto")
    return outcomes(METER_CHECKS, make_meter(**chosen), partial(np.linalg.svd, np.eye(300))), ""


CHECKED = {"sketch": _sketch, "kernel": _kernel, "opu": _opu, "meter": _meter}
