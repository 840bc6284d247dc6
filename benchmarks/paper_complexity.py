"""The paper's two statements on cost, measured: Algorithm 1 is O(mL³) per sweep, Algorithm 2 is O(L²).

Each is timed while one of m and L doubles; the table gives the time and the growth from the row before, beside what the
statement says. The literal algorithm is the plain loop over raw data in tests; ours makes m rows into L first.
Run: PYTHONPATH=src:. python -m benchmarks.paper_complexity
"""

import time
import warnings

import numpy as np

from koopsieve.identify import SpikeSlab, SpikeSlabPrior
from koopsieve.regression import RegressionStatistics
from koopsieve.sieve.algorithm_2 import reduce
from tests.reference.algorithm1 import algorithm1

PRIOR = SpikeSlabPrior(a=1.01, b=0.1, c=1e-3, d=1e-4, e=0.5, f=20.0)
SWEEPS = 20


def seconds(call, repeat=3):
    """Return the least CPU time of a call."""
    spent = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return min(spent)


def problem(rows, size, seed=0):
    rng = np.random.default_rng(seed)
    lifted = rng.normal(size=(rows + 1, size))
    return lifted[:-1], lifted[1:]


def literal(rows, size):
    """One sweep of the plain loop for one target, times the number of targets."""
    design, targets = problem(rows, size)
    return size * seconds(lambda: algorithm1(design, targets[:, 0], PRIOR, 0.1, 1, "PREVIOUS_SWEEP"))


def factor(rows, size):
    """What is done once."""
    return seconds(lambda: RegressionStatistics.from_matrices(*problem(rows, size)))


def sweep(rows, size):
    """One sweep of all targets on the factor."""
    statistics = RegressionStatistics.from_matrices(*problem(rows, size))
    method = SpikeSlab.published(PRIOR, max_sweeps=SWEEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return seconds(lambda: method.identify(statistics)) / SWEEPS


def reduction(rows, size):
    """Algorithm 2 on a random graph with L² / 10 edges."""
    inclusion = np.random.default_rng(0).uniform(size=(size, size))
    return seconds(lambda: reduce(inclusion, [0], 0.9))


STUDIES = [
    ("Algorithm 1, literal, per sweep: m doubles", literal, [(500, 20), (1000, 20), (2000, 20), (4000, 20)], 2),
    ("Algorithm 1, literal, per sweep: L doubles", literal, [(1000, 10), (1000, 20), (1000, 40)], 8),
    ("Algorithm 1, ours, per sweep: m doubles", sweep, [(2000, 100), (4000, 100), (8000, 100)], 1),
    ("Algorithm 1, ours, per sweep: L doubles", sweep, [(4000, 100), (4000, 200), (4000, 400)], 8),
    ("statistics, once: m doubles", factor, [(8000, 100), (16000, 100), (32000, 100)], 2),
    ("Algorithm 2: L doubles", reduction, [(0, 250), (0, 500), (0, 1000), (0, 2000)], 4),
]


def main():
    for title, measure, sizes, stated in STUDIES:
        print(f"\n**{title}** (growth stated by order: {stated})\n\n| m | L | ms | growth |\n|---|---|---|---|")
        before = None
        for rows, size in sizes:
            spent = measure(rows, size)
            growth = "" if before is None else f"{spent / before:.1f}"
            print(f"| {rows or ''} | {size} | {1000 * spent:.3g} | {growth} |", flush=True)
            before = spent


if __name__ == "__main__":
    main()
