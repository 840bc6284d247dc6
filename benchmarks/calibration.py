"""Do the bands hold? Coverage, width and interval score of nominal bands on seven systems and three measured records.

    python benchmarks/calibration.py [--quick] [--data DIR] [--systems NAMES] [--seeds 10] [--form linear]

Every model comes out of `sift`, with bands calibrated on its validation windows, and is judged on test data. Intervals
are 95 % of a block bootstrap: seeds are drawn again, and within each the blocks of two of the longest horizon that the
test windows fall into. Widths are beside those of the best band of constant width per horizon: the one that covers the
same share of the test data, found on the test data themselves. Interval scores are beside those of two plain Gaussian
bands: the one-step residual covariance carried through the model, and the standard deviation of the validation errors
at each horizon. The tables are Markdown.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import pickle
import time
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from calibration_systems import HORIZONS, MEASURED, SIMULATED, Case, cases
from calibration_tables import joint_table, score_table, share_table, spread_table, verdicts, width_table

from koopsieve import KoopsieveWarning, Model, Trajectories, sift
from koopsieve.evaluate.rollout import step_errors
from koopsieve.sifting.settings import SiftSettings
from koopsieve.sifting.split import divide
from koopsieve.uncertainty import interval_score

GAUSSIAN_90 = 1.6448536269514722


@dataclass(frozen=True, eq=False)
class Judged:
    """What bands did on one test record; arrays have one column per horizon.

    `share` and `joint` have a row per block of test windows; `width` is a ratio to the best constant band of the same
    coverage, `scores` are interval scores per kind of band; `unflagged` is the share covered of what is not outside.
    """

    system: str
    noise: str
    test: str
    seed: int
    horizons: tuple[int, ...]
    share: np.ndarray
    joint: np.ndarray
    width: np.ndarray
    scores: dict[str, np.ndarray]
    gaussian_share: dict[str, np.ndarray]
    outside: np.ndarray
    unflagged: np.ndarray
    seconds: float


def judged(case: Case, level: float, form: str) -> list[Judged]:
    """Sift one case and judge its bands on every test record of it."""
    problem, begun = case.problem(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KoopsieveWarning)  # too few windows for a level: the tables tell
        first = next(iter(problem.tests.values()))
        result = sift(
            problem.train,
            problem.recipe,
            form=form,
            delays=problem.delays,
            horizons=problem.horizons,
            test=first,
            path_length=5,
            seed=case.seed,
        )
        settings = SiftSettings(delays=problem.delays, test=first, horizons=problem.horizons)
        parts = divide(problem.train, settings).embedded(problem.delays)
        gaussian = gaussian_bands(result, parts.windows, problem.horizons[-1])
        seconds = time.perf_counter() - begun
        return [
            _judge(case, name, result.model, data, problem.horizons, gaussian, level, seconds)
            for name, data in problem.tests.items()
        ]


def gaussian_bands(result, windows: Trajectories, longest: int) -> dict[str, np.ndarray]:
    """Return standard deviations (steps, outputs) of two Gaussian models of the error."""
    errors = step_errors(result.path.choice.model, windows, longest).errors
    found = {"windows": np.sqrt(np.nanmean(errors**2, axis=0))}
    return found | {"carried": _carried(result, longest) if result.form == "linear" else np.nan * found["windows"]}


def _carried(result, longest: int) -> np.ndarray:
    """Return the deviations of the one-step residual covariance carried through a linear model."""
    model = result.model
    known = result.statistics.select(result.retained)
    L = len(known.observables)
    K = np.concatenate([model.A[:L, :L].T, model.B[:L].T])
    gap = known.S - known.R @ K
    Q = np.zeros_like(model.A)
    Q[:L, :L] = (gap.T @ gap + known.factor.leftover_products) / known.rows
    rows, variance, carried = model.C, 0.0, []
    for _ in range(longest):
        variance = variance + np.einsum("ij,jk,ik->i", rows, Q, rows)
        carried.append(np.sqrt(variance))
        rows = rows @ model.A
    return np.array(carried)


def _judge(
    case: Case, test: str, model: Model, data: Trajectories, horizons: tuple[int, ...], gaussian, level: float, seconds
) -> Judged:
    errors = step_errors(model, data, horizons[-1])
    bands, states = model.calibration.bands, errors.states
    half = bands.around(model.dictionary, states, horizons[-1], level)
    block = errors.starts // (2 * horizons[-1]) + 10_000 * errors.episodes
    share, joint, width, scores, theirs = [], [], [], defaultdict(list), defaultdict(list)
    for h in horizons:
        rows = errors.reaching(h)
        error, mine = np.abs(errors.errors[rows, h - 1]), half[rows, h - 1]
        inside = error <= mine
        share.append(_by_block(inside.mean(axis=1), block[rows], block))
        best = [np.quantile(e, c) for e, c in zip(error.T, inside.mean(axis=0), strict=True)]
        width.append(np.mean(mine.mean(axis=0) / best))
        unit = np.median(error, axis=0)
        scores["ours"].append(np.mean(interval_score(error, mine, level) / unit))
        for name, deviation in gaussian.items():
            other = np.broadcast_to(GAUSSIAN_90 * deviation[h - 1], error.shape)
            scores[name].append(np.mean(interval_score(error, other, level) / unit))
            theirs[name].append(np.mean(error <= other))
        whole = bands.around(model.dictionary, states[rows], h, level, joint=True)
        together = np.all(np.abs(errors.errors[rows, :h]) <= whole, axis=(1, 2))
        joint.append(_by_block(together.astype(float), block[rows], block))
    rows, at = errors.reaching(horizons[-1]), np.array(horizons) - 1
    outside = model.calibration.support.outside(model.dictionary, *errors.complete_windows())[:, at]
    inside = np.abs(errors.errors[rows][:, at]) <= half[rows][:, at]
    known = [np.mean(inside[~outside[:, i], i]) if not outside[:, i].all() else np.nan for i in range(len(at))]
    return Judged(
        case.name,
        "measured" if case.snr_db is None else f"{case.snr_db:g} dB",
        test,
        case.seed,
        horizons,
        np.array(share).T,
        np.array(joint).T,
        np.array(width),
        {name: np.array(values) for name, values in scores.items()},
        {name: np.array(values) for name, values in theirs.items()},
        outside.mean(axis=0),
        np.array(known),
        seconds,
    )


def _by_block(values: np.ndarray, block: np.ndarray, every: np.ndarray) -> np.ndarray:
    """Return the mean of each block, nan where none of its windows reaches so far."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.array([np.mean(values[block == one]) for one in np.unique(every)])


def main() -> None:
    """Read the command line, run all cases and print the tables."""
    options = _options()
    begun = time.perf_counter()
    seeds = list(range(2 if options.quick else options.seeds))
    systems = options.systems or (["duffing", "rossler", "silverbox"] if options.quick else [*SIMULATED, *MEASURED])
    todo = list(cases(systems, options.snr, seeds, 8000 if options.quick else options.samples, options.data))
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    known: dict[Case, list[Judged]] = {}
    if options.keep and options.keep.exists():
        known = pickle.loads(options.keep.read_bytes())
    left = [case for case in todo if case not in known]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, mp_context=context) as pool:
        results = pool.map(partial(judged, level=options.level, form=options.form), left)
        for number, (case, done) in enumerate(zip(left, results, strict=True), start=1):
            known[case] = done
            told = f"{done[0].system}, {done[0].noise}, seed {case.seed}, {done[0].seconds:.0f} s"
            print(f"  {number} of {len(left)}: {told}", flush=True)
            if options.keep:
                options.keep.write_bytes(pickle.dumps(known))
    found = [one for case in todo for one in known[case]]
    print(f"\nNominal level {options.level:g}; horizons {', '.join(map(str, HORIZONS))}.")
    for table in (share_table, joint_table, spread_table, width_table, score_table):
        print("\n" + table(found))
    print("\n" + verdicts(found, options.level))
    print(f"\n{len(todo)} cases in {time.perf_counter() - begun:.0f} s.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three systems, two seeds, short records")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("KOOPSIEVE_DATA", "../shared/data")))
    parser.add_argument("--systems", nargs="+", choices=[*SIMULATED, *MEASURED], metavar="NAME")
    parser.add_argument("--snr", nargs="+", type=float, default=[10.0, 20.0, 40.0], metavar="DB")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--samples", type=int, default=20_000, help="of each simulated record")
    parser.add_argument("--level", type=float, default=0.9)
    parser.add_argument("--form", choices=["linear", "bilinear", "reprojected"], default="linear")
    parser.add_argument("--keep", type=Path, help="keep what was found in this file, and go on from there")
    parser.add_argument("--processes", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
