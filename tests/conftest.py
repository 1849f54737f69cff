import io
import os
import subprocess
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest
from hypothesis import settings
from support import ROOT

from rfbench.cli import main


def pytest_configure():
    """Choices are listed when tests are collected, without the datasets that the user has added."""
    os.environ["RFBENCH_CACHE"] = str(ROOT / ".pytest_cache" / "empty")
    # No test asserts a time, and every run has the same cases.
    settings.register_profile("rfbench", deadline=None, derandomize=True, database=None)
    settings.load_profile("rfbench")


def pytest_collection_modifyitems(items):
    """Commands take seconds: make test-fast leaves them out.  Real data are read in CI, where they are."""
    for item in items:
        fixtures = set(item.fixturenames)
        if "data_dir" in fixtures:
            item.add_marker(pytest.mark.slow)
        elif {"rfbench", "rfbench_process"} & fixtures:
            item.add_marker(pytest.mark.medium)


@pytest.fixture(autouse=True)
def the_same_numbers_in_any_order(request):
    """A generator that the tests of a module share begins anew for each of them."""
    shared = getattr(request.module, "RNG", None)
    if isinstance(shared, np.random.Generator):
        shared.bit_generator.state = np.random.default_rng(0).bit_generator.state


@pytest.fixture(autouse=True, scope="session")
def one_blas_thread():
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """No test writes into the user's cache; real data are converted once for all of them."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    monkeypatch.setenv("RFBENCH_CACHE", str(base / "rfbench-cache"))
    monkeypatch.delenv("COLUMNS", raising=False)  # parallel runs set it, and tables would be cut


def _unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.fixture(scope="session")
def wine():
    """15 real rows of 13 columns, standardized and of length 1: 105 pairs with inner products of both signs."""
    from sklearn.datasets import load_wine

    X = load_wine().data
    X = _unit((X - X.mean(0)) / X.std(0))
    X = np.ascontiguousarray(X[np.random.default_rng(1).choice(len(X), 15, replace=False)])
    X.flags.writeable = False
    return X


@pytest.fixture(scope="session")
def digits():
    """300 real rows of 64 non-negative columns, of length 1."""
    from sklearn.datasets import load_digits

    X = np.ascontiguousarray(_unit(load_digits().data[:300]))
    X.flags.writeable = False
    return X


@pytest.fixture(scope="session")
def bits():
    """60 different real rows of 64 bits, between 13 and 27 of them ones."""
    from sklearn.datasets import load_digits

    X = np.unique((load_digits().data[:200] > 8).astype(np.uint8), axis=0)
    X = X[np.random.default_rng(1).permutation(len(X))[:60]]
    X.flags.writeable = False
    return X


@pytest.fixture
def data_dir():
    """The folder of the real datasets."""
    path = os.environ.get("RFBENCH_DATA")
    if not path:
        pytest.skip("RFBENCH_DATA is not set: the real datasets are missing")
    return path


@pytest.fixture
def rfbench(tmp_path, monkeypatch):
    """Runs a command in this process, in an empty directory: (words, cwd, env) → returncode, stdout, stderr."""

    def call(*words, cwd=tmp_path, env=None):
        with monkeypatch.context() as patch, warnings.catch_warnings():
            patch.chdir(cwd)
            for key, value in (env or {}).items():
                patch.setenv(key, str(value))
            out, err = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(err):
                code = main([str(word) for word in words])
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture
def rfbench_process(tmp_path):
    """Runs a command in a process of its own, as a shell does."""

    def call(*words, cwd=tmp_path, **options):
        environment = os.environ | {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
        command = [sys.executable, "-m", "rfbench", *map(str, words)]
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, **options)

    return call
