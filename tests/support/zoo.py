"""Every sketch by name, with a kernel that it estimates.  A new sketch is one line here."""

from dataclasses import dataclass, field

from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch


@dataclass(frozen=True)
class Case:
    kernel: str
    kernel_options: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)
    degree: int | None = None  # the only one


POLYNOMIAL = (
    "gaussian", "complex_gaussian", "ctr_gaussian",
    "rademacher", "complex_rademacher", "ctr_rademacher",
    "tensorsrht", "complex_tensorsrht", "ctr_tensorsrht",
    "stacked_tensorsrht", "complex_stacked_tensorsrht", "ctr_stacked_tensorsrht",
    "ahle_tensorsrht", "complex_ahle_tensorsrht", "ctr_ahle_tensorsrht",
)  # fmt: skip
HEAVY = tuple(name for name in POLYNOMIAL if name.endswith("gaussian"))

CASES = {name: Case("polynomial") for name in POLYNOMIAL}
CASES |= {name: Case("polynomial") for name in ("tensorsketch", "complex_tensorsketch", "ctr_tensorsketch")}
CASES |= {name: Case("polynomial") for name in ("mixed_weights", "circle_weights")}
CASES |= {f"{variant}hamid_tensorsrht": Case("polynomial") for variant in ("", "complex_", "ctr_")}
CASES |= {"hierarchical": Case("polynomial"), "craft": Case("polynomial"), "optical": Case("optical")}
CASES |= {"compressive": Case("polynomial", options={"projector": "hadamard"})}
CASES |= {"optical_polynomial": Case("polynomial", degree=2)}
CASES |= {"random_maclaurin": Case("polynomial"), "optimized_maclaurin": Case("polynomial")}
CASES |= {"mean_split": Case("polynomial"), "anchored": Case("polynomial")}
FOURIER = tuple(variant + kind for kind in ("rff", "orf", "sorf", "fastfood") for variant in ("", "complex_", "phase_"))
SPHERICAL = ("srf", "complex_srf", "srf_orthogonal", "complex_srf_orthogonal")
CASES |= {name: Case("gaussian") for name in (*FOURIER, "compressive_rff", "compressive_phase_rff", "optical_rff")}
CASES |= {name: Case("polynomial_sphere") for name in SPHERICAL}
CASES |= {"favor": Case("exponential", {"length_scale": 1.5}), "exponential_rff": Case("exponential")}
CASES |= {"favor_plus_plus": Case("exponential"), "saderf": Case("exponential"), "arc_cosine": Case("arc_cosine")}
CASES |= {"gegenbauer": Case("polynomial")}
CASES |= {"polysketch": Case("polynomial", degree=2)}
CASES |= {f"orff_{kernel}": Case(kernel) for kernel in ("curl_free", "div_free", "helmholtz")}
CASES |= {"orff_decomposable": Case("decomposable", {"coupling": [[2, 1], [1, 2]]})}
RANDOM = tuple(CASES)
CASES |= {"localized_maclaurin": Case("gaussian")}  # random, but its features depend on the other row of a pair
CASES |= {"nystrom": Case("polynomial")}  # random, but all rows are landmarks where D is larger
CASES |= {"compressive_identity": Case("linear"), "compressive_exact": Case("gaussian")}  # of any number of features
CASES |= {"quadrature": Case("gaussian")}  # a grid, the same in every draw
CASES |= {"identity": Case("linear"), "exact": Case("gaussian", {"length_scale": 1.0})}


def kernel_of(name, degree=3, **options):
    return make_kernel(CASES[name].kernel, CASES[name].degree or degree, **CASES[name].kernel_options | options)


def sketch_of(name, degree=3, **options):
    return make_sketch(name, kernel_of(name, degree, **options), **CASES[name].options)
