import warnings
from importlib.metadata import version

import numpy as np

warnings.filterwarnings("ignore")
import pykoopman as pk  # noqa: E402
from shared import load, report  # noqa: E402

states, centers, coefficient = load()


def fit():
    kernels = pk.observables.RadialBasisFunction(
        rbf_type="gauss",
        n_centers=len(centers),
        centers=centers.T.copy(),
        kernel_width=float(np.sqrt(coefficient)),
        include_state=True,
    )
    return pk.Koopman(observables=kernels, regressor=pk.regression.EDMD()).fit(states, dt=1e-3)


report(f"pykoopman {version('pykoopman')}", fit)
