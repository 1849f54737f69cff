"""What scikit-learn's parameters may be, and the kernel that they describe."""

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from rfbench.kernels import KernelRecipe, kernel_recipe

ABOVE_0 = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
AT_LEAST_1 = Interval(Integral, 1, None, closed="left")
OF_LENGTHS = [StrOptions({"scale", "median"}), ABOVE_0]  # gamma of a kernel that has a length scale l
OF_PRODUCTS = [StrOptions({"scale"}), ABOVE_0]
# γ l²: exp(−γ‖x − y‖²) is the Gaussian kernel, exp(γ⟨x, y⟩) the exponential one.
UNITS = {"gaussian": 2, "laplacian": 2, "matern": 2, "bessel": 2, "b_spline": 2, "exponential": 1}


def recipe(kernel: str, gamma: float | str = 1.0, degree: int = 1, coef0: float = 0.0, **others: Any) -> KernelRecipe:
    """The kernel of that name from scikit-learn's parameters, which may be NumPy's numbers, and others of its own."""
    if kernel == "polynomial":
        others |= {"gamma": gamma if isinstance(gamma, str) else float(gamma), "bias": float(coef0)}
    elif kernel in UNITS:
        others["length_scale"] = gamma if isinstance(gamma, str) else (UNITS[kernel] * float(gamma)) ** -0.5
    return kernel_recipe(kernel, int(degree), **others)
