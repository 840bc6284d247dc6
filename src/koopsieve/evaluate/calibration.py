"""Bands from held-out windows: half-widths that cover the stated share of windows which had no part in them.

Comes in: a model and data that it has not learned from. Goes out: `Bands` per step, output and level.

Split conformal prediction takes the quantile of the errors on held-out windows. Windows overlap, so N of them tell far
less than N independent ones, and the quantile covers less of new data than its level says. How much less is measured:
windows are put in blocks, the quantile of all other blocks is tried on each, and the level is raised until the share
covered there is the one asked for. Errors are first divided by a spread that depends on the start, fitted without the
windows that it is applied to. See (D57) to (D60) in docs/derivation.md.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from koopsieve._types import FloatArray, IndexArray
from koopsieve.data import Trajectories
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate.along import ErrorsAlong, errors_along
from koopsieve.evaluate.local_spread import fit_spread
from koopsieve.model import Bands, BilinearModel, Calibration, LiftedModel, Model
from koopsieve.model.bands import LEVELS, SHAPE_LEVEL, at_level, calibration_steps
from koopsieve.model.certificates import certified
from koopsieve.model.interpolate import at_steps
from koopsieve.model.support import support_of
from koopsieve.regression import RegressionStatistics

BLOCK_HORIZONS = 2  # length of a block of windows, in horizons, at least
MAX_BLOCKS = 50
MAX_POINTS = 20_000  # held-out points whose leverage is looked at


def calibrate(
    model: Model,
    held_out: Trajectories,
    horizon: int,
    *,
    statistics: RegressionStatistics | None = None,
    before: Model | None = None,
) -> Model:
    """Return the model with bands up to `horizon` steps ahead, and with what it was learned from where that is known.

    Parameters
    ----------
    model : Model
    held_out : Trajectories
        Data that the model, or `before`, has not learned from, of the kind that it will predict.
    horizon : int
        Steps ahead; an episode must be longer.
    statistics : RegressionStatistics, optional
        Of the data that the model was learned from. Then predictions also say when they leave these data, and a linear
        or bilinear model knows the residuals of its eigenvalues.
    before : Model, optional
        The same model learned without the held-out data, where `model` has since learned from them too: errors are
        those of `before`, which errs a little more.

    Returns
    -------
    Model
        The same with another `calibration`.

    Raises
    ------
    KoopsieveError
        If the data do not fit the model, or no episode is longer than the horizon.
    """
    errors = errors_along(model if before is None else before, held_out, horizon)
    known = Calibration() if model.calibration is None else model.calibration
    known = replace(known, bands=bands_from(errors, model.dictionary))
    if statistics is not None:
        states, acting = np.concatenate([x[:-1] for x in errors.data.states]), np.concatenate(errors.data.inputs)
        some = slice(None, None, -(-len(states) // MAX_POINTS))
        predicted = errors.whole(errors.reaching(horizon))[2]
        if statistics.region is None:  # those of windows that were simulated do not know it, but their model does
            statistics = replace(statistics, region=getattr(model, "region", None))
        support = support_of(model.dictionary, statistics, states[some], acting[some], predicted)
        certificate = certified(model, statistics) if isinstance(model, LiftedModel | BilinearModel) else None
        known = replace(known, support=support, certificate=certificate)
    return replace(model, calibration=known)  # type: ignore[type-var]


def bands_from(errors: ErrorsAlong, dictionary: Dictionary) -> Bands:
    """Return bands up to the errors' horizon, as wide after each start as the windows show they must be: (D60)."""
    steps = calibration_steps(errors.horizon)
    local, scale = fit_spread(errors, dictionary)
    scores = np.abs(errors.errors) / scale
    widths = np.stack([_marginal(scores[:, h - 1], errors, int(h)) for h in steps])
    shape = at_steps(steps, at_level(widths, SHAPE_LEVEL), np.arange(1, errors.horizon + 1))
    largest = np.maximum.accumulate(np.max(_ratio(scores, shape), axis=2), axis=1)
    joint = np.stack([_quantiles(largest[:, h - 1], errors, int(h)) for h in steps])
    windows = np.array([errors.side_by_side(int(h)) for h in steps])
    return Bands(steps, widths, joint, windows, local)


def _marginal(scores: FloatArray, errors: ErrorsAlong, horizon: int) -> FloatArray:
    """Return the half-widths at one step from scores (windows, n_outputs), shape (n_outputs, levels)."""
    return np.stack([_quantiles(column, errors, horizon) for column in scores.T])


def _quantiles(scores: FloatArray, errors: ErrorsAlong, horizon: int) -> FloatArray:
    """Return the scores that new windows stay below with the probability of each level: (D59)."""
    reaching = errors.reaching(horizon)
    values = scores[reaching]
    levels = order_statistic(held_out_ranks(values, blocks(errors, reaching, horizon)), LEVELS)
    found: FloatArray = np.where(LEVELS == 0, 0.0, order_statistic(values, levels))
    return found


def held_out_ranks(scores: FloatArray, block: IndexArray) -> FloatArray:
    """Return for each score the share of those in other blocks that are not larger: (D58).

    The quantile at p of the other blocks covers a score if its rank is at most p. So the share covered is level where p
    is the quantile of the ranks at that level.
    """
    among_all = np.searchsorted(np.sort(scores), scores, side="right")
    ranks = np.empty(len(scores))
    for one in np.unique(block):
        mine = np.flatnonzero(block == one)
        own = np.searchsorted(np.sort(scores[mine]), scores[mine], side="right")
        ranks[mine] = (among_all[mine] - own) / max(len(scores) - len(mine), 1)
    return ranks


def blocks(errors: ErrorsAlong, windows: IndexArray, horizon: int) -> IndexArray:
    """Return the number of each window's block: stretches of two horizons or longer, within one episode each.

    There are fifty at most, of which one may then hold several short episodes, and at least two.
    """
    lengths = np.array([max(0, len(x) - horizon) for x in errors.data.states])
    longest = max(BLOCK_HORIZONS * horizon, int(lengths.sum()) // MAX_BLOCKS)
    counts = np.maximum(1, lengths // longest)
    if np.sum(counts[lengths > 0]) < 2:
        counts = np.full(len(counts), 2)
    episode = errors.episodes[windows]
    within = errors.starts[windows] * counts[episode] // lengths[episode]
    number: IndexArray = np.cumsum(counts)[episode] - counts[episode] + within
    total = int(counts.sum())
    return number * min(total, MAX_BLOCKS) // total


def order_statistic(values: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the smallest value that at least the given share of all values does not exceed."""
    ordered = np.sort(values)
    index = np.clip(np.ceil(shares * len(ordered) - 1e-9).astype(int) - 1, 0, len(ordered) - 1)
    found: FloatArray = ordered[index]
    return found


def _ratio(errors: FloatArray, shape: FloatArray) -> FloatArray:
    """Return the errors in units of the band; an error of zero is zero in any unit."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = errors / shape
    ratio = np.where(np.isinf(shape), 0.0, ratio)  # an infinite band holds everything
    return np.where(errors == 0, 0.0, np.where(np.isnan(errors), np.nan, ratio))
