"""How well the true regressors are found, against ARDRegression, STLSQ and LassoCV.

    python -m benchmarks.support

30 random sparse problems: 50 regressors whose columns correlate up to 0.95, 5 of them true, signal-to-noise ratios from
0 to 40 dB, 200 rows. Precision, recall and F1 of the support at threshold 0.5 (a nonzero weight for the others).
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ARDRegression, LassoCV

from koopsieve.identify import STLSQ, SparseBayes, SpikeSlab
from tests.problems import sparse_problem, statistics_of

warnings.simplefilter("ignore", ConvergenceWarning)
INPUTS = tuple(f"u{i}" for i in range(49))


def ours(method):
    return lambda design, target: (
        method.identify(statistics_of(design, target[:, None], inputs=INPUTS)).inclusion[:, 0] > 0.5
    )


METHODS = {
    "SpikeSlab": ours(SpikeSlab()),
    "SparseBayes": ours(SparseBayes()),
    "STLSQ 0.1": ours(STLSQ(0.1, relative=True)),
    "STLSQ 0.3": ours(STLSQ(0.3, relative=True)),
    "ARDRegression": lambda design, target: ARDRegression().fit(design, target).coef_ != 0,
    "LassoCV": lambda design, target: LassoCV(cv=5).fit(design, target).coef_ != 0,
}


def score(found, true):
    hits = np.sum(found & true)
    precision, recall = hits / max(found.sum(), 1), hits / true.sum()
    return precision, recall, 2 * hits / max(found.sum() + true.sum(), 1)


def problems():
    for seed in range(30):
        snr_db, correlation = (0, 10, 20, 30, 40)[seed % 5], (0.0, 0.3, 0.6, 0.8, 0.9, 0.95)[seed % 6]
        design, targets, weights = sparse_problem(
            seed, rows=200, regressors=50, targets=1, active=5, correlation=correlation, snr_db=snr_db
        )
        yield snr_db, design, targets[:, 0], weights[:, 0] != 0


LEVELS = (0, 10, 20, 30, 40)


def main():
    scores = {name: [] for name in METHODS}
    levels = []
    for snr_db, design, target, true in problems():
        levels.append(snr_db)
        for name, method in METHODS.items():
            scores[name].append(score(method(design, target), true))
    scores = {name: np.array(values) for name, values in scores.items()}
    at = {level: np.array(levels) == level for level in LEVELS}
    print(f"{'':14s} precision  recall      F1 | F1 at 0, 10, 20, 30, 40 dB")
    for name, values in scores.items():
        by_level = "  ".join(f"{values[at[level], 2].mean():.2f}" for level in LEVELS)
        print(f"{name:14s} {' '.join(f'{mean:9.3f}' for mean in values.mean(axis=0))} | {by_level}")
    where_not_the_best(
        {level: {name: values[at[level]].mean(axis=0) for name, values in scores.items()} for level in LEVELS}
    )


def where_not_the_best(means):
    """Say at which noise another method has the higher F1, and by what."""
    for level, by_name in means.items():
        best = max(by_name, key=lambda name: by_name[name][2])
        if by_name[best][2] > by_name["SpikeSlab"][2]:
            theirs, ours = by_name[best], by_name["SpikeSlab"]
            print(
                f"At {level} dB {best} is better: {theirs[0]:.2f} of what it takes is right and it finds "
                f"{theirs[1]:.2f} of what is there; SpikeSlab {ours[0]:.2f} and {ours[1]:.2f}."
            )


if __name__ == "__main__":
    main()
