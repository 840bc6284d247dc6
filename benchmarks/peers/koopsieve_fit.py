# What the peers do, and no more: lift and fit one Koopman matrix, here by least squares through a QR.
from shared import load, report

import koopsieve as ks

states, centers, coefficient = load()


def fit():
    data = ks.Trajectories.from_arrays(states, dt=1e-3)
    phi = (ks.States() + ks.SquaredExponential(centers=centers, coefficients=[coefficient])).fit(data)
    return ks.LeastSquares().identify(ks.compress(data, phi))


report(f"koopsieve {ks.__version__} (plain fit)", fit)
