"""Tables of the calibration benchmark: means over seeds, 95 % intervals of a block bootstrap, and what was missed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from calibration import Judged

DRAWS = 1000
LOWEST, HIGHEST, WIDEST = 0.87, 0.93, 1.15


def _groups(found: list[Judged]) -> list[tuple[str, list[Judged]]]:
    def key(one: Judged) -> tuple[str, str, str]:
        return one.system, one.noise, one.test

    gathered = [(", ".join(name), list(rows)) for name, rows in groupby(sorted(found, key=key), key)]
    return [(name.removesuffix(", test"), rows) for name, rows in gathered]


def bootstrap(runs: list[np.ndarray], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, lower and upper bound per column of runs (blocks, columns): seeds drawn again, then their blocks."""
    means = np.array([np.nanmean(run, axis=0) for run in runs])
    drawn = np.empty((DRAWS, means.shape[1]))
    for i in range(DRAWS):
        picked = [runs[j] for j in rng.integers(len(runs), size=len(runs))]
        drawn[i] = np.mean([np.nanmean(run[rng.integers(len(run), size=len(run))], axis=0) for run in picked], axis=0)
    return means.mean(axis=0), *np.nanquantile(drawn, [0.025, 0.975], axis=0)


def _coverage_table(found: list[Judged], what: str, title: str) -> str:
    rng = np.random.default_rng(0)
    longest = max((one.horizons for one in found), key=len)
    lines = [title, "", f"| system | {' | '.join(f'h = {h}' for h in longest)} |", "|---|" + "---|" * len(longest)]
    for name, rows in _groups(found):
        mean, low, high = bootstrap([getattr(one, what) for one in rows], rng)
        cells = [f"{m:.3f} ({a:.2f}–{b:.2f})" for m, a, b in zip(mean, low, high, strict=True)]
        lines.append(f"| {name} | {' | '.join(cells + ['–'] * (len(longest) - len(cells)))} |")
    return "\n".join(lines)


def share_table(found: list[Judged]) -> str:
    """Return the share covered at each horizon."""
    return _coverage_table(found, "share", "Share covered at each horizon, mean over outputs and seeds")


def joint_table(found: list[Judged]) -> str:
    """Return the share of windows that stay inside the joint band."""
    return _coverage_table(found, "joint", "Share of windows inside the joint band up to each horizon")


def spread_table(found: list[Judged]) -> str:
    """Return what single records covered at the longest horizon, where there are several seeds."""
    title = "Single records: least and largest share over the seeds, at each horizon and jointly, longest horizon"
    lines = [title, "", "| system | covered | jointly |", "|---|---|---|"]
    for name, rows in _groups(found):
        if len(rows) > 1:
            ends = [[np.nanmean(getattr(one, what), axis=0)[-1] for one in rows] for what in ("share", "joint")]
            lines.append(f"| {name} | {' | '.join(f'{min(values):.2f}–{max(values):.2f}' for values in ends)} |")
    return "\n".join(lines)


def _plain_table(found: list[Judged], title: str, columns: dict[str, Callable[[Judged], np.ndarray]]) -> str:
    lines = [title, "", f"| system | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for name, rows in _groups(found):
        cells = [" ".join(f"{v:.2f}" for v in np.mean([of(one) for one in rows], axis=0)) for of in columns.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def width_table(found: list[Judged]) -> str:
    """Return widths beside those of the best constant band, what is flagged and what the rest covers."""
    title = "Mean width over that of the best constant band, share flagged as outside, share covered of the rest"
    columns = {
        "width": lambda one: one.width,
        "outside": lambda one: one.outside,
        "covered of the rest": lambda one: one.unflagged,
    }
    return _plain_table(found, f"{title}; per horizon", columns)


def score_table(found: list[Judged]) -> str:
    """Return interval scores over those of Gaussian bands, and what these cover, horizon after horizon."""
    title = "Interval score over that of Gaussian bands (below one: ours is better), and what these cover; per horizon"
    return _plain_table(
        found,
        title,
        {
            "over carried covariance": lambda one: one.scores["ours"] / one.scores["carried"],
            "it covers": lambda one: one.gaussian_share["carried"],
            "over Gaussian of the windows": lambda one: one.scores["ours"] / one.scores["windows"],
            "it covers ": lambda one: one.gaussian_share["windows"],
        },
    )


def verdicts(found: list[Judged], level: float) -> str:
    """Say where the targets are missed; tests of another kind and the tanks are reported only."""
    asked = [one for one in found if one.test == "test" and one.system != "cascaded-tanks"]
    low, high = LOWEST - 0.9 + level, HIGHEST - 0.9 + level
    lines, cells, missed = [], 0, 0
    for name, rows in _groups(asked):
        for what, title in (("share", "covers"), ("joint", "jointly covers")):
            mean = np.mean([np.nanmean(getattr(one, what), axis=0) for one in rows], axis=0)
            for h, value in zip(rows[0].horizons, mean, strict=True):
                cells += 1
                if not low <= value <= high:
                    missed += 1
                    lines.append(f"- {name}: {title} {value:.3f} at h = {h}")
        width = float(np.mean([one.width for one in rows]))
        if width > WIDEST:
            lines.append(f"- {name}: mean width {width:.2f} times the best constant band")
    if not asked:
        return "No target applies to these records; they are reported only."
    share = np.mean([np.nanmean(one.share, axis=0).mean() for one in asked])
    head = f"Coverage outside {low:.2f}–{high:.2f} in {missed} of {cells} cells; mean over all {share:.3f}."
    return "\n".join([head, *lines])
