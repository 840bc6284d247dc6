# PyDMD has no EDMD with a dictionary of one's own: exact DMD on lifted snapshots is the same regression.
import warnings
from importlib.metadata import version

warnings.filterwarnings("ignore")
from pydmd import DMD  # noqa: E402
from shared import lift, load, report  # noqa: E402

states, centers, coefficient = load()
report(
    f"PyDMD {version('pydmd')}",
    lambda: DMD(svd_rank=-1, exact=True, opt=False).fit(lift(states, centers, coefficient).T),
)
