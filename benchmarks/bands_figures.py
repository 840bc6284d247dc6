"""The figures of docs/bands.md: coverage against level, bands around a prediction, eigenvalues with their residuals.

    python benchmarks/bands_figures.py [--out docs/figures] [--data DIR]

One record each of Lorenz, Duffing and the surface vehicle with sensor noise at 20 dB, and Silverbox where it is there;
the same cases as seed 0 of `benchmarks/calibration.py`.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

from calibration_systems import SIMULATED, Case, cases

from koopsieve import KoopsieveWarning, SieveResult, sift
from koopsieve.plots import plot_coverage, plot_eigenvalues, plot_prediction, save_figure
from koopsieve.plots.figure import new_figure

SHOWN = ("lorenz", "duffing", "surface-vehicle", "silverbox")
HORIZONS = (1, 10, 50, 100)


def sifted(case: Case) -> SieveResult:
    """Sift one case of the benchmark, judged on its test data."""
    problem = case.problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KoopsieveWarning)
        return sift(
            problem.train,
            problem.recipe,
            form="linear",
            delays=problem.delays,
            horizons=problem.horizons,
            test=next(iter(problem.tests.values())),
            path_length=5,
        )


def main() -> None:
    """Read the command line and draw the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/figures"))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("KOOPSIEVE_DATA", "../shared/data")))
    options = parser.parse_args()
    found = {case.name: sifted(case) for case in cases(list(SHOWN), [20.0], [0], 20_000, options.data)}
    figure = new_figure(9.0, 8.0 if len(found) > 2 else 4.0)
    for i, (name, result) in enumerate(found.items(), start=1):
        axes = plot_coverage(result, figure.add_subplot(2, 2, i), horizons=HORIZONS)
        axes.set_title(f"{name}, 20 dB" if name in SIMULATED else f"{name}, measured", fontsize=10)
    options.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out / "bands_coverage.png", dpi=110)
    save_figure(plot_prediction(found["surface-vehicle"]), options.out / "bands_prediction.png")
    save_figure(plot_eigenvalues(found["duffing"]), options.out / "bands_eigenvalues.png")


if __name__ == "__main__":
    main()
