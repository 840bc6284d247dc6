"""The paper's Algorithm 1, line by line, on raw data: slow, literal, and the judge of `SpikeSlab.published`."""

import numpy as np
from scipy.special import digamma


def algorithm1(Phi, t, prior, relaxation, sweeps, precision=0.1, inclusion=0.5):
    """Infer one target from Phi (m, p) and t (m,); returns γ∘μ, γ, μ, precisions and ρ after each sweep."""
    m, p = Phi.shape
    mu = [0.0] * p
    bar_alpha = [precision] * p
    gamma = [inclusion] * p
    history = []
    for _ in range(sweeps):
        # line 4: q(rho), eq. (a_b_update)
        prediction = np.zeros(m)
        for j in range(p):
            prediction = prediction + gamma[j] * mu[j] * Phi[:, j]
        a_bar = m / 2 + prior.a
        b_bar = 0.5 * float(np.sum((t - prediction) ** 2)) + prior.b
        rho = a_bar / b_bar
        new_mu, new_alpha, new_gamma = [0.0] * p, [0.0] * p, [0.0] * p
        for i in range(p):
            # line 6: q(alpha_i), eq. (c_d_update)
            c_bar = prior.c + 0.5
            d_bar = prior.d + (mu[i] ** 2 + 1 / bar_alpha[i]) / 2
            alpha = c_bar / d_bar
            # line 7: q(pi_i), eq. (e_f_update)
            e_bar = gamma[i] + prior.e
            f_bar = 1 - gamma[i] + prior.f
            # line 8: the residual without regressor i, eq. (r_ik)
            r = t.copy()
            for j in range(p):
                if j != i:
                    r = r - gamma[j] * mu[j] * Phi[:, j]
            # line 9: q(beta_i), eq. (alpha_mu_update)
            energy = float(np.sum(Phi[:, i] ** 2))
            overlap = float(np.sum(Phi[:, i] * r))
            precision_i = rho * gamma[i] * energy + alpha
            mean_i = rho * gamma[i] * overlap / precision_i
            # line 10: damping, eq. (damping)
            new_alpha[i] = relaxation * precision_i + (1 - relaxation) * bar_alpha[i]
            new_mu[i] = relaxation * mean_i + (1 - relaxation) * mu[i]
            # line 11: q(gamma_i), eqs. (eta_defn), (pi_update)
            sigma2 = 1 / new_alpha[i]
            eta = rho * new_mu[i] * overlap - 0.5 * rho * (new_mu[i] ** 2 + sigma2) * energy
            eta = eta + digamma(e_bar) - digamma(f_bar)
            probability = 1 / (1 + np.exp(-eta)) if eta > -700 else 0.0
            new_gamma[i] = min(max(probability, 1e-8), 1 - 1e-8)
        mu, bar_alpha, gamma = new_mu, new_alpha, new_gamma
        history.append((np.array(gamma) * np.array(mu), np.array(gamma), np.array(mu), np.array(bar_alpha), rho))
    return history
