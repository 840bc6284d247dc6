"""A heater that loses half of its power while it is controlled, and a model that follows it.

The power is the square of the voltage. At half of the time a heating wire breaks. The controller without adaptation
still has no offset in the end, because it estimates a disturbance; with the predictor's model it also plans right.

Run: python examples/keep_current.py [figure.png]
"""

import sys

import numpy as np

from koopsieve import Constant, Inputs, Monomials, States, Trajectories, sift
from koopsieve.control import Controller, Limits, Predictor, Weights

NOISE, HORIZON = 0.1, 15


def heated(temperature, voltage, power=1.0):
    """Return the temperature one sample later."""
    return 0.92 * temperature + 1.6 + 0.15 * power * voltage**2


def model_of(samples, seed=0):
    """Return a model of the whole heater."""
    rng = np.random.default_rng(seed)
    voltage, warm = np.repeat(rng.uniform(0, 8, size=samples // 4), 4), [30.0]
    for u in voltage[:-1]:
        warm.append(heated(warm[-1], u))
    measured = np.array(warm) + NOISE * rng.normal(size=len(warm))
    data = Trajectories.from_arrays(measured, voltage[:-1], dt=1.0, state_names=["warm"], input_names=["volt"])
    candidates = States() + Constant() + Inputs() + Monomials(2, of="states and inputs")
    return sift(data, candidates, form="reprojected", horizons=[1, 5, HORIZON]).model


def controlled(model, steps, adapt, seed=1):
    """Return temperatures, references and the predictor of a closed loop in which half of the power is lost."""
    controller = Controller(model.to_qp(HORIZON, Weights(1.0, 0.01), Limits((0.0, 8.0))), acting=3.0)
    predictor, rng = Predictor(model, adapt=adapt), np.random.default_rng(seed)
    wanted = np.repeat(np.resize([40.0, 55.0, 35.0, 60.0], steps // 25 + 2), 25)
    warm, u, wires = [40.0], 3.0, []
    for k in range(steps):
        measured = warm[-1] + NOISE * rng.normal()
        predictor.update(measured, u)
        if adapt:
            controller.follow_model(predictor.model)
        u = controller.step(measured, wanted[k + 1 : k + 1 + HORIZON, None])[0]
        wires.append(1.0 if k < steps // 2 else 0.5)
        warm.append(heated(warm[-1], u, wires[-1]))
    return np.array(warm), wanted[: steps + 1], predictor


def main(steps=600, samples=1600, figure=None):
    model, runs = model_of(samples), {}
    for name, adapt in (("fixed model", None), ("model kept current", 60)):
        warm, wanted, predictor = controlled(model, steps, adapt)
        late = slice(3 * steps // 4, None)
        runs[name] = warm, wanted, float(np.sqrt(np.mean((warm - wanted)[late] ** 2))), predictor
        print(f"{name:18} error in the last quarter {runs[name][2]:.3f} K, {predictor.innovations.p_value:.2g}")
    if figure:
        draw(figure, runs)
    return runs


def draw(path, runs):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    chart, axes = pyplot.subplots(2, 1, figsize=(7.5, 4.2), sharex=True, layout="constrained")
    for (name, (warm, wanted, error, _)), colour in zip(runs.items(), ("#b2182b", "#01665e"), strict=True):
        axes[0].plot(warm, color=colour, linewidth=1, label=f"{name}, late error {error:.2f} K")
        axes[1].plot(warm - wanted, color=colour, linewidth=1)
    axes[0].plot(wanted, color="black", linestyle="--", linewidth=1)
    axes[0].set_ylabel("temperature, °C")
    axes[0].legend(loc="lower left", bbox_to_anchor=(0, 1.02), ncols=2, fontsize="small", frameon=False)
    axes[1].set(ylabel="distance, K", xlabel="sample", xlim=(0, len(wanted)))
    for axis in axes:
        axis.axvspan(len(wanted) // 2, len(wanted), color="#f0ead6", zorder=0)
    axes[1].text(len(wanted) // 2, axes[1].get_ylim()[1], " from here on: half of the power", size="small", va="top")
    chart.savefig(path, dpi=110)
    pyplot.close(chart)


if __name__ == "__main__":
    main(figure=sys.argv[1] if len(sys.argv) > 1 else None)
