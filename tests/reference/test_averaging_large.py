"""Averaged inclusion of thirty and more regressors against long Gibbs runs, and the sampler against exact sums."""

import numpy as np
import pytest

from tests.reference.exact_inclusion import exact_posterior
from tests.reference.gibbs_inclusion import gibbs_inclusion
from tests.reference.test_averaging import PRIOR, inferred, problem


@pytest.mark.parametrize("kind", [0.0, 0.9])
def test_the_sampler_finds_the_exact_probabilities(kind):
    design, target = problem(kind, seed=1)
    sampled, error = gibbs_inclusion(design, target, PRIOR, chains=32, sweeps=800, burn=200)
    np.testing.assert_allclose(sampled, exact_posterior(design, target, PRIOR).inclusion, atol=0.005 + 4 * error.max())


@pytest.mark.slow
@pytest.mark.parametrize("regressors", [30, 40])
@pytest.mark.parametrize("kind", [0.0, 0.9, 0.99])
def test_averaged_inclusion_of_many_regressors_is_that_of_long_runs(kind, regressors):
    for seed in (0, 1):
        design, target = problem(kind, seed, rows=150, regressors=regressors)
        sampled, error = gibbs_inclusion(design, target, PRIOR, sweeps=3000, burn=1000)
        gap = np.abs(inferred(design, target).inclusion[:, 0] - sampled)
        assert gap.mean() <= 0.01
        assert gap.max() <= 0.1 + 4 * error.max()
