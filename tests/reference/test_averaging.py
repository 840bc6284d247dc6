"""Averaged inclusion and weights against the exact posterior, that against integrals; many regressors against Gibbs."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from koopsieve.identify import SpikeSlab, SpikeSlabPrior
from tests.problems import statistics_of
from tests.reference.exact_inclusion import evidence, exact_posterior
from tests.reference.gibbs_inclusion import gibbs_inclusion

PRIOR = SpikeSlabPrior()


def problem(kind, seed, rows=80, regressors=8):
    """Return a design of unit mean square columns, alike to some degree or in pairs, and a target of three of them."""
    rng = np.random.default_rng(seed)
    if kind == "copies":
        half = rng.normal(size=(rows, regressors // 2))
        design = np.hstack([half, half])
    else:
        common = np.sqrt(kind) * rng.normal(size=(rows, 1))
        design = common + np.sqrt(1 - kind) * rng.normal(size=(rows, regressors))
    design /= np.sqrt(np.mean(design**2, axis=0))
    weights = np.zeros(regressors)
    active = min(regressors, 3)
    weights[rng.choice(regressors, active, replace=False)] = rng.normal(size=active)
    clean = design @ weights
    target = clean + clean.std() * 10 ** (-rng.uniform(0, 15) / 20) * rng.normal(size=rows)
    return design, target / np.sqrt(np.mean(target**2))


def inferred(design, target, **settings):
    inputs = tuple(f"u{i}" for i in range(design.shape[1] - 1))
    return SpikeSlab(PRIOR, **settings).identify(statistics_of(design, target[:, None], inputs=inputs))


@pytest.mark.parametrize("prior", [PRIOR, SpikeSlabPrior(a=1.0, b=0.3, c=0.5, d=0.2)])
def test_the_oracles_evidence_is_the_integral(prior):
    """One and two weights on a grid, with the noise integrated in closed form."""
    design, target = problem(0.5, seed=1, rows=30, regressors=2)
    G, b, tt = design.T @ design, design.T @ target, target @ target
    side = np.concatenate([-np.geomspace(8, 1e-9, 1500), np.geomspace(1e-9, 8, 1500)])
    weight = np.log(np.gradient(side))

    def student(beta):
        c, d = prior.c, prior.d
        normal = gammaln(c + 0.5) - gammaln(c) + c * np.log(d) - 0.5 * np.log(2 * np.pi)
        return normal - (c + 0.5) * np.log(d + beta**2 / 2)

    def likelihood(error):
        a, a_bar, b_bar = prior.a, prior.a + 15, prior.b + error / 2
        return gammaln(a_bar) - gammaln(a) + a * np.log(prior.b) - a_bar * np.log(b_bar) - 15 * np.log(2 * np.pi)

    one = logsumexp(likelihood(tt - 2 * side * b[0] + side**2 * G[0, 0]) + student(side) + weight)
    x, y = side[:, None], side[None, :]
    error = tt - 2 * (x * b[0] + y * b[1]) + x**2 * G[0, 0] + y**2 * G[1, 1] + 2 * x * y * G[0, 1]
    two = logsumexp(likelihood(error) + student(x) + student(y) + weight[:, None] + weight[None, :])
    rng = np.random.default_rng(0)
    for chosen, exact in (([0], one), ([0, 1], two)):
        found, *_ = evidence(G, b, tt, 30, prior, np.array(chosen), rng, draws=60_000)
        np.testing.assert_allclose(found, exact, atol=0.03)


@pytest.mark.parametrize("kind", [0.0, 0.9, 0.999, "copies"])
def test_averaged_inclusion_is_nearly_exact(kind):
    gaps, mean_field, weights = [], [], []
    for seed in range(8):
        design, target = problem(kind, seed)
        exact = exact_posterior(design, target, PRIOR)
        found = inferred(design, target)
        gaps.append(np.abs(found.inclusion[:, 0] - exact.inclusion))
        mean_field.append(np.abs(inferred(design, target, averaged=False).inclusion[:, 0] - exact.inclusion))
        scale = np.sqrt(exact.variance + 1e-4)
        weights.append(np.abs(found.coef[:, 0] - exact.mean) / scale)
        probable = exact.inclusion > 0.05
        np.testing.assert_allclose(np.sqrt(found.coef_variance[probable, 0] + 1e-4), scale[probable], rtol=0.25)
    assert np.mean(gaps) <= 0.01
    assert np.max(gaps) <= 0.1
    assert np.mean(gaps) <= np.mean(mean_field)
    assert np.mean(weights) <= 0.1


def test_copies_share_their_probability():
    design, target = problem("copies", 3)
    inclusion = inferred(design, target).inclusion[:, 0]
    np.testing.assert_allclose(inclusion[:4], inclusion[4:], atol=0.01)
    assert inclusion.max() < 0.9


def test_weights_that_cancel_still_predict():
    """Averages of large weights of opposite sign are taken with the same shares, so what they predict stays right."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(300, 6))
    design = np.hstack([base, base + 1e-3 * rng.normal(size=(300, 6))])
    target = (design[:, 0] - design[:, 6]) * 1e3 + design[:, 1]
    target = target + 0.1 * rng.normal(size=300)
    found = inferred(design, target)
    assert np.std(target - design @ found.coef[:, 0]) < 0.12
    assert np.abs(found.coef[[0, 6], 0]).min() > 300


def test_targets_are_averaged_alone_or_together_alike():
    parts = [problem(0.95, seed) for seed in range(4)]
    design = parts[0][0]
    targets = np.column_stack([target for _, target in parts])
    together = SpikeSlab().identify(statistics_of(design, targets, inputs=("a", "b", "c", "d")))
    for j in range(4):
        alone = inferred(design, targets[:, j])
        np.testing.assert_allclose(together.inclusion[:, j], alone.inclusion[:, 0], atol=1e-6)
        np.testing.assert_allclose(together.coef[:, j], alone.coef[:, 0], atol=1e-6)


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
