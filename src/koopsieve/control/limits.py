"""Weights of the cost that a controller minimises, limits that it keeps to, and checks of what control is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError, real_array


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the squares that a controller adds up over the horizon; a number counts for every signal.

    Parameters
    ----------
    outputs : float or array, shape (n_outputs,)
        Of the distance from the reference. An output with weight 0 is left free.
    rates : float or array, shape (l,)
        Of the change of the inputs from step to step.
    inputs : float or array, shape (l,)
        Of the inputs themselves. Above 0, they pull the outputs away from the reference.
    """

    outputs: ArrayLike = 1.0
    rates: ArrayLike = 1e-3
    inputs: ArrayLike = 0.0

    def per_output(self, count: int) -> FloatArray:
        """Return the weights of the outputs, shape (count,)."""
        return _weights("outputs", self.outputs, count)

    def per_rate(self, count: int) -> FloatArray:
        """Return the weights of the changes, shape (count,)."""
        return _weights("rates", self.rates, count)

    def per_input(self, count: int) -> FloatArray:
        """Return the weights of the inputs, shape (count,)."""
        return _weights("inputs", self.inputs, count)


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits over the horizon; a number counts for every signal, and infinity is no limit.

    Parameters
    ----------
    inputs : pair of float or of arrays, shape (l,)
        Least and largest inputs. They are always kept.
    rates : float or array, shape (l,)
        Largest change of the inputs from step to step. It is kept, except after an input from elsewhere that was beyond
        the limits of inputs.
    outputs : pair of float or of arrays, shape (n_outputs,)
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

    def input_bounds(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Return least and largest inputs."""
        return _pair("inputs", self.inputs, count)

    def rate_bounds(self, count: int) -> FloatArray:
        """Return the largest changes of the inputs."""
        rates = _per_signal("rates", self.rates, count)
        if not (rates > 0).all():
            raise KoopsieveError(f"rates, the largest changes of the inputs, must be positive. Got {rates.tolist()}.")
        return rates

    def output_bounds(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Return least and largest outputs."""
        return _pair("outputs", self.outputs, count)

    def prices(self, count: int) -> FloatArray:
        """Return the price of every output's limits."""
        prices = _per_signal("price", self.price, count)
        if not (np.isfinite(prices) & (prices > 0)).all():
            raise KoopsieveError(f"price, that of exceeding a limit, must be positive. Got {prices.tolist()}.")
        return prices


def _weights(what: str, given: ArrayLike, count: int) -> FloatArray:
    values = _per_signal(f"The weights of {what}", given, count)
    if not (np.isfinite(values) & (values >= 0)).all():
        raise KoopsieveError(f"The weights of {what} must be 0 or more. Got {values.tolist()}.")
    return values


def _pair(what: str, given: tuple[ArrayLike, ArrayLike], count: int) -> tuple[FloatArray, FloatArray]:
    if not isinstance(given, tuple | list | np.ndarray) or len(given) != 2:
        raise KoopsieveError(f"The limits of {what} must be a pair, least and largest. Got {given!r}.")
    low, high = (_per_signal(f"The limits of {what}", one, count) for one in given)
    if not (low < high).all():
        raise KoopsieveError(f"The least of {what} must be below the largest. Got {low.tolist()} and {high.tolist()}.")
    return low, high


def _per_signal(what: str, given: ArrayLike, count: int) -> FloatArray:
    values = real_array(what, given)
    if values.ndim > 1 or values.size not in (1, count) or np.isnan(values).any():
        raise KoopsieveError(f"{what} must be one number, or one per signal. Expected {count}, got {values.tolist()}.")
    return np.broadcast_to(values, (count,))


def per_signal(what: str, given: ArrayLike, names: tuple[str, ...]) -> FloatArray:
    """Return one finite value per signal, shape (len(names),)."""
    values = np.atleast_1d(real_array(what, given))
    if values.shape != (len(names),) or not np.isfinite(values).all():
        raise KoopsieveError(
            f"{what} must be finite, one value per signal ({', '.join(names[:6])}). Expected ({len(names)},), got "
            f"{values.tolist() if values.ndim == 1 else values.shape}."
        )
    return values


def shaped(what: str, given: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Return finite numbers of one shape."""
    values = real_array(what, given)
    if values.shape != shape:
        raise KoopsieveError(f"{what} has the wrong shape. Expected {shape}, got {values.shape}.")
    if not np.isfinite(values).all():
        raise KoopsieveError(f"{what} must be finite. Got NaN or infinity; leave such samples out.")
    return values


def in_range(what: str, given: Any, low: float, high: float, open_ends: bool = False) -> float:
    """Return a finite number from `low` to `high`; with `open_ends` it must lie between them."""
    number = real_array(what, given)
    if number.ndim == 0 and np.isfinite(number) and ((low < number < high) if open_ends else (low <= number <= high)):
        return float(number)
    allowed = f"lie from {low:g} to {high:g}" if np.isfinite(high) else f"be a finite number, {low:g} or more"
    allowed = f"lie between {low:g} and {high:g}" if open_ends else allowed
    raise KoopsieveError(f"{what} must {allowed}. Got {given!r}.")


def of_kind(what: str, given: Any, kind: type, example: str) -> None:
    """Check the class of a value; the error gives an example of how to make one."""
    if not isinstance(given, kind):
        raise KoopsieveError(
            f"{what} must be a {kind.__name__}, for example {example}. Got {type(given).__name__}: {given!r:.60}."
        )
