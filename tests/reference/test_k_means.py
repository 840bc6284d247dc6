"""scikit-learn's k-means as the oracle of ours: the same draws, so the same centres to rounding."""

import numpy as np
import pytest
from sklearn.cluster import KMeans, MiniBatchKMeans

from koopsieve.dictionary import centers


@pytest.mark.parametrize(("rows", "columns", "count"), [(60, 1, 20), (400, 3, 75), (300, 12, 30), (50, 2, 1)])
def test_centres_are_those_of_scikit_learn(rows, columns, count):
    x = np.random.default_rng(rows).normal(size=(rows, columns)).cumsum(axis=0)
    expected = KMeans(count, n_init=1, random_state=3).fit(x).cluster_centers_
    np.testing.assert_allclose(centers.k_means(x, count, seed=3), expected, rtol=1e-9, atol=1e-9)


def test_a_centre_without_samples_is_moved_to_one():
    x = np.repeat([[0.0], [1.0], [5.0]], [5, 5, 1], axis=0)
    nearest, before = np.array([0] * 5 + [1] * 6), np.array([[0.0], [1.0], [9.0]])
    found = centers._means(x, nearest, before)
    np.testing.assert_allclose(found, [[0.0], [1.0], [5.0]])


def test_large_data_are_refined_as_by_mini_batches(monkeypatch):
    monkeypatch.setattr(centers, "_MAX_ROWS", 100)
    x = np.random.default_rng(0).normal(size=(450, 2))

    class Blocks:
        def blocks(self):
            return [x[:250], x[250:]]

    expected = MiniBatchKMeans(5, init=x[:5], n_init=1, random_state=0, reassignment_ratio=0.0)
    for part in (x[:100], x[100:200], x[200:250], x[250:350], x[350:450]):
        expected.partial_fit(part)
    np.testing.assert_allclose(centers._refine(x[:5], Blocks(), np.ones(2)), expected.cluster_centers_, rtol=1e-9)
