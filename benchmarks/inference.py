"""How fast inference is, against the paper's loop, numpy's least squares and scikit-learn's ARDRegression.

    python -m benchmarks.inference [--sizes 100 200 500 1000] [--rows 60000] [--snr 40]

Every ratio is measured side by side in this one run: in seconds by the clock, and in processor seconds with all threads
added up, which other work on the machine does not change. "Mean field" is `SpikeSlab(averaged=False)`. How well the
support is found comes last (`support`).
"""

import argparse
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
from sklearn.linear_model import ARDRegression

from benchmarks import support
from benchmarks.peers.shared import lift_all
from benchmarks.scale_data import KINDS
from koopsieve.identify import SparseBayes, SpikeSlab, SpikeSlabPrior
from tests.problems import lorenz, statistics_of
from tests.reference.algorithm1 import algorithm1

PAPER = SpikeSlabPrior(a=1.01, b=0.1, c=1e-3, d=1e-4, e=0.5, f=20.0)


def seconds(function, repeat=1):
    """Return the shortest (clock, processor) seconds of a few runs."""
    times = []
    for _ in range(repeat):
        clock, processor = time.perf_counter(), time.process_time()
        function()
        times.append((time.perf_counter() - clock, time.process_time() - processor))
    return np.min(times, axis=0)


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
    ratio, processor = theirs / ours
    verdict = "yes" if ratio >= wanted else "NO"
    print(
        f"{what:52s} {ours[0]:8.3f} s | {name:34s} {theirs[0]:9.2f} s | "
        f"{ratio:7.1f}x ({processor:7.1f}x processor) | wanted {wanted:>5g}x | {verdict}",
        flush=True,
    )


def against_the_papers_loop(snr_db):
    design, targets = lifted(6000, 23, snr_db)
    statistics = statistics_of(design, targets)
    assert SpikeSlab().identify(statistics).settled
    ours = seconds(lambda: SpikeSlab(averaged=False).identify(statistics), repeat=20)
    averaged = seconds(lambda: SpikeSlab().identify(statistics), repeat=20)
    loop = seconds(lambda: [algorithm1(design, t, PAPER, 0.1, 50, "LINE_BY_LINE") for t in targets.T], repeat=2)
    row("Mean field, 23 observables, all starts", ours, "Algorithm 1, 50 sweeps, 23 targets", loop, 200)
    row("SpikeSlab, 23 observables, all starts", averaged, "Algorithm 1, 50 sweeps, 23 targets", loop, 50)
    ard = seconds(lambda: [ARDRegression(fit_intercept=False).fit(design, t) for t in targets.T], repeat=3)
    row("SpikeSlab, 23 observables, all starts", averaged, "ARDRegression, 23 targets", ard, 1)


def against_least_squares(sizes, rows, snr_db):
    spent = [beside_least_squares(*lifted(rows, size, snr_db)) for size in sizes]
    if len(sizes) > 1:
        power = np.polyfit(np.log(sizes), np.log(spent), 1)[0]
        print(f"SpikeSlab's time grows as the number of observables to the power {power:.2f}")


def beside_least_squares(design, targets, inputs=()):
    """Compare both kinds of inference with one least-squares solution; return the seconds of the averaged one."""
    rows, size = design.shape
    statistics = statistics_of(design, targets, inputs=inputs)
    theirs = seconds(lambda: np.linalg.lstsq(design, targets, rcond=None))
    for name, averaged in (("Mean field", False), ("SpikeSlab", True)):
        found = []
        ours = seconds(lambda a=averaged, f=found: f.append(SpikeSlab(averaged=a).identify(statistics)))
        drivers = np.sum(found[0].inclusion, axis=0).mean()
        what = f"{name}, {size} regressors, all starts ({drivers:.1f} in)"
        row(what, ours, f"numpy lstsq, {rows} x {size}", theirs, 1)
    return ours[0]


def on_other_data(rows):
    """Compare with least squares on kinds of data that differ in sampling, noise, inputs and kernel widths."""
    for name, kind in KINDS.items():
        states, inputs, centers = kind.data(rows + 1)
        given = SimpleNamespace(states=states, inputs=inputs, centers=centers, coefficients=kind.coefficients)
        phi = lift_all(given)
        size = phi.shape[1] - (inputs.shape[1] if inputs.size else 0)
        input_names = tuple(f"u{i}" for i in range(phi.shape[1] - size))
        print(name)
        beside_least_squares(phi[:-1], phi[1:, :size], input_names)


def against_ard(rows, snr_db, size=200):
    design, targets = lifted(rows, size, snr_db)
    statistics = statistics_of(design, targets)
    ours = seconds(lambda: SparseBayes().identify(statistics), repeat=3)
    one = seconds(lambda: ARDRegression(fit_intercept=False).fit(design, targets[:, 1]), repeat=3)
    row(f"SparseBayes, {size} observables", ours, f"ARDRegression, 1 target x {size}", one * size, 1000)


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
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 200, 500, 1000])
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--snr", type=float, default=40.0)
    options = parser.parse_args()
    against_the_papers_loop(options.snr)
    first_call()
    against_ard(options.rows, options.snr)
    against_least_squares(options.sizes, options.rows, options.snr)
    on_other_data(options.rows)
    print()
    support.main()


if __name__ == "__main__":
    main()
