"""Inclusion probabilities of spike and slab by Gibbs sampling, many chains at once: judges averages of many regressors.

Each regressor's switch is drawn with its weight integrated out, given all other weights, its precision and the noise;
then its weight, then its precision (from the prior while it is out). After every sweep a regressor that is in and one
that is out are exchanged by Metropolis' rule, so that regressors that could stand for one another take turns.
"""

import numpy as np


def gibbs_inclusion(design, target, prior, chains=64, sweeps=4000, burn=1000, seed=0):
    """Return inclusion probabilities and their standard errors, from the means of independent chains."""
    rng = np.random.default_rng(seed)
    rows, p = design.shape
    G, b, tt = design.T @ design, design.T @ target, float(target @ target)
    log_odds = np.log(prior.e) - np.log(prior.f)
    beta, gamma = np.zeros((chains, p)), np.zeros((chains, p), dtype=bool)  # β is zero where γ is
    alpha = rng.gamma(prior.c, 1 / prior.d, (chains, p))
    rho = np.full(chains, rows / tt)
    total = np.zeros((chains, p))
    every = np.arange(chains)
    for sweep in range(sweeps):
        for i in rng.permutation(p):
            s = b[i] - beta @ G[:, i] + beta[:, i] * G[i, i]
            gain, precision = _gain(rho, s, G[i, i], alpha[:, i])
            gamma[:, i] = rng.random(chains) < 1 / (1 + np.exp(-np.clip(gain + log_odds, -700, 700)))
            beta[:, i] = gamma[:, i] * (rho * s / precision + rng.normal(size=chains) / np.sqrt(precision))
            alpha[:, i] = _precision(prior, gamma[:, i], beta[:, i], rng)
        _exchange(G, b, rho, beta, gamma, alpha, prior, rng, every)
        error = np.maximum(tt - 2 * beta @ b + np.einsum("ni,ij,nj->n", beta, G, beta), 1e-12 * tt)
        rho = rng.gamma(prior.a + rows / 2, 1 / (prior.b + error / 2))
        if sweep >= burn:
            total += gamma
    share = total / (sweeps - burn)
    return share.mean(axis=0), share.std(axis=0, ddof=1) / np.sqrt(chains)


def _gain(rho, s, g, alpha):
    """Return log p(t | γ = 1) − log p(t | γ = 0) with the weight integrated out, and the weight's precision."""
    precision = rho * g + alpha
    return 0.5 * np.log(alpha / precision) + 0.5 * (rho * s) ** 2 / precision, precision


def _precision(prior, included, beta, rng):
    shape = np.where(included, prior.c + 0.5, prior.c)
    rate = np.where(included, prior.d + 0.5 * beta**2, prior.d)
    return np.maximum(rng.gamma(shape, 1 / rate), 1e-200)


def _exchange(G, b, rho, beta, gamma, alpha, prior, rng, every):
    """Propose, in each chain, that a regressor that is in leaves and one that is out takes its place."""
    movable = gamma.any(axis=1) & ~gamma.all(axis=1)
    leaving = np.argmax(gamma * rng.random(gamma.shape), axis=1)
    entering = np.argmax(~gamma * rng.random(gamma.shape), axis=1)
    without = beta.copy()
    without[every, leaving] = 0.0
    gaps = b - without @ G
    old, _ = _gain(rho, gaps[every, leaving], G[leaving, leaving], alpha[every, leaving])
    new, precision = _gain(rho, gaps[every, entering], G[entering, entering], alpha[every, entering])
    taken = movable & (np.log(rng.random(len(every))) < new - old)
    mean = rho * gaps[every, entering] / precision
    drawn = mean + rng.normal(size=len(every)) / np.sqrt(precision)
    chain = every[taken]
    beta[chain, leaving[taken]], gamma[chain, leaving[taken]] = 0.0, False
    beta[chain, entering[taken]], gamma[chain, entering[taken]] = drawn[taken], True
    for moved in (leaving, entering):
        alpha[chain, moved[taken]] = _precision(prior, gamma[chain, moved[taken]], beta[chain, moved[taken]], rng)
