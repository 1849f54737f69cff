"""Every sketch as a transformer of scikit-learn.

A class fixes the kernel, its parameter `sketch` the way to estimate it.  Parameters have scikit-learn's names: gamma
and coef0 are γ and ν of (γ⟨x, y⟩ + ν)ᵖ, n_components is the number of features D, random_state is the seed.  For an
integer, the features are those that the command line draws for this seed and the same training rows.

Rows are transformed in blocks on several threads; only a block of a sparse matrix is dense at a time.  Numbers have the
precision of the rows that the transformer was fitted to.
"""

from rfbench.sklearn.arc_cosine import ArcCosineSketch
from rfbench.sklearn.compressive import CompressiveSketch
from rfbench.sklearn.fourier import FourierSketch
from rfbench.sklearn.maclaurin import MaclaurinSketch
from rfbench.sklearn.optical import OpticalSketch
from rfbench.sklearn.polynomial import PolynomialSketch
from rfbench.sklearn.positive import PositiveSketch
from rfbench.sklearn.spherical import SphericalSketch

__all__ = [
    "ArcCosineSketch",
    "CompressiveSketch",
    "FourierSketch",
    "MaclaurinSketch",
    "OpticalSketch",
    "PolynomialSketch",
    "PositiveSketch",
    "SphericalSketch",
]
