"""A figure of closed loops: outputs that have a reference, how far they are from it, outputs with limits, inputs."""

import numpy as np

COLOURS = ("#b2182b", "#01665e", "#4d4d4d")
LINE = {"linewidth": 1.2}
DASHED = {"color": "black", "linestyle": "--", "linewidth": 1}


def draw(path, runs):
    """Draw runs, a mapping from name to `koopsieve.systems.ClosedLoopRun`, into a file."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    task = next(iter(runs.values())).task
    panels = [*_tracking(task), *_limited(task), *_inputs(task)]
    figure, axes = pyplot.subplots(len(panels), 1, figsize=(7.5, 1.4 * len(panels)), sharex=True, layout="constrained")
    for axis, panel in zip(axes, panels, strict=True):
        panel(axis, runs)
        axis.axvspan(*_disturbed(task), color="#f0ead6", zorder=0)
    begun, above = _disturbed(task)[0], axes[0].get_xaxis_transform()
    axes[0].text(begun, 1.03, f"from here on: {task.disturbed_by}", transform=above, size="small")
    axes[0].legend(loc="lower left", bbox_to_anchor=(0, 1.1), ncols=3, fontsize="small", frameon=False)
    axes[-1].set_xlabel(f"time, {task.time_unit}")
    axes[-1].set_xlim(0, task.dt * len(task.disturbance))
    figure.align_ylabels(axes)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _tracking(task):
    """One panel with each output that has a reference, and one with its distance from it."""
    for i in np.flatnonzero(task.output_weights):

        def follows(axis, runs, i=i):
            for (name, run), colour in zip(runs.items(), COLOURS, strict=False):
                label = f"{name}, error {run.tracking_error:.4f}"
                axis.plot(_time(run), run.states[:, i], color=colour, label=label, **LINE)
            axis.plot(_time(run), task.reference[: len(run.states), i], label="wanted", **DASHED)
            axis.set_ylabel(f"{task.outputs[i]}, {task.output_units[i]}")

        def misses(axis, runs, i=i):
            for run, colour in zip(runs.values(), COLOURS, strict=False):
                axis.plot(_time(run), (run.states - task.reference[: len(run.states)])[:, i], color=colour, **LINE)
            axis.axhline(0, **DASHED)
            axis.set_ylabel(f"error, {task.output_units[i]}")

        yield from (follows, misses)


def _limited(task):
    """One panel with each output that has limits."""
    limits = np.array(task.output_limits)
    for i in np.flatnonzero(np.isfinite(limits).any(axis=0)):

        def keeps(axis, runs, i=i):
            for run, colour in zip(runs.values(), COLOURS, strict=False):
                axis.plot(_time(run), run.states[:, i], color=colour, **LINE)
            for limit in limits[:, i][np.isfinite(limits[:, i])]:
                axis.axhline(limit, color="black", linewidth=0.8)
                axis.annotate(" limit", (1, limit), xycoords=axis.get_yaxis_transform(), size="small", va="center")
            axis.set_ylabel(f"{task.outputs[i]}, {task.output_units[i]}")

        yield keeps


def _inputs(task):
    for j, (name, unit) in enumerate(zip(task.inputs, task.input_units, strict=True)):

        def moves(axis, runs, j=j, label=f"{name}, {unit}"):
            for run, colour in zip(runs.values(), COLOURS, strict=False):
                axis.step(_time(run)[:-1], run.inputs[:, j], where="post", color=colour, linewidth=1)
            axis.set_ylabel(label)

        yield moves


def _time(run):
    return run.task.dt * np.arange(len(run.states))


def _disturbed(task):
    """From when to when something that nobody measures acts."""
    steps = np.flatnonzero(task.disturbance.any(axis=1))
    return task.dt * steps[0], task.dt * (steps[-1] + 1)
