"""Cross-validation where data are few: every candidate is fitted again without each part, and judged on that part.

The sets are those that the learning part gave; only their coefficients are fitted again. With the validation data, on
which the models of the path themselves are judged, the folds cover all data once. Errors of all folds are relative to
one variance, so a quiet fold counts little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.data import Trajectories
from koopsieve.evaluate import WindowErrors, simulation_errors, window_errors
from koopsieve.evaluate.horizon_errors import clipped_errors
from koopsieve.execution import in_this_process, silent
from koopsieve.forms import Candidates, Model, Task
from koopsieve.forms.path import PathPoint
from koopsieve.sifting.choose import FAR_BETTER, MAX_TOLERANCE, UNRELATED, Evidence, clearly_worse, scores
from koopsieve.sifting.parts import Fold, Parts

HOPELESS = math.log(30.0)  # of the score above the best on the validation data, beyond which no fold is tried
NEAR_AT_SHORT = math.log(3.0)  # above the best at the shorter horizons, where the plant seems to be unstable
ALWAYS_JUDGED = 2  # points of a path that is so short are all fitted again, unless another search is far better


def judged_again(found: Candidates, parts: Parts, least: float = np.inf, rival: PathPoint | None = None) -> Candidates:
    """Return the path with its points simulated over many steps, and judged on all folds where there are some.

    Points that are hopeless on the validation data, beside the best of the path or beside the score `least` of another
    search, are neither simulated nor fitted again. The others are fitted fold by fold, and stop where they are clearly
    worse than the best of the path on the folds so far, or than `rival`, the choice of another search. Points that
    stopped are kept with infinite errors on the folds: see `stopped`.
    """
    found = replace(found, points=_simulated(found, parts, least))
    if not parts.folds or not parts.validated:
        return found
    score = _scores(found)
    most = max(score.min(), min(score.min(), least) + HOPELESS) if _compared(found, least) else np.inf
    short = _far_better_at_short_horizons(found)
    promising = np.flatnonzero((score <= most) | short).tolist()
    judged = {i: _on_part(found.points[i], found.points[i].model, parts.windows, parts) for i in promising}
    known, race = {**dict(enumerate(found.points)), **judged}, _compared(found, least) or rival is not None
    for fold in parts.folds:
        judged = _still_promising(judged, rival, short) if race else judged
        models = zip(judged, found.refitted(list(judged), fold.learn), strict=True)
        judged = {i: _joined(judged[i], _on_fold(judged[i], model, fold, parts)) for i, model in models}
        known |= judged
    survivors = list(judged.values())
    best = survivors[int(np.argmin(scores(Evidence.of(survivors))))]
    return replace(found, points=tuple(stopped(known[i], best) for i in range(len(found.points))))


def searched_again(found: Candidates, parts: Parts, most: int) -> Candidates:
    """Return the path, its points of at most `most` terms judged on sets that were searched for without each fold.

    `judged_again` fits the same sets to the folds, and these were found with all learning data in view. Where data are
    few that flatters them: a term that fits the noise of one fold does so in the fit to the others. The set of its size
    that a search without the fold finds is worse than the point itself, since it has fewer data. Each point is judged
    by the geometric mean of the two.
    """
    task = replace(found.task, max_terms=most, rivals=(), to_beat=np.inf, progress=silent)

    def searched(fold: Fold) -> tuple[PathPoint, ...]:
        given = replace(task, learn=fold.learn, validation=fold.windows, windows=fold.windows)
        return found.form.candidates(given).points

    small = {i: _run_for_long(one, found.task, parts) for i, one in enumerate(found.points) if one.size <= most}
    points = {i: _on_part(one, one.model, parts.windows, parts) for i, one in small.items()}
    searches = zip(parts.folds, in_this_process(task.executor).map(searched, parts.folds), strict=True)
    for fold, path in found.task.progress(searches, "Searching again", len(parts.folds)):
        for i, point in points.items():
            alike = min(path, key=lambda one: (abs(math.log(one.size / point.size)), one.size))
            points[i] = _joined(point, _on_fold(point, alike.model, fold, parts))
    both = [_between(point, points[i]) if i in points else point for i, point in enumerate(found.points)]
    return replace(found, points=tuple(both))


def _between(one: PathPoint, other: PathPoint) -> PathPoint:
    """Return a point with the geometric mean of the errors that it was given twice."""
    blocks = np.sqrt(one.errors.blocks) * np.sqrt(other.errors.blocks)
    runs = np.sqrt(one.runs) * np.sqrt(other.runs)
    return replace(other, errors=replace(other.errors, blocks=blocks), runs=runs)


def _still_promising(
    judged: Mapping[int, PathPoint], rival: PathPoint | None, short: BoolArray
) -> dict[int, PathPoint]:
    """Return the points to fit to a further fold: the best, what is not clearly worse, and what `short` says."""
    points = list(judged.values())
    best = int(np.argmin(scores(Evidence.of(points))))
    if rival is not None:
        errors, count = rival.errors, points[0].errors.blocks.shape[1]
        first = replace(errors, blocks=errors.blocks[:, :count])  # of the parts that these points were judged on so far
        points.append(replace(rival, errors=first, runs=rival.runs[: len(points[0].runs)]))
    worse = clearly_worse(Evidence.of(points), MAX_TOLERANCE)  # no choice may cost more than that
    return {i: point for k, (i, point) in enumerate(judged.items()) if k == best or short[i] or not worse[k]}


def best_scores(searches: Sequence[tuple[Candidates, Parts]]) -> list[float]:
    """Return the least score on the validation data of every search, its best model being simulated."""
    best = [replace(found, points=(found.points[int(np.argmin(_scores(found)))],)) for found, _ in searches]
    pairs = zip(best, (parts for _, parts in searches), strict=True)
    return [float(_scores(replace(one, points=_simulated(one, parts)))[0]) for one, parts in pairs]


def _simulated(found: Candidates, parts: Parts, least: float = np.inf) -> tuple[PathPoint, ...]:
    """Return the points, the best of them simulated over many steps; those that are hopeless are not."""
    points, score, compared = list(found.points), _scores(found), _compared(found, least)
    for i in np.argsort(score, kind="stable").tolist():
        if compared and score[i] > max(score.min(), least + HOPELESS):
            break
        points[i] = _run_for_long(points[i], found.task, parts)
        least = min(least, float(_scores(replace(found, points=(points[i],)))[0]))
    return tuple(points)


def _run_for_long(point: PathPoint, task: Task, parts: Parts) -> PathPoint:
    """Return a point with what long runs of its model say."""
    model = point.model
    return replace(point, bounded=bounded(model, task, parts), whole_runs=parts.whole_runs(model))


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
    """Return the errors of one candidate: the model to judge on the validation data, and one per fold."""
    first, *of_folds = models
    found = [_errors(first, parts.windows, parts)]
    found += [_errors_on_fold(model, first, fold, parts) for model, fold in zip(of_folds, parts.folds, strict=True)]
    return _together(found)


def _errors(model: Model, windows: Trajectories, parts: Parts) -> tuple[WindowErrors, FloatArray]:
    """Return the errors of a model on one part of the data, relative to the variance of all of them."""
    errors = window_errors(model, windows, parts.horizons, parts.variance)
    return errors, simulation_errors(model, windows, parts.variance, least=1)


def _errors_on_fold(model: Model, learned: Model, fold: Fold, parts: Parts) -> tuple[WindowErrors, FloatArray]:
    """Return the errors of a model on a fold that it has not learned from, as far as that stays in its range.

    What lies beyond would test how the model extrapolates, and the final model will have learned from it. So the whole
    fold is predicted by the model that has `learned` from it too. But a model that is worse than the mean along the
    whole fold is not excused.
    """
    errors, runs = _errors(model, fold.windows, parts)
    if fold.whole.n_samples == fold.windows.n_samples:
        return errors, runs
    beyond = float(simulation_errors(model, fold.whole, parts.variance, least=1).mean())
    runs = np.maximum(runs, beyond) if beyond > 1 else runs
    return _together([(errors, runs), _errors(learned, fold.whole, parts)])


def _together(found: Sequence[tuple[WindowErrors, FloatArray]]) -> tuple[WindowErrors, FloatArray]:
    return WindowErrors.joined([errors for errors, _ in found]), np.concatenate([runs for _, runs in found])


def _on_part(point: PathPoint, model: Model, windows: Trajectories, parts: Parts) -> PathPoint:
    """Return a point with the errors of one model on one part of the data."""
    errors, runs = _errors(model, windows, parts)
    return replace(point, errors=errors, runs=runs)


def _on_fold(point: PathPoint, model: Model, fold: Fold, parts: Parts) -> PathPoint:
    """Return a point with the errors of one model on a fold."""
    errors, runs = _errors_on_fold(model, point.model, fold, parts)
    return replace(point, errors=errors, runs=runs)


def _joined(point: PathPoint, more: PathPoint) -> PathPoint:
    """Return a point with its errors on some parts of the data and on one more."""
    errors = WindowErrors.joined([point.errors, more.errors])
    return replace(point, errors=errors, runs=np.concatenate([point.runs, more.runs]))


def stopped(point: PathPoint, like: PathPoint) -> PathPoint:
    """Return a point with infinite errors on the parts of the data that it was not judged on and another was.

    Its mean error, which nothing is chosen by, is what it would be if it stayed as much worse than the other.
    """
    judged, every = point.errors.blocks.shape[1], like.errors.blocks.shape[1]
    if judged == every:
        return point
    harder = clipped_errors(like.errors.error) / clipped_errors(like.errors.blocks[:, :judged].mean(axis=1))
    blocks = np.pad(point.errors.blocks, ((0, 0), (0, every - judged)), constant_values=np.inf)
    errors = WindowErrors(
        point.errors.horizons, harder * point.errors.error, harder * point.errors.standard_error, blocks
    )
    runs = np.pad(point.runs, (0, len(like.runs) - len(point.runs)), constant_values=np.inf)
    return replace(point, errors=errors, runs=runs)
