# AutoKoopman has no radial basis functions: they are an observable of one's own, as its documentation shows.
import warnings
from importlib.metadata import version

import numpy as np

warnings.filterwarnings("ignore")
from autokoopman.core.trajectory import UniformTimeTrajectoriesData, UniformTimeTrajectory  # noqa: E402
from autokoopman.estimator.koopman import KoopmanDiscEstimator  # noqa: E402
from autokoopman.observable import IdentityObservable, KoopmanObservable  # noqa: E402
from shared import load, report  # noqa: E402

states, centers, coefficient = load()


class Kernels(KoopmanObservable):
    def obs_fcn(self, X):
        return np.exp(-coefficient * ((np.atleast_2d(X) - centers) ** 2).sum(1))[:, None]


def fit():
    data = UniformTimeTrajectoriesData({0: UniformTimeTrajectory(states, None, 1e-3)})
    observables = IdentityObservable() | Kernels()
    estimator = KoopmanDiscEstimator(observables, 1e-3, dim=3, rank=len(centers) + 3, normalize=False)
    estimator.fit(data)
    return estimator


report(f"AutoKoopman {version('autokoopman')}", fit)
