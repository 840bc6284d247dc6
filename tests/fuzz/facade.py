"""Arrays through `KoopmanSieve`: what it takes is finite and predicts finite numbers of the right shape."""

import numpy as np

from koopsieve import KoopmanSieve
from koopsieve.sieve import GraphSieve
from tests.fuzz.values import ODD, pick, recipe, record, with_accident

FORMS = ("auto", "bilinear", "reprojected")
SETTINGS = (
    "form", "horizons", "delays", "sieve", "path_length", "max_terms", "refits", "stable", "threshold", "level",
    "compare", "validation", "test", "budget", "progress", "dt", "seed",
)  # fmt: skip
REFUSED = ("nan", "inf", "mask", "complex", "text", "three dimensions", "ragged", "no rows", "no columns")


def case(rng, folder):
    x, u = record(rng, rows=int(rng.integers(12, 40)))
    X, accident = with_accident(rng, x)
    inputs, other = with_accident(rng, u) if u.shape[1] and rng.random() < 0.3 else (u, "none")
    form = pick(rng, FORMS) if rng.random() < 0.02 else "linear"  # the others search for seconds
    settings = {"form": form, "horizons": [1, 2]}
    settings |= {"sieve": GraphSieve()} if rng.random() < 0.5 and form == "linear" else {"path_length": 4}
    if rng.random() < 0.4:
        settings[pick(rng, SETTINGS)] = pick(rng, ODD)
    dictionary = pick(rng, ODD) if rng.random() < 0.05 else recipe(rng)
    sieve = KoopmanSieve(dictionary, **settings)
    given = None if not u.shape[1] or rng.random() < 0.1 else inputs
    if rng.random() < 0.05:
        sieve.fit(X, pick(rng, (u, x, x[:, 0], 3, "a")), u=given)
    else:
        sieve.fit(X, u=given)
    assert accident not in REFUSED, f"{accident} was taken for numbers"
    assert given is None or other not in REFUSED or other == "no columns", f"{other} was taken for inputs"
    assert all(np.isfinite(one).all() for one in sieve.model_.arrays().values())
    _predicts(rng, sieve, np.asarray(X, dtype=float), given)


def _predicts(rng, sieve, x, u):
    steps = int(rng.integers(1, 4))
    rows = sieve.model_.history + 2
    along = None if u is None else np.asarray(u, dtype=float)[: rows - 1 + steps]
    predicted = sieve.predict(x[:rows], u=along, horizon=steps)
    assert predicted.shape == (3, steps, x.shape[1])
    sieve.predict(with_accident(rng, x[:rows])[0], u=along, horizon=pick(rng, (*ODD, 1, 2, 3)))
