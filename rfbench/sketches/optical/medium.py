"""A scattering medium: U with independent CN(0, 1) entries, and the intensity |Ux|² of the light behind it.

U is drawn in blocks of outputs by a counter-based generator and, if it is large, drawn again whenever it is needed: ten
million outputs take no more memory than a hundred thousand.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rfbench.arrays import Array, complex_type
from rfbench.blocks import scratch, spans
from rfbench.sketches.products.weights import complex_gaussian

BLOCK = 4096  # outputs per block of U
KEPT_BYTES = 10**9  # a U below this is drawn once and kept


class Medium:
    """The outputs first..first + D of the medium that the key names."""

    def __init__(self, d: int, D: int, key: int, dtype: Any, first: int = 0, kept: list[Array] | None = None) -> None:
        self.d, self.D, self.key, self.dtype, self.first = d, D, key, np.dtype(dtype), first
        self.spans = list(spans(D, BLOCK))
        small = d * D * complex_type(dtype).itemsize <= KEPT_BYTES
        self.kept = kept or ([self.draw(span) for span in self.spans] if small else None)

    def parts(self) -> Iterator["Medium"]:
        """Media of a few blocks, whose outputs, side by side, are these."""
        for number in range(0, len(self.spans), 4):
            start, stop = self.spans[number].start, self.spans[number : number + 4][-1].stop
            kept = self.kept[number : number + 4] if self.kept else None
            yield type(self)(self.d, stop - start, self.key, self.dtype, self.first + start, kept)

    def draw(self, outputs: slice) -> Array:
        """Some outputs of U, real and imaginary columns side by side; every call returns the same."""
        rng = np.random.Generator(np.random.Philox(key=[self.key, self.first + outputs.start]))
        return complex_gaussian((self.d, outputs.stop - outputs.start), rng, self.dtype).view(self.dtype)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Ranges of outputs and their columns of U."""
        for number, span in enumerate(self.spans):
            yield span, self.kept[number] if self.kept else self.draw(span)


def intensity(X: Array, U: Array, out: Array) -> Array:
    """|Ux|² of every row."""
    light = np.matmul(X, U, out=scratch("light", (len(X), U.shape[1]), U.dtype))
    np.square(light, out=light)
    return np.add(light[:, ::2], light[:, 1::2], out=out)
