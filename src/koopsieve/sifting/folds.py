"""Cross-validation where data are few: every candidate is fitted again without each part, and judged on that part.

The sets are those that the learning part gave; only their coefficients are fitted again. With the validation data, on
which the models of the path themselves are judged, the folds cover all data once. Errors of all folds are relative to
one variance, so a quiet fold counts little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.evaluate import WindowErrors, simulation_errors, window_errors
from koopsieve.forms import Candidates, Model, Task
from koopsieve.forms.path import PathPoint
from koopsieve.sifting.choose import near_the_best
from koopsieve.sifting.split import Parts

ALWAYS_JUDGED = 2  # points of a path that is so short are all fitted again


def judged_again(found: Candidates, parts: Parts) -> Candidates:
    """Return the path with every point simulated over many steps, and judged on all folds where there are some.

    Points that are hopeless on the validation data are not fitted again; they are kept with infinite errors elsewhere.
    """
    points = tuple(replace(point, bounded=bounded(point.model, found.task, parts)) for point in found.points)
    found = replace(found, points=points)
    if not parts.folds or not parts.validated:
        return found
    promising = near_the_best(found.points) if len(found.points) > ALWAYS_JUDGED else list(range(len(found.points)))
    models = [found.refitted(promising, fold.learn) for fold in parts.folds]
    of_point = {i: [of_fold[k] for of_fold in models] for k, i in enumerate(promising)}
    points = tuple(_judged(point, of_point.get(i, []), parts) for i, point in enumerate(found.points))
    return replace(found, points=points)


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
    errors, runs = fold_errors([*(models or [point.model] * len(parts.folds)), point.model], parts)
    if not models:
        errors, runs = replace(errors, blocks=np.full_like(errors.blocks, np.inf)), np.full_like(runs, np.inf)
    return replace(point, errors=errors, runs=runs)
