"""The transformers of rfbench.sklearn, by scikit-learn's own checks, by its own tests, and against the command line."""

import pickle
import tracemalloc
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tests import test_kernel_approximation as theirs
from sklearn.utils import estimator_checks as checks
from support import zoo

from rfbench.config.compose import compose_jobs, without_hydra
from rfbench.datasets import load
from rfbench.job import build_job, plain_config
from rfbench.results.recorder import Recorder
from rfbench.sketches import SKETCHES
from rfbench.sklearn import (
    ArcCosineSketch,
    CompressiveSketch,
    FourierSketch,
    MaclaurinSketch,
    OpticalSketch,
    PolynomialSketch,
    PositiveSketch,
    SphericalSketch,
)
from rfbench.tasks import Trial
from rfbench.trials import trials

# scikit-learn's checks pass rows with and without names of columns on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
SMALL = {"n_components": 8, "random_state": 0}
DEFAULTS = [
    PolynomialSketch(**SMALL),
    FourierSketch(**SMALL),
    MaclaurinSketch(**SMALL),
    SphericalSketch(**SMALL, options={"components": 1}),  # ten take half a second for every number of columns
    OpticalSketch(**SMALL),
    ArcCosineSketch(**SMALL),
    CompressiveSketch(**SMALL),
    PositiveSketch(**SMALL),
]
SINGLE = [  # of the same classes, with sketches that may have a single feature
    PolynomialSketch("tensorsrht", **SMALL),
    FourierSketch("phase_rff", **SMALL),
    MaclaurinSketch("random_maclaurin", kernel="polynomial", degree=1, coef0=0, **SMALL),
    SphericalSketch("rademacher", **SMALL),
    CompressiveSketch(**SMALL, options={"base": "tensorsketch"}),
]
# These set n_components=1, which is impossible where features come in pairs or a kernel has several degrees.
ONE_FEATURE = {
    "check_dont_overwrite_parameters",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_fit2d_predict1d",
}


def name_of(transformer):
    return f"{type(transformer).__name__}-{transformer.sketch}"


def failed(transformer):
    found = checks.check_estimator(transformer, on_fail=None, on_skip=None)
    assert len(found) > 40
    return {check["check_name"]: str(check["exception"]) for check in found if check["status"] == "failed"}


@pytest.mark.medium
@pytest.mark.parametrize("transformer", [*DEFAULTS, *SINGLE], ids=name_of)
def test_check_estimator(transformer):
    reasons = failed(transformer)
    single = transformer in SINGLE or isinstance(transformer, OpticalSketch | PositiveSketch | ArcCosineSketch)
    refused = set() if single else ONE_FEATURE - {f"check_fit2d_{transformer._fewest_rows - 1}sample"}
    assert set(reasons) == refused, reasons  # a sketch of two rows or more refuses one row, as the check wants
    assert all("1 features were asked for" in why or "features; 1 were" in why for why in reasons.values()), reasons


@pytest.mark.parametrize("transformer", DEFAULTS, ids=name_of)
@pytest.mark.parametrize(
    "check",
    [
        checks.check_transformer_get_feature_names_out,
        checks.check_transformer_get_feature_names_out_pandas,
        checks.check_get_feature_names_out_error,
        checks.check_set_output_transform,
        checks.check_set_output_transform_pandas,
        checks.check_global_output_transform_pandas,
        checks.check_set_output_transform_polars,
        checks.check_global_set_output_transform_polars,
        checks.check_dataframe_column_names_consistency,
        checks.check_param_validation,
        checks.check_inplace_ensure_writeable,
    ],
    ids=lambda check: check.__name__,
)
def test_checks_that_are_not_run_by_default(transformer, check):
    check(type(transformer).__name__, transformer)


def test_a_wrong_transformer_is_noticed():
    """Negative control of the checks."""

    class Wrong(PolynomialSketch):
        def transform(self, X):
            return super().transform(X) * len(X)

    assert {"check_methods_subset_invariance"} <= set(failed(Wrong("tensorsrht", **SMALL)))


@pytest.fixture(params=[("ctr_tensorsrht", "rff"), ("mean_split", "phase_orf")], ids="-".join)
def substituted(request, monkeypatch):
    polynomial, fourier = request.param
    monkeypatch.setattr(theirs, "PolynomialCountSketch", partial(PolynomialSketch, polynomial))
    monkeypatch.setattr(theirs, "RBFSampler", partial(FourierSketch, fourier))
    hard = {"gamma": 2.5, "degree": 3, "coef0": 2.5, "n_components": 5000}.items()
    if polynomial == "ctr_tensorsrht" and hard <= request.node.callspec.params.items():
        # The rows are alike, so all errors are nearly one number, whose deviation is about the bound of 0.1: it is
        # 0.104 for the seed 42; of the seeds 0 to 15 ours is above for five and theirs for three.
        request.applymarker(pytest.mark.xfail(strict=True))


# scikit-learn's tests, but those of fitted attributes that are particular to its own transformers.
by_substitution = pytest.mark.usefixtures("substituted")
test_their_polynomial_count_sketch = by_substitution(theirs.test_polynomial_count_sketch)
test_their_polynomial_count_sketch_dense_sparse = by_substitution(theirs.test_polynomial_count_sketch_dense_sparse)
test_their_rbf_sampler = by_substitution(theirs.test_rbf_sampler)
test_their_input_validation = by_substitution(theirs.test_input_validation)


@pytest.mark.parametrize("Estimator", [type(one) for one in DEFAULTS])
def test_their_feature_names(Estimator):
    theirs.test_get_feature_names_out(Estimator)


def test_gamma_scale_is_theirs():
    X = np.random.default_rng(0).standard_normal((50, 7)) + np.arange(7)
    fits = [FourierSketch(gamma="scale", n_components=4).fit(Z).kernel_.length_scale for Z in (X, sp.csr_array(X))]
    gamma = theirs.RBFSampler(gamma="scale").fit(X)._gamma
    assert fits == pytest.approx([(2 * gamma) ** -0.5] * 2)
    assert PolynomialSketch(gamma="scale", n_components=4).fit(X).kernel_.gamma == pytest.approx(gamma)
    assert FourierSketch(gamma="scale", n_components=4).fit(np.ones((3, 2))).kernel_.length_scale == 0.5**0.5


def z(transformer, X, K, draws=150):
    """The largest |z| of the mean of k̂ over all pairs of rows."""
    Phis = (clone(transformer).set_params(random_state=seed).fit_transform(X) for seed in range(draws))
    values = np.array([(Phi @ Phi.T)[np.triu_indices(len(X), 1)] for Phi in Phis])
    return np.abs((values.mean(0) - K[np.triu_indices(len(X), 1)]) / values.std(0, ddof=1)).max() * draws**0.5


@pytest.mark.medium
@pytest.mark.parametrize(
    ("transformer", "kernel"),
    [
        (PolynomialSketch(degree=2, gamma=0.5, coef0=2.0), lambda X: polynomial_kernel(X, None, 2, 0.5, 2.0)),
        (FourierSketch(gamma=0.3), lambda X: rbf_kernel(X, gamma=0.3)),
        (FourierSketch("phase_orf", kernel="laplacian", gamma=0.3), lambda X: rbf_kernel(X, gamma=0.3)),
        (SphericalSketch("ctr_rademacher", a=2.5), lambda X: polynomial_kernel(X, None, 3, 2 / 6.25, 1 - 2 / 6.25)),
        (PositiveSketch(gamma=0.4), lambda X: np.exp(0.4 * X @ X.T)),
    ],
    ids=lambda value: name_of(value) if hasattr(value, "sketch") else "",
)
def test_the_expectation_is_the_kernel_of_scikit_learn(transformer, kernel, wine):
    """The Laplacian kernel exp(−‖x − y‖/l) with l = (2γ)^−½ is not the Gaussian one: a negative control."""
    transformer = clone(transformer).set_params(n_components=16, n_jobs=1)
    K = kernel(wine)
    if getattr(transformer, "kernel", "") == "laplacian":
        assert z(transformer, wine, K) > 10
        K = np.exp(-np.sqrt(-2 * np.log(K)))
    assert z(transformer, wine, K) < 4.8


CASES = {  # sketch → the transformer that does the same as its defaults on the command line
    "ctr_tensorsrht": PolynomialSketch(),
    "anchored": PolynomialSketch("anchored"),
    "nystrom": PolynomialSketch("nystrom"),
    "optimized_maclaurin": MaclaurinSketch(kernel="polynomial"),
    "complex_rademacher": PolynomialSketch("complex_rademacher"),
    "compressive": CompressiveSketch(),
    "rff": FourierSketch(gamma="median"),
    "compressive_rff": CompressiveSketch("compressive_rff", kernel="gaussian", gamma="median"),
    "srf": SphericalSketch(),
    "optical": OpticalSketch(),
    "arc_cosine": ArcCosineSketch(),
    "favor": PositiveSketch(),
}


@pytest.mark.medium
def test_the_features_are_those_of_the_command_line(monkeypatch):
    drawn, plan = {}, Trial.plan
    monkeypatch.setattr(Trial, "plan", lambda trial, k: drawn.setdefault(trial.name, (trial, plan(trial, k)))[1])
    words = [f"sketch={','.join(CASES)}", "features=64", "seeds=[3]", "task.rows=50"]
    for config in compose_jobs(words, multirun=True):
        job = build_job(plain_config(without_hydra(config)))
        dataset = load(job.config["dataset"], data_dir=None, download=False)
        assert next(trials(job, dataset, set(), Recorder(3)))[0]["status"] == "ok"
    assert set(drawn) == set(CASES)
    for name, (trial, draw) in drawn.items():
        X = np.concatenate([X for X, _ in trial.split.train.blocks()])
        transformer = clone(CASES[name]).set_params(n_components=64, random_state=3).fit(X)
        np.testing.assert_allclose(transformer.transform(X), draw()(X), rtol=1e-4, atol=1e-6, err_msg=name)
        other = clone(transformer).set_params(random_state=4).fit_transform(X[:200])
        assert not np.allclose(other, draw()(X[:200]), atol=1e-3), name


HOMES = {
    "polynomial": PolynomialSketch,
    "gaussian": FourierSketch,
    "polynomial_sphere": SphericalSketch,
    "exponential": PositiveSketch,
    "optical": OpticalSketch,
    "arc_cosine": ArcCosineSketch,
    "linear": CompressiveSketch,
}


def transformer_of(name):
    """The transformer of a sketch by the kernel of its tests."""
    case = zoo.CASES[name]
    own = {"kernel": "linear"} if case.kernel == "linear" else {"degree": case.degree} if case.degree else {}
    return HOMES[case.kernel](name, n_components=64, random_state=3, **own)


MATRIX_VALUED = {"orff_decomposable", "orff_curl_free", "orff_div_free", "orff_helmholtz"}
OF_PAIRS = {"exact", "compressive_exact", "localized_maclaurin"}


@pytest.mark.parametrize("name", sorted(set(SKETCHES) - MATRIX_VALUED - OF_PAIRS))
def test_every_sketch_is_a_transformer(name):
    """Sparse rows, copies, other numbers of threads and of rows at once give the same features."""
    X = np.abs(np.random.default_rng(0).standard_normal((300, 9)))
    transformer = transformer_of(name).fit(X)
    Phi = transformer.transform(X)
    assert len(transformer.get_feature_names_out()) == Phi.shape[1]
    assert np.array_equal(pickle.loads(pickle.dumps(transformer)).transform(X), Phi)
    assert np.array_equal(transformer.set_params(n_jobs=3).transform(X), Phi)
    assert np.array_equal(clone(transformer).fit(sp.csr_array(X)).transform(sp.csr_matrix(X)), Phi)
    assert np.allclose(transformer.transform(X[250:]), Phi[250:], rtol=1e-10)
    single = clone(transformer).fit(X.astype(np.float32)).transform(X)
    assert single.dtype == np.empty(0, np.complex64 if np.iscomplexobj(Phi) else np.float32).dtype
    same = clone(transformer).fit(X.astype(np.float32)).transform(X.astype(np.float32))
    assert np.allclose(single, same, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", sorted(MATRIX_VALUED | OF_PAIRS))
def test_sketches_without_features_of_single_rows_are_refused(name):
    with pytest.raises(ValueError, match=f"sketch '{name}'"):
        FourierSketch(name, n_components=8).fit(np.eye(3))


def test_sparse_rows_do_not_become_dense():
    """All at once they would take 64 MB."""
    X = sp.random_array((4000, 2000), density=0.001, format="csr", rng=np.random.default_rng(0))
    for name in ("ctr_tensorsrht", "tensorsketch", "mean_split"):
        transformer = PolynomialSketch(name, n_components=16, random_state=0, n_jobs=1)
        tracemalloc.start()
        transformer.fit(X[:500]).transform(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 30e6, name


def test_read_only_mapped_rows(tmp_path):
    X = np.random.default_rng(0).standard_normal((600, 5)).astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    transformer = PolynomialSketch(**SMALL).fit(mapped)
    assert np.array_equal(transformer.transform(mapped), transformer.transform(X))
    assert transformer.transform(mapped).flags.c_contiguous


def test_random_state():
    X = np.eye(6)

    def draw(state):
        return PolynomialSketch(n_components=8, random_state=state).fit_transform(X)

    assert np.array_equal(draw(5), draw(np.int64(5)))
    assert not np.array_equal(draw(5), draw(6))
    assert not np.array_equal(draw(None), draw(None))
    state = np.random.RandomState(0)
    first = draw(state)
    assert not np.array_equal(draw(state), first)
    assert np.array_equal(draw(np.random.RandomState(0)), first)


def test_numbers_of_numpy():
    X = np.eye(6)
    numbers = {"degree": 2, "n_components": 8, "gamma": 0.5, "coef0": 1, "random_state": 3}
    of_numpy = {key: (np.float32 if isinstance(value, float) else np.int64)(value) for key, value in numbers.items()}
    Phi = PolynomialSketch("optimized_maclaurin", **of_numpy).fit_transform(X)
    assert np.array_equal(Phi, PolynomialSketch("optimized_maclaurin", **numbers).fit_transform(X))
    assert FourierSketch(gamma=np.float32(0.5), n_components=2).fit(X).kernel_.length_scale == 1


def test_partial_fit_draws_once():
    X = np.random.default_rng(0).standard_normal((40, 5))
    transformer = PolynomialSketch(**SMALL)
    Phi = transformer.partial_fit(X[:20]).transform(X)
    assert np.array_equal(transformer.partial_fit(X[20:]).transform(X), Phi)
    assert np.array_equal(clone(transformer).fit(X).transform(X), Phi)


def test_search_over_sketches(digits):
    labels = np.arange(len(digits)) % 2
    pipeline = make_pipeline(PolynomialSketch(n_components=32, random_state=0), RidgeClassifier())
    search = GridSearchCV(pipeline, {"polynomialsketch__sketch": ["tensorsrht", "anchored"]}, cv=2, error_score="raise")
    assert np.isfinite(search.fit(digits, labels).cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("transformer", "message"),
    [
        (PolynomialSketch("ctr_tensorshrt"), "did you mean 'ctr_tensorsrht'"),
        (FourierSketch("arc_cosine"), "estimates the arc_cosine kernel.*; use ArcCosineSketch"),
        (PolynomialSketch("rff"), "estimates the gaussian kernel, not the polynomial kernel.*; use FourierSketch"),
        (FourierSketch("srf"), "use SphericalSketch"),
        (PolynomialSketch(n_components=7), "n_components=6 or 8"),
        (PolynomialSketch(options={"bas": 3}), "no 'sketch.bas'"),
        (PolynomialSketch(gamma="median"), "The 'gamma' parameter of PolynomialSketch must be"),
        (PolynomialSketch(n_jobs=0), "n_jobs"),
        (SphericalSketch(a=1.0), "The 'a' parameter of SphericalSketch must be"),
        (FourierSketch(kernel_params={"nu": 2.5}), "no 'kernel.nu'"),
        (MaclaurinSketch("exact"), "no features of single rows"),
    ],
    ids=str,
)
def test_mistakes_are_explained(transformer, message):
    with pytest.raises(ValueError, match=message):
        transformer.fit_transform(np.eye(4))
