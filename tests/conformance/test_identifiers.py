"""Every identifier keeps the same promises."""

import numpy as np
import pytest

from koopsieve.identify import STLSQ, LeastSquares, SparseBayes, SpikeSlab, SpikeSlabPrior
from koopsieve.identify.published import LORENZ_PRIOR
from tests.problems import sparse_problem, statistics_of

IDENTIFIERS = {
    "I": LeastSquares(),
    "II": STLSQ(threshold=0.05),
    "II relative": STLSQ(threshold=0.02, relative=True),
    "III": SparseBayes(),
    "IV": SpikeSlab(),
    "IV flat": SpikeSlab(SpikeSlabPrior().flat()),
    "IV published": SpikeSlab.published(LORENZ_PRIOR, relaxation=0.1, max_sweeps=200),
}
UNIT_FREE = {"I", "II relative", "III", "IV", "IV flat"}


@pytest.fixture(params=IDENTIFIERS, ids=IDENTIFIERS.get)
def name(request):
    return request.param


@pytest.fixture
def identifier(name):
    return IDENTIFIERS[name]


@pytest.fixture
def problem():
    design, targets, _ = sparse_problem(seed=3, regressors=8, targets=6, active=2)
    return design, targets


def run(identifier, design, targets, **names):
    return identifier.identify(statistics_of(design, targets, **names))


def test_shapes_names_and_ranges(identifier, problem):
    design, targets = problem
    names = tuple(f"phi{i}" for i in range(6))
    found = run(identifier, design, targets, observables=names, inputs=("u1", "u2"))
    assert found.coef.shape == found.inclusion.shape == found.coef_variance.shape == (8, 6)
    assert found.noise_precision.shape == found.elbo.shape == found.sweeps.shape == found.agreement.shape == (6,)
    assert found.regressors == (*names, "u1", "u2")
    assert found.targets == names
    assert len(found.status) == 6
    assert np.all((found.inclusion >= 0) & (found.inclusion <= 1))
    assert np.all(found.coef_variance >= 0)
    assert np.all(found.noise_precision > 0)
    assert np.all((found.agreement >= 1) & (found.sweeps >= 1))
