"""Blocks cover everything once; no number depends on their size or on the number of workers."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import Parallel, delayed
from support import zoo

from rfbench.blocks import LINE, columns_of, regrouped, rows_of_lines, scratch, spans
from rfbench.engines import Local
from rfbench.engines.local import cores
from rfbench.linalg.tiles import tiles
from rfbench.seeds import rng_for


@given(n=st.integers(0, 500), size=st.integers(1, 600))
def test_spans_cover_every_row_once(n, size):
    rows = [row for span in spans(n, size) for row in range(span.start, span.stop)]
    assert rows == list(range(n))


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_are_the_transpose_of_either_layout(order):
    X = np.random.default_rng(0).standard_normal((70, 64)).astype(np.float32, order=order)
    for rows in (X, X[3:50], X[::2], X[:1], X[:, :1]):
        np.testing.assert_array_equal(columns_of(rows, np.complex64), rows.T)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128])
def test_buffers_begin_with_a_line_of_the_cache_and_are_reused(dtype):
    for shape in ((3, 5), (70, 64), (2, 3)):
        buffer = scratch(f"test of lines {dtype.__name__}", shape, dtype)
        assert buffer.shape == shape
        assert buffer.dtype == dtype
        assert buffer.ctypes.data % LINE == 0
    assert scratch(f"test of lines {dtype.__name__}", (70, 64), dtype).ctypes.data == buffer.ctypes.data


@pytest.mark.parametrize(("lines", "wanted"), [(1, 1), (3, 3), (4, 3), (8, 7), (16, 15)])
def test_rows_fill_an_odd_number_of_lines(lines, wanted):
    assert rows_of_lines(lines, np.float32) == 16 * wanted
    assert rows_of_lines(lines, np.complex128) == 4 * wanted


@given(lengths=st.lists(st.integers(0, 9), max_size=12), size=st.integers(1, 20))
def test_regrouped_rows_are_the_same_in_full_blocks(lengths, size):
    X, stops = np.arange(2 * sum(lengths)).reshape(-1, 2), np.cumsum([0, *lengths])
    found = list(regrouped(((X[a:b], X[a:b, 0]) for a, b in pairwise(stops)), size))
    assert [len(y) for _, y in found] == [span.stop - span.start for span in spans(len(X), size)]
    np.testing.assert_array_equal(np.concatenate([X[:0], *(rows for rows, _ in found)]), X)
    assert all((rows[:, 0] == y).all() for rows, y in found)


def test_joblib_and_its_workers_share_the_cores(monkeypatch):
    """Two processes never have more threads than there are cores; words that are no numbers are passed over."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    alone = cores()
    with Parallel(n_jobs=2) as jobs:
        assert sum(jobs(delayed(cores)() for _ in range(2))) <= max(alone, 2)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert Local().workers == 1
    for word in ("4,2", "0", str(alone + 1)):
        monkeypatch.setenv("OMP_NUM_THREADS", word)
        assert Local().workers == alone


@given(n=st.integers(1, 2000))
def test_tiles_cover_the_upper_triangle(n):
    seen = np.zeros((n, n), np.uint8)
    for i, j in tiles(n):
        seen[i, j] += 1
    assert (seen[np.triu_indices(n)] == 1).all()


def test_scratch_is_reused_and_belongs_to_its_thread():
    first = scratch("test", (3, 4), np.float64)
    assert np.shares_memory(first, scratch("test", (2, 2), np.float32))
    others = []
    thread = threading.Thread(target=lambda: others.append(scratch("test", (3, 4), np.float64)))
    thread.start()
    thread.join()
    assert not np.shares_memory(first, others[0])


def features(name, workers, block_rows, X):
    with Local(workers, block_rows).running() as engine:
        drawn = zoo.sketch_of(name).adapt(X, 128).sample(64, 128, np.random.default_rng(0), np.float32)
        return engine.transform(drawn, X, drawn.empty(len(X)))


@pytest.mark.parametrize("name", [*zoo.RANDOM, "nystrom"])
def test_workers_do_not_change_a_bit(name, digits):
    X = digits.astype(np.float32)
    np.testing.assert_array_equal(features(name, 1, 64, X), features(name, 4, 64, X))


@pytest.mark.parametrize("name", [*zoo.RANDOM, "nystrom"])
def test_block_size_changes_rounding_only(name, digits):
    X = digits.astype(np.float32)
    np.testing.assert_allclose(features(name, 2, 7, X), features(name, 2, 256, X), atol=1e-5)


def test_results_come_in_order_and_lazily():
    taken = []

    def items():
        for i in range(100):
            taken.append(i)
            yield i

    with Local(2).running() as engine:
        results = engine.map(lambda i: i * i, items())
        assert next(results) == 0
        assert len(taken) <= 6  # a stream stays a stream
        assert list(results) == [i * i for i in range(1, 100)]


def test_an_error_in_a_block_reaches_the_caller():
    with Local(2).running() as engine, pytest.raises(ZeroDivisionError):
        list(engine.map(lambda i: 1 / i, range(3)))


def test_generators_are_named():
    assert rng_for(1, "a", 2).random() == rng_for(1, "a", 2).random()
    draws = {rng_for(seed, *names).random() for seed in (0, 1) for names in (("a",), ("b",), ("a", "b"), ())}
    assert len(draws) == 8


def test_generators_are_the_same_on_every_machine():
    assert rng_for(3, "split", "digits").integers(0, 2**32) == 4293171152


@pytest.mark.parametrize("size", [1, 4, 5, 7, 100])
def test_rows_are_the_same_in_blocks_of_one_size(size):
    rows, labels = np.arange(46).reshape(23, 2), np.arange(23)
    blocks = [(rows[a:b], labels[a:b]) for a, b in ((0, 3), (3, 3), (3, 14), (14, 15), (15, 23))]
    found = list(regrouped(blocks, size))
    assert [len(X) for X, _ in found[:-1]] == [size] * (len(found) - 1)
    assert 0 < len(found[-1][0]) <= size
    for column, wanted in zip(zip(*found, strict=True), (rows, labels), strict=True):
        np.testing.assert_array_equal(np.concatenate(column), wanted)
    assert list(regrouped([], size)) == []
