"""The horizon sieve: its bound against an oracle, its search against all subsets, what must not change its answer."""

import tracemalloc
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from koopsieve import HorizonSieve, SpikeSlabPrior, States, Trajectories, compress
from koopsieve._types import KoopsieveError
from koopsieve.dictionary import Function
from koopsieve.identify.estimate import Status
from koopsieve.identify.spike_slab.sets import removal_growth
from koopsieve.regression import HorizonStatistics, RegressionStatistics, TriangularFactor
from koopsieve.sieve.horizon.horizon_problem import JITTER, horizon_problem
from koopsieve.sieve.horizon.posterior import first_posterior, newcomers, settle_weights, solved, with_newcomer
from koopsieve.sieve.horizon.removal import removal_gains, without, without_least
from tests.reference.literal_horizon import bound_of_target, direct_data, residual

SHAPES = (1e-3, 1e-10, 1e-3, 1e-6)
PRIOR = SpikeSlabPrior.strict()


def prior_of(problem, always=0):
    """Return the default prior with even odds, the first observables always in."""
    prior = PRIOR.flat().on(tuple(f"o{i}" for i in range(problem.observables)), rows=0)
    return replace(prior, log_odds=np.where(np.arange(problem.observables) < always, np.inf, prior.log_odds))


def measured(seed=0, samples=400, inputs=1):
    """Return a noisy nonlinear oscillator, driven or not."""
    rng = np.random.default_rng(seed)
    u, x = rng.normal(size=(samples - 1, inputs)), np.zeros((samples, 2))
    x[0] = rng.normal(size=2)
    for k in range(samples - 1):
        push = 0.3 * u[k, 0] if inputs else 0.0
        x[k + 1] = [x[k, 0] + 0.2 * x[k, 1], x[k, 1] - 0.2 * np.sin(2 * x[k, 0]) - 0.05 * x[k, 1] + push]
    x += 0.01 * rng.normal(size=x.shape)
    return Trajectories.from_arrays(x, u if inputs else None)


def candidates(number=8):
    """The states and observables that overlap, some of them useless."""

    def waves(x):
        return np.stack([np.sin((1 + i / 4) * x[:, i % 2] + i) for i in range(number)], axis=1)

    return States() + Function(waves, names=[f"w{i}" for i in range(number)])


def statistics(seed=0, inputs=1, number=8, horizons=(1, 3, 6), samples=400):
    data = measured(seed, samples, inputs)
    return compress(data, candidates(number).fit(data), horizons=horizons)


def planted(seed, candidates=12, active=3, rows=300, horizons=(1, 4), outputs=2, inputs=1, noise=0.1):
    """Return statistics of random regressions in which only some observables matter, and which those are."""
    rng = np.random.default_rng(seed)
    between = inputs * max(horizons)
    design = rng.normal(size=(rows, candidates + between))
    design[:, :candidates] += 0.7 * rng.normal(size=(rows, 1))
    support = rng.choice(np.arange(outputs, candidates), active, replace=False)
    targets = []
    for h in horizons:
        weights = np.zeros((candidates + between, outputs))
        weights[support] = rng.choice([-1, 1], size=(active, outputs)) * rng.uniform(0.5, 1, size=(active, outputs))
        weights[candidates : candidates + inputs * h] = rng.normal(size=(inputs * h, outputs))
        targets.append(design @ weights + noise * rng.normal(size=(rows, outputs)))
    names = tuple(f"y{j}" for j in range(outputs)) + tuple(f"o{i}" for i in range(outputs, candidates))
    factor = TriangularFactor.empty(design.shape[1], outputs * len(horizons)).absorb(design, np.hstack(targets))
    drive = tuple(f"u{j}" for j in range(inputs))
    ahead = HorizonStatistics(factor, names, drive, names[:outputs], horizons)
    one_step = TriangularFactor.empty(candidates + inputs, candidates)
    return RegressionStatistics(one_step, names, drive, ahead, tuple(range(outputs))), set(support.tolist())


@pytest.mark.parametrize("inputs", [0, 1, 2])
def test_the_problem_is_the_regression_on_what_the_inputs_leave_and_the_bound_the_sum_of_its_terms(inputs):
    rng = np.random.default_rng(1)
    x, u = rng.normal(size=(120, 2)), rng.normal(size=(119, inputs))
    data = Trajectories.from_arrays(x, u if inputs else None)
    phi = candidates(4).fit(data)
    problem = horizon_problem(compress(data, phi, horizons=(1, 3)), emphasis=1.0)
    kept = np.array([0, 1, 4])
    posterior = first_posterior(problem, prior_of(problem), kept, 3)
    lifted, bound = phi(x), 0.0
    scale = np.sqrt(np.mean(lifted[:117] ** 2, axis=0))
    for h, (design, between, targets) in enumerate(direct_data(x, u, lifted, [0, 1], (1, 3))):
        X, T = residual(design / scale, between), residual(targets / np.sqrt(np.mean(targets**2, axis=0)), between)
        held = np.vstack([X, np.sqrt(JITTER * 117) * np.eye(6)])[:, kept]
        for j in range(2):
            t, rows = 2 * h + j, 117 - between.shape[1]
            gram = problem.gram[problem.group[t]] - JITTER * 117 * np.eye(6)
            np.testing.assert_allclose(gram, X.T @ X, atol=1e-9)
            np.testing.assert_allclose(problem.projected[t], X.T @ T[:, j], atol=1e-9)
            np.testing.assert_allclose(problem.power[t], T[:, j] @ T[:, j])
            assert problem.rows[t] == rows
            q = posterior.mean[t], posterior.held[t], posterior.alpha[t], posterior.rho[t]
            bound += problem.weight[t] * bound_of_target(held, np.append(T[:, j], np.zeros(6)), rows, SHAPES, *q)
    np.testing.assert_allclose(posterior.evidence, bound, rtol=1e-9)


@given(seed=st.integers(0, 10**6), inputs=st.integers(0, 2))
@settings(max_examples=15)
def test_updates_of_a_set_never_lower_its_bound(seed, inputs):
    problem = horizon_problem(planted(seed, inputs=inputs)[0], 0.5)
    posterior = first_posterior(problem, prior_of(problem), np.arange(6), 1)
    for _ in range(8):
        again = settle_weights(posterior, 1)
        assert again.evidence >= posterior.evidence - 1e-9 * abs(posterior.evidence)
        posterior = again


def test_taking_out_and_putting_in_are_exact_given_the_precisions():
    problem = horizon_problem(statistics(), 0.5)
    prior = prior_of(problem)
    full = first_posterior(problem, prior, np.array([0, 1, 3, 5, 8]), 3)
    for changed in (without(full, 2), with_newcomer(full, newcomers(full), 4)):
        direct = solved(problem, prior, changed.kept, changed.alpha, changed.rho)
        np.testing.assert_allclose(changed.mean, direct.mean, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(changed.held, direct.held, rtol=1e-6, atol=1e-12)


def log_marginal(problem, t, kept, alpha, rho):
    """Return log p(t | α, ρ) with the weights integrated over, up to what does not depend on the set."""
    G, b = problem.gram[problem.group[t]][np.ix_(kept, kept)], problem.projected[t, kept]
    precision = rho * G + np.diag(alpha)
    fit = rho**2 * b @ np.linalg.solve(precision, b)
    return 0.5 * (np.sum(np.log(alpha)) - np.linalg.slogdet(precision)[1] + fit)


def slab_at(alpha, mean, variance):
    """Return the slab's part of the bound when the precision of the weight is known."""
    return 0.5 * (1 + np.log(alpha * variance) - alpha * (mean**2 + variance))


def test_growths_are_those_of_the_marginal_likelihood():
    """At known precisions one observable more or fewer changes log p(t) by −½ρ·growth and the slab's part."""
    problem = horizon_problem(statistics(), 0.5)
    full = first_posterior(problem, prior_of(problem), np.array([0, 1, 3, 5, 8]), 3)
    new = newcomers(full)
    growth = removal_growth(full.mean, full.variance, full.alpha, full.rho[:, None])
    for t in range(len(problem.power)):
        rho, whole = full.rho[t], log_marginal(problem, t, full.kept, full.alpha[t], full.rho[t])
        for k in range(len(full.kept)):
            less = log_marginal(problem, t, np.delete(full.kept, k), np.delete(full.alpha[t], k), rho)
            slab = slab_at(full.alpha[t, k], full.mean[t, k], full.variance[t, k])
            np.testing.assert_allclose(-0.5 * rho * growth[t, k] - slab, less - whole, rtol=1e-6, atol=1e-6)
        for j in (2, 4, 9):
            more = log_marginal(problem, t, np.append(full.kept, j), np.append(full.alpha[t], new.alpha[t, j]), rho)
            slab = slab_at(new.alpha[t, j], new.mean[t, j], new.variance[t, j])
            np.testing.assert_allclose(-0.5 * rho * new.growth[t, j] + slab, more - whole, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_gains_are_nearly_what_the_bound_changes_by_once_everything_has_settled(seed):
    problem = horizon_problem(planted(seed, noise=0.5)[0], 0.5)
    kept = np.arange(8)

    def settled(kept):
        return first_posterior(problem, prior_of(problem), kept, 100)

    full = settled(kept)
    removed = removal_gains(full)
    fewer = np.array([settled(np.delete(kept, k)).evidence - full.evidence for k in range(8)])
    more = [settled(np.append(kept, j)).evidence - full.evidence for j in range(8, 12)]
    np.testing.assert_allclose(removed, fewer, rtol=0.1, atol=0.8)
    np.testing.assert_allclose(newcomers(full).gains[8:], more, rtol=0.1, atol=1.2)
    assert np.all((removed > 0) == (fewer > 0))


def test_a_run_of_removals_is_one_removal_after_another():
    problem = horizon_problem(statistics(), 0.5)
    prior = prior_of(problem, always=2)  # the outputs stay
    full = first_posterior(problem, prior, np.arange(problem.observables), 4)
    step_by_step = full
    for _ in range(3):
        gains = removal_gains(step_by_step) - prior.log_odds[step_by_step.kept]
        step_by_step = without(step_by_step, int(np.argmax(gains)))
    at_once = without_least(full, 3, -np.inf)
    assert at_once.kept.tolist() == step_by_step.kept.tolist()
    for name in ("mean", "variance", "held", "alpha", "squared_error"):
        np.testing.assert_allclose(getattr(at_once, name), getattr(step_by_step, name), rtol=1e-7, atol=1e-12)
    assert without_least(full, 3, np.inf) is full


@given(seed=st.integers(0, 10**6), inputs=st.integers(0, 2))
@settings(max_examples=15)
def test_the_bound_never_falls_on_the_way_and_the_planted_observables_are_found(seed, inputs):
    stats, support = planted(seed, inputs=inputs)
    found = HorizonSieve().identify(stats)
    assert np.all(np.diff(found.trace) > 0)
    assert found.status is Status.SETTLED
    assert set(found.retained.tolist()) == support | {0, 1}
    assert found.elbo == found.trace[-1]
    free = np.arange(2, 12)
    assert np.all((found.composite_inclusion[free] > 0.5) == np.isin(free, found.retained))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("inputs", [0, 1])
def test_the_set_of_each_size_is_the_best_of_all_sets(seed, inputs):
    stats, sieve = statistics(seed, inputs), HorizonSieve()
    problem = horizon_problem(stats, sieve.emphasis)
    for found in sieve.sizes(stats, [3, 4, 5]):
        sets = (np.array([0, 1, *rest]) for rest in combinations(range(2, 10), found.size - 2))
        every = (first_posterior(problem, prior_of(problem), kept, 40) for kept in sets)
        best = max(every, key=lambda posterior: posterior.evidence)
        assert found.retained.tolist() == sorted(best.kept.tolist())


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10)
def test_units_and_the_order_of_the_dictionary_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    stats, _ = planted(seed, noise=0.5)
    ahead = stats.multistep
    factor, outputs = ahead.factor, ahead.factor.S.shape[1]
    before = HorizonSieve().identify(stats)

    columns, targets = (10 ** rng.uniform(-5, 5, size=size) for size in (len(factor.R), outputs))
    leftover = factor.leftover_products * np.outer(targets, targets)
    scaled = TriangularFactor(factor.R * columns, factor.S * targets, leftover, factor.rows)
    after = HorizonSieve().identify(replace(stats, multistep=replace(ahead, factor=scaled)))
    assert before.retained.tolist() == after.retained.tolist()
    np.testing.assert_allclose(before.composite_inclusion, after.composite_inclusion, atol=1e-6)
    np.testing.assert_allclose(before.elbo, after.elbo, rtol=1e-9)
    np.testing.assert_allclose(before.noise_precision.ravel() / targets**2, after.noise_precision.ravel(), rtol=1e-6)

    order = rng.permutation(12)
    names = tuple(ahead.observables[i] for i in order)
    mixed = factor.select(np.append(order, np.arange(12, len(factor.R))), np.arange(outputs))
    turned = replace(ahead, factor=mixed, observables=names)
    first = tuple(np.flatnonzero(order < 2).tolist())
    after = HorizonSieve().identify(replace(stats, multistep=turned, observables=names, outputs=first))
    assert set(before.retained_names) == set(after.retained_names)
    np.testing.assert_allclose(before.composite_inclusion[order], after.composite_inclusion, atol=1e-6)


def test_sizes_are_what_was_asked_for_and_hold_the_outputs():
    found = HorizonSieve().sizes(statistics(), [1, 4, 4, 7, 99])
    assert [estimate.size for estimate in found] == [2, 4, 7, 10]
    for estimate in found:
        assert {0, 1} <= set(estimate.retained.tolist())
        assert estimate.retained_names[:2] == ("x1", "x2")
        assert estimate.noise_precision.shape == (3, 2)


def test_stricter_odds_keep_fewer_and_the_prior_is_heard():
    stats = statistics(samples=200)
    sizes = [HorizonSieve(SpikeSlabPrior(worth=worth)).identify(stats).size for worth in (0.0, 0.3, 30.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0]
    kept = HorizonSieve(SpikeSlabPrior(worth=30.0, always=("w7",))).identify(stats)
    assert "w7" in kept.retained_names


def test_an_emphasis_weights_horizons_and_averages_one():
    weight = horizon_problem(statistics(), 1.0).weight.reshape(3, 2)
    np.testing.assert_allclose(weight[:, 0] / weight[0, 0], [1, 3, 6])
    np.testing.assert_allclose(weight.mean(), 1)


def test_the_search_says_when_it_ran_out_of_moves():
    assert HorizonSieve(max_sweeps=1).identify(statistics()).status is Status.MAX_SWEEPS


def test_twins_do_not_hurt():
    stats, support = planted(3)
    doubled = list(range(12)) + sorted(support) + list(range(12, 16))
    factor = stats.multistep.factor.select(doubled, np.arange(stats.multistep.factor.S.shape[1]))
    names = stats.observables + tuple(f"twin{i}" for i in sorted(support))
    found = HorizonSieve().identify(
        replace(stats, multistep=replace(stats.multistep, factor=factor, observables=names))
    )
    assert found.size == 2 + len(support)


def test_one_step_statistics_are_refused_with_the_way_out():
    data = measured()
    with pytest.raises(KoopsieveError, match="horizons="):
        HorizonSieve().identify(compress(data, candidates().fit(data)))


@pytest.mark.parametrize(
    "wrong",
    [{"emphasis": np.nan}, {"weight_sweeps": 0}, {"max_newcomers": 0}, {"max_exchanges": -1}, {"max_sweeps": 0}],
)
def test_settings_that_cannot_be_meant_are_refused(wrong):
    with pytest.raises(KoopsieveError, match=next(iter(wrong))):
        HorizonSieve(**wrong)


@pytest.mark.parametrize("entries", [1, 12 * 14 * 2])
def test_targets_taken_some_at_a_time_give_what_all_at_once_give(monkeypatch, entries):
    stats = planted(5, candidates=14, active=4, horizons=(1, 3, 6), outputs=3)[0]
    problem = horizon_problem(stats, 1.0)
    whole = *HorizonSieve().sizes(stats, range(3, 15)), HorizonSieve().identify(stats)
    monkeypatch.setattr("koopsieve.sieve.horizon.posterior.MAX_ENTRIES", entries)
    assert first_posterior(problem, prior_of(problem), np.arange(14), 1).held is None
    parts = *HorizonSieve().sizes(stats, range(3, 15)), HorizonSieve().identify(stats)
    for one, other in zip(whole, parts, strict=True):
        assert one.retained_names == other.retained_names
        assert one.elbo == pytest.approx(other.elbo, rel=1e-9)
        np.testing.assert_allclose(one.composite_inclusion, other.composite_inclusion, atol=1e-6)


def test_memory_does_not_grow_with_the_cube_of_the_outputs(monkeypatch):
    stats = planted(6, candidates=60, active=5, rows=250, horizons=(1, 2), outputs=50, inputs=0)[0]
    peaks = []
    for entries in (1 << 25, 1 << 16):
        monkeypatch.setattr("koopsieve.sieve.horizon.posterior.MAX_ENTRIES", entries)
        tracemalloc.start()
        found = HorizonSieve(max_exchanges=0).sizes(stats, [58, 60])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert [one.size for one in found] == [58, 60]
    assert peaks[0] > 100 * 60**2 * 8  # one matrix per target
    assert peaks[1] < peaks[0] / 3


def test_horizons_with_fewer_windows_than_inputs_are_left_out():
    few = statistics(inputs=4, number=3, samples=60, horizons=(1, 5, 20))
    assert few.multistep.factor.rows < 4 * 20
    assert set(horizon_problem(few, 0.0).horizon) == {1, 5}
    with pytest.raises(KoopsieveError, match=r"too few for their 80 inputs\. Give longer episodes"):
        horizon_problem(statistics(inputs=4, number=3, samples=60, horizons=(20,)), 0.0)
