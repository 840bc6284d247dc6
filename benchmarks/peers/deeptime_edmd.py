from importlib.metadata import version
from types import SimpleNamespace

from deeptime.decomposition import EDMD
from shared import lift_all, problem, report

given = problem()


def lift(states):
    """Every observable of these states; deeptime calls it for x[k] and for x[k+1]."""
    return lift_all(SimpleNamespace(**{**vars(given), "states": states}))


report(
    f"deeptime {version('deeptime')}",
    lambda: EDMD(lift, n_eigs=None).fit((given.states[:-1], given.states[1:])).fetch_model(),
)
