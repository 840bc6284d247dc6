"""The tables of the reduction benchmark: what selection gives, what the refit gives, and how sure that is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from reduction_rows import ALL, HORIZONS, ONE_STEP, WORST, Row
from scipy.stats import t as student

SIEVE = "horizon sieve"
BETTER = "better"
LOSS = 1.1  # a rival this much better than the sieve, over the seeds of a cell, is listed

Case = tuple[str, str, int, str]  # system, noise, seed, size asked


@dataclass(frozen=True, eq=False)
class Errors:
    """Logarithms of the errors by method and refit, then by case."""

    logs: dict[tuple[str, str], dict[Case, np.ndarray]]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Errors:
        """Return the errors of all rows; a diverging one counts as `WORST`."""
        logs: dict = defaultdict(dict)
        for row in rows:
            error = np.clip(np.nan_to_num(row.error, nan=WORST, posinf=WORST), 1e-12, WORST)
            logs[row.method, row.refit][row.system, row.noise, row.seed, row.asked] = np.log(error)
        return cls(dict(logs))

    @property
    def methods(self) -> list[str]:
        """The methods, in the order of their rows."""
        return list(dict.fromkeys(method for method, _ in self.logs))

    def mean(self, method: str, refit: str) -> np.ndarray | None:
        """Return the geometric mean error at every horizon."""
        cases = self.logs.get((method, refit))
        return None if cases is None else np.exp(np.mean(list(cases.values()), axis=0))

    def ratio(self, one: tuple[str, str], other: tuple[str, str], sizes: Iterable[str] | None = None) -> Ratio | None:
        """Return the log ratio of one method's error over another's in the cases that both have."""
        mine, theirs = self.logs.get(one, {}), self.logs.get(other, {})
        both = [case for case in mine if case in theirs and (sizes is None or case[3] in sizes)]
        return Ratio(both, np.array([mine[case] - theirs[case] for case in both])) if both else None


@dataclass(frozen=True, eq=False)
class Ratio:
    """Log ratios of errors, one row per case, one column per horizon."""

    cases: list[Case]
    values: np.ndarray

    def interval(self, horizon: int, by: int) -> tuple[float, float]:
        """Return the mean and half the 95 % interval: Student's, over the means of independent groups.

        Groups are systems (`by` = 1), or systems and seeds (`by` = 2): sizes and noise levels of one system and seed
        are not independent of each other.
        """
        groups = defaultdict(list)
        for case, value in zip(self.cases, self.values[:, horizon], strict=True):
            groups[(case[0],) if by == 1 else (case[0], case[2])].append(value)
        means = np.array([np.mean(group) for group in groups.values()])
        if len(means) < 2:
            return float(means[0]), np.inf
        half = student.ppf(0.975, len(means) - 1) * means.std(ddof=1) / np.sqrt(len(means))
        return float(means.mean()), float(half)


def tables(rows: list[Row]) -> str:
    """Return all tables of the comparison at equal size."""
    every = [*rows, *_better(rows)]
    whole = Errors.of(row for row in every if row.asked == ALL)
    sized = Errors.of(row for row in every if row.asked != ALL)
    counts = {key: len(cases) for key, cases in sized.logs.items()}
    parts = [_two_way(sized, whole, max(counts.values())), _gain(sized), _paired(sized, HORIZONS), _by_size(sized)]
    return "\n\n".join([*parts, _paired(sized, ONE_STEP), _kept(rows), _losses(sized), _cost(rows)])


def _better(rows: list[Row]) -> list[Row]:
    """Return, of every choice that has both refits, the one that validates better: what the path does."""
    pairs = defaultdict(list)
    for row in rows:
        pairs[row.system, row.noise, row.seed, row.asked, row.method].append(row)
    return [replace(min(pair, key=lambda row: row.score), refit=BETTER) for pair in pairs.values() if len(pair) == 2]


def _two_way(sized: Errors, whole: Errors, count: int) -> str:
    lines = [
        f"Geometric mean NMSE over {count} cases (system, noise, seed, size), by horizon 1 / 10 / 40; errors above "
        f"{WORST:g} count as {WORST:g}:",
        "",
        "| method | least squares one step ahead | least squares over the horizons | the one that validates better |",
        "|---|---|---|---|",
    ]
    for errors in (whole, sized):
        for method in errors.methods:
            means = (errors.mean(method, refit) for refit in (ONE_STEP, HORIZONS, BETTER))
            lines.append(f"| {method} | {' | '.join('–' if mean is None else _numbers(mean) for mean in means)} |")
    return "\n".join(lines)


def _gain(sized: Errors) -> str:
    """What the refit gives under each selection, and what the selection gives under each refit."""
    lines = ["The same observables at 40 steps, error refitted over the horizons / error refitted one step ahead:", ""]
    for method in sized.methods:
        ratio = sized.ratio((method, HORIZONS), (method, ONE_STEP))
        if ratio is not None:
            lines.append(f"- {method}: ×{_factor(*ratio.interval(-1, 1))}")
    return "\n".join(lines)


def _paired(sized: Errors, refit: str) -> str:
    lines = [
        f"Log ratio of each rival's error to the horizon sieve's, refit: {refit}. Above zero the sieve is better. Mean "
        "± 95 % interval, Student's over systems; in brackets the half width over systems × seeds:",
        "",
        "| rival | 1 step | 10 steps | 40 steps | cases |",
        "|---|---|---|---|---|",
    ]
    for method in sized.methods:
        ratio = None if method == SIEVE else sized.ratio((method, refit), (SIEVE, refit))
        if ratio is not None:
            cells = " | ".join(_interval(ratio, h) for h in range(ratio.values.shape[1]))
            lines.append(f"| {method} | {cells} | {len(ratio.cases)} |")
    return "\n".join(lines)


def _by_size(sized: Errors) -> str:
    sizes = sorted({case[3] for cases in sized.logs.values() for case in cases}, key=int)
    lines = [
        "The same at 40 steps by size, refit over the horizons (mean ± 95 % interval over systems):",
        "",
        f"| rival | {' | '.join(f'{size} kept' for size in sizes)} |",
        f"|---|{'---|' * len(sizes)}",
    ]
    for method in sized.methods:
        ratios = [sized.ratio((method, HORIZONS), (SIEVE, HORIZONS), [size]) for size in sizes]
        if method != SIEVE and any(ratio is not None for ratio in ratios):
            cells = ("–" if ratio is None else "{:+.2f} ± {:.2f}".format(*ratio.interval(-1, 1)) for ratio in ratios)
            lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _kept(rows: list[Row]) -> str:
    """Name the methods that could not reach the size asked for."""
    short = defaultdict(list)
    for row in rows:
        if row.asked != ALL:
            short[row.method].append(row.kept / int(row.asked))
    told = [f"{method} {100 * np.mean(share):.0f} %" for method, share in short.items() if np.mean(share) < 0.995]
    return f"Kept less than asked for, on average: {', '.join(told)}." if told else "All kept what was asked for."


def _losses(sized: Errors) -> str:
    """List system, noise and size where a rival is clearly better over the seeds, refit over the horizons, 40 steps."""
    cells = defaultdict(list)
    for method in sized.methods:
        ratio = None if method == SIEVE else sized.ratio((method, HORIZONS), (SIEVE, HORIZONS))
        if ratio is None:
            continue
        for case, value in zip(ratio.cases, ratio.values[:, -1], strict=True):
            cells[case[0], case[1], case[3], method].append(value)
    best: dict = {}
    for (system, noise, size, method), values in cells.items():
        mean = np.mean(values)
        if mean < best.get((system, noise, size), (0.0,))[0]:
            best[system, noise, size] = (mean, method, sum(value < 0 for value in values), len(values))
    count = len({key[:3] for key in cells})
    lost = {key: found for key, found in best.items() if found[0] < -np.log(LOSS)}
    lines = [
        f"Where the best rival is more than {100 * (LOSS - 1):.0f} % better at 40 steps, mean over the seeds "
        f"({len(lost)} of {count} combinations of system, noise and size):",
        "",
        *(
            f"- {system}, {noise}, {size} kept: {method}, ×{np.exp(mean):.2f}, better in {wins} of {seeds}"
            for (system, noise, size), (mean, method, wins, seeds) in sorted(lost.items())
        ),
    ]
    return "\n".join(lines)


def _cost(rows: list[Row]) -> str:
    seconds = defaultdict(list)
    for row in rows:
        if row.asked != ALL:
            seconds[row.method].append(row.seconds)
    told = (f"{method} {np.mean(values):.2f}" for method, values in seconds.items() if np.mean(values) > 0)
    return f"Mean CPU seconds per choice, without the refit: {', '.join(told)}."


def _interval(ratio: Ratio, horizon: int) -> str:
    mean, half = ratio.interval(horizon, 1)
    return f"{mean:+.2f} ± {half:.2f} ({ratio.interval(horizon, 2)[1]:.2f})"


def _factor(mean: float, half: float) -> str:
    return f"{np.exp(mean):.2f} ({np.exp(mean - half):.2f} to {np.exp(mean + half):.2f})"


def _numbers(values) -> str:
    return " / ".join(f"{value:.2g}" for value in values)
