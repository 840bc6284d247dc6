"""Follow the speed and yaw rate of a surface vehicle over its whole range, with wind that nobody measures.

Drag grows with the square of the speed, and surge, sway and yaw turn into each other: a linear model is right at one
speed only. The bilinear model of a few observables is sifted from 4000 noisy samples, and each step of the controller
is one quadratic programme. A Kalman filter estimates state and wind.

Run: python examples/control_vehicle.py [figure.png]
"""

import sys

from koopsieve import Constant, Monomials, States, Trajectories, sift
from koopsieve.control import Controller, Limits, Weights
from koopsieve.systems import follow, vehicle_task


def controller(task, model):
    """Return a controller for the task, with a Kalman filter whose noise the model knows."""
    weights, limits = Weights(task.output_weights, task.rate_weights), Limits(task.input_limits)
    return Controller(model.to_qp(task.horizon, weights, limits), acting=task.acting)


def main(steps=240, samples=4000, figure=None):
    task = vehicle_task(steps)
    y, u = task.record(samples, seed=1)
    data = Trajectories.from_arrays(y, u, dt=task.dt, state_names=task.outputs, input_names=task.inputs)
    dictionary = States() + Constant() + Monomials(degree=3)
    result = sift(data, dictionary, form="bilinear", horizons=[1, 4, task.horizon])
    print(f"kept: {', '.join(result.model.names)}")
    models = {"linear": result.baselines["linear"].model, "sifted": result.model}
    runs = {name: follow(task, controller(task, model), seed=2) for name, model in models.items()}
    for name, run in runs.items():
        print(f"{name:8} tracking error {run.tracking_error:.4f}, {run.milliseconds:.2f} ms per step")
    if figure:
        from closed_loop_figure import draw

        draw(figure, runs)
    return runs


if __name__ == "__main__":
    main(figure=sys.argv[1] if len(sys.argv) > 1 else None)
