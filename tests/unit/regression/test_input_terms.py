"""Statistics with input terms against the regression written out; a choice of them against fresh compression."""

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Stream, Trajectories, embed_delays
from koopsieve.dictionary import Constant, Inputs, Monomials, States
from koopsieve.execution import Serial
from koopsieve.regression import compress
from tests.problems import assert_same_statistics

RNG = np.random.default_rng(0)
RAW = Trajectories.from_arrays(
    [RNG.normal(size=(T, 2)) for T in (40, 9, 60)], [RNG.normal(size=(T - 1, 1)) for T in (40, 9, 60)], dt=0.2
)
RECIPE = States() + Constant() + Monomials(degree=2, of="states and inputs") + Inputs()


def written_out(data, phi):
    """Design and targets row by row, from the states and inputs of the data."""
    design, targets = [], []
    for x, u in zip(data.states, data.inputs, strict=True):
        for k in range(len(u)):
            design.append(phi.evaluate(np.concatenate([x[k], u[k]])[None])[0])
            targets.append(phi(x[k + 1]))
    return np.array(design), np.array(targets)


@pytest.mark.parametrize("timing", ["k", "k+1"])
@pytest.mark.parametrize("chunk_rows", [3, 1000])
def test_least_squares_is_that_of_the_raw_rows(timing, chunk_rows):
    data = embed_delays(RAW, 1, 1, timing)
    phi = RECIPE.fit(data)
    statistics = compress(data, phi, horizons=[2], chunk_rows=chunk_rows)
    design, targets = written_out(data, phi)
    found = np.linalg.lstsq(statistics.R, statistics.S, rcond=None)[0]
    np.testing.assert_allclose(found, np.linalg.lstsq(design, targets, rcond=None)[0], rtol=1e-8, atol=1e-10)
    left = ((targets - design @ found) ** 2).sum(axis=0)
    np.testing.assert_allclose(statistics.leftover, left, rtol=1e-8, atol=1e-10)
    assert statistics.rows == len(design)
    assert statistics.regressors == phi.regressors
    assert statistics.input_terms == phi.input_term_names
    assert statistics.outputs == phi.outputs
    assert statistics.signals == data.signals
    assert statistics.multistep.inputs == data.signals.acting


def test_a_stream_gives_the_same():
    data = embed_delays(RAW, 2, 1, "k+1")
    phi = RECIPE.fit(data)
    mine = compress(embed_delays(Stream.of(RAW), 2, 1, "k+1"), phi, chunk_rows=7, executor=Serial())
    assert_same_statistics(mine, compress(data, phi))


@pytest.mark.parametrize(("recipe", "chosen"), [(RECIPE, [0, 3]), (RECIPE, None), (States() + Monomials(), None)])
def test_choosing_input_terms_is_compressing_with_fewer(recipe, chosen):
    phi, kept = recipe.fit(RAW), [0, 1, 4]
    cut = compress(RAW, phi, horizons=[3]).select(kept, chosen)
    assert_same_statistics(cut, compress(RAW, phi.select(kept, chosen), horizons=[3]))


def test_statistics_of_other_data_do_not_merge():
    phi = RECIPE.fit(RAW)
    whole = compress(RAW, phi)
    with pytest.raises(KoopsieveError, match="different input terms"):
        whole.merge(compress(RAW, phi.select(range(phi.size), [0])))
    slow = Trajectories.from_arrays(list(RAW.states), list(RAW.inputs), dt=2.0)
    with pytest.raises(
        KoopsieveError, match=r"Statistics to merge must have the same sample time\. Expected 0\.2, got 2"
    ):
        whole.merge(compress(slow, RECIPE.fit(slow)))
    with pytest.raises(KoopsieveError, match="must have the same sample time"):
        compress(slow, phi)
    with pytest.raises(KoopsieveError, match="must have the same delays"):
        compress(embed_delays(RAW, 1), phi)


@pytest.mark.parametrize("wrong", [[1, 0], [0, 0], [-1], [99], [0.0, 1.0], [True, False], [[0]]])
def test_choosing_takes_increasing_indices(wrong):
    statistics = compress(RAW, RECIPE.fit(RAW))
    with pytest.raises(KoopsieveError, match="input_terms must be increasing indices"):
        statistics.select([0], wrong)
