"""Cross-validation where data are few: every candidate is fitted again without each part, and judged on that part.

The sets are those that the learning part gave; only their coefficients are fitted again. With the validation data, on
which the models of the path themselves are judged, the folds cover all data once. Errors of all folds are relative to
one variance, so a quiet fold counts little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.evaluate import WindowErrors, simulation_errors, window_errors
from koopsieve.forms import Candidates, Model, Task
from koopsieve.forms.path import PathPoint
from koopsieve.sifting.choose import FAR_BETTER, UNRELATED, Evidence, scores
from koopsieve.sifting.parts import Parts

HOPELESS = math.log(30.0)  # of the score above the best on the validation data, beyond which there is no second look
NEAR_AT_SHORT = math.log(3.0)  # above the best at the shorter horizons, where the plant seems to be unstable
ALWAYS_JUDGED = 2  # points of a path that is so short are all fitted again, unless another search is far better


def judged_again(found: Candidates, parts: Parts, least: float = np.inf) -> Candidates:
    """Return the path with its points simulated over many steps, and judged on all folds where there are some.

    Points that are hopeless on the validation data, beside the best of the path or beside the score `least` of another
    search, are neither simulated nor fitted again; they are kept with infinite errors on the folds.
    """
    found = replace(found, points=_simulated(found, parts, least))
    if not parts.folds or not parts.validated:
        return found
    score = _scores(found)
    most = max(score.min(), min(score.min(), least) + HOPELESS) if _compared(found, least) else np.inf
    promising = np.flatnonzero((score <= most) | _far_better_at_short_horizons(found)).tolist()
    models = [found.refitted(promising, fold.learn) for fold in parts.folds]
    judged = {i: _judged(found.points[i], [of_fold[k] for of_fold in models], parts) for k, i in enumerate(promising)}
    like = judged[promising[0]]
    points = tuple(judged[i] if i in judged else _hopeless(point, like) for i, point in enumerate(found.points))
    return replace(found, points=points)


def best_score(searches: Sequence[tuple[Candidates, Parts]]) -> float:
    """Return the least score on the validation data of all searches, the best model of each being simulated."""
    best = [replace(found, points=(found.points[int(np.argmin(_scores(found)))],)) for found, _ in searches]
    pairs = zip(best, (parts for _, parts in searches), strict=True)
    return min(float(_scores(replace(one, points=_simulated(one, parts)))[0]) for one, parts in pairs)


def _simulated(found: Candidates, parts: Parts, least: float = np.inf) -> tuple[PathPoint, ...]:
    """Return the points, the best of them simulated over many steps; those that are hopeless are not."""
    points, score, compared = list(found.points), _scores(found), _compared(found, least)
    for i in np.argsort(score, kind="stable").tolist():
        if compared and score[i] > max(score.min(), least + HOPELESS):
            break
        points[i] = replace(points[i], bounded=bounded(points[i].model, found.task, parts))
        least = min(least, float(_scores(replace(found, points=(points[i],)))[0]))
    return tuple(points)


def _far_better_at_short_horizons(found: Candidates) -> BoolArray:
    """Tell which points run away, but are far better than all others at the shorter horizons: of an unstable plant."""
    short = scores(Evidence.of(found.points, short=True))
    away = np.array([not np.mean(point.runs) <= UNRELATED for point in found.points])
    best, other = short[away].min(initial=np.inf), short[~away].min(initial=np.inf)
    if not best + math.log(FAR_BETTER) < other:
        return np.zeros(len(short), dtype=bool)
    near: BoolArray = away & (short <= best + NEAR_AT_SHORT)
    return near


def _compared(found: Candidates, least: float) -> bool:
    """Tell whether points may be hopeless: not in a path of a few where no other search gave a score."""
    return len(found.points) > ALWAYS_JUDGED or least < math.inf


def _scores(found: Candidates) -> FloatArray:
    """Return the score of every point on the validation data; inf where it has more terms than were asked for."""
    most = found.task.max_terms
    small = np.array([most is None or point.size <= most for point in found.points])
    return np.where(small | ~small.any(), scores(Evidence.of(found.points)), np.inf)


def bounded(model: Model, task: Task, parts: Parts) -> bool:
    """Tell whether long runs with the inputs of the data stay in their range, and do not drift away from them."""
    return task.stays_bounded(model) and not parts.drifts(model)


def fold_errors(models: Sequence[Model], parts: Parts) -> tuple[WindowErrors, FloatArray]:
    """Return the errors of one candidate: a model per fold, and the one to judge on the validation data."""
    windows = [*(fold.windows for fold in parts.folds), parts.windows]
    pairs = list(zip(models, windows, strict=True))
    errors = [window_errors(model, data, parts.horizons, parts.variance) for model, data in pairs]
    runs = [simulation_errors(model, data, parts.variance, least=1) for model, data in pairs]
    return WindowErrors.joined(errors), np.concatenate(runs)


def _judged(point: PathPoint, models: Sequence[Model], parts: Parts) -> PathPoint:
    errors, runs = fold_errors([*models, point.model], parts)
    return replace(point, errors=errors, runs=runs)


def _hopeless(point: PathPoint, like: PathPoint) -> PathPoint:
    """Return a point with its errors on the validation data, and infinite ones to compare, as many as another has."""
    errors = replace(point.errors, blocks=np.full_like(like.errors.blocks, np.inf))
    return replace(point, errors=errors, runs=np.full_like(like.runs, np.inf))
