"""The paper's Algorithm 1, line by line, on raw data: slow, literal, and the judge of `SpikeSlab.published`.

Both readings of "the expectations of the random variables after the previous iteration": with `previous` every line
reads what the previous sweep left; without it, a line reads what the lines above it have computed for this regressor.
"""

import numpy as np
from scipy.special import digamma


def each(value, p):
    """Return a hyperparameter regressor by regressor: c_1, …, c_p."""
    return [float(v) for v in value.values()] if isinstance(value, dict) else [float(value)] * p


def algorithm1(Phi, t, prior, relaxation, sweeps, precision=0.1, inclusion=0.5, previous=False):
    """Infer one target from Phi (m, p) and t (m,); returns γ∘μ, γ, μ, precisions and ρ after each sweep."""
    m, p = Phi.shape
    c, d, e, f = each(prior.c, p), each(prior.d, p), each(prior.e, p), each(prior.f, p)
    mu, bar_alpha, gamma = [0.0] * p, [precision] * p, [inclusion] * p
    hat_rho, hat_alpha = prior.a / prior.b, [precision] * p
    bar_e, bar_f = [e[i] + inclusion for i in range(p)], [f[i] + 1 - inclusion for i in range(p)]
    history = []
    for _ in range(sweeps):
        # line 4: q(rho), equation (18)
        prediction = np.zeros(m)
        for j in range(p):
            prediction = prediction + gamma[j] * mu[j] * Phi[:, j]
        a_bar = m / 2 + prior.a
        b_bar = 0.5 * float(np.sum((t - prediction) ** 2)) + prior.b
        new_rho = a_bar / b_bar
        rho = hat_rho if previous else new_rho
        new = [[0.0] * p for _ in range(6)]
        new_mu, new_precision, new_gamma, new_alpha, new_e, new_f = new
        for i in range(p):
            # line 6: q(alpha_i), equation (19)
            new_alpha[i] = (c[i] + 0.5) / (d[i] + (mu[i] ** 2 + 1 / bar_alpha[i]) / 2)
            alpha = hat_alpha[i] if previous else new_alpha[i]
            # line 7: q(pi_i), equation (20)
            new_e[i], new_f[i] = gamma[i] + e[i], 1 - gamma[i] + f[i]
            # line 8: the residual without regressor i, equation (21)
            r = t.copy()
            for j in range(p):
                if j != i:
                    r = r - gamma[j] * mu[j] * Phi[:, j]
            # line 9: q(beta_i), equation (22)
            energy = float(np.sum(Phi[:, i] ** 2))
            overlap = float(np.sum(Phi[:, i] * r))
            precision_i = rho * gamma[i] * energy + alpha
            mean_i = rho * gamma[i] * overlap / precision_i
            # line 10: damping, equation (23)
            new_precision[i] = relaxation * precision_i + (1 - relaxation) * bar_alpha[i]
            new_mu[i] = relaxation * mean_i + (1 - relaxation) * mu[i]
            # line 11: q(gamma_i), equations (26) and (27)
            mean, sigma2 = (mu[i], 1 / bar_alpha[i]) if previous else (new_mu[i], 1 / new_precision[i])
            e_i, f_i = (bar_e[i], bar_f[i]) if previous else (new_e[i], new_f[i])
            eta = rho * mean * overlap - 0.5 * rho * (mean**2 + sigma2) * energy
            eta = eta + digamma(e_i) - digamma(f_i)
            probability = 1 / (1 + np.exp(-eta)) if eta > -700 else 0.0
            new_gamma[i] = min(max(probability, 1e-8), 1 - 1e-8)
        mu, bar_alpha, gamma, hat_alpha, bar_e, bar_f, hat_rho = *new, new_rho
        history.append((np.array(gamma) * np.array(mu), np.array(gamma), np.array(mu), np.array(bar_alpha), new_rho))
    return history
