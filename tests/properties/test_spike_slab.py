"""What the default spike and slab promises for every problem, drawn by hypothesis."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from koopsieve.identify import SpikeSlab, SpikeSlabPrior, Start
from koopsieve.identify.prior import ProblemPrior, Slab
from koopsieve.identify.spike_slab import rules as rules_module
from koopsieve.identify.spike_slab.bound import Included, paired_elbo
from koopsieve.identify.spike_slab.rules import Rules, begin
from koopsieve.identify.spike_slab.spike_slab import EQUAL_WITHIN
from koopsieve.identify.standardise import standardise
from tests.problems import lorenz_lifted, sparse_problem, statistics_of

relaxed = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


AVERAGED = 1e-3  # sets at the edge of what is counted come and go with rounding: their probability at most


@st.composite
def regressions(draw, largest=60):
    """Draw design and targets, well or badly conditioned, with few or many rows."""
    p = draw(st.integers(1, largest))
    rows = draw(st.integers(2, 200))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    decades = draw(st.floats(0, 12))
    mixing = rng.normal(size=(p, p)) * 10.0 ** (-decades * np.arange(p) / p)
    design = rng.normal(size=(rows, p)) @ mixing + draw(st.sampled_from([0.0, 1.0]))
    weights = rng.normal(size=(p, p)) * (rng.random((p, p)) < draw(st.floats(0.05, 1.0)))
    noise = 10.0 ** draw(st.floats(-8, 1))
    targets = design @ weights
    scale = np.abs(targets).max() or 1.0
    return design, targets / scale + noise * rng.normal(size=targets.shape)


priors = st.builds(
    SpikeSlabPrior,
    b=st.sampled_from([1e-10, 1e-3]),
    c=st.sampled_from([1e-3, 0.5]),
    f=st.sampled_from([0.5, 20.0, 1e4]),
    worth=st.sampled_from([0.0, 0.1]),
)


def started(regression, prior, kind):
    statistics = statistics_of(*regression)
    problem = standardise(statistics)
    rules = Rules.of(prior, statistics.regressors, problem)
    return rules, problem, begin(rules, problem, kind)


@relaxed
@given(regressions(), priors, st.sampled_from(list(Start)))
def test_the_bound_never_falls(regression, prior, kind):
    rules, problem, state = started(regression, prior, kind)
    for _ in range(6):
        for rule in (rules.sweep, rules.solve, rules.exchange):
            following = rule(problem, state)
            assert np.all(np.isfinite(following.elbo))
            assert np.all(following.elbo >= state.elbo - 1e-8 * np.abs(state.elbo))
            state = following


@relaxed
@given(regressions(largest=25), priors, st.sampled_from(list(Start)))
def test_no_rule_lowers_the_bound_even_without_the_guard(regression, prior, kind):
    """Rules end by keeping the better state. Their raw proposals may only lose what rounding can explain."""
    rules, problem, state = started(regression, prior, kind)
    for _ in range(4):
        for rule in (rules.visited, rules.solved):
            following = rule(problem, state)
            slack = 1e-7 * np.abs(state.elbo) + 1e-6
            assert np.all(following.elbo >= state.elbo - slack), rule.__name__
            state = following


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("rule", ["visited", "solved"])
def test_where_nothing_is_ill_conditioned_a_raw_rule_loses_nothing_at_all(rule, seed):
    """Without rounding to speak of, and away from the optimum, a wrong equation cannot hide."""
    design, targets, _ = sparse_problem(seed, rows=100, regressors=12, targets=12, active=4, correlation=0.6, snr_db=3)
    prior = SpikeSlabPrior(c=0.3, d=0.05, e=1.0, f=2.0)
    rules, problem, state = started((design, targets), prior, Start.ZERO)
    rng, shape = np.random.default_rng(seed), (12, 12)
    for _ in range(20):
        mu, sigma2 = rng.normal(size=shape), 10.0 ** rng.uniform(-4, 0, shape)
        state = rules.posterior(problem, mu, sigma2, rng.uniform(0.01, 1.0, shape))
        following = getattr(rules, rule)(problem, state)
        assert np.all(following.elbo >= state.elbo - 1e-10 * np.abs(state.elbo))
        assert np.all(following.elbo > state.elbo)


@pytest.mark.parametrize("seed", range(5))
def test_no_mean_of_the_joint_solve_can_be_moved_without_lowering_the_bound(seed):
    design, targets, _ = sparse_problem(seed, rows=100, regressors=8, targets=8, active=3, correlation=0.6, snr_db=3)
    rules, problem, state = started((design, targets), SpikeSlabPrior(c=0.3, d=0.05), Start.GREEDY)
    rng, shape = np.random.default_rng(seed), (8, 8)
    gamma = np.asfortranarray(rng.uniform(0.01, 1.0, shape))
    state = rules.posterior(problem, rng.normal(size=shape), np.full(shape, 0.01), gamma)
    for _ in range(300):  # α̂ and ρ̂ belong to the means, so the joint solve is repeated until all agree
        state = rules.solved(problem, state)
    for i in range(8):
        for change in (1e-4, -1e-4):
            mu = state.mu.copy()
            mu[i] += change
            moved = rules.posterior(problem, mu, state.sigma2, gamma)
            assert np.all(moved.elbo <= state.elbo + 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_flags_that_stepwise_moves_propose_mostly_raise_the_bound(seed):
    """A proposal counts gains with the noise updated and the precisions held; solved anew, nearly all of them rise."""
    design, targets, _ = sparse_problem(seed, rows=200, regressors=20, targets=20, active=4, correlation=0.7, snr_db=10)
    rules, problem, empty = started((design, targets), SpikeSlabPrior(), Start.ZERO)
    everything = rules.posterior(problem, empty.mu, empty.sigma2, np.ones((20, 20), order="F"))
    everything = rules.solved(problem, rules.solved(problem, everything))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules_module, "better", lambda before, after: after)  # the guard taken away
        more, fewer = rules.add(problem, empty, most=8), rules.drop(problem, everything)
    risen = np.concatenate([more.elbo >= empty.elbo, fewer.elbo >= everything.elbo])
    assert risen.mean() >= 0.95
    assert np.mean(more.elbo > empty.elbo + 1) > 0.85
    assert np.mean(fewer.elbo > everything.elbo + 1) > 0.9


@relaxed
@given(regressions(largest=20))
def test_more_starts_never_lower_the_bound(regression):
    """Not by more than a bound is known to: starts run side by side, and rounding may save one of them a sweep."""
    statistics = statistics_of(*regression)
    best = np.full(regression[1].shape[1], -np.inf)
    for count in range(1, len(Start) + 1):
        found = SpikeSlab(starts=tuple(Start)[:count]).identify(statistics)
        assert np.all(found.elbo >= best - EQUAL_WITHIN * SpikeSlab().tolerance)
        assert np.all((found.agreement >= 1) & (found.agreement <= count))
        best = found.elbo


@relaxed
@given(regressions(largest=12), st.integers(0, 2**32 - 1))
def test_permuting_the_dictionary_permutes_the_answer(regression, seed):
    design, targets = regression
    design = design + 1e-3 * np.random.default_rng(seed).normal(size=design.shape)  # no two columns exactly alike
    order = np.random.default_rng(seed).permutation(design.shape[1])
    for averaged, rounding in ((False, 1e-6), (True, AVERAGED)):
        method = SpikeSlab(averaged=averaged)
        plain = method.identify(statistics_of(design, targets))
        mixed = method.identify(statistics_of(design[:, order], targets[:, order]))
        np.testing.assert_allclose(mixed.inclusion, plain.inclusion[np.ix_(order, order)], atol=rounding)


@pytest.mark.parametrize("snr_db", [None, 40, 20])
@pytest.mark.parametrize("seed", [0, 1])
def test_units_do_not_matter_on_overlapping_kernels(snr_db, seed):
    design, targets = lorenz_lifted(samples=2000, snr_db=snr_db, coefficient=1e-3)
    rng = np.random.default_rng(seed)
    columns, outputs = 10.0 ** rng.uniform(-9, 9, 23), 10.0 ** rng.uniform(-9, 9, 23)
    for averaged, rounding in ((False, 1e-6), (True, AVERAGED)):
        method = SpikeSlab(averaged=averaged)
        plain = method.identify(statistics_of(design, targets))
        scaled = method.identify(statistics_of(design * columns, targets * outputs))
        np.testing.assert_allclose(scaled.inclusion, plain.inclusion, atol=rounding)
        # Overlapping kernels leave directions of the weights almost free: what the weights predict is what must agree.
        gap = design @ (scaled.coef * columns[:, None] / outputs - plain.coef)
        assert np.max(np.sqrt(np.mean(gap**2, axis=0) / np.mean(targets**2, axis=0))) < rounding


def test_the_bound_lies_below_the_evidence():
    """For one regressor with few rows the evidence is an integral that a grid can do."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 1))
    t = 0.7 * x + 0.5 * rng.normal(size=(6, 1))
    prior = SpikeSlabPrior(a=1.0, b=0.5, c=1.0, d=1.0, e=1.0, f=3.0, worth=0.0)
    x, t = x / np.sqrt(np.mean(x**2)), t / np.sqrt(np.mean(t**2))
    statistics = statistics_of(x, t)
    a, b, c, d = prior.a, prior.b, prior.c, prior.d

    def log_likelihood(error):  # with the noise precision integrated out
        rate = b + np.asarray(error) / 2
        return -3 * np.log(2 * np.pi) + gammaln(a + 3) - gammaln(a) + a * np.log(b) - (a + 3) * np.log(rate)

    beta = np.linspace(-60, 60, 400_001)
    student = gammaln(c + 0.5) - gammaln(c) + c * np.log(d) - 0.5 * np.log(2 * np.pi)
    student = student - (c + 0.5) * np.log(d + beta**2 / 2)
    errors = np.sum(t**2) - 2 * beta * np.sum(x * t) + beta**2 * np.sum(x**2)
    inside = np.log(np.sum(np.exp(log_likelihood(errors) + student)) * (beta[1] - beta[0]))
    evidence = np.logaddexp(np.log(0.25) + inside, np.log(0.75) + log_likelihood(np.sum(t**2)))
    found = SpikeSlab(prior).identify(statistics)
    assert found.elbo[0] <= evidence
    assert found.elbo[0] >= evidence - 1.0
    exact = np.exp(np.log(0.25) + inside - evidence)
    np.testing.assert_allclose(found.inclusion[0, 0], exact, atol=0.15)


def test_the_bound_equals_its_definition_by_sampling():
    """E log p − E log q by drawing from q: the closed form must agree with the definition term by term."""
    rng = np.random.default_rng(1)
    rows, gamma, mu, sigma2 = 20, 0.6, 0.4, 0.05
    x, t = rng.normal(size=rows), rng.normal(size=rows)
    a, b, c, d, e, f = 2.0, 0.7, 1.5, 0.8, 1.0, 2.0
    g, w = x @ x, gamma * mu
    error = np.sum((t - x * w) ** 2) + g * (gamma * (mu**2 + sigma2) - w**2)
    prior = ProblemPrior(a, b, Slab.of(c, d), e, f, np.array([np.log(e / f)]))
    included = Included.of(*(np.array([[v]]) for v in (gamma, mu, sigma2)))
    closed = paired_elbo(prior, rows, np.array([error]), included)[0]
    n = 400_000
    flag = rng.random(n) < gamma
    a_bar, b_bar = a + rows / 2, b + error / 2
    rho = rng.gamma(a_bar, 1 / b_bar, n)
    beta = mu + np.sqrt(sigma2) * rng.normal(size=n)
    c_bar, d_bar = c + 0.5, d + (mu**2 + sigma2) / 2
    alpha = rng.gamma(c_bar, 1 / d_bar, n)

    def gamma_pdf(value, shape, rate):
        return shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(value) - rate * value

    def normal_pdf(value, mean, precision):
        return 0.5 * np.log(precision / (2 * np.pi)) - 0.5 * precision * (value - mean) ** 2

    weight = np.where(flag, beta, 0.0)
    squared = t @ t - 2 * weight * (x @ t) + weight**2 * g
    sample = rows / 2 * np.log(rho / (2 * np.pi)) - rho / 2 * squared
    sample += gamma_pdf(rho, a, b) - gamma_pdf(rho, a_bar, b_bar)
    slab = normal_pdf(beta, 0, alpha) - normal_pdf(beta, mu, 1 / sigma2)
    slab += gamma_pdf(alpha, c, d) - gamma_pdf(alpha, c_bar, d_bar)
    sample += np.where(flag, slab + np.log(e / (e + f) / gamma), np.log(f / (e + f) / (1 - gamma)))
    assert abs(closed - sample.mean()) < 5 * sample.std() / np.sqrt(n)
