"""Campaigns: many cases, the same in every run, in a directory of their own and without a network."""

import os
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, settings


def cases(count):
    """That many examples, the same in every run: a failure can be repeated."""
    checks = list(HealthCheck)
    return settings(max_examples=count, derandomize=True, database=None, deadline=None, suppress_health_check=checks)


@contextmanager
def alone_in(directory):
    """Work in a directory with its own cache; what would be downloaded cannot be reached."""
    before = os.getcwd()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RFBENCH_CACHE", str(directory / "cache"))
        patch.delenv("RFBENCH_DATA", raising=False)
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            patch.setenv(name, "http://127.0.0.1:9")
        os.chdir(directory)
        try:
            yield directory
        finally:
            os.chdir(before)
