"""A figure of closed loops: outputs that have a reference, how far they are from it, and the inputs."""

import numpy as np

COLOURS = ("#b2182b", "#01665e", "#4d4d4d")


def draw(path, runs):
    """Draw runs, a mapping from name to `koopsieve.systems.Run`, into a file."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    task = next(iter(runs.values())).task
    followed = np.flatnonzero(task.output_weights)
    rows = 2 * len(followed) + len(task.inputs)
    figure, axes = pyplot.subplots(rows, 1, figsize=(7.5, 1.3 * rows), sharex=True, layout="constrained")
    for (name, run), colour in zip(runs.items(), COLOURS, strict=False):
        time = task.dt * np.arange(len(run.states))
        wanted = task.reference[: len(time)]
        for row, output in enumerate(followed):
            axes[2 * row].plot(time, run.states[:, output], color=colour, label=name, linewidth=1.2)
            axes[2 * row + 1].plot(time, (run.states - wanted)[:, output], color=colour, linewidth=1.2)
        for axis, values in zip(axes[2 * len(followed) :], run.inputs.T, strict=True):
            axis.step(time[:-1], values, where="post", color=colour, linewidth=1)
    for row, output in enumerate(followed):
        axes[2 * row].plot(time, wanted[:, output], color="black", linestyle="--", linewidth=1, label="wanted")
        axes[2 * row].set_ylabel(task.outputs[output])
        axes[2 * row + 1].set_ylabel("distance")
    for axis, name in zip(axes[2 * len(followed) :], task.inputs, strict=True):
        axis.set_ylabel(name)
    axes[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize="small", frameon=False)
    axes[-1].set_xlabel(f"time, {task.time_unit}")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
