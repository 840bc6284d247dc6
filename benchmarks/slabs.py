"""Which slab and which prior odds tell best what is truly in, on seven kinds of regressions.

    python -m benchmarks.slabs [--problems 40] [--first 1000]

A slab Gamma(c, d) gives a weight a Student prior of 2c degrees of freedom and scale √(d/c), in units of regressors and
targets of unit mean square. Per kind the Brier score of inclusion and F1 at one half; over all kinds also how much of
what is said to be in with 0.9 or more truly is, and the error of the averaged weights on new rows beyond the noise.
Choose by one range of seeds and confirm by another (`--first`).
"""

import argparse
from dataclasses import dataclass

import numpy as np

from benchmarks.inclusion import Problem
from koopsieve.identify import SpikeSlab, SpikeSlabPrior

SLABS = {
    "c 1e-3, d 1e-6": (1e-3, 1e-6),
    "c 0.01, d 1e-4": (0.01, 1e-4),
    "c 0.1, d 0.01": (0.1, 0.01),
    "Cauchy 0.1": (0.5, 0.005),
    "Cauchy 0.3": (0.5, 0.045),
    "Cauchy 1": (0.5, 0.5),
    "Student 4, 1": (2.0, 2.0),
}
ODDS = (0.025, 0.1, 0.33)


@dataclass(frozen=True)
class Kind:
    """How regressions of one kind are drawn; `design` takes rows, regressors and rng."""

    name: str
    design: object
    regressors: int = 12
    snr_db: tuple[float, ...] = (0.0, 5.0, 10.0, 20.0)
    decades: float = 0.0  # over which the sizes of true weights are spread; 0: standard normal weights


def common(share):
    def draw(rows, regressors, rng):
        shared = np.sqrt(share) * rng.normal(size=(rows, 1))
        return shared + np.sqrt(1 - share) * rng.normal(size=(rows, regressors))

    return draw


def copies(rows, regressors, rng):
    half = rng.normal(size=(rows, regressors // 2))
    return np.hstack([half, half])


def kernels(rows, regressors, rng):
    """Overlapping kernels of a state of two coordinates."""
    x, centres = rng.uniform(-2, 2, size=(rows, 2)), rng.uniform(-2, 2, size=(regressors, 2))
    return np.exp(-0.5 * np.sum((x[:, None] - centres) ** 2, axis=2))


KINDS = (
    Kind("independent", common(0.0)),
    Kind("correlated 0.9", common(0.9)),
    Kind("correlated 0.999", common(0.999)),
    Kind("copies", copies),
    Kind("many", common(0.3), regressors=60),
    Kind("clean, small weights", common(0.5), regressors=20, snr_db=(30.0, 40.0, 50.0), decades=2.0),
    Kind("kernels", kernels, regressors=30, snr_db=(10.0, 20.0, 30.0, 40.0)),
)


def drawn(kind, seed):
    """Return a problem to infer from, and as many new rows of the same with their noise-free targets."""
    rng = np.random.default_rng([seed, sum(map(ord, kind.name))])
    rows, active = (60, 100, 200)[seed % 3], 1 + seed % 5
    design = kind.design(2 * rows, kind.regressors, rng)
    design /= np.sqrt(np.mean(design[:rows] ** 2, axis=0))
    weights, which = np.zeros(kind.regressors), rng.choice(kind.regressors, active, replace=False)
    weights[which] = rng.normal(size=active)
    if kind.decades:
        weights[which] = np.sign(weights[which]) * 10 ** -rng.uniform(0, kind.decades, size=active)
    clean = design @ weights
    noise = clean[:rows].std() * 10 ** (-kind.snr_db[seed % len(kind.snr_db)] / 20)
    target = clean + noise * rng.normal(size=2 * rows)
    return Problem(design[:rows], target[:rows], weights), design[rows:], clean[rows:], noise


def judged(prior, kind, seeds):
    """Return inclusion and truth of all regressors, and the excess error on new rows over the noise, per problem."""
    inclusion, truth, excess = [], [], []
    for seed in seeds:
        problem, design, clean, noise = drawn(kind, seed)
        found = SpikeSlab(prior).identify(problem.statistics)
        inclusion.append(found.inclusion[:, 0])
        truth.append(problem.weights != 0)
        excess.append(np.sqrt(np.mean((design @ found.coef[:, 0] - clean) ** 2)) / noise)
    return np.concatenate(inclusion), np.concatenate(truth), np.array(excess)


def line(name, odds, found):
    """Return one row of the table."""
    cells = []
    for inclusion, truth, _ in found:
        chosen = inclusion >= 0.5
        f1 = 2 * np.sum(chosen & truth) / max(chosen.sum() + truth.sum(), 1)
        cells.append(f"{np.mean((inclusion - truth) ** 2):.4f} {f1:.2f}")
    inclusion, truth = (np.concatenate([one[i] for one in found]) for i in range(2))
    sure = inclusion >= 0.9
    brier = np.mean([np.mean((i - t) ** 2) for i, t, _ in found])
    excess = np.mean([np.median(one[2]) for one in found])
    tail = f"{brier:.4f} | {truth[sure].mean():.3f} of {sure.sum()} | {excess:.3f}"
    return f"| {name} | {odds:g} | {' | '.join(cells)} | {tail} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=40, help="per kind")
    parser.add_argument("--first", type=int, default=1000, help="first seed")
    parser.add_argument("--slabs", nargs="+", choices=[*SLABS], default=[*SLABS], metavar="NAME")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.problems)
    heads = ["slab", "odds", *(f"{kind.name}: Brier, F1" for kind in KINDS), "Brier", "≥ 0.9: truly in", "excess error"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name in options.slabs:
        c, d = SLABS[name]
        for odds in ODDS:
            prior = SpikeSlabPrior(c=c, d=d, e=odds, f=1.0)
            print(line(name, odds, [judged(prior, kind, seeds) for kind in KINDS]), flush=True)


if __name__ == "__main__":
    main()
