from importlib.metadata import version

from kooplearn.linear_model import Ridge
from shared import lift, load, report

states, centers, coefficient = load()
report(
    f"kooplearn {version('kooplearn')}",
    lambda: Ridge(n_components=None, reduced_rank=False, alpha=1e-6, eigen_solver="dense").fit(
        lift(states, centers, coefficient), states
    ),
)
