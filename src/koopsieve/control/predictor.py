"""A model that runs beside a plant, one sample at a time: predictions, a test of the model, and a model kept current.

Comes in: measured samples. Goes out: predictions from the newest one, and, with `adapt`, the model refitted by
recursive least squares that forgets no more than new samples can replace (D91).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import NOT_NEGATIVE, FloatArray, KoopsieveError, real_number, whole_number
from koopsieve.control.limits import per_signal
from koopsieve.control.prediction_matrices import simulated
from koopsieve.control.state_estimate import FromHistory, Innovations, Situation
from koopsieve.forms import Model
from koopsieve.forms.prediction import as_rows, checked_horizon, finite_array, measured_state

LEAST_INFORMATION = 0.05  # of what `memory` samples of the model's own data hold, which is never forgotten
MIN_MEMORY = 10  # samples; with fewer the coefficients follow the noise
DEAD_ZONE = 1.0  # standard deviations: smaller innovations are noise


@dataclass(frozen=True, eq=False)
class Adaptation:
    """Coefficients that follow the samples; pure: every update returns the next."""

    model: Model  # with the coefficients found so far
    # (terms, r): directions in which the coefficients may move: those that the data of the model excited
    whitening: FloatArray
    information: FloatArray  # (r, r): what is known of these directions, in units of the noise
    memory: int  # samples that are remembered

    @classmethod
    def of(cls, model: Model, memory: int) -> Adaptation:
        """Begin at the model's own coefficients, known as well as `memory` samples of its data would tell them.

        Refuses a form without coefficients that a regression finds, and a model that does not know its data.
        """
        whole_number("adapt, the samples to remember,", memory, MIN_MEMORY)
        terms, support = model.step_terms, model.support
        if terms is None or support is None or model.noise is None or set(support.regressors) != set(terms):
            raise KoopsieveError(
                f"A {model.form} model cannot be refitted sample by sample, or does not know the data that it was "
                'learned from. Use a model from sift(…, form="reprojected") or form="linear".'
            )
        W = support.whitening[[support.regressors.index(name) for name in terms]]
        return cls(model, W, memory / W.shape[1] * np.eye(W.shape[1]), memory)

    def following(self, state: FloatArray, acting: FloatArray, following: FloatArray) -> Adaptation:
        """Return the coefficients after one sample: a state, the input that acted, and the state after it."""
        row, target = self.model.step_row(state, acting), self.model.step_targets(following)
        white, lost = row @ self.whitening, 1 / self.memory
        if not np.isfinite(white).all():
            return self
        least = LEAST_INFORMATION * self.memory / len(white) * np.eye(len(white))
        information = (1 - lost) * self.information + lost * least + np.outer(white, white)
        change = self.whitening @ np.linalg.solve(information, white)
        coef = self.model.step_coef + np.outer(change, target - row @ self.model.step_coef)
        return replace(self, model=self.model.with_step_coef(coef), information=information)


@dataclass(eq=False)
class Predictor:
    """A model beside a plant. This object changes with every sample.

    Parameters
    ----------
    model : Model
        As it is now; with `adapt` it changes.
    adapt : int, optional
        Refit the coefficients at every sample; the number of samples to remember. Left out, the model stays as it is.
    dead_zone : float, optional
        Innovations of fewer standard deviations teach nothing: they are noise. With `adapt`; 1 if left out.
    gate : float
        Standard deviations beyond which a sample is a spike and not used, one at most.
    gain : float
        Share of the newest one-step error that goes into a constant disturbance of the predictions.

    Examples
    --------
    >>> import koopsieve as ks
    >>> rng = np.random.default_rng(0)
    >>> u, y = rng.normal(size=400), [0.0]
    >>> for v in u[:-1]:
    ...     y.append(0.8 * y[-1] + v)
    >>> data = ks.Trajectories.from_arrays(np.array(y) + 0.01 * rng.normal(size=400), u)
    >>> model = ks.sift(data, ks.States() + ks.Constant(), form="linear", horizons=[1, 5]).model
    >>> predictor = ks.control.Predictor(model)
    >>> for sample, acted in zip(y[1:20], u[:19]):
    ...     innovations = predictor.update(sample, acted)
    >>> predictor.forecast(u[19:22], 3).shape, innovations.consistent
    ((3, 1), True)
    """

    model: Model
    adapt: int | None = None
    dead_zone: float | None = None
    gate: float = 8.0
    gain: float = 0.0
    _rows: list[FloatArray] = field(init=False, repr=False)
    _acted: list[FloatArray] = field(init=False, repr=False)
    _now: Situation | None = field(init=False, repr=False)
    _adaptation: Adaptation | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.dead_zone is not None:
            real_number("dead_zone, in standard deviations,", self.dead_zone, NOT_NEGATIVE)
            if self.adapt is None:
                raise KoopsieveError("dead_zone= has no effect on a model that stays as it is. Give adapt= too.")
        _ = self._estimator  # checks gate and gain
        self._adaptation = None if self.adapt is None else Adaptation.of(self.model, self.adapt)
        self.reset()

    def reset(self) -> None:
        """Forget the samples, not what was learned from them."""
        self._rows, self._acted, self._now = [], [], None

    @property
    def innovations(self) -> Innovations:
        """The newest sample less its prediction, and a test of the model."""
        return Innovations.none(len(self.model.signals.outputs)) if self._now is None else self._now.innovations

    def update(self, measured: ArrayLike, acted: ArrayLike | None = None) -> Innovations:
        """Take one sample.

        Parameters
        ----------
        measured : array, shape (n_outputs,)
            NaN where one is missing; not among the first `model.history` samples.
        acted : array, shape (l,), optional
            The input that acted since the sample before; not needed at the first one, and in a model without inputs.

        Returns
        -------
        Innovations
        """
        signals, known = self.model.signals, self._now is not None
        y = per_signal("measured", measured, signals.outputs, missing=known)
        if acted is None and signals.inputs and self._rows:
            raise KoopsieveError(
                f"acted, the inputs since the sample before ({', '.join(signals.inputs[:6])}), is needed from the "
                "second sample on. Got none."
            )
        u = per_signal("acted", np.zeros(len(signals.inputs)) if acted is None else acted, signals.inputs)
        if self._now is None:
            self._begin(y, u)
        else:
            before, self._now = self._now, self._estimator.update(self._now, u, y)
            self._learn(before, u)
        return self.innovations

    def forecast(self, inputs: ArrayLike | None = None, horizon: int = 1) -> FloatArray:
        """Predict the outputs 1, …, `horizon` steps after the newest sample, shape (horizon, n_outputs).

        Parameters
        ----------
        inputs : array, shape (horizon, l), optional
            The inputs that act in these steps; may be left out if the model has none.
        horizon : int
        """
        steps, width = checked_horizon(horizon), len(self.model.signals.inputs)
        if self._now is None:
            raise KoopsieveError(f"A prediction needs {self.model.history} samples first. Got {len(self._rows)}.")
        given = np.zeros((steps, 0)) if inputs is None else as_rows(finite_array("inputs", inputs), width)
        if given.shape != (steps, width):
            raise KoopsieveError(
                f"inputs must hold those of every step. Expected ({steps}, {width}), got {given.shape}."
            )
        path = simulated(self.model, self._now.carried, self._now.disturbance, given[None])[0]
        return self.model.read(path[1:])

    @property
    def _estimator(self) -> FromHistory:
        return FromHistory(self.model, self.gain, self.gate)

    def _begin(self, y: FloatArray, u: FloatArray) -> None:
        """Collect the first rows until there are enough for a state."""
        self._acted = [*self._acted, u] if self._rows else []
        self._rows = [*self._rows, y]
        if len(self._rows) >= self.model.history:
            signals, n = self.model.signals, len(self._rows)
            unused = np.zeros((signals.embedding.input_lead, len(signals.inputs)))
            past = np.vstack([unused, *self._acted]) if n > 1 else unused
            self._now = self._estimator.start(measured_state(signals, np.array(self._rows), past))

    def _learn(self, before: Situation, acted: FloatArray) -> None:
        """Refit with the newest sample, if it is whole and says more than noise."""
        now = self.innovations
        if self._adaptation is None or self._now is None or not now.taken.all():
            return
        if (np.abs(now.values) <= (DEAD_ZONE if self.dead_zone is None else self.dead_zone) * now.deviation).all():
            return
        self._adaptation = self._adaptation.following(before.line, acted, self._now.line)
        self.model = self._adaptation.model
        self._now = replace(self._now, carried=self.model.start(self._now.line[None])[0])
