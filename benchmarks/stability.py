"""Does rounding decide? The default on measured records, with other threads and with data that differ by very little.

    python -m benchmarks.stability --data FOLDER [--records tanks drive-1 …] [--repeats 5]

Each record is sifted with one and with two threads of linear algebra, then with outputs times (1 + 1e-10·noise): the
kept set must stay the same. Then noise is added whose size is a hundredth of the error that ARX makes one
step ahead, about the noise that is in the outputs: the last columns hold the median and the range of the test error
with and without it, relative to the standard deviation and in the unit of the record.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.record_data import RECORDS, Record
from benchmarks.records import arx, by_simulation, geometric_mean, score, spread_of
from koopsieve import KoopsieveWarning, Trajectories, horizon_nmse, sift

ROUNDING = 1e-10
SHARE_OF_NOISE = 0.01


@dataclass(frozen=True)
class Answer:
    """One answer of the default."""

    kept: str
    error: float

    @classmethod
    def of(cls, name: str, folder: Path, kind: str = "", seed: int = 0) -> Answer:
        """Sift a record whose outputs are changed a little: not at all, by rounding, or by noise."""
        record = RECORDS[name](folder)
        result = sift(changed(record.train, kind, seed))
        embedding = result.embedding
        terms = hashlib.sha1("|".join(sorted(result.retained_names)).encode()).hexdigest()[:6]
        delays = f"{embedding.state_delays}, {embedding.inputs_at}"
        return cls(
            f"{result.form}, {len(result.retained)} terms ({terms}), delays {delays}", score(record, result.model)
        )


def changed(data: Trajectories, kind: str, seed: int) -> Trajectories:
    """Return the data with other outputs."""
    if not kind:
        return data
    rng = np.random.default_rng(seed)
    if kind == "rounding":
        return replace(data, states=tuple(x * (1 + ROUNDING * rng.normal(size=x.shape)) for x in data.states))
    model = by_simulation(data, arx, (3,))
    left = float(np.mean(list(horizon_nmse(model, data, [1]).values())))
    spread = np.std(np.concatenate(data.states), axis=0) * np.sqrt(left)
    return replace(data, states=tuple(x + SHARE_OF_NOISE * spread * rng.normal(size=x.shape) for x in data.states))


def with_threads(name: str, folder: Path, threads: int) -> Answer:
    """Sift in a process of its own, whose linear algebra has so many threads."""
    count = {key: str(threads) for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    command = [sys.executable, "-m", "benchmarks.stability", "--data", str(folder), "--one", name]
    done = subprocess.run(command, env={**os.environ, **count}, capture_output=True, text=True, check=True)
    return Answer(**json.loads(done.stdout))


def row(name: str, folder: Path, repeats: int) -> str:
    """Return one record as a row of the table."""
    first, second = (with_threads(name, folder, threads) for threads in (1, 2))
    rounded = [Answer.of(name, folder, "rounding", seed) for seed in range(repeats)]
    noisy = [Answer.of(name, folder, "noise", seed) for seed in range(repeats)]
    same = [one for one in (second, *rounded) if one.kept == first.kept]
    errors = [one.error for one in (first, second, *rounded)]
    moved = max(errors) / min(errors) - 1
    spread = np.array([one.error for one in (first, *noisy)])
    return (
        f"| {name} | {first.kept} | {first.error:.4g} | {len(same)} of {1 + repeats} | {100 * moved:.2g} % | "
        f"{median_and_range(spread)} | {in_unit(RECORDS[name](folder), spread)} |"
    )


def median_and_range(errors: np.ndarray) -> str:
    """Return errors in a few words."""
    return f"{np.median(errors):.3g} ({errors.min():.3g} to {errors.max():.3g})"


def in_unit(record: Record, errors: np.ndarray) -> str:
    """Return relative errors of the one output as root mean square errors in the record's unit; a dash without one."""
    if record.unit == "-":
        return "–"
    scale = record.factor * geometric_mean([float(spread_of(test)[0]) for test in record.tests.values()])
    return f"{median_and_range(scale * errors)} {record.unit}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--records", nargs="*", default=[*RECORDS], choices=[*RECORDS])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--one", choices=[*RECORDS], help="print one answer and stop")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", KoopsieveWarning)
    if asked.one:
        answer = Answer.of(asked.one, asked.data)
        print(json.dumps({"kept": answer.kept, "error": answer.error}))
        return
    heads = ("record", "taken", "test error", "the same set", "the error moves by", "with noise", "in its unit")
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for name in asked.records:
        print(row(name, asked.data, asked.repeats), flush=True)


if __name__ == "__main__":
    main()
