from importlib.metadata import version

from kooplearn.linear_model import Ridge
from shared import lift_all, problem, report

given = problem()
report(
    f"kooplearn {version('kooplearn')}",
    lambda: Ridge(n_components=None, reduced_rank=False, alpha=1e-6, eigen_solver="dense").fit(
        lift_all(given), given.states
    ),
)
