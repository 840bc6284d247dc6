"""A plant that changes, and a dictionary that follows it, while no day's data are kept for the next.

Every evening the day's record is compressed, yesterday's statistics are discounted and merged with it, and the sieve
starts from its last answer. On the morning of day 6 a part is exchanged: x1 is no longer driven by the square of x2 but
by the product of x2 and x3. What is kept follows within days. Run: python examples/changing_plant.py [figure.png]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from koopsieve import (
    Constant,
    Dictionary,
    Monomials,
    RegressionStatistics,
    SpikeSlab,
    States,
    Trajectories,
    compress,
    reduce,
)
from koopsieve.plots import new_axes, save_figure

DAYS, CHANGE, SAMPLES, FORGETTING = 12, 6, 2000, 0.2


def record(day):
    """One day of the plant; all that is measured is x1, x2, x3."""
    rng = np.random.default_rng(day)
    x = np.zeros((SAMPLES, 3))
    for k in range(SAMPLES - 1):
        x1, x2, x3 = x[k]
        drive = x2**2 if day < CHANGE else x2 * x3
        x[k + 1] = [0.7 * x1 + 0.3 * drive, 0.8 * x2, 0.6 * x3]
        x[k + 1] += rng.normal(size=3) * [0.02, 0.5, 0.5]
    return Trajectories.from_arrays(x, dt=1.0)


def evening(day, folder, forgetting, found):
    """Learn from one day on top of all before it; only two small files connect the days."""
    data = record(day)
    if day == 0:
        phi = (States() + Constant() + Monomials(degree=2)).fit(data)
        phi.save(folder / "dictionary.npz")
        statistics = compress(data, phi)
    else:
        phi = Dictionary.load(folder / "dictionary.npz")
        before = RegressionStatistics.load(folder / "statistics.npz")
        statistics = before.discount(forgetting).merge(compress(data, phi))
    statistics.save(folder / "statistics.npz")
    found = SpikeSlab().identify(statistics, start=found)
    kept = reduce(found.inclusion, phi.outputs, threshold=0.9).retained
    return found, [phi.names[i] for i in kept]


def main(forgetting=FORGETTING, figure=None):
    """Return what was kept on each day."""
    history, found = [], None
    with tempfile.TemporaryDirectory() as folder:
        for day in range(DAYS):
            found, kept = evening(day, Path(folder), forgetting, found)
            history.append(kept)
            print(f"day {day:2d}{' (changed)' if day == CHANGE else '          '} kept {', '.join(kept)}")
    if figure is not None:
        draw(history, figure)
    return history


def draw(history, path):
    """Draw a mark for every term that was kept on a day."""
    names = list(dict.fromkeys(name for kept in history for name in kept))
    axes = new_axes(6.5, 0.5 + 0.3 * len(names))
    for row, name in enumerate(names):
        days = [day for day, kept in enumerate(history) if name in kept]
        axes.plot(days, [row] * len(days), "s", color="#0b6e99", markersize=9)
    axes.axvline(CHANGE - 0.5, color="#bc6c25", linestyle="--")
    axes.set(xlabel="day", xticks=range(len(history)), yticks=range(len(names)), yticklabels=names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_title("terms kept on each evening; at the dashed line the plant changes", fontsize=10)
    save_figure(axes, path)


if __name__ == "__main__":
    print(f"forgetting {FORGETTING:g} a day:")
    main(figure=sys.argv[1] if len(sys.argv) > 1 else None)
    print("forgetting nothing:")
    main(1.0)
