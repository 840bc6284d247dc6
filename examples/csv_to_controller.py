"""From a CSV log to a controller: read the log, sift a model, close the loop, write the C code.

The log is one as loggers write it: semicolons, decimal commas, dates, and a minute in which nothing was recorded. The
plant is a stirred tank reactor whose product falls if the flow is too small and if it is too large.
Run: python examples/csv_to_controller.py [figure.png]
"""

import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from koopsieve import Constant, Monomials, States, Trajectories, sift
from koopsieve.control import Controller, Limits, Weights
from koopsieve.systems import follow, reactor_task


def write_log(path, task, samples):
    """Write what a logger would: one row per sample, and none for a while in the middle."""
    outputs, inputs = task.record(samples, seed=1)
    start, lines = datetime(2024, 3, 1, 10), ["time;reactant;product;flow"]
    for k, (y, u) in enumerate(zip(outputs[:-1], inputs, strict=True)):
        if not samples // 2 <= k < samples // 2 + 20:
            stamp = start + k * timedelta(minutes=task.dt)
            numbers = (f"{value:.5f}".replace(".", ",") for value in (*y, *u))
            lines.append(";".join([f"{stamp:%d.%m.%Y %H:%M:%S}", *numbers]))
    path.write_text("\n".join(lines))


def controller(task, model):
    """Return a controller that follows the product within the limits of the flow."""
    weights = Weights(task.output_weights, task.rate_weights)
    return Controller(model.to_qp(task.horizon, weights, Limits(task.input_limits)), acting=task.acting)


def main(samples=4000, steps=200, figure=None):
    """Return the runs under control, and the files of C code."""
    task = reactor_task(steps)
    with tempfile.TemporaryDirectory() as folder:
        write_log(Path(folder) / "log.csv", task, samples)
        data = Trajectories.from_file(
            Path(folder) / "log.csv", ["reactant", "product"], "flow", time="time", gaps="split"
        )
        recipe = States() + Constant() + Monomials(degree=4)
        result = sift(data, recipe, form="bilinear", horizons=[1, 5, task.horizon], test=0.2)
        print(result.describe())
        models = {"linear": result.baselines["linear"].model, "sifted": result.model}
        runs = {name: follow(task, controller(task, model), seed=2) for name, model in models.items()}
        for name, run in runs.items():
            print(f"{name:8} tracking error {run.tracking_error:.4f} mol/l, {run.milliseconds:.2f} ms per step")
        written = [path.name for path in result.model.to_c(Path(folder) / "c")]
        print("C code:", ", ".join(written))
    if figure is not None:
        from closed_loop_figure import draw

        draw(figure, runs)
    return runs, written


if __name__ == "__main__":
    main(figure=sys.argv[1] if len(sys.argv) > 1 else None)
