"""How time and memory of `sift` grow with samples, observables, outputs and the longest horizon.

    python benchmarks/growth.py [--forms linear reprojected] [--figure docs/figures/growth.png]

One thing grows while the others stay at 10 000 samples, 100 observables, 2 outputs, 20 steps. Each point is a process
of its own. The exponent is fitted by least squares to the logarithms of the upper half of the points, where what does
not grow no longer counts. Prints the table and the exponents of docs/scaling.md; draws them if a figure is asked for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from environments import run

USUAL = {"samples": 10_000, "observables": 100, "outputs": 2, "horizon": 20}
GROWING = {
    "samples": (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
    "observables": (50, 100, 200, 500, 1000, 2000),
    "outputs": (1, 2, 5, 10, 20, 50),
    "horizon": (5, 10, 20, 50),
}
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> None:
    """Read the command line, measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--forms", nargs="+", default=["linear", "reprojected"])
    parser.add_argument("--only", nargs="+", default=list(GROWING), choices=list(GROWING))
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    found = {(what, form): measured(what, form) for what in options.only for form in options.forms}
    print("\n| what grows | form | CPU s | peak MB | power, CPU | power, memory |")
    print("|---|---|---|---|---|---|")
    for (what, form), points in found.items():
        print(line(what, form, points))
    if options.figure:
        draw(found, options.figure)


def measured(what: str, form: str) -> list[tuple[int, dict]]:
    """Return (value, result) for every value that one setting takes; a point that fails is told and left out."""
    points = []
    for value in GROWING[what]:
        setting = {**USUAL, what: value}
        with tempfile.TemporaryDirectory(prefix="koopsieve-growth-") as folder:
            result = run(sys.executable, "koopsieve_growth.py", folder, *setting.values(), form, **ONE_THREAD)
        if isinstance(result, str):
            print(f"{what} {value}, {form} form: {result}", flush=True)
            continue
        cost = f"{result['seconds']:.1f} s, {result['cpu']:.1f} CPU s, {result['megabytes']:.0f} MB"
        print(f"{result['name']}: {cost}, {result['kept']} kept, {result['stages']}", flush=True)
        points.append((value, result))
    return points


def exponent(points: list[tuple[int, dict]], key: str) -> float:
    """Return the power of the value that a cost grows as, over the upper half of the points."""
    upper = points[len(points) // 2 - 1 :] if len(points) > 3 else points
    if len(upper) < 2:
        return float("nan")
    x, y = np.array([value for value, _ in upper]), np.array([result[key] for _, result in upper])
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def line(what: str, form: str, points: list[tuple[int, dict]]) -> str:
    """Return one row of the table."""
    if not points:
        return f"| {what} | {form} | | | | |"
    (low, first), (high, last) = points[0], points[-1]
    cpu, memory = (f"{round(exponent(points, key), 2) + 0.0:.2f}" for key in ("cpu", "megabytes"))
    seconds, megabytes = (f"{first[key]:.0f} to {last[key]:.0f}" for key in ("cpu", "megabytes"))
    return f"| {what}, {low} to {high} | {form} | {seconds} | {megabytes} | {cpu} | {memory} |"


def draw(found: dict[tuple[str, str], list[tuple[int, dict]]], path: Path) -> None:
    """Draw one panel per setting, one line per form."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import NullLocator

    what_grows = list(dict.fromkeys(what for what, _ in found))
    rows = -(-len(what_grows) // 2)
    figure, axes = plt.subplots(rows, 2, figsize=(8, 2.9 * rows), squeeze=False, sharey=True)
    for ax in axes.ravel()[len(what_grows) :]:
        ax.axis("off")
    for ax, what in zip(axes.ravel(), what_grows, strict=False):
        for (grown, form), points in found.items():
            if grown == what and points:
                values, seconds = zip(*((value, result["cpu"]) for value, result in points), strict=True)
                ax.loglog(
                    values, seconds, "o-", ms=4, label=f"{form}: power {round(exponent(points, 'cpu'), 1) + 0.0:.1f}"
                )
        ax.set_xlabel("longest horizon, steps" if what == "horizon" else f"number of {what}")
        if what != "samples":
            ax.set_xticks(GROWING[what], [str(value) for value in GROWING[what]])
            ax.xaxis.set_minor_locator(NullLocator())
        ax.grid(True, which="major", alpha=0.3)
        ax.legend(frameon=False, fontsize=8, loc="upper left")
    for ax in axes[:, 0]:
        ax.set_ylabel("processor time of sift, s")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
