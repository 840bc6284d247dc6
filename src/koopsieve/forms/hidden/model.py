"""The hidden form: states that are not measured, started by a linear encoder of past outputs and inputs.

x[k+1] = Θψ(x[k], v[k]), held inside a box,  y[k+1] = Γψ(x[k], v[k]),  x[0] = E·(1, past outputs, past inputs): (D80).
Hidden states and the newest outputs are carried. Inputs enter as v = (u − centre) / scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError, whole_number
from koopsieve.data import Signals
from koopsieve.dictionary import Dictionary, TermMap
from koopsieve.dictionary.monomials import MAX_DEGREE, ScaledProducts, monomial_name
from koopsieve.dictionary.states import Ones
from koopsieve.forms.hidden.lifting import ExactLifting, exact_lifting
from koopsieve.forms.hidden.power_table import PowerTable
from koopsieve.forms.interface import Linearisation, NamedMatrix, OutputTerms
from koopsieve.forms.model import Model, require_shape
from koopsieve.uncertainty.calibrate import Calibration


@dataclass(frozen=True, eq=False, repr=False)
class HiddenModel(Model):
    """A sparse polynomial state space with an encoder.

    Parameters
    ----------
    coef : array, shape (n + n_outputs, m)
        Rows of Θ, then of Γ. States have about unit variance, outputs their own units; zero where a term is not used.
    powers : array, shape (m, n + l)
        Of every state and input in each term, whole numbers.
    encoder : array, shape (n, 1 + n_x)
        The states from a one and the delay line: past outputs and inputs, in their own units.
    center, scale : array, shape (l,)
        Of the inputs.
    limits : array, shape (2, n + n_outputs)
        Between which states and outputs are held.
    dictionary : Dictionary
        What the encoder sees: the delay line and a constant. It knows names, sample time and delays.
    calibration : Calibration, optional
        Bands and support: see `koopsieve.calibrate`.
    """

    form: ClassVar[str] = "hidden"
    counted: ClassVar[str] = "coefficients"
    terms_in_words: ClassVar[str] = (
        "The model has states that are not measured. One step ahead, every state and every output is a sum of these "
        "terms with the coefficients in its column; 0 means that the term was sifted out. States have about unit "
        "variance, and inputs enter without their mean and in units of their deviation. At the start the states are "
        "a sum of past outputs and inputs, the encoder."
    )
    probability_in_words: ClassVar[str] = (
        "p: the probability that the simulated outputs need the coefficient beside the others, by spike and slab. "
        "Combinations of the states would do as well with other coefficients, so the others can often make up for a "
        "large one: then its p is small."
    )

    coef: FloatArray
    powers: FloatArray
    encoder: FloatArray
    center: FloatArray
    scale: FloatArray
    limits: FloatArray
    dictionary: Dictionary
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        n, outputs, inputs = len(self.encoder), len(self.output_names), len(self.input_names)
        require_shape("encoder", self.encoder, (n, 1 + len(self.signals.state_names)))
        require_shape("powers", self.powers, (self.coef.shape[-1], n + inputs))
        require_shape("coef", self.coef, (n + outputs, len(self.powers)))
        require_shape("center", self.center, (inputs,))
        require_shape("scale", self.scale, (inputs,))
        require_shape("limits", self.limits, (2, n + outputs))
        if not ((self.powers == np.round(self.powers)).all() and (self.powers >= 0).all()):
            raise KoopsieveError("powers must be whole numbers, 0 or more.")
        if (self.powers.sum(axis=1) > MAX_DEGREE).any():
            raise KoopsieveError(f"powers must add up to at most {MAX_DEGREE} in every term.")
        if not (self.scale > 0).all() or not (self.limits[0] <= self.limits[1]).all():
            raise KoopsieveError("scale must be above 0, and limits must hold the least values first.")

    @property
    def states(self) -> int:
        """Number of hidden states n."""
        return len(self.encoder)

    @cached_property
    def state_labels(self) -> tuple[str, ...]:
        """Names of the hidden states, x1 and on."""
        return state_labels(self.signals, self.states)

    @property
    def driven_names(self) -> tuple[str, ...]:
        """Hidden states and outputs."""
        return self.state_labels + self.output_names

    @cached_property
    def product_names(self) -> tuple[str, ...]:
        """Names of the terms, such as "x1^2 u"."""
        return product_names(self.powers, self.state_labels + self.signals.acting)

    @cached_property
    def term_names(self) -> tuple[str, ...]:
        """Every coefficient that is not zero, as "what it drives: term"."""
        return coefficient_names(self.coef != 0, self.driven_names, self.product_names)

    @property
    def numbers_per_start(self) -> int:
        """Numbers that one step holds per start: the terms with all their divisors."""
        return len(self._table.closed) + len(self.coef)

    @cached_property
    def _table(self) -> PowerTable:
        return PowerTable(self.powers.astype(np.intp), self.powers.shape[1])

    def start(self, states: FloatArray) -> FloatArray:
        """Encode the delay line, held within the limits; the newest outputs are carried beside."""
        hidden = np.clip(self._encoded(states), *self.limits[:, : self.states])
        return np.hstack([hidden, states[:, : len(self.output_names)]])

    def _encoded(self, states: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            encoded: FloatArray = self.encoder[:, 0] + states @ self.encoder[:, 1:].T
        return encoded

    def start_slopes(self, states: FloatArray) -> FloatArray:
        """Return the encoder, and ones for the newest outputs; what is held at its limit does not change."""
        slopes = np.vstack([self.encoder[:, 1:], np.eye(len(self.output_names), states.shape[1])])
        found = np.broadcast_to(slopes, (len(states), *slopes.shape)).copy()
        encoded = self._encoded(states)
        found[:, : self.states][np.clip(encoded, *self.limits[:, : self.states]) != encoded] = 0.0
        return found

    def advance(self, carried: FloatArray, acting: FloatArray) -> FloatArray:
        """Return the sums of terms, held within the limits."""
        values = self._table.values(self._points(carried, acting))
        return np.clip((self._weights @ values).T, *self.limits)

    def _points(self, carried: FloatArray, acting: FloatArray) -> FloatArray:
        """Return states and scaled inputs, points last."""
        return np.concatenate([carried[:, : self.states].T, ((acting - self.center) / self.scale).T])

    @cached_property
    def _weights(self) -> FloatArray:
        return self._table.spread(self.coef)

    def read(self, carried: FloatArray) -> FloatArray:
        """Return the outputs, which are carried last."""
        return carried[:, self.states :]

    def jacobians(self, carried: FloatArray, acting: FloatArray) -> Linearisation:
        """Return the derivatives of one step; what is held at its limit does not change."""
        return self._linearised(carried, acting, held_slope=0.0)

    def unheld_jacobians(self, carried: FloatArray, acting: FloatArray) -> Linearisation:
        """Return the same with the slopes of the sums themselves, also where something is held at its limit."""
        return self._linearised(carried, acting, held_slope=1.0)

    def _linearised(self, carried: FloatArray, acting: FloatArray, held_slope: float) -> Linearisation:
        n, outputs, slopes = self.states, len(self.output_names), self._table.slopes(self.coef)
        values = self._table.values(self._points(carried, acting))
        reached = (self._weights @ values).T
        held = np.clip(reached, *self.limits)
        slope = (slopes @ values[: slopes.shape[1]]).reshape(len(self.coef), -1, len(carried)).transpose(2, 0, 1)
        slope = slope * np.where(held == reached, 1.0, held_slope)[:, :, None]
        A, B = np.zeros((len(carried), n + outputs, n + outputs)), slope[:, :, n:] / self.scale
        A[:, :, :n] = slope[:, :, :n]
        offset = held - np.einsum("pij,pj->pi", A, carried) - np.einsum("pij,pj->pi", B, acting)
        return Linearisation(A, B, np.eye(n + outputs)[n:], offset)

    def lifted(self, most: int = 500) -> ExactLifting:
        """Return the model as a linear one in products of its states, where that is exact with finitely many.

        It is for chains of filters and polynomials; it holds as long as no state is held at its limit.

        Parameters
        ----------
        most : int
            Products at most.

        Raises
        ------
        KoopsieveError
            If products lead to ever higher ones.
        """
        return exact_lifting(self, whole_number("most, the number of products,", most, 1))

    def output_terms(self) -> OutputTerms:
        """Return the terms with what they add to each state and output."""
        return OutputTerms(self.product_names, self.coef.T)

    def matrices(self) -> Mapping[str, NamedMatrix]:
        """Return the coefficients and the encoder."""
        return {
            "coef": NamedMatrix(self.coef, self.driven_names, self.product_names),
            "encoder": NamedMatrix(self.encoder, self.state_labels, ("1", *self.signals.state_names)),
        }

    def arrays(self) -> Mapping[str, FloatArray]:
        """Return coefficients, powers, encoder, scaling of the inputs and limits."""
        return {name: getattr(self, name) for name in ("coef", "powers", "encoder", "center", "scale", "limits")}

    @property
    def carried_names(self) -> tuple[str, ...]:
        """Names of the hidden states, then of the outputs."""
        return self.driven_names

    def start_map(self) -> TermMap:
        """Return the encoder and the newest outputs."""
        names, outputs = self.signals.state_names, len(self.output_names)
        matrix = np.vstack([self.encoder[:, 1:], np.eye(outputs, len(names))])
        offset = np.concatenate([self.encoder[:, 0], np.zeros(outputs)])[:, None]
        plain = TermMap.linear(names, self.carried_names, matrix, (Ones(("1",)),), offset)
        return replace(plain, bounds=self.limits[:, plain.sums])

    def step_map(self) -> TermMap:
        """Return the sums of products, held within the limits."""
        used = np.flatnonzero((self.coef != 0).any(axis=0))
        point, zero = self.carried_names + self.signals.acting, np.zeros(len(self.output_names))
        powers = np.insert(self.powers[used].astype(np.intp), [self.states] * len(zero), 0, axis=1)
        center = np.concatenate([np.zeros(len(self.coef)), self.center])
        scale = np.concatenate([np.ones(len(self.coef)), self.scale])
        family = ScaledProducts(tuple(self.product_names[i] for i in used), powers, center, scale)
        sources = np.full(len(self.coef), -1, dtype=np.intp)
        return TermMap(point, self.carried_names, (family,), (len(point),), self.coef[:, used], sources, self.limits)

    def read_map(self) -> TermMap:
        """Return the outputs that are carried."""
        size = len(self.coef)
        return TermMap.linear(self.carried_names, self.output_names, np.eye(size)[self.states :])


def state_labels(signals: Signals, states: int) -> tuple[str, ...]:
    """Return the names of hidden states: x1, x2, …, or with more x where a signal has such a name."""
    taken, letter = {*signals.state_names, *signals.acting}, "x"
    while any(f"{letter}{i + 1}" in taken for i in range(states)):
        letter += "x"
    return tuple(f"{letter}{i + 1}" for i in range(states))


def product_names(powers: FloatArray | IndexArray, factors: tuple[str, ...]) -> tuple[str, ...]:
    """Return the name of each term, such as "x1^2 u"; "1" for the constant."""
    return tuple(monomial_name(row, factors) for row in np.asarray(powers).astype(int).tolist())


def coefficient_names(used: Any, driven: tuple[str, ...], terms: tuple[str, ...]) -> tuple[str, ...]:
    """Return the name of every used coefficient, row by row, such as "x1: x2 u"."""
    return tuple(f"{driven[i]}: {terms[j]}" for i, j in np.argwhere(used))
