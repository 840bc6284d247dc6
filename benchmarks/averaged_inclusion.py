"""Averaged and mean-field inclusion of thirty and forty regressors against long Gibbs runs.

Run: PYTHONPATH=src:. python -m benchmarks.averaged_inclusion
"""

import numpy as np

from tests.reference.gibbs_inclusion import gibbs_inclusion
from tests.reference.test_averaging import PRIOR, inferred, problem

SWEEPS, BURN = 3000, 1000


def row(regressors, correlation, seed):
    """Return the mean and largest gap of both to the sampler, and the sampler's largest standard error."""
    design, target = problem(correlation, seed, rows=150, regressors=regressors)
    sampled, error = gibbs_inclusion(design, target, PRIOR, sweeps=SWEEPS, burn=BURN)
    gaps = [np.abs(inferred(design, target, averaged=kind).inclusion[:, 0] - sampled) for kind in (True, False)]
    return [value for gap in gaps for value in (gap.mean(), gap.max())] + [error.max()]


def main():
    heads = ("regressors", "correlation", "seed", "averaged: mean", "largest", "mean field: mean", "largest", "error")
    print("| " + " | ".join(heads) + " |\n" + "|" + "---|" * len(heads))
    for regressors in (30, 40):
        for correlation in (0.0, 0.9, 0.99):
            for seed in (0, 1):
                cells = " | ".join(f"{value:.4f}" for value in row(regressors, correlation, seed))
                print(f"| {regressors} | {correlation:g} | {seed} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
