"""The paper's Algorithm 1, line by line, on raw data: slow, literal, and the judge of `SpikeSlab.published`.

Four readings of which values a line reads, named as in `UpdateOrder`. Each is transcribed in a function of its own,
because a shared one would share its mistakes.
"""

import numpy as np
from scipy.special import digamma


def each(value, p):
    """Return a hyperparameter regressor by regressor: c_1, …, c_p."""
    return [float(v) for v in value.values()] if isinstance(value, dict) else [float(value)] * p


def sigmoid(eta):
    return min(max(1 / (1 + np.exp(-eta)) if eta > -700 else 0.0, 1e-8), 1 - 1e-8)


def noise(Phi, t, prior, gamma, mu):
    """Line 4: q(rho), equation (18)."""
    prediction = np.zeros(len(t))
    for j in range(Phi.shape[1]):
        prediction = prediction + gamma[j] * mu[j] * Phi[:, j]
    return len(t) / 2 + prior.a, 0.5 * float(np.sum((t - prediction) ** 2)) + prior.b


def products(Phi, t, gamma, mu, i):
    """Line 8: the residual without regressor i, equation (21); returns ‖φ_i‖² and φ_iᵀr_i."""
    r = t.copy()
    for j in range(Phi.shape[1]):
        if j != i:
            r = r - gamma[j] * mu[j] * Phi[:, j]
    return float(np.sum(Phi[:, i] ** 2)), float(np.sum(Phi[:, i] * r))


class Start:
    """Line 2."""

    def __init__(self, prior, p, precision, inclusion):
        self.mu, self.precision, self.gamma = [0.0] * p, [precision] * p, [inclusion] * p
        self.rho, self.alpha = prior.a / prior.b, [precision] * p
        self.e = [e + inclusion for e in each(prior.e, p)]
        self.f = [f + 1 - inclusion for f in each(prior.f, p)]
        self.a, self.b, self.d = prior.a, prior.b, [np.nan] * p


def previous_sweep(Phi, t, prior, p_d, q):
    """Every line reads what the previous sweep left."""
    p = Phi.shape[1]
    c, d, e, f = (each(value, p) for value in (prior.c, prior.d, prior.e, prior.f))
    mu, precision, gamma, alpha, e_bar, f_bar, d_bar = ([0.0] * p for _ in range(7))
    a_bar, b_bar = noise(Phi, t, prior, q.gamma, q.mu)
    for i in range(p):
        d_bar[i] = d[i] + (q.mu[i] ** 2 + 1 / q.precision[i]) / 2  # line 6
        alpha[i] = (c[i] + 0.5) / d_bar[i]
        e_bar[i], f_bar[i] = q.gamma[i] + e[i], 1 - q.gamma[i] + f[i]  # line 7
        energy, overlap = products(Phi, t, q.gamma, q.mu, i)  # line 8
        bar = q.rho * q.gamma[i] * energy + q.alpha[i]  # line 9
        mean = q.rho * q.gamma[i] * overlap / bar
        precision[i] = p_d * bar + (1 - p_d) * q.precision[i]  # line 10
        mu[i] = p_d * mean + (1 - p_d) * q.mu[i]
        eta = q.rho * q.mu[i] * overlap - 0.5 * q.rho * (q.mu[i] ** 2 + 1 / q.precision[i]) * energy  # line 11
        gamma[i] = sigmoid(eta + digamma(q.e[i]) - digamma(q.f[i]))
    q.mu, q.precision, q.gamma, q.alpha, q.e, q.f, q.d = mu, precision, gamma, alpha, e_bar, f_bar, d_bar
    q.a, q.b, q.rho = a_bar, b_bar, a_bar / b_bar


def new_bars(Phi, t, prior, p_d, q):
    """Hats are of the previous sweep, the bars that equation (26) prints, ē and f̄, of this one."""
    p = Phi.shape[1]
    c, d, e, f = (each(value, p) for value in (prior.c, prior.d, prior.e, prior.f))
    mu, precision, gamma, alpha, e_bar, f_bar, d_bar = ([0.0] * p for _ in range(7))
    a_bar, b_bar = noise(Phi, t, prior, q.gamma, q.mu)
    for i in range(p):
        d_bar[i] = d[i] + (q.mu[i] ** 2 + 1 / q.precision[i]) / 2
        alpha[i] = (c[i] + 0.5) / d_bar[i]
        e_bar[i], f_bar[i] = q.gamma[i] + e[i], 1 - q.gamma[i] + f[i]
        energy, overlap = products(Phi, t, q.gamma, q.mu, i)
        bar = q.rho * q.gamma[i] * energy + q.alpha[i]
        mean = q.rho * q.gamma[i] * overlap / bar
        precision[i] = p_d * bar + (1 - p_d) * q.precision[i]
        mu[i] = p_d * mean + (1 - p_d) * q.mu[i]
        eta = q.rho * q.mu[i] * overlap - 0.5 * q.rho * (q.mu[i] ** 2 + 1 / q.precision[i]) * energy
        gamma[i] = sigmoid(eta + digamma(e_bar[i]) - digamma(f_bar[i]))
    q.mu, q.precision, q.gamma, q.alpha, q.e, q.f, q.d = mu, precision, gamma, alpha, e_bar, f_bar, d_bar
    q.a, q.b, q.rho = a_bar, b_bar, a_bar / b_bar


def line_by_line(Phi, t, prior, p_d, q):
    """A line reads what the lines above it have computed; other regressors are of the previous sweep."""
    p = Phi.shape[1]
    c, d, e, f = (each(value, p) for value in (prior.c, prior.d, prior.e, prior.f))
    mu, precision, gamma, alpha, e_bar, f_bar, d_bar = ([0.0] * p for _ in range(7))
    q.a, q.b = noise(Phi, t, prior, q.gamma, q.mu)
    q.rho = q.a / q.b
    for i in range(p):
        d_bar[i] = d[i] + (q.mu[i] ** 2 + 1 / q.precision[i]) / 2
        alpha[i] = (c[i] + 0.5) / d_bar[i]
        e_bar[i], f_bar[i] = q.gamma[i] + e[i], 1 - q.gamma[i] + f[i]
        energy, overlap = products(Phi, t, q.gamma, q.mu, i)
        bar = q.rho * q.gamma[i] * energy + alpha[i]
        mean = q.rho * q.gamma[i] * overlap / bar
        precision[i] = p_d * bar + (1 - p_d) * q.precision[i]
        mu[i] = p_d * mean + (1 - p_d) * q.mu[i]
        eta = q.rho * mu[i] * overlap - 0.5 * q.rho * (mu[i] ** 2 + 1 / precision[i]) * energy
        gamma[i] = sigmoid(eta + digamma(e_bar[i]) - digamma(f_bar[i]))
    q.mu, q.precision, q.gamma, q.alpha, q.e, q.f, q.d = mu, precision, gamma, alpha, e_bar, f_bar, d_bar


def sequential(Phi, t, prior, p_d, q):
    """Line by line, and lines 12 to 18 stand inside the loop: the next regressor sees what this one has become."""
    p = Phi.shape[1]
    c, d, e, f = (each(value, p) for value in (prior.c, prior.d, prior.e, prior.f))
    q.a, q.b = noise(Phi, t, prior, q.gamma, q.mu)
    q.rho = q.a / q.b
    for i in range(p):
        q.d[i] = d[i] + (q.mu[i] ** 2 + 1 / q.precision[i]) / 2
        q.alpha[i] = (c[i] + 0.5) / q.d[i]
        q.e[i], q.f[i] = q.gamma[i] + e[i], 1 - q.gamma[i] + f[i]
        energy, overlap = products(Phi, t, q.gamma, q.mu, i)
        bar = q.rho * q.gamma[i] * energy + q.alpha[i]
        mean = q.rho * q.gamma[i] * overlap / bar
        q.precision[i] = p_d * bar + (1 - p_d) * q.precision[i]
        q.mu[i] = p_d * mean + (1 - p_d) * q.mu[i]
        eta = q.rho * q.mu[i] * overlap - 0.5 * q.rho * (q.mu[i] ** 2 + 1 / q.precision[i]) * energy
        q.gamma[i] = sigmoid(eta + digamma(q.e[i]) - digamma(q.f[i]))


READINGS = {
    "PREVIOUS_SWEEP": previous_sweep,
    "NEW_BARS": new_bars,
    "LINE_BY_LINE": line_by_line,
    "SEQUENTIAL": sequential,
}


def algorithm1(Phi, t, prior, relaxation, sweeps, reading, precision=0.1, inclusion=0.5):
    """Infer one target from Phi (m, p) and t (m,); returns the parameters of q after the last sweep."""
    q = Start(prior, Phi.shape[1], precision, inclusion)
    for _ in range(sweeps):
        READINGS[reading](Phi, t, prior, relaxation, q)
    return q
