"""How fast inference is, against the paper's loop, numpy's least squares and scikit-learn's ARDRegression.

    python -m benchmarks.inference [--sizes 23 100 200 500] [--rows 60000] [--snr 40] [--large]

Every ratio is measured side by side in this one run, in processor seconds (all threads added up), so that other work on
the machine does not decide it. `--large` adds 1000 observables.
"""

import argparse
import subprocess
import sys
import time

import numpy as np
from sklearn.linear_model import ARDRegression

from koopsieve.identify import SparseBayes, SpikeSlab, SpikeSlabPrior
from tests.problems import lorenz, statistics_of
from tests.reference.algorithm1 import algorithm1

PAPER = SpikeSlabPrior(a=1.01, b=0.1, c=1e-3, d=1e-4, e=0.5, f=20.0)


def seconds(function, *arguments):
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def lifted(rows, size, snr_db, seed=0):
    """Return design and targets: Lorenz at 1 kHz, its states and squared-exponential kernels at samples of the data."""
    rng = np.random.default_rng(seed)
    states = lorenz(rows)
    states = states + rng.normal(size=states.shape) * states.std(axis=0) * 10 ** (-snr_db / 20)
    centers = states[rng.choice(rows, size - 3, replace=False)]
    squared = (states**2).sum(axis=1)[:, None] - 2 * states @ centers.T + (centers**2).sum(axis=1)
    phi = np.hstack([states, np.exp(-np.maximum(squared, 0) / 128)])
    return phi[:-1], phi[1:]


def row(what, ours, name, theirs, wanted):
    ratio = theirs / ours
    verdict = "yes" if ratio >= wanted else "NO"
    print(f"{what:58s} {ours:9.3f} s | {name:34s} {theirs:10.2f} s | {ratio:9.1f}x | wanted {wanted:>6g}x | {verdict}")


def against_the_papers_loop(snr_db):
    design, targets = lifted(6000, 23, snr_db)
    statistics = statistics_of(design, targets)
    SpikeSlab().identify(statistics)
    ours, found = seconds(SpikeSlab().identify, statistics)
    one, _ = seconds(algorithm1, design, targets[:, 1], PAPER, 0.1, 2)
    row(
        "SpikeSlab, 23 observables, all targets, all starts",
        ours,
        "Algorithm 1, 50 sweeps, 23 targets",
        one * 25 * 23,
        200,
    )
    ard, _ = seconds(lambda: [ARDRegression(fit_intercept=False).fit(design, t) for t in targets.T])
    row("SpikeSlab, 23 observables, all targets, all starts", ours, "ARDRegression, 23 targets", ard, 1)
    assert found.settled


def against_least_squares(sizes, rows, snr_db):
    for size in sizes:
        design, targets = lifted(rows, size, snr_db)
        statistics = statistics_of(design, targets)
        ours, found = seconds(SpikeSlab().identify, statistics)
        theirs, _ = seconds(lambda d=design, t=targets: np.linalg.lstsq(d, t, rcond=None))
        row(f"SpikeSlab, {size} observables ({np.sum(found.inclusion > 0.5, axis=0).mean():.1f} in per target)", ours,
            f"numpy lstsq, {rows} x {size}", theirs, 1)  # fmt: skip


def against_ard(rows, snr_db, size=200):
    design, targets = lifted(rows, size, snr_db)
    statistics = statistics_of(design, targets)
    ours, _ = seconds(SparseBayes().identify, statistics)
    one, _ = seconds(lambda: ARDRegression(fit_intercept=False).fit(design, targets[:, 1]))
    row(f"SparseBayes, {size} observables, all targets", ours, f"ARDRegression, 1 target x {size}", one * size, 1000)


FIRST_CALL = """
import time, sys; sys.path[:0] = {path!r}
from tests.problems import lorenz_lifted, statistics_of
from koopsieve.identify import SpikeSlab
s = statistics_of(*lorenz_lifted(samples=2000, snr_db=20)); t = []
for _ in range(2):
    a = time.process_time(); SpikeSlab().identify(s); t.append(time.process_time() - a)
print(t[0] - t[1])
"""


def first_call():
    code = FIRST_CALL.format(path=sys.path)
    extra = float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
    print(f"{'First call in a new process, beyond the second':58s} {extra:9.3f} s | wanted at most 2 s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[23, 100, 200, 500])
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--snr", type=float, default=40.0)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    against_the_papers_loop(options.snr)
    first_call()
    against_ard(options.rows, options.snr)
    against_least_squares(options.sizes + [1000] * options.large, options.rows, options.snr)


if __name__ == "__main__":
    main()
