"""The automatic choice of the horizon sieve's path: against everything, and against the best point of its own path."""

from __future__ import annotations

import time

import numpy as np
from reduction_rows import WORST, Choice
from reduction_systems import Case, Problem

from koopsieve import LinearModel, horizon_nmse, sift
from koopsieve.evaluate import free_run
from koopsieve.forms.linear.refits import LONG_RUN

ALLOWED = 1.1  # times the error of least squares on everything
REGRET = 1.3  # times the error of the best point of the path, above which a case is listed


def choice_of(case: Case) -> Choice:
    """Return the choice on one case."""
    problem = case.problem()
    begun = time.process_time()
    settings = {"validation": problem.validation, "horizons": problem.shown, "form": "linear"}
    result = sift(problem.train, problem.recipe(), **settings)
    seconds = time.process_time() - begun
    path = result.path
    plain, final = (test_error(model, problem) for model in result.outcome.everything)
    errors = np.array([test_error(point.model, problem) for point in path.points])
    overall = geometric(errors)
    error, best = errors[path.chosen], int(np.argmin(overall))
    validation = geometric(path.error)
    return Choice(
        *case.key,
        kept=path.choice.size,
        full=path.candidates,
        plain=_tuple(error / plain),
        refitted=_tuple(error / errors[-1]),
        final=_tuple(test_error(result.model, problem) / final),
        error=_tuple(error),
        best=path.points[best].size,
        best_error=_tuple(errors[best]),
        regret=float(overall[path.chosen] / overall[best]),
        validation=float(validation[path.chosen] / validation[best]),
        words=path.why_large,
        finite=all(stays_finite(model, problem) for model in (path.choice.model, result.model)),
        seconds=seconds,
    )


def geometric(errors: np.ndarray) -> np.ndarray:
    """Return the geometric mean over the last axis."""
    return np.exp(np.mean(np.log(errors), axis=-1))


def test_error(model: LinearModel, problem: Problem) -> np.ndarray:
    """Return the NMSE at the shown horizons, averaged over the outputs."""
    return np.mean(list(horizon_nmse(model, problem.test, problem.shown, truth=problem.truth).values()), axis=0)


def stays_finite(model: LinearModel, problem: Problem) -> bool:
    """Tell whether a prediction over 1000 steps with the test inputs stays finite."""
    test = problem.test
    inputs = np.resize(test.inputs[0], (LONG_RUN, test.n_inputs)) if test.n_inputs else np.zeros((LONG_RUN, 0))
    return bool(np.isfinite(free_run(model, test.states[0][0], inputs)).all())


def choice_table(choices: list[Choice]) -> str:
    """Return one line per system and noise level, what it comes to, and every case that is far from its best."""
    groups: dict[tuple[str, str], list[Choice]] = {}
    for choice in choices:
        groups.setdefault((choice.system, choice.noise), []).append(choice)
    lines = [
        "Automatic choice, geometric means over the seeds (ratios are error over error on test data, geometric mean "
        "over the horizons):",
        "",
        "| system | noise | seeds | kept | of | against least squares on everything | against everything, same refit | "
        "regret | largest regret |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_line(*key, group) for key, group in groups.items()),
        "",
        *_promises(choices),
        "",
        f"Regret above {REGRET:g}:" if _far(choices) else f"No regret above {REGRET:g}.",
        "",
        *(_told(choice) for choice in _far(choices)),
    ]
    return "\n".join(lines)


def _line(system: str, noise: str, group: list[Choice]) -> str:
    regret = [choice.regret for choice in group]
    kept = sorted(choice.kept for choice in group)
    against = (_bounded_mean([getattr(choice, name) for choice in group]) for name in ("plain", "refitted"))
    return (
        f"| {system} | {noise} | {len(group)} | {kept[0]} to {kept[-1]} | {group[0].full} | "
        f"{' | '.join(f'{value:.2f}' for value in against)} | {geometric(np.array(regret)):.2f} | {max(regret):.2f} |"
    )


def _promises(choices: list[Choice]) -> list[str]:
    """Say how often the choice keeps to what the docs say of it."""
    count = len(choices)
    good = sum(max(choice.plain) <= ALLOWED for choice in choices)
    few = sum(choice.kept <= choice.full / 4 for choice in choices)
    finite = sum(choice.finite for choice in choices)
    error, best, ratio = (
        np.array([getattr(one, name) for one in choices]) for name in ("error", "best_error", "plain")
    )
    plain = np.divide(error, ratio, out=np.full_like(error, WORST), where=ratio > 0)
    error, best, plain = (geometric(np.clip(part, 1e-12, WORST).T) for part in (error, best, plain))
    regret = np.array([choice.regret for choice in choices])
    return [
        f"Cases: {count}. Geometric mean NMSE at the shown horizons: {_numbers(error)}; the best point of each path "
        f"{_numbers(best)}; least squares on everything {_numbers(plain)}.",
        f"Regret: geometric mean {geometric(regret):.3f}, median {np.median(regret):.3f}, nine of ten below "
        f"{np.quantile(regret, 0.9):.2f}, largest {regret.max():.2f}; above {REGRET:g} in {np.sum(regret > REGRET)}.",
        f"At most {ALLOWED} times the error of least squares on everything, at every horizon: {good} of {count}.",
        *(
            f"- more, by horizon, on {choice.system}, {choice.noise}, seed {choice.seed}: "
            f"{' / '.join(f'{ratio:.2f}' for ratio in choice.plain)}"
            for choice in choices
            if max(choice.plain) > ALLOWED
        ),
        "",
        f"At most a quarter kept: {few} of {count}. Predictions over 1000 steps that stay finite: {finite} of {count}.",
    ]


def _far(choices: list[Choice]) -> list[Choice]:
    return sorted((choice for choice in choices if choice.regret > REGRET), key=lambda choice: -choice.regret)


def _told(choice: Choice) -> str:
    """Say what was kept, what would have been best, and whether the validation data showed it."""
    shown = (
        f"the validation error of the best is {choice.validation:.2f} times smaller, too"
        if choice.validation > 1
        else f"on the validation data the choice is the better one by {1 / choice.validation:.2f}"
    )
    return (
        f"- {choice.system}, {choice.noise}, seed {choice.seed}: regret {choice.regret:.2f}. Kept {choice.kept} with "
        f"{_numbers(choice.error)}; best {choice.best} with {_numbers(choice.best_error)}; {shown}."
    )


def _bounded_mean(ratios: list[tuple[float, ...]]) -> float:
    """Return the geometric mean; a ratio below a hundredth, where the other diverges, counts as a hundredth."""
    return float(np.exp(np.mean(np.log(np.clip(ratios, 0.01, 100)))))


def _numbers(values) -> str:
    return " / ".join(f"{value:.2g}" for value in values)


def _tuple(values: np.ndarray) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
