import warnings
from importlib.metadata import version

import numpy as np

warnings.filterwarnings("ignore")
from datafold import EDMD, DMDStandard, GaussianKernel, TSCDataFrame, TSCRadialBasis  # noqa: E402
from shared import load, report  # noqa: E402

states, centers, coefficient = load()
# whole numbers: at 1 kHz rounding makes it see uneven steps in a long record
data = TSCDataFrame.from_array(states, feature_names=["x", "y", "z"], time_values=np.arange(len(states)))


def fit():
    kernels = TSCRadialBasis(GaussianKernel(epsilon=1 / (2 * coefficient)), center_type="fit_params")
    edmd = EDMD(dict_steps=[("rbf", kernels)], dmd_model=DMDStandard(sys_mode="matrix"), include_id_state=True)
    return edmd.fit(data, rbf__centers=centers)


report(f"datafold {version('datafold')}", fit)
