"""Only some states are measured: the position of a driven spring, not its speed. Past samples stand for the rest.

Without delays no model can know which way the spring moves. One past sample is enough without noise; with noise more
help. The errors of three embeddings are compared on another record.
Run: python examples/partly_measured.py [figure.png]
"""

import sys

from koopsieve import Constant, Embedding, Inputs, Monomials, States, Trajectories, sift
from koopsieve.plots import new_axes, save_figure
from koopsieve.plots.figure import log_axis, style_of
from koopsieve.systems import BENCH_SAMPLE_TIME, bench_record


def record(samples, seed):
    """Position and force every 0.05 s, the position with noise."""
    force, position = bench_record(samples, seed=seed, noise=0.005)
    return Trajectories.from_arrays(position, force, dt=BENCH_SAMPLE_TIME, state_names="position", input_names="force")


def main(samples=1500, delays=(0, 1, 2), figure=None):
    """Return the results by number of delays."""
    recipe = States() + Constant() + Inputs() + Monomials(degree=3)
    train, test = record(samples, 1), record(1000, 2)
    found = {}
    for count in delays:
        embedding = Embedding(count, count)
        found[count] = sift(train, recipe, form="reprojected", delays=embedding, horizons=[1, 10, 50], test=test)
        print(f"{count} past samples:", found[count].describe())
    if figure is not None:
        draw(found, figure)
    return found


def draw(found, path):
    """Draw the error 50 steps ahead against the number of past samples."""
    axes = new_axes(6.0, 3.4)
    errors = {"sifted": [one.errors.mean[-1] for one in found.values()]}
    errors["linear"] = [one.baselines["linear"].errors.mean[-1] for one in found.values()]
    for name, values in errors.items():
        axes.plot(list(found), values, label=name, **style_of(name))
    axes.set(xticks=list(found), xlabel="past samples of position and force", ylabel="NMSE 50 steps ahead")
    log_axis(axes, "y")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    save_figure(axes, path)


if __name__ == "__main__":
    main(figure=sys.argv[1] if len(sys.argv) > 1 else None)
