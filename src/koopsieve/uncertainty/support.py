"""The support of a model's data, so that a prediction can say when it leaves them.

Two things are kept: the region, which is the least and largest value of every state and input, and the leverage of the
samples in the regression. Leverage φᵀ(ΦᵀΦ)⁻¹φ finds combinations that the data do not hold although every signal alone
stays within its bounds; the region finds one signal that goes too far among many regressors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from koopsieve._display import Facts, Shown, shorten
from koopsieve._types import BoolArray, FloatArray, KoopsieveError, magnitude, or_one
from koopsieve.data import Trajectories
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate.rollout import chunks
from koopsieve.regression import RegressionStatistics

REGION_MARGIN = 0.05  # of the width of the region; held-out data of the same kind go a little beyond it
OFTEN_OUTSIDE = 0.02  # share of the samples of a signal outside the region that is worth a word
HELD_OUT_MARGIN = 1.5  # limits are this times the quantile below on held-out data
_LIMIT_QUANTILE = 0.999
_MIN_SINGULAR = 1e-8  # directions of the scaled design weaker than this times the strongest are left out


@dataclass(frozen=True, eq=False, repr=False)
class Support(Shown):
    """The region of the data and the leverage of their samples.

    Parameters
    ----------
    regressors : tuple of str
        Names of the observables and input terms that leverage is computed from.
    whitening : array, shape (p, r)
        The leverage of a row φ, one on average over the data, is ‖φW‖²: (D61).
    limit : float
        Leverage above which a sample lies outside.
    region : array, shape (2, n + l)
        Least and largest value of every state and acting input.
    reach : array, shape (2, n_outputs)
        Least and largest prediction of each output on held-out data, at least the region with its margin.
    """

    regressors: tuple[str, ...]
    whitening: FloatArray
    limit: float
    region: FloatArray
    reach: FloatArray

    def __post_init__(self) -> None:
        whole = self.whitening.ndim == 2 and len(self.whitening) == len(self.regressors)
        if not whole or self.region.ndim != 2 or len(self.region) != 2 or len(self.reach) != 2:
            raise KoopsieveError("The support does not fit together: its arrays belong to other regressors.")
        in_order = all((low <= high).all() for low, high in (self.region, self.reach))  # predictions may have no limit
        if not (in_order and np.isfinite(self.whitening).all() and np.isfinite(self.region).all()):
            raise KoopsieveError("The support of the data must be finite, with bounds in order.")

    def leverage(self, dictionary: Dictionary, states: FloatArray, acting: FloatArray) -> FloatArray:
        """Return the leverage of samples (states, inputs), one on average over the data, shape (samples,)."""
        position = {name: i for i, name in enumerate(dictionary.regressors)}
        columns = [position[name] for name in self.regressors]
        found = np.empty(len(states))
        for part in chunks(len(states), len(position)):
            with np.errstate(all="ignore"):
                rows = dictionary.evaluate(np.concatenate([states[part], acting[part]], axis=1))[:, columns]
                found[part] = np.sum((rows @ self.whitening) ** 2, axis=1)
        return found

    def outside(
        self, dictionary: Dictionary, states: FloatArray, acting: FloatArray, predicted: FloatArray
    ) -> BoolArray:
        """Return which predictions lie outside the data, shape (starts, steps).

        A prediction does if its start (states: (starts, n)) does, or one of the inputs (starts, steps, l) up to it, or
        a combination of states and inputs on the way, or if it or one before it, `predicted` (starts, steps,
        n_outputs), goes further beyond the region than predictions do on held-out data.
        """
        n, shift = states.shape[1], dictionary.signals.embedding.shift
        low, high = widened(self.region, REGION_MARGIN * np.ptp(self.region, axis=0))
        step = beyond(acting, low[n:], high[n:]) | beyond(predicted, *self.reach)
        step |= beyond(states, low[:n], high[:n])[:, None]
        for k in range(step.shape[1]):
            step[:, k] |= ~(self.leverage(dictionary, states, acting[:, k]) <= self.limit)
            states = shift(states, predicted[:, k], acting[:, k])
        since: BoolArray = np.maximum.accumulate(step, axis=1)
        return since

    def exceeded_by(self, data: Trajectories) -> str:
        """Return which measured signals of the data, delays embedded, often leave the region; empty if none does."""
        columns = [*range(data.n_outputs), *range(data.n_states, data.n_states + data.n_inputs)]
        states, acting = np.concatenate([x[:-1] for x in data.states]), np.concatenate(data.inputs)
        seen, region = np.concatenate([states, acting], axis=1)[:, columns], self.region[:, columns]
        low, high = widened(region, REGION_MARGIN * np.ptp(region, axis=0))
        share = ((seen < low) | (seen > high)).mean(axis=0)
        found = [
            f"{name!r} from {seen[:, i].min():.3g} to {seen[:, i].max():.3g}, in the learning data from "
            f"{region[0, i]:.3g} to {region[1, i]:.3g} ({100 * share[i]:.0f} % of the samples outside)"
            for i, name in enumerate((*data.output_names, *data.input_names))
            if share[i] > OFTEN_OUTSIDE
        ]
        return "; ".join(found)

    def _facts(self) -> Facts:
        return {"regressors": shorten(self.regressors), "leverage below": f"{self.limit:.3g}"}


def widened(region: FloatArray, by: FloatArray) -> FloatArray:
    """Return least and largest values (2, d) moved apart."""
    return np.stack([region[0] - by, region[1] + by])


def beyond(values: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return where a vector, the last axis of `values`, is not between its bounds."""
    within: BoolArray = np.all((values >= low) & (values <= high), axis=-1)
    return ~within


def support_of(
    dictionary: Dictionary,
    statistics: RegressionStatistics,
    states: FloatArray,
    acting: FloatArray,
    predicted: FloatArray,
) -> Support | None:
    """Return the support of the statistics, with limits from held-out samples and predictions; None without a region.

    The statistics are of the data that the model was learned from, and may hold further regressors. `states` and
    `acting` are held-out samples, `predicted` (windows, steps, n_outputs) the predictions on held-out windows.
    """
    if statistics.region is None:
        return None
    position = {name: i for i, name in enumerate(statistics.regressors)}
    shared = tuple(name for name in dictionary.regressors if name in position)
    whitening = _whitening(statistics.R[:, [position[name] for name in shared]], statistics.rows)
    found = Support(shared, whitening, np.inf, statistics.region, _reach(statistics.region, predicted))
    usual = float(np.quantile(found.leverage(dictionary, states, acting), _LIMIT_QUANTILE, method="higher"))
    return replace(found, limit=HELD_OUT_MARGIN * usual)


def _reach(region: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return the limits of predictions on held-out data, at least the region of the outputs with its margin."""
    own = region[:, : predicted.shape[2]]
    with np.errstate(invalid="ignore"):
        excess = np.maximum(own[0] - predicted, predicted - own[1]).max(axis=1, initial=0.0)
    usual = np.quantile(np.nan_to_num(excess, nan=np.inf, posinf=np.inf), _LIMIT_QUANTILE, axis=0, method="higher")
    return widened(own, np.maximum(HELD_OUT_MARGIN * usual, REGION_MARGIN * np.ptp(own, axis=0)))


def _whitening(R: FloatArray, rows: float) -> FloatArray:
    """Return W of (D61), with ‖φW‖² the leverage of φ, without directions that the data hardly excite."""
    unit = magnitude(R)
    length = np.linalg.norm(R / unit, axis=0)
    scale = unit * or_one(length)
    _, singular, directions = np.linalg.svd(R / scale, full_matrices=False)
    strong = singular > _MIN_SINGULAR * singular.max(initial=0.0)
    size = np.sqrt(rows / max(int(strong.sum()), 1))
    whitening: FloatArray = size * directions[strong].T / singular[strong] / scale[:, None]
    return whitening
