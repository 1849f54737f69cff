"""Names as people print them, in figures and LaTeX tables; the terminal and CSV files keep those of the config.

Plugins add to both tables by entry points in the group rfbench.names, each a mapping from a name of the config or of a
metric to the printed one.
"""

import re
from collections.abc import Mapping
from functools import cache

from rfbench.checks import InputError
from rfbench.registry import entry_points, loaded, warn

COMPONENTS = {  # sketches, datasets, kernels, tasks
    "gaussian": "Gaussian",
    "rademacher": "Rademacher",
    "tensorsrht": "TensorSRHT",
    "stacked_tensorsrht": "stacked TensorSRHT",
    "ahle_tensorsrht": "TensorSRHT of Ahle et al.",
    "hamid_tensorsrht": "TensorSRHT of Hamid et al.",
    "tensorsketch": "TensorSketch",
    "mixed_weights": "mixed weights",
    "circle_weights": "weights on the circle",
    "random_maclaurin": "random Maclaurin",
    "optimized_maclaurin": "optimized Maclaurin",
    "localized_maclaurin": "localized Maclaurin",
    "craft": "CRAFT",
    "mean_split": "mean split",
    "nystrom": "Nyström",
    "rff": "RFF",
    "orf": "ORF",
    "sorf": "SORF",
    "fastfood": "Fastfood",
    "srf": "SRF",
    "srf_orthogonal": "orthogonal SRF",
    "gegenbauer": "Gegenbauer",
    "quadrature": "Gaussian quadrature",
    "arc_cosine": "arc-cosine",
    "favor": "FAVOR+",
    "favor_plus_plus": "FAVOR++",
    "saderf": "SADERF",
    "exponential_rff": "exponential RFF",
    "compressive_rff": "compressive RFF",
    "compressive_phase_rff": "compressive RFF with phases",
    "compressive_exact": "compressive exact kernel",
    "compressive_identity": "measurements",
    "optical_rff": "optical RFF",
    "optical_polynomial": "optical polynomial",
    "orff_decomposable": "decomposable ORFF",
    "orff_curl_free": "curl-free ORFF",
    "orff_div_free": "divergence-free ORFF",
    "orff_helmholtz": "Helmholtz ORFF",
    "adult": "Adult",
    "bike": "Bike",
    "boston": "Boston",
    "breast_cancer": "Breast cancer",
    "cifar10": "CIFAR-10",
    "cifar10_alexnet": "CIFAR-10, AlexNet",
    "cifar10_efficientnet": "CIFAR-10, EfficientNet",
    "cifar10_inception": "CIFAR-10, Inception",
    "cifar10_resnet34": "CIFAR-10, ResNet34",
    "cifar10_vgg16": "CIFAR-10, VGG16",
    "cod_rna": "Cod-RNA",
    "concrete": "Concrete",
    "covertype": "Covertype",
    "diabetes": "Diabetes",
    "digit_halves": "Halves of digits",
    "digits": "Digits",
    "drive": "Drive",
    "drive_subset": "Drive, subset",
    "eeg": "EEG",
    "elevators": "Elevators",
    "energy": "Energy",
    "fashion_mnist": "Fashion-MNIST",
    "five_gaussians": "Five Gaussians",
    "flights": "Flights",
    "gisette": "Gisette",
    "keggdirected": "KEGG directed",
    "keggundirected": "KEGG undirected",
    "kin40k": "Kin40k",
    "kin8nm": "Kin8nm",
    "letter": "Letter",
    "low_rank": "Low rank",
    "magic": "MAGIC",
    "miniboo": "MiniBooNE",
    "mnist": "MNIST",
    "mocap": "MoCap",
    "mocap_subset": "MoCap, subset",
    "naval": "Naval",
    "pol": "Pol",
    "powerplant": "Power plant",
    "protein": "Protein",
    "pumadyn32nm": "Pumadyn32nm",
    "tamielectric": "Tamielectric",
    "uk_house_prices": "UK house prices",
    "usps": "USPS",
    "wine": "Wine",
    "yacht": "Yacht",
    "b_spline": "B-spline",
    "bessel": "Bessel",
    "curl_free": "curl-free",
    "div_free": "divergence-free",
    "helmholtz": "Helmholtz",
    "laplacian": "Laplacian",
    "matern": "Matérn",
    "polynomial_sphere": "polynomial on the sphere",
    "kernel_error": "kernel error",
    "kid": "KID",
    "gpr": "GP regression",
    "gpc": "GP classification",
    "gpc_svi": "variational GP classification",
    "svm": "SVM",
}
VARIANTS = {"complex_": "complex ", "ctr_": "CtR-", "phase_": "phase "}
METRICS = {
    "rel_frobenius": "relative Frobenius error",
    "rel_off_diagonal": "relative Frobenius error of pairs of different rows",
    "rel_frobenius_complex": "relative Frobenius error of the complex estimate",
    "rel_spectral": "relative spectral error",
    "rel_output": "relative error of the output",
    "max_abs_error": "absolute error",
    "max_block_norm": "largest spectral norm of an error of K(x, y)",
    "kl": "KL divergence from the exact process",
    "mnll": "mean negative log likelihood",
    "nmll": "negative log marginal likelihood",
    "mae": "mean absolute error",
    "spearman": "Spearman's rank correlation",
    "nmse": "normalised mean squared error",
    "rmse": "root mean squared error",
    "error": "misclassified fraction",
    "accuracy": "accuracy",
    "validation_error": "error on held-out rows",
    "calibration_error": "calibration error",
    "variance_closed_form": "variance",
    "variance_empirical": "variance, Monte Carlo",
    "variance_surrogate": "convex surrogate of the variance",
    "variance_norm_bound": "bound",
    "variance_norm_empirical": "Monte Carlo",
    "variance_norm_bound|variance_norm_empirical": "spectral norm of the covariance",
    "empirical_over_closed_form": "Monte Carlo / closed form",
    "largest_variance": "largest variance",
    "last_bias": "last bias",
    "negative_rows": "rows with a negative sum",
    "kid": "KID",
    "kid_error": "standard error of KID",
    "kid_sampling_error": "sampling error of KID",
    "kid_sketch_error": "sketch error of KID",
    "kid_difference": "difference of KID",
    "kid_difference_error": "standard error of the difference",
    "kid_difference_sampling_error": "sampling error of the difference",
    "kid_difference_sketch_error": "sketch error of the difference",
    "kid_std": "standard deviation of one estimate of KID",
    "alpha": "penalty α",
    "noise_variance": "noise variance",
    "jitter": "jitter",
    "clusters": "clusters",
    "iterations": "iterations",
    "classes_not_converged": "classes not converged",
    "sufficient": "features that suffice for a pair",
    "sufficient_sup": "features that suffice for all pairs",
    "tail": "P(error > ε), one pair",
    "tail_sup": "P(error > ε), all pairs",
    "joules": "energy [J]",
    "watts": "power [W]",
    "idle_watts": "idle power [W]",
    "bytes": "memory [bytes]",
    "peak_bytes": "peak memory [bytes]",
    "flops": "floating-point operations",
    "seconds_total": "seconds to fit and compute features",
    "fit_seconds": "seconds to fit",
    "transform_seconds": "seconds to compute features",
    "predict_seconds": "seconds to predict",
    "features_seconds": "seconds of features",
    "gram_seconds": "seconds of Gram matrices",
    "factor_seconds": "seconds to factorise",
    "solve_seconds": "seconds to solve",
    "attention_seconds": "seconds of attention",
    "kid_seconds": "seconds of one estimate",
    "sums_seconds": "seconds of sums",
}
FAMILIES = r"(exact|block|ratio_to|bound|demanded)_\w+"  # metrics whose names depend on options
OPTIONS = {"gamma": "γ", "bias": "ν", "length_scale": "ℓ", "opu": "OPU"}
BINARIZED = re.compile(r"\(([^()]*prepare=\[[^]]*binarize\][^()]*)\)")


@cache
def plugged() -> Mapping[str, str]:
    """The names that plugins add; a plugin that does not work is a warning, and adds none."""
    found: dict[str, str] = {}
    for point in entry_points(group="rfbench.names"):
        try:
            found |= loaded(point)
        except (InputError, TypeError) as error:
            warn(point, error)
    return found


def printed(label: str) -> str:
    """A label of results.csv, or a text with such labels: fashion_mnist(prepare=[binarize], threshold=0.1)."""
    label = BINARIZED.sub(_binarized, label)
    return re.sub(r"[A-Za-z]\w*(?P<equals>=)?", _word, label)


def _binarized(match: re.Match[str]) -> str:
    options = re.split(r", (?![^[]*\])", match[1])
    threshold = next((one.removeprefix("threshold=") for one in options if one.startswith("threshold=")), "0")
    rest = ", ".join(one for one in options if not one.startswith(("prepare=", "threshold=")))
    return f", binarized at {threshold}" + (f" ({rest})" if rest else "")


def _word(match: re.Match[str]) -> str:
    if match["equals"]:
        option = match[0].rstrip("=")
        return f"{OPTIONS[option]} = " if option in OPTIONS else match[0]
    name, names = match[0], {**COMPONENTS, **plugged()}
    variant = next((prefix for prefix in VARIANTS if name.startswith(prefix) and name not in names), "")
    known = names.get(name.removeprefix(variant))
    return VARIANTS.get(variant, "") + known if known else name


def metric_name(metric: str) -> str:
    """A metric, or several in one panel, as the label of an axis or a column."""
    names = {**METRICS, **plugged()}
    return names.get(metric) or ", ".join(names.get(one, one) for one in metric.split("|"))


def is_metric(word: str) -> bool:
    return word in METRICS or word in plugged() or bool(re.fullmatch(FAMILIES, word))
