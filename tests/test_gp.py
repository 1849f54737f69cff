"""What the tasks of Gaussian processes share."""

import numpy as np
import pytest

from rfbench.blocks import regrouped


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
