from importlib.metadata import version

from deeptime.decomposition import EDMD
from shared import lift, load, report

states, centers, coefficient = load()
report(
    f"deeptime {version('deeptime')}",
    lambda: EDMD(lambda x: lift(x, centers, coefficient), n_eigs=None).fit((states[:-1], states[1:])).fetch_model(),
)
