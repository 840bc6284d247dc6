"""Odd values, and small data with accidents, for all entries."""

import numpy as np

from koopsieve import Constant, Monomials, SquaredExponential, States

NAMES = ("y", "u", "θ [°]", "a b", "=1+1", "-x", "@", "<b>&\"'", "y_1", "日本", "x" * 60, "\u202e", "1", "nan", "{{7}}")
ODD = (
    None, -1, 0, 1, 2, 3, 1.5, -0.0, float("nan"), float("inf"), 1e308, 5e-324, 10**400, True, False, "", "a", "1",
    [], [1], [1.9], [1, 1], (), {}, {"a": 1}, np.array(3), np.array([1.0]), np.float64(2.0), np.int8(1), 1j, b"a",
    States, States(), object(), lambda: 1, slice(0, 2), range(3),
)  # fmt: skip
EXTREMES = (1e300, -1e300, 1e155, 1e-155, 1e-310, 5e-324, -0.0, 1e16, np.finfo(float).max)
ACCIDENTS = (
    "none", "nan", "inf", "mask", "complex", "object", "text", "integers", "huge", "units", "constant",
    "copies", "one dimension", "three dimensions", "list", "few rows", "no rows", "no columns", "bool", "float16",
    "fortran", "reversed", "transposed", "ragged",
)  # fmt: skip


def pick(rng, options):
    """Return one of several things, whatever they are."""
    return options[int(rng.integers(len(options)))]


def record(rng, rows=None, columns=None, inputs=None):
    """Return states and inputs of a small stable plant."""
    T = int(rng.integers(12, 60)) if rows is None else rows
    n = int(rng.integers(1, 4)) if columns is None else columns
    width = int(rng.integers(0, 3)) if inputs is None else inputs
    A = rng.normal(size=(n, n))
    A *= rng.uniform(0.3, 0.99) / max(np.abs(np.linalg.eigvals(A)).max(), 1e-3)
    B, u, x = rng.normal(size=(n, width)), rng.normal(size=(T - 1, width)), np.zeros((T, n))
    x[0] = rng.normal(size=n)
    for k in range(T - 1):
        x[k + 1] = A @ x[k] + B @ u[k] + 0.1 * np.tanh(x[k])
    return x + 10 ** rng.uniform(-6, -1) * rng.normal(size=x.shape), u


def recipe(rng):
    """Return a small dictionary that is not fitted."""
    more = (Constant(), Monomials(), SquaredExponential(centers=3), SquaredExponential(centers=2, standardize=True))
    return sum((one for one in more if rng.random() < 0.4), start=States())


def with_accident(rng, x, kind=None):
    """Return an array as users may bring it, and what happened to it."""
    kind = kind or ("none" if rng.random() < 0.6 else pick(rng, ACCIDENTS))
    row, column = int(rng.integers(len(x))), int(rng.integers(max(x.shape[1], 1)))
    changed = x.copy()
    if x.shape[1] == 0 or kind == "none":
        return changed, "none"
    if kind in ("nan", "inf", "huge"):
        changed[row, column] = {"nan": np.nan, "inf": -np.inf, "huge": pick(rng, EXTREMES)}[kind]
    elif kind == "units":
        changed *= 10.0 ** rng.uniform(-320, 300)
    elif kind == "constant":
        changed[:, column] = pick(rng, (0.0, 1.0, *EXTREMES))
    elif kind == "copies":
        changed = np.concatenate([changed, changed[:, :1]], axis=1)
    else:
        return _reshaped(rng, changed, kind, row, column), kind
    return changed, kind


def _reshaped(rng, x, kind, row, column):
    made = {
        "mask": lambda: np.ma.masked_array(x, mask=np.arange(x.size).reshape(x.shape) == row * x.shape[1] + column),
        "complex": lambda: x + 1j,
        "object": lambda: x.astype(object),
        "text": lambda: np.where(x > 0, "a", "b"),
        "integers": lambda: np.clip(np.nan_to_num(10 * x), 0, 99).astype(pick(rng, ("int8", "int64", "uint8"))),
        "one dimension": lambda: x[:, 0],
        "three dimensions": lambda: x[None],
        "list": x.tolist,
        "few rows": lambda: x[: int(rng.integers(0, 4))],
        "no rows": lambda: x[:0],
        "no columns": lambda: x[:, :0],
        "bool": lambda: x > 0,
        "float16": lambda: np.clip(x, -6e4, 6e4).astype(np.float16),
        "fortran": lambda: np.asfortranarray(x),
        "reversed": lambda: x[::-1],
        "transposed": lambda: x.T,
        "ragged": lambda: [list(r) + [0.0] * (i == row) for i, r in enumerate(x)],
    }
    return made[kind]()
