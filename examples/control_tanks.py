"""Follow the level of the lower of two tanks from nearly empty to overflow, with a leak that nobody measures.

Outflow grows with the root of the level, and beyond its rim the upper tank loses most of what is pumped into it. The
upper level has a limit, which the controller may exceed only where it must. The reprojected model is sifted by
simulation: outputs are predicted one step ahead from products of levels and voltage, and lifted anew.

Run: python examples/control_tanks.py [figure.png]
"""

import sys

from koopsieve import Constant, Inputs, Monomials, States, Trajectories, sift
from koopsieve.control import Controller, Limits, Weights
from koopsieve.systems import follow, tanks_task


def controller(task, model):
    """Return a controller for the task."""
    weights = Weights(task.output_weights, task.rate_weights)
    limits = Limits(task.input_limits, outputs=task.output_limits)
    return Controller(model.to_qp(task.horizon, weights, limits), acting=task.acting)


def main(steps=300, samples=4000, degree=5, figure=None):
    task = tanks_task(steps)
    y, u = task.record(samples, seed=1)
    data = Trajectories.from_arrays(y, u, dt=task.dt, state_names=task.outputs, input_names=task.inputs)
    dictionary = States() + Constant() + Monomials(degree, of="states and inputs") + Inputs()
    result = sift(data, dictionary, form="reprojected", horizons=[1, 5, task.horizon])
    print(f"kept: {', '.join(result.model.dictionary.regressors)}")
    models = {"linear": result.baselines["linear"].model, "sifted": result.model}
    runs = {name: follow(task, controller(task, model), seed=2) for name, model in models.items()}
    for name, run in runs.items():
        print(
            f"{name:8} tracking error {run.tracking_error:.4f} m, beyond the limit by {run.violation:.4f} m at most, "
            f"{run.milliseconds:.2f} ms per step"
        )
    if figure:
        from closed_loop_figure import draw

        draw(figure, runs)
    return runs


if __name__ == "__main__":
    main(figure=sys.argv[1] if len(sys.argv) > 1 else None)
