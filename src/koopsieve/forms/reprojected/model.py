"""The reprojected form: the outputs are predicted one step ahead, the delay line is shifted, and all is lifted anew.

y[k+1] = coefᵀ·[φ(x[k]), ψ(x[k], u[k])], held inside limits,  x[k+1] = the delay line moved on by y[k+1] and u[k].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.dictionary import Dictionary, TermMap
from koopsieve.forms.interface import Linearisation, NamedMatrix, OutputTerms
from koopsieve.forms.model import Model, require_shape
from koopsieve.forms.reprojected.structure import DictionaryRegressors, ReprojectedStructure
from koopsieve.uncertainty.calibrate import Calibration
from koopsieve.uncertainty.support import widened

MARGIN = 1.0  # how far beyond the data, in widths of their range, an output may go before it is held back

_STARTS_AT_A_TIME = 4096


@dataclass(frozen=True, eq=False, repr=False)
class ReprojectedModel(Model):
    """A predictor of the outputs one step ahead, lifted anew after every step.

    Parameters
    ----------
    coef : array, shape (L + input terms, n_outputs)
        The next outputs from observables and input terms.
    dictionary : Dictionary
        The maps φ and ψ; it knows names, sample time and delays.
    region : array, shape (2, n + l)
        Least and largest value of every state and input in the data that the model was learned from.
    limits : array, shape (2, n_outputs), optional
        Least and largest value that an output can take: a tank that overflows, a sensor that saturates. Left out, the
        region with a wide margin, so that a prediction that leaves the data stays finite.
    calibration : Calibration, optional
        Bands and support: see `koopsieve.calibrate`.
    """

    form: ClassVar[str] = "reprojected"
    terms_in_words: ClassVar[str] = (
        "The model predicts the outputs one step ahead as a sum of these terms, shifts the past samples by one, and "
        "evaluates the terms anew."
    )

    coef: FloatArray
    dictionary: Dictionary
    region: FloatArray
    limits: FloatArray | None = None
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        require_shape("coef", self.coef, (len(self.dictionary.regressors), len(self.output_names)))
        require_shape("region", self.region, (2, len(self.dictionary.state_names) + len(self.input_names)))
        if not (self.region[0] <= self.region[1]).all():
            raise KoopsieveError("region must hold the least values first, then the largest.")
        if self.limits is not None:
            require_shape("limits", self.limits, (2, len(self.output_names)))

    @property
    def numbers_per_start(self) -> int:
        """Number of terms, which bounds what one step holds per start."""
        return len(self.dictionary.regressors)

    @cached_property
    def bounds(self) -> FloatArray:
        """Where outputs are held, shape (2, n_outputs): the limits, or the region with a margin."""
        if self.limits is not None:
            return self.limits
        region = self.region[:, : len(self.output_names)]
        return widened(region, MARGIN * np.ptp(region, axis=0))

    def start(self, states: FloatArray) -> FloatArray:
        """Carry the state itself."""
        return states

    def start_slopes(self, states: FloatArray) -> FloatArray:
        """Return unit matrices: the state itself is carried."""
        return np.broadcast_to(np.eye(states.shape[1]), (len(states), states.shape[1], states.shape[1]))

    def output_terms(self) -> OutputTerms:
        """Return observables and input terms."""
        return OutputTerms(self.dictionary.regressors, self.coef)

    def matrices(self) -> Mapping[str, NamedMatrix]:
        """Return the coefficients."""
        return {"coef": NamedMatrix(self.coef, self.dictionary.regressors, self.output_names)}

    def advance(self, carried: FloatArray, acting: FloatArray) -> FloatArray:
        """Predict the outputs and shift the delay line."""
        outputs = self._structure.simulate(self.coef, carried, acting[:, None])[:, 0]
        return self.signals.embedding.shift(carried, outputs, acting)

    @cached_property
    def _structure(self) -> ReprojectedStructure:
        """What simulates many starts at once."""
        regressors, outputs = DictionaryRegressors.of(self.dictionary), len(self.output_names)
        return ReprojectedStructure(regressors, outputs, self.signals.embedding, self.bounds)

    def free_runs(self, states: FloatArray, acting: FloatArray) -> FloatArray:
        """Simulate by compiled loops."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._structure.simulate(self.coef, states, acting)

    def from_each(
        self, states: FloatArray, following: FloatArray, horizons: Sequence[int]
    ) -> Iterator[tuple[int, FloatArray]]:
        """Simulate by compiled loops, some starts at a time; windows that end early are filled up with zeros."""
        steps = min(max(horizons), len(following))
        wanted = [h for h in horizons if h <= steps]
        padded = np.concatenate([following, np.zeros((len(states) + steps, following.shape[1]))])
        windows = np.lib.stride_tricks.sliding_window_view(padded, steps, axis=0).transpose(0, 2, 1)
        found = np.empty((len(states), len(wanted), len(self.output_names)))
        for first in range(0, len(states), _STARTS_AT_A_TIME):
            part = slice(first, first + _STARTS_AT_A_TIME)
            found[part] = self.free_runs(states[part], windows[: len(states)][part])[:, np.array(wanted) - 1]
        for place, h in enumerate(wanted):
            yield h, found[: len(following) + 1 - h, place]

    @property
    def step_terms(self) -> tuple[str, ...]:
        """Observables and input terms."""
        return self.dictionary.regressors

    @property
    def step_coef(self) -> FloatArray:
        """The coefficients."""
        return self.coef

    def step_targets(self, state: FloatArray) -> FloatArray:
        """Return the outputs."""
        return state[: len(self.output_names)]

    def with_step_coef(self, coef: FloatArray) -> Self:
        """Return the model with other coefficients."""
        return replace(self, coef=coef)

    def read(self, carried: FloatArray) -> FloatArray:
        """Return the outputs, which are the first columns of the state."""
        return carried[:, : len(self.output_names)]

    @property
    def carried_names(self) -> tuple[str, ...]:
        """Names of the state's columns."""
        return self.signals.state_names

    def start_map(self) -> TermMap:
        """Return the state itself."""
        return TermMap.linear(self.carried_names, self.carried_names, np.eye(len(self.carried_names)))

    def step_map(self) -> TermMap:
        """Return the sums that predict the outputs, held within bounds, and the copies of the delay line."""
        phi, names, acting = self.dictionary, self.carried_names, self.signals.acting
        n, both = len(names), len(names) + len(acting)
        widths = (n,) * len(phi.families) + (both,) * len(phi.input_families)
        sources = self.signals.embedding.shift_sources(len(self.output_names), len(acting))
        families = phi.families + phi.input_families
        return TermMap(names + acting, names, families, widths, self.coef.T, sources, self.bounds)

    def read_map(self) -> TermMap:
        """Return the first columns of the state."""
        return TermMap.linear(
            self.carried_names, self.output_names, np.eye(len(self.output_names), len(self.carried_names))
        )

    def working_range(self) -> FloatArray:
        """Return the region of the data."""
        return self.region

    def jacobians(self, carried: FloatArray, acting: FloatArray) -> Linearisation:
        """Return the derivatives of one step around each point, rows of the delay line being exact shifts.

        An output that is held at its limit does not change.
        """
        return self._linearised(carried, acting, held_slope=0.0)

    def unheld_jacobians(self, carried: FloatArray, acting: FloatArray) -> Linearisation:
        """Return the same with the slopes of the sums themselves, also where an output is held at its limit."""
        return self._linearised(carried, acting, held_slope=1.0)

    def _linearised(self, carried: FloatArray, acting: FloatArray, held_slope: float) -> Linearisation:
        (count, n), width, outputs = carried.shape, acting.shape[1], len(self.output_names)
        points = np.concatenate([carried, acting], axis=1)
        predicted, slope = self._structure.linearised(self.coef, points)
        held = np.clip(predicted, *self.bounds)
        slope *= np.where(held == predicted, 1.0, held_slope)[:, :, None]
        step = np.zeros((count, n, n + width))
        step[:, outputs:] = self._shift
        step[:, :outputs] = slope
        offset = np.zeros((count, n))
        offset[:, :outputs] = held - np.einsum("pcd,pd->pc", slope, points)
        return Linearisation(step[:, :, :n], step[:, :, n:], np.eye(n)[:outputs], offset)

    @cached_property
    def _shift(self) -> FloatArray:
        """How the delayed samples come from the state and the acting inputs, shape (n − n_outputs, n + l)."""
        outputs, width, n = len(self.output_names), len(self.input_names), len(self.carried_names)
        return np.eye(n + width)[self.signals.embedding.shift_sources(outputs, width)[outputs:]]

    def arrays(self) -> Mapping[str, FloatArray]:
        """Return the coefficients, the region and the limits."""
        limits = {} if self.limits is None else {"limits": self.limits}
        return {"coef": self.coef, "region": self.region, **limits}
