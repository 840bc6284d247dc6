"""All windows counted, or only those that do not overlap: decoys that the horizon sieve lets in, errors of its path.

    python benchmarks/independent_rows.py [--data DIR]

Decoys are observables of an unrelated run of the same system (`tests/unit/sieve/test_horizon_decoys.py`). The path is
judged as in `benchmarks/reduction.py`, on its five old systems: sets of equal size get the same refit, and their errors
on test data are compared at the shown horizons.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from reduction_choice import test_error
from reduction_systems import OLD, SAMPLES, cases

sys.path.insert(0, str(Path(__file__).parents[1]))
from koopsieve import HorizonSieve, compress
from koopsieve.forms.linear.refits import Refitter, default_refits
from koopsieve.forms.task import filled
from koopsieve.sieve.horizon.flag_search import by_size
from koopsieve.systems import duffing, van_der_pol
from tests.unit.sieve.test_horizon_decoys import with_decoys


def decoys(seeds) -> None:
    """Print how many decoys and how many of a run's own observables are let in."""
    found = {"all windows": [], "side by side": []}
    for simulate in (duffing, van_der_pol):
        for seed in seeds:
            statistics = with_decoys(simulate, seed)
            decoy = np.array([name.startswith("decoy") for name in statistics.observables])
            search = HorizonSieve()._search(statistics)
            for name, one in (("all windows", search), ("side by side", search.independent())):
                ends = [one.climb(start, 1000) for start in (one.dense(), one.sparse())]
                kept = max(ends, key=lambda end: end[1][-1])[0].kept
                found[name].append((decoy[kept].sum(), decoy.sum(), (~decoy)[kept].sum(), (~decoy).sum()))
    for name, counts in found.items():
        wrong, all_wrong, own, all_own = np.sum(counts, axis=0)
        print(f"{name}: {wrong} of {all_wrong} decoys and {own} of {all_own} of the run's own", flush=True)


def paths(data: Path) -> None:
    """Print the errors of sets chosen by windows side by side over those of sets chosen by all windows."""
    every = []
    for case in cases(OLD, [40.0, 20.0], data, SAMPLES, [7]):
        problem = case.problem()
        phi = problem.recipe().fit(problem.train, seed=0)
        statistics = compress(problem.train, phi, horizons=filled(problem.shown))
        refit, search = (
            Refitter(problem.validation, problem.shown, default_refits()),
            HorizonSieve()._search(statistics),
        )
        errors = []
        for one in (search, search.independent()):
            kept = [np.sort(end.kept) for end in by_size(one, problem.sizes(phi.size)).values()]
            errors.append([test_error(refit(statistics.select(k), phi.select(k)).model, problem) for k in kept])
        ratio = np.log(np.array(errors[1]) / np.array(errors[0]))
        every.append(ratio)
        print(f"{problem.name}, {problem.noise}: {np.exp(ratio).round(2).tolist()}", flush=True)
    ratios = np.concatenate(every)
    by_horizon = " / ".join(f"{ratio:.2f}" for ratio in np.exp(ratios.mean(axis=0)))
    print(f"geometric mean of {ratios.size} ratios: {np.exp(ratios.mean()):.3f}; by horizon {by_horizon}")


def main() -> None:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("KOOPSIEVE_DATA", "../shared/data")))
    parser.add_argument("--seeds", type=int, default=4, help="runs with decoys of each of two systems")
    options = parser.parse_args()
    decoys(range(options.seeds))
    paths(options.data)


if __name__ == "__main__":
    main()
