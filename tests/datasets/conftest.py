import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Every test has a cache of its own and sees no files of the user's."""
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RFBENCH_DATA", raising=False)
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def data_dir():
    """Where the real files are; tests that need them are skipped elsewhere."""
    if not (where := os.environ.get("RFBENCH_DATA")):
        pytest.skip("RFBENCH_DATA is not set: no real files here")
    return Path(where)


@pytest.fixture(scope="session")
def real_cache(tmp_path_factory):
    """One cache for all tests of real files: they are converted once."""
    return tmp_path_factory.mktemp("real")
