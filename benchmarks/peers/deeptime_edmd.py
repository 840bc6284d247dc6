from functools import partial
from importlib.metadata import version

from deeptime.decomposition import EDMD
from shared import lift_rows, problem, report, with_inputs

given = problem()
rows = with_inputs(given)
report(
    f"deeptime {version('deeptime')}",
    lambda: EDMD(partial(lift_rows, given), n_eigs=None).fit((rows[:-1], rows[1:])).fetch_model(),
)
