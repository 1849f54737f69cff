"""Directions and lengths of frequencies by the options of a sketch."""

from collections.abc import Callable
from functools import partial
from typing import Any

from rfbench.checks import InputError, did_you_mean, require
from rfbench.kernels.base import Kernel
from rfbench.sketches.base import Sketch
from rfbench.sketches.fourier.directions import Directions, Haar, Hadamard, Independent, Matched, Simplex, Truncated
from rfbench.sketches.fourier.norms import NORMS
from rfbench.sketches.fourier.quasi import POINTS, QuasiRandom

CHOICES: dict[str, Callable[..., Directions]] = {
    "independent": Independent,
    "orthogonal": Haar,
    "structured": Hadamard,
    "simplex": Simplex,
    "matched": Matched,
    **{points: partial(QuasiRandom, points=points) for points in POINTS},
}
SIGNS = {"orthogonal": ["uniform", "lapack"], "structured": ["first", "last"]}


def choose(
    directions: str, norms: str | None = None, truncation: float | None = None, signs: str | None = None
) -> Directions:
    """The directions that the options of a sketch name; without words for norms and signs, those of the papers."""
    for key, word, known in (("directions", directions, [*CHOICES]), ("norms", norms or "independent", [*NORMS])):
        if word not in known:
            raise InputError(f"no sketch.{key} '{word}'; {did_you_mean(word, known)}")
    if directions in ("matched", *POINTS):
        require(norms in (None, "independent"), "sketch.norms", f"null: {directions} points keep their lengths", norms)
    options: dict[str, Any] = {"lengths": norms} if norms else {}
    if signs is not None:
        words = SIGNS.get(directions, [])
        require(signs in words, "sketch.signs", " or ".join([*words, "null"]), signs)
        options["uniform" if directions == "orthogonal" else "signs_first"] = signs == words[0]
    if truncation is None:
        return CHOICES[directions](**options)
    require(truncation > 0, "sketch.truncation", "above 0", truncation)
    if directions == "orthogonal":
        return Haar(truncation=truncation, **options)
    require(directions == "independent", "sketch.truncation", f"null for {directions} directions", truncation)
    require(norms in (None, "independent"), "sketch.norms", "null: truncated frequencies keep their lengths", norms)
    return Truncated(at=truncation)


def coupled(make: Callable[[Directions, Any], Sketch], by_default: str) -> Callable[..., Sketch]:
    """A maker of sketches whose options name the directions."""

    def with_options(
        kernel: Kernel,
        directions: str = by_default,
        norms: str | None = None,
        truncation: float | None = None,
        signs: str | None = None,
    ) -> Sketch:
        return make(choose(directions, norms, truncation, signs), kernel)

    return with_options
