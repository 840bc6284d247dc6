"""The default on every measured record: `sift(train)` beside ARX, output error and the best model on its own path.

    python -m benchmarks.records --data FOLDER [--records tanks drive-1 …] [--peers DIR]

Scores are the root mean square errors of a simulation of the whole test record from its first outputs, relative to the
standard deviation of the outputs (1 is as good as their mean). Rules were tuned in view of `TUNED_ON`; the others judge
them.

- *ARX*: least squares one step ahead; delays and timing by a simulation of the last quarter of the training data;
- *output error*: a linear model fitted to simulated windows, delays found likewise;
- *regret*: the score over that of the best model on the path that was taken;
- *reported*: the error 50 steps ahead that the result reports, over that on the test record.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.measured import narx_scores, simulation_rmse
from benchmarks.record_data import RECORDS, Record, Test, records
from koopsieve import Constant, KoopsieveWarning, States, Trajectories, embed_delays, horizon_nmse, sift
from koopsieve.data import Embedding
from koopsieve.forms import Model, Task
from koopsieve.forms.linear.plain import output_error
from koopsieve.regression import compress
from koopsieve.sifting.judge import linear_baseline
from koopsieve.sifting.result import SieveResult

TUNED_ON = ("drive-1", "drive-2", "ballbeam", "tanks", "damper", "silverbox")
DELAYS = (0, 1, 2, 3, 5, 8, 14, 24)
SIMULATED_DELAYS = (0, 1, 2, 3)
HORIZON = 50
MAX_SIMULATED = 20_000  # samples that the output-error fit sees


@dataclass(frozen=True)
class Scores:
    """What came out on one record; scores are means over its test records."""

    record: str
    result: SieveResult
    seconds: float
    ours: float
    arx: float
    oe: float
    narx: float
    best: float
    reported: float


def scored(record: Record, peers: Path | None) -> Scores:
    """Run all methods on one record."""
    begun = time.perf_counter()
    result = sift(record.train)
    seconds = time.perf_counter() - begun
    best = min(score(record, point.model) for point in result.path.points)
    return Scores(
        record.name,
        result,
        seconds,
        score(record, result.model),
        score(record, by_simulation(record.train, arx, DELAYS)),
        score(record, by_simulation(record.train, simulated, SIMULATED_DELAYS)),
        np.nan if peers is None else narx_score(record, peers),
        best,
        reported_over_test(record, result),
    )


def score(record: Record, model: Model) -> float:
    """Return the error of free runs relative to the standard deviation, geometric mean over test records."""
    with np.errstate(all="ignore"):
        ratios = [simulation_rmse(model, test) / spread_of(test) for test in record.tests.values()]
    return geometric_mean(np.nan_to_num(ratios, nan=np.inf))


def narx_score(record: Record, peers: Path) -> float:
    """Return the score of sysidentpy's NARX, which runs in its own environment; inf where it fails or diverges."""
    found = narx_scores(record, peers, simulated=True)
    if isinstance(found, str):
        return np.inf
    return geometric_mean(
        [one[0] / spread_of(test)[0] for one, test in zip(found["scores"], record.tests.values(), strict=True)]
    )


def spread_of(test: Test) -> np.ndarray:
    """Return the standard deviation of the outputs that are scored."""
    return np.std(test.y[test.warm_up :], axis=0)


def geometric_mean(values: Sequence[float] | np.ndarray) -> float:
    return float(np.exp(np.mean(np.log(values))))


def by_simulation(data: Trajectories, fit: Callable[[Trajectories], Model], delays: tuple[int, ...]) -> Model:
    """Return a linear model whose delays and timing simulate the last quarter best, fitted to all data."""
    first, last = data.split(0.75)

    def error(embedding: Embedding) -> float:
        model, total = fit(_embedded(first, embedding)), 0.0
        with np.errstate(all="ignore"):
            for y, u in zip(last.states, last.inputs, strict=True):
                run = np.asarray(model.simulate(y[: max(delays) + 2], np.vstack([u, u[-1:]])[: len(y)]))
                total += float(np.mean((run - y[len(y) - len(run) :]) ** 2))
        return total if np.isfinite(total) else np.inf

    shortest = min(len(x) for x in last.states)
    timings = ("k", "k+1") if data.n_inputs else ("k",)
    tried = [Embedding(d, d if data.n_inputs else 0, t) for d in delays if 4 * d < shortest for t in timings]
    return fit(_embedded(data, min(tried, key=error)))


def arx(data: Trajectories) -> Model:
    """Return least squares one step ahead."""
    return linear_baseline(data, data, None, merge=False)[0]


def simulated(data: Trajectories) -> Model:
    """Return the linear model whose simulated windows are nearest to the data."""
    data = (
        data if data.n_samples <= MAX_SIMULATED else data.stretches([(0, 0, min(MAX_SIMULATED, len(data.states[0])))])
    )
    phi = (States() + Constant()).fit(data)
    task = Task(data, data, data, phi, (HORIZON,))
    return output_error(task, (data,), compress(data, phi), phi)


def reported_over_test(record: Record, result: SieveResult) -> float:
    """Return the reported error some steps ahead over that on the test records, in the outputs' units."""
    horizon, names = result.horizons[-1], result.model.output_names
    units = {"state_names": record.train.output_names, "input_names": record.train.input_names}
    judged = dict(zip(names, _variance(result.evaluation.data, horizon, len(names)), strict=True))
    ratios = []
    for test in record.tests.values():
        data = Trajectories.from_arrays(test.y, test.u, dt=record.train.dt, **units)
        found, spread = horizon_nmse(result.model, data, [horizon]), _variance(data, horizon, len(names))
        for name, other in zip(names, spread, strict=True):
            ratios.append(result.errors.nmse[name][-1] * judged[name] / (found[name][0] * other))
    return float(np.exp(0.5 * np.mean(np.log(ratios))))


def _variance(data: Trajectories, horizon: int, outputs: int) -> np.ndarray:
    """Return the variance that the NMSE at a horizon is relative to, one per output."""
    return np.var(np.concatenate([x[horizon:, :outputs] for x in data.states]), axis=0)


def _embedded(data: Trajectories, embedding: Embedding) -> Trajectories:
    return embed_delays(data, embedding.state_delays, embedding.input_delays, embedding.inputs_at)


def table(found: list[Scores]) -> str:
    """Return all records as a Markdown table, and what they come to."""
    lines = [
        "| record | rows | taken | terms | ours | ARX | output error | NARX | / ARX | regret | reported | seconds |",
        "|---" * 12 + "|",
    ]
    for one in found:
        rows, form = one.result.samples["learn"] + one.result.samples["validation"], one.result.form
        mark = "*" if one.record in TUNED_ON else ""
        values = (one.ours, one.arx, one.oe, one.narx)
        lines.append(
            f"| {one.record}{mark} | {rows} | {form} | {one.result.n_terms} | "
            + " | ".join("–" if np.isnan(value) else f"{value:.3g}" for value in values)
            + f" | {one.ours / one.arx:.2f} | {one.ours / one.best:.2f} | {one.reported:.2f} | {one.seconds:.0f} |"
        )
    return "\n".join([*lines, *summaries({one.record: one.ours / one.arx for one in found})])


def summaries(ratios: dict[str, float]) -> list[str]:
    """Return what the records come to: those that rules were tuned on, the others, all."""
    tuned = {name: ratio for name, ratio in ratios.items() if name in TUNED_ON}
    others = {name: ratio for name, ratio in ratios.items() if name not in TUNED_ON}
    return [
        f"\nours / ARX on {len(some)} records {title}: geometric mean {geometric_mean([*some.values()]):.2f}, "
        f"worst {max(some.values()):.2f}"
        for title, some in (("tuned on (*)", tuned), ("not tuned on", others), ("together", ratios))
        if some
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--records", nargs="*", default=[*RECORDS], choices=[*RECORDS])
    parser.add_argument(
        "--peers", type=Path, help="folder of environments: python -m benchmarks.measured --install-peers"
    )
    asked = parser.parse_args()
    warnings.simplefilter("ignore", KoopsieveWarning)
    found = []
    for record in records(asked.records, asked.data):
        found.append(scored(record, asked.peers))
        print(table(found[-1:]).splitlines()[2], flush=True)
    print("\n" + table(found))


if __name__ == "__main__":
    main()
