"""koopsieve among scikit-learn's tools: a scaler in front, and a grid search over settings of the dictionary.

A pendulum swings; its angle and speed are measured, both in units of their own. The search finds the degree of
the products. Predictions of the pipeline are in scaled units, and `inverse_transform` takes them back.
Run: python examples/scikit_learn.py
"""

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from koopsieve import KoopmanSieve, Monomials, States


def pendulum(samples):
    """Angle in degrees and speed in radians per second, with noise."""
    rng, x, rows = np.random.default_rng(0), np.array([1.5, 0.0]), []
    for _ in range(samples):
        rows.append(x)
        for _ in range(10):
            x = x + 0.01 * np.array([x[1], -np.sin(x[0])])
    return np.array(rows) * [180 / np.pi, 1.0] + rng.normal(size=(samples, 2)) * [0.05, 1e-3]


def main(samples=600, degrees=(2, 3)):
    """Return the search after it was fitted."""
    X = pendulum(samples)
    sieve = KoopmanSieve(States() + Monomials(degree=2), form="reprojected", horizons=[1, 10])
    pipeline = make_pipeline(StandardScaler(), sieve)
    grid = {"koopmansieve__dictionary__monomials__degree": list(degrees)}
    search = GridSearchCV(pipeline, grid, cv=KFold(3), error_score="raise").fit(X)
    for degree, score in zip(degrees, search.cv_results_["mean_test_score"], strict=True):
        print(f"degree {degree}: NMSE {-score:.2g}")
    best = search.best_estimator_
    print("kept:", ", ".join(best[-1].retained_names_))
    ahead = best.predict(X[:1], horizon=10)
    print("ten steps ahead:", best[0].inverse_transform(ahead[0])[-1].round(2), "measured:", X[10].round(2))
    return search


if __name__ == "__main__":
    main()
