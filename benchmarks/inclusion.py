"""How far inclusion probabilities are from the exact posterior, averaged over sets and as mean field gives them.

    python -m benchmarks.inclusion [--problems 60] [--regressors 12]

Random regressions whose regressors are independent, correlated 0.9 or 0.999, or exact copies in pairs; three of them
are true. The exact posterior goes through all sets (`tests/reference/exact_inclusion.py`). `benchmarks/slabs.py`
compares slabs and prior odds by how well inclusion tells what is truly in.
"""

import argparse
import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from koopsieve.identify import SpikeSlab, SpikeSlabPrior
from tests.problems import statistics_of
from tests.reference.exact_inclusion import exact_posterior

KINDS = (0.0, 0.9, 0.999, "copies")
EDGES = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
INTERVAL = 1.959964  # standard deviations of a Gaussian that 95 % lie within


@dataclass(frozen=True)
class Problem:
    design: np.ndarray
    target: np.ndarray
    weights: np.ndarray

    @property
    def statistics(self):
        inputs = tuple(f"u{i}" for i in range(self.design.shape[1] - 1))
        return statistics_of(self.design, self.target[:, None], inputs=inputs)


def problem(kind, seed, regressors=12, active=3):
    """Draw a problem: 60, 100 or 200 rows, 0 to 20 dB, weights of standard normal size, all of unit mean square."""
    rng = np.random.default_rng(seed)
    rows, snr_db = (60, 100, 200)[seed % 3], (0.0, 5.0, 10.0, 20.0)[seed % 4]
    if kind == "copies":
        half = rng.normal(size=(rows, regressors // 2))
        design = np.hstack([half, half])
    else:
        common = np.sqrt(kind) * rng.normal(size=(rows, 1))
        design = common + np.sqrt(1 - kind) * rng.normal(size=(rows, regressors))
    design /= np.sqrt(np.mean(design**2, axis=0))
    weights = np.zeros(regressors)
    weights[rng.choice(regressors, active, replace=False)] = rng.normal(size=active)
    clean = design @ weights
    target = clean + clean.std() * 10 ** (-snr_db / 20) * rng.normal(size=rows)
    scale = np.sqrt(np.mean(target**2))
    return Problem(design, target / scale, weights / scale)


def covered(problem, mean, variance):
    """Return which of the true weights lie in their 95 % interval."""
    inside = np.abs(problem.weights - mean) <= INTERVAL * np.sqrt(variance)
    return inside[problem.weights != 0]


def measured(kind, problems, regressors, prior):
    """Return per method the inclusion of all regressors, coverage of true weights and milliseconds; exact is one."""
    methods = {"averaged": SpikeSlab(prior, averaged=True), "mean field": SpikeSlab(prior, averaged=False)}
    found = {name: ([], [], []) for name in ("exact", *methods)}
    truth = []
    for seed in range(problems):
        one = problem(kind, seed, regressors)
        truth.append(one.weights != 0)
        statistics = one.statistics
        begin = time.process_time()
        exact = exact_posterior(one.design, one.target, prior)
        answers = {"exact": (exact.inclusion, exact.mean, exact.variance, time.process_time() - begin)}
        for name, method in methods.items():
            begin = time.process_time()
            answer = method.identify(statistics)
            spent = time.process_time() - begin
            answers[name] = *(part[:, 0] for part in (answer.inclusion, answer.coef, answer.coef_variance)), spent
        for name, (inclusion, mean, variance, spent) in answers.items():
            for values, new in zip(found[name], (inclusion, covered(one, mean, variance), spent), strict=True):
                values.append(new)
    return np.concatenate(truth), {
        name: (np.concatenate(inclusion), np.concatenate(inside), 1e3 * np.mean(spent))
        for name, (inclusion, inside, spent) in found.items()
    }


def against_the_exact_posterior(problems, regressors, prior):
    print("               gap to exact   said ≥ 0.9  truly in   Brier   95 % interval covers   ms per target")
    calibration = {}
    for kind in KINDS:
        truth, found = measured(kind, problems, regressors, prior)
        exact = found["exact"][0]
        print(f"{kind if kind == 'copies' else f'correlation {kind:g}'}")
        for name, (inclusion, inside, spent) in found.items():
            sure = inclusion >= 0.9
            share = f"{truth[sure].mean():8.2f}" if sure.any() else "       -"
            print(
                f"  {name:12s} {np.mean(np.abs(inclusion - exact)):10.4f} {int(sure.sum()):13d} {share} "
                f"{np.mean((inclusion - truth) ** 2):9.3f} {inside.mean():14.2f} {spent:22.1f}"
            )
            calibration.setdefault(name, []).append((inclusion, truth))
    print("\nOf what was given a probability between …, the share that is truly in (all four kinds together):")
    print(" " * 14 + "".join(f"{low:.1f}–{high:.1f}".rjust(15) for low, high in pairwise(EDGES)))
    for name, parts in calibration.items():
        inclusion, truth = (np.concatenate([part[i] for part in parts]) for i in range(2))
        which = np.clip(np.searchsorted(EDGES, inclusion, side="right") - 1, 0, len(EDGES) - 2)
        cells = [
            f"{truth[which == bin_].mean():.2f} of {np.sum(which == bin_)}" if np.any(which == bin_) else "-"
            for bin_ in range(len(EDGES) - 1)
        ]
        print(f"  {name:12s}" + "".join(cell.rjust(15) for cell in cells))


def time_per_target(sizes, snr_db=40.0):
    from benchmarks.inference import lifted

    print("\nLorenz lifted to kernels, all targets together, milliseconds of processor time per target:")
    for size in sizes:
        statistics = statistics_of(*lifted(20_000, size, snr_db))
        spent = []
        for averaged in (False, True):
            begin = time.process_time()
            SpikeSlab(averaged=averaged).identify(statistics)
            spent.append(1e3 * (time.process_time() - begin) / size)
        print(f"  {size} regressors: mean field {spent[0]:.2f}, averaged {spent[1]:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=60, help="per kind")
    parser.add_argument("--regressors", type=int, default=12)
    parser.add_argument("--sizes", type=int, nargs="*", default=[23, 200, 500])
    options = parser.parse_args()
    against_the_exact_posterior(options.problems, options.regressors, SpikeSlabPrior())
    time_per_target(options.sizes)


if __name__ == "__main__":
    main()
