"""Weights of the cost that a controller minimises, limits that it keeps to, and checks of what control is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError, real_array


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the squares that a controller adds up over the horizon; a number counts for every signal.

    A matrix weighs products of signals too: symmetric, without negative eigenvalues.

    Parameters
    ----------
    outputs : float or array, shape (n_outputs,) or (n_outputs, n_outputs)
        Of the distance from the reference. An output with weight 0 is left free.
    rates : float or array, shape (l,) or (l, l)
        Of the change of the inputs from step to step.
    inputs : float or array, shape (l,) or (l, l)
        Of the inputs themselves. Above 0, they pull the outputs away from the reference.
    """

    outputs: ArrayLike = 1.0
    rates: ArrayLike = 1e-3
    inputs: ArrayLike = 0.0

    def of(self, what: str, count: int) -> FloatArray:
        """Return the weights of "outputs", "rates" or "inputs", shape (count, count)."""
        name, values = f"The weights of {what}", real_array(f"The weights of {what}", getattr(self, what))
        if values.ndim == 2 and values.shape == (count, count) and count > 1:
            finite = bool(np.isfinite(values).all())
            if not finite or not np.allclose(values, values.T) or np.linalg.eigvalsh(values).min() < -1e-9:
                raise KoopsieveError(
                    f"{name} must be symmetric and without negative eigenvalues. Got {values.tolist()}."
                )
            return values
        diagonal = _per_signal(name, values.ravel() if count == 1 and values.size == 1 else values, count)
        if not (np.isfinite(diagonal) & (diagonal >= 0)).all():
            raise KoopsieveError(f"{name} must be 0 or more. Got {diagonal.tolist()}.")
        return np.diag(diagonal)


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits over the horizon; a number counts for every signal, and infinity is no limit.

    Limits that change along the horizon have a row per step; the last row holds on.

    Parameters
    ----------
    inputs : pair of float or of arrays, shape (l,) or (rows, l)
        Least and largest inputs. They are always kept.
    rates : float or array, shape (l,)
        Largest change of the inputs from step to step. It is kept, except where the limits of inputs leave no other
        way: after an input from elsewhere that was beyond them, and where they move faster.
    outputs : pair of float or of arrays, shape (n_outputs,) or (rows, n_outputs)
        Least and largest outputs. They may be exceeded where nothing else is possible, at a price.
    price : float or array, shape (n_outputs,)
        Price of exceeding an output's limit, per unit and step; half of the square is added. It should be well above
        the output's weight times a usual distance from the reference; a far larger one makes the programme hard to
        solve.
    """

    inputs: tuple[ArrayLike, ArrayLike] = (-np.inf, np.inf)
    rates: ArrayLike = np.inf
    outputs: tuple[ArrayLike, ArrayLike] = (-np.inf, np.inf)
    price: ArrayLike = 10.0

    def bounds(self, what: str, horizon: int, count: int) -> tuple[FloatArray, FloatArray]:
        """Return least and largest "inputs" or "outputs", shape (horizon, count)."""
        given = getattr(self, what)
        if not isinstance(given, tuple | list | np.ndarray) or len(given) != 2:
            raise KoopsieveError(f"The limits of {what} must be a pair, least and largest. Got {given!r}.")
        low, high = (_at_each_step(f"The limits of {what}", one, horizon, count) for one in given)
        if not (low < high).all():
            step, signal = np.argwhere(~(low < high))[0]
            raise KoopsieveError(
                f"The least of {what} must be below the largest. Got {low[step, signal]} and {high[step, signal]} "
                f"(signal {signal + 1} of {count}, step {step + 1})."
            )
        return low, high

    def rate_bounds(self, count: int) -> FloatArray:
        """Return the largest changes of the inputs."""
        rates = _per_signal("rates", self.rates, count)
        if not (rates > 0).all():
            raise KoopsieveError(f"rates, the largest changes of the inputs, must be positive. Got {rates.tolist()}.")
        return rates

    def prices(self, count: int) -> FloatArray:
        """Return the price of every output's limits."""
        prices = _per_signal("price", self.price, count)
        if not (np.isfinite(prices) & (prices > 0)).all():
            raise KoopsieveError(f"price, that of exceeding a limit, must be positive. Got {prices.tolist()}.")
        return prices


def _at_each_step(what: str, given: ArrayLike, horizon: int, count: int) -> FloatArray:
    """Return one value per step and signal."""
    values = real_array(what, given)
    if values.ndim != 2:
        return np.broadcast_to(_per_signal(what, values, count), (horizon, count))
    if values.shape[1] != count or not len(values) or np.isnan(values).any():
        raise KoopsieveError(
            f"{what} that change must have a row per step. Expected (rows, {count}), got {values.shape}."
        )
    return rows_of_horizon(values, horizon)


def rows_of_horizon(rows: FloatArray, horizon: int) -> FloatArray:
    """Return a row for every step of the horizon; the last row given holds on."""
    return rows[np.minimum(np.arange(horizon), len(rows) - 1)]


def _per_signal(what: str, given: ArrayLike, count: int) -> FloatArray:
    values = real_array(what, given)
    if values.ndim > 1 or values.size not in (1, count) or np.isnan(values).any():
        raise KoopsieveError(f"{what} must be one number, or one per signal. Expected {count}, got {values.tolist()}.")
    return np.broadcast_to(values, (count,))


def per_signal(what: str, given: ArrayLike, names: tuple[str, ...], *, missing: bool = False) -> FloatArray:
    """Return one finite value per signal, shape (len(names),); with `missing` some may be NaN."""
    values = np.atleast_1d(real_array(what, given))
    fine = ~np.isinf(values) if missing else np.isfinite(values)
    if values.shape != (len(names),) or not fine.all():
        kind = "finite, or NaN where it is missing" if missing else "finite"
        raise KoopsieveError(
            f"{what} must be {kind}, one value per signal ({', '.join(names[:6])}). Expected ({len(names)},), got "
            f"{values.tolist() if values.ndim == 1 else values.shape}."
        )
    return values


def rows_of(what: str, given: ArrayLike, names: tuple[str, ...], horizon: int) -> FloatArray:
    """Return a row of finite values for every step, from (signals,) or (rows, signals); the last row holds on."""
    values, n = np.atleast_1d(real_array(what, given)), len(names)
    rows = values[None] if values.ndim == 1 and values.size == n else values[:, None] if values.ndim == 1 else values
    fits = rows.ndim == 2 and rows.shape[1] == n and len(rows) > 0
    if not (fits and np.isfinite(rows).all()):
        wrong = f"{rows[~np.isfinite(rows).all(axis=1)][0].tolist()} among the rows" if fits else f"{values.shape}"
        raise KoopsieveError(
            f"{what} must be finite, one value per signal ({', '.join(names[:6])}). "
            f"Expected ({n},) or (rows, {n}), got {wrong}."
        )
    return rows_of_horizon(rows, horizon)


def shaped(what: str, given: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Return finite numbers of one shape."""
    values = real_array(what, given)
    if values.shape != shape:
        raise KoopsieveError(f"{what} has the wrong shape. Expected {shape}, got {values.shape}.")
    if not np.isfinite(values).all():
        raise KoopsieveError(f"{what} must be finite. Got NaN or infinity; leave such samples out.")
    return values
