"""Follow the product of a stirred tank reactor up to its turning point, with a feed that gets poorer unnoticed.

More flow brings more product up to a point and less beyond it, and on the way up the product first moves the wrong way.
No linear model has a gain that changes its sign. The product of flow and concentration is what a model needs; the
bilinear form has it. A Kalman filter keeps the flow calm.

Run: python examples/control_reactor.py [figure.png]
"""

import sys

from koopsieve import Constant, Monomials, States, Trajectories, sift
from koopsieve.control import Controller, Limits, Weights
from koopsieve.systems import follow, reactor_task


def controller(task, model):
    """Return a controller for the task, with a Kalman filter whose noise the model knows."""
    weights, limits = Weights(task.output_weights, task.rate_weights), Limits(task.input_limits)
    problem = model.to_qp(task.horizon, weights, limits)
    return Controller(problem, acting=task.acting)


def main(steps=300, samples=4000, figure=None):
    task = reactor_task(steps)
    y, u = task.record(samples, seed=1)
    data = Trajectories.from_arrays(y, u, dt=task.dt, state_names=task.outputs, input_names=task.inputs)
    dictionary = States() + Constant() + Monomials(degree=4)
    result = sift(data, dictionary, form="bilinear", horizons=[1, 5, task.horizon])
    print(f"kept: {', '.join(result.model.names)}")
    models = {"linear": result.baselines["linear"].model, "sifted": result.model}
    runs = {name: follow(task, controller(task, model), seed=2) for name, model in models.items()}
    for name, run in runs.items():
        print(f"{name:8} tracking error {run.tracking_error:.4f} mol/l, {run.milliseconds:.2f} ms per step")
    if figure:
        from closed_loop_figure import draw

        draw(figure, runs)
    return runs


if __name__ == "__main__":
    main(figure=sys.argv[1] if len(sys.argv) > 1 else None)
