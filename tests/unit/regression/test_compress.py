"""Compression against one QR of everything at once, for any chunks; horizons against rows written out by hand."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import Monomials, SquaredExponential, States
from koopsieve.execution import Executor, silent
from koopsieve.regression import RegressionStatistics, TriangularFactor, compress
from tests.problems import assert_same_factor, assert_same_statistics


def make(lengths=(30, 7, 2, 18), n=2, inputs=1, seed=0):
    rng = np.random.default_rng(seed)
    return Trajectories.from_arrays(
        [rng.normal(size=(T, n)) for T in lengths], [rng.normal(size=(T - 1, inputs)) for T in lengths]
    )


def one_shot(data, phi):
    design = np.vstack([np.hstack([phi(x[:-1]), u]) for x, u in zip(data.states, data.inputs, strict=True)])
    return design, np.vstack([phi(x[1:]) for x in data.states])


@pytest.mark.parametrize("chunk_rows", [1, 3, 10, 1000])
@pytest.mark.parametrize("inputs", [0, 2])
def test_chunks_equal_one_qr(chunk_rows, inputs):
    data = make(inputs=inputs)
    phi = (States() + Monomials()).fit(data)
    design, targets = one_shot(data, phi)
    Q, R = np.linalg.qr(design)
    signs = np.sign(np.diag(R))[:, None]
    statistics = compress(data, phi, chunk_rows=chunk_rows)
    rest = targets - Q @ (Q.T @ targets)
    reference = TriangularFactor(signs * R, signs * (Q.T @ targets), rest.T @ rest, len(design))
    assert_same_factor(statistics.factor, reference)
    assert statistics.regressors == phi.names + data.input_names
    assert statistics.multistep is None


@pytest.mark.parametrize("chunk_rows", [1, 4, 1000])
def test_horizons_equal_rows_written_out(chunk_rows):
    data = make(inputs=2)
    phi = (States() + Monomials()).fit(data)
    ahead = compress(data, phi, horizons=[3, 1], chunk_rows=chunk_rows).multistep
    assert ahead.horizons == (1, 3)
    rows = [(x, u, k) for x, u in zip(data.states, data.inputs, strict=True) for k in range(len(x) - 3)]
    for h in (1, 3):
        design = np.array([np.concatenate([phi(x[k]), u[k : k + h].ravel()]) for x, u, k in rows])
        targets = np.array([x[k + h] for x, u, k in rows])
        assert_same_factor(ahead.at(h), TriangularFactor.empty(design.shape[1], 2).absorb(design, targets))


def test_least_squares_from_chunks_has_the_residual_of_the_raw_matrix():
    """23 overlapping kernels: the residual from the factor is that of lstsq although the condition number is 1e14."""
    rng = np.random.default_rng(0)
    data = Trajectories.from_arrays(np.cumsum(rng.normal(size=(3000, 3)), axis=0) / 20)
    phi = (States() + SquaredExponential(centers=20, coefficients=[1e-4])).fit(data, seed=0)
    design, targets = one_shot(data, phi)
    assert np.linalg.cond(design) > 1e13
    statistics = compress(data, phi, chunk_rows=500)
    rcond = len(design) * np.finfo(float).eps
    coef = np.linalg.lstsq(statistics.R, statistics.S, rcond=rcond)[0]
    from_factor = np.linalg.norm(design @ coef - targets, axis=0)
    raw = np.linalg.norm(design @ np.linalg.lstsq(design, targets, rcond=rcond)[0] - targets, axis=0)
    np.testing.assert_allclose(from_factor, raw, rtol=1e-5)


@settings(max_examples=40, deadline=None)
@given(cuts=st.lists(st.integers(1, 39), min_size=2, max_size=4, unique=True), seed=st.integers(0, 100))
def test_merge_is_associative_and_select_commutes_with_it(cuts, seed):
    rng = np.random.default_rng(seed)
    design, targets = rng.normal(size=(40, 4)), rng.normal(size=(40, 4))
    borders = [0, *sorted(cuts), 40]
    parts = [
        RegressionStatistics(TriangularFactor.empty(4, 4).absorb(design[a:b], targets[a:b]), tuple("abcd"))
        for a, b in pairwise(borders)
    ]
    whole = RegressionStatistics(TriangularFactor.empty(4, 4).absorb(design, targets), tuple("abcd"))
    left = parts[0]
    for part in parts[1:]:
        left = left.merge(part)
    right = parts[-1]
    for part in reversed(parts[:-1]):
        right = part.merge(right)
    assert_same_factor(left.factor, whole.factor)
    assert_same_factor(right.factor, whole.factor)
    kept = [0, 3]
    chosen = parts[0].select(kept)
    for part in parts[1:]:
        chosen = chosen.merge(part.select(kept))
    assert chosen.observables == ("a", "d")
    assert_same_factor(chosen.factor, whole.select(kept).factor)
    assert_same_factor(chosen.factor, TriangularFactor.empty(2, 2).absorb(design[:, kept], targets[:, kept]))


def test_discount_weights_rows():
    rng = np.random.default_rng(0)
    design, targets = rng.normal(size=(10, 2)), rng.normal(size=(10, 2))
    discounted = TriangularFactor.empty(2, 2).absorb(design, targets).discount(0.25)
    halved = TriangularFactor.empty(2, 2).absorb(design / 2, targets / 2)
    assert_same_factor(discounted, replace(halved, rows=2.5))


class Pretend(Executor):
    """Three workers that are one."""

    workers = 3

    def map(self, function, items):
        return map(function, items)


def test_an_executor_changes_nothing_but_the_order_of_merging():
    data = make(lengths=(50, 40))
    phi = (States() + Monomials()).fit(data)
    serial = compress(data, phi, horizons=[2], chunk_rows=7)
    parallel = compress(data, phi, horizons=[2], chunk_rows=7, executor=Pretend())
    assert_same_statistics(parallel, serial)


def test_chunks_are_bounded_in_bytes_and_shown():
    data = make(lengths=(2000,))
    phi = (States() + Monomials()).fit(data)
    seen = []

    def watch(items, description, total):
        seen.append((description, total))
        return silent(items, description, total)

    compress(data, phi, max_bytes=100_000, progress=watch)
    [(description, total)] = seen
    assert description == "Compressing"
    assert total * 100_000 >= 1999 * 8 * (2 * phi.size)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"horizons": [0]}, "Each of horizons must be a whole number, 1 or more. Got 0"),
        ({"horizons": [1, 30]}, "at most 29, the transitions of the longest episode"),
        ({"horizons": [1.9]}, r"a whole number, 1 or more. Got 1\.9"),
        ({"horizons": [True]}, "a whole number, 1 or more. Got True"),
        ({"horizons": ["5"]}, "a whole number, 1 or more. Got '5'"),
        ({"horizons": 5}, r"such as \[1, 10, 50\]\. Got 5"),
        ({"max_bytes": 10}, "max_bytes is too small"),
        ({"max_bytes": 10**6, "chunk_rows": 5}, "Give one of the two"),
    ],
)
def test_errors(change, message):
    data = make()
    with pytest.raises(KoopsieveError, match=message):
        compress(data, States().fit(data), **change)


def test_a_dictionary_of_other_states_is_refused():
    data = make()
    other = Trajectories.from_arrays(np.ones((4, 2)).cumsum(axis=0), state_names=["p", "q"])
    with pytest.raises(KoopsieveError, match=r"fitted to must have the same outputs\. Expected p, q, got x1, x2"):
        compress(data, States().fit(other))


def test_merging_different_things_is_refused():
    data = make()
    phi = (States() + Monomials()).fit(data)
    whole = compress(data, phi)
    with pytest.raises(KoopsieveError, match="different observables"):
        whole.merge(compress(data, phi.select([0, 1])))
    with pytest.raises(KoopsieveError, match="holds horizons"):
        whole.merge(compress(data, phi, horizons=[2]))
    with pytest.raises(KoopsieveError, match="different horizons"):
        compress(data, phi, horizons=[3]).merge(compress(data, phi, horizons=[2]))
    with pytest.raises(KoopsieveError, match="forgetting"):
        whole.discount(0.0)


@pytest.mark.parametrize("chunk_rows", [1, 5, 1000])
def test_the_region_holds_all_states_and_inputs_of_transitions(chunk_rows, tmp_path):
    data = make(inputs=2)
    phi = (States() + Monomials()).fit(data)
    statistics = compress(data, phi, chunk_rows=chunk_rows)
    points = np.vstack(data.states), np.vstack(data.inputs)
    expected = [[*points[0].min(axis=0), *points[1].min(axis=0)], [*points[0].max(axis=0), *points[1].max(axis=0)]]
    np.testing.assert_array_equal(statistics.region, expected)
    statistics.save(tmp_path / "s.npz")
    np.testing.assert_array_equal(RegressionStatistics.load(tmp_path / "s.npz").region, expected)
    np.testing.assert_array_equal(statistics.select([0]).discount(0.5).region, expected)
    by_hand = replace(statistics, region=None)
    assert statistics.merge(by_hand).region is None
    by_hand.save(tmp_path / "s.npz")
    assert RegressionStatistics.load(tmp_path / "s.npz").region is None
