import warnings
from importlib.metadata import version

import numpy as np

warnings.filterwarnings("ignore")
import pykoop  # noqa: E402
from shared import load, report  # noqa: E402

states, centers, coefficient = load()


def fit():
    kernels = pykoop.RbfLiftingFn(
        rbf="gaussian", centers=pykoop.DataCenters(centers), shape=float(np.sqrt(coefficient))
    )
    pipeline = pykoop.KoopmanPipeline(lifting_functions=[("rbf", kernels)], regressor=pykoop.Edmd())
    return pipeline.fit(states, n_inputs=0, episode_feature=False)


report(f"pykoop {version('pykoop')}", fit)
