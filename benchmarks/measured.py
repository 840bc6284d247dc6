"""Measured plants: official splits and scores of public benchmark records.

    python -m benchmarks.measured --data FOLDER [--records silverbox tanks …] [--peers DIR] [--install-peers DIR]

FOLDER holds silverbox.mat, cascaded_tanks.mat and wiener_hammerstein_process_noise.npz; the other records are
downloaded by the package `nonlinear-benchmarks` where it is installed and there is a network. Four kinds of settings:

- *found*: nothing but the column names, the same call for every record: `sift(train)`;
- *hand-made*: the delays, polynomials and form that an engineer who knows the plant would ask for (`record_data.py`);
- *linear*: ARX, its delays found on the validation data;
- *hidden*: `sift(train, form="hidden")`, on records of 5000 samples and more.

"At most 30 terms" and "at most 8 terms" are the points of the same path that the validation data prefer among the small
ones; they learned from three quarters of the training data.

Everything is decided on training data. Test records are used once, to print the scores: the root mean square error of
a simulation of the whole record from its first outputs, or the NMSE some steps ahead. With `--peers`, sysidentpy's NARX
model runs in an environment of its own beside it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.environments import interpreter, run
from benchmarks.record_data import DOWNLOADED, RECORDS, Record, Test, records
from koopsieve import KoopsieveWarning, Trajectories, horizon_nmse, sift
from koopsieve.data import Embedding
from koopsieve.forms import Model
from koopsieve.sifting.choose import chosen_point
from koopsieve.sifting.judge import linear_baseline
from koopsieve.sifting.preliminary import PRELIMINARY
from koopsieve.sifting.result import SieveResult

HORIZONS = (1, 10, 50)
SMALL = (30, 8)
HIDDEN_SAMPLES, HIDDEN_SMALL = 5000, (300, 120)  # records on which the form is asked for; coefficients at most


@dataclass(frozen=True)
class Row:
    """One model on one record."""

    method: str
    terms: str
    delays: str
    seconds: float | None
    scores: tuple[str, ...]


def rows(record: Record, peers: Path | None) -> Iterator[Row]:
    """Yield what each method scores."""
    begun = time.perf_counter()
    found = sift(record.train, horizons=HORIZONS)
    seconds = time.perf_counter() - begun
    yield linear(record, found)
    yield sifted(f"found: {found.form}", record, found.model, found.n_terms, seconds)
    for most in SMALL:
        yield small("found", record, found, most)
    if record.hand_made:
        begun = time.perf_counter()
        made = sift(record.train, horizons=HORIZONS, **record.hand_made)
        seconds = time.perf_counter() - begun
        yield sifted(f"hand-made: {made.form}", record, made.model, made.n_terms, seconds)
        for most in SMALL:
            yield small("hand-made", record, made, most)
    if record.train.n_samples >= HIDDEN_SAMPLES:
        begun = time.perf_counter()
        made = sift(record.train, horizons=HORIZONS, form="hidden")
        seconds = time.perf_counter() - begun
        yield sifted("hidden, asked for", record, made.model, made.n_terms, seconds)
        for most in HIDDEN_SMALL:
            yield small("hidden", record, made, most)
    if peers is not None:
        yield narx(record, peers)


def linear(record: Record, found: SieveResult) -> Row:
    """Return ARX with the delays that were best in the preliminary searches, learned from all training data."""
    tried = [one for one in found.searches if one.stage == PRELIMINARY and one.form == "linear"]
    best = min(tried, key=lambda one: float(np.mean(np.log(np.maximum(one.errors.error, 1e-300)))))
    begun, data = time.perf_counter(), _embedded(record.train, best.embedding)
    model, _ = linear_baseline(data, data, None, merge=False)
    return sifted("linear (ARX)", record, model, len(model.dictionary.regressors), time.perf_counter() - begun)


def small(name: str, record: Record, made: SieveResult, most: int) -> Row:
    """Return the point of the path that the validation data prefer among those with few terms."""
    point = made.path.points[chosen_point(made.path.points, most)]
    return sifted(f"{name}, at most {most} terms", record, point.model, point.size, None)


def sifted(method: str, record: Record, model: Model, terms: int, seconds: float | None) -> Row:
    embedding = model.signals.embedding
    delays = f"{embedding.state_delays}, {embedding.input_delays}, u[{embedding.inputs_at}]"
    scores = tuple(score(record, model, test) for test in record.tests.values())
    return Row(method, str(terms), delays, seconds, scores)


def score(record: Record, model: Model, test: Test) -> str:
    """Return the score on one test record, as it is printed."""
    if record.ahead:
        names = {"state_names": record.train.output_names, "input_names": record.train.input_names}
        data = Trajectories.from_arrays(test.y, test.u, dt=record.train.dt, **names)
        errors = horizon_nmse(model, data, record.ahead)
        return " / ".join(f"{value:.2g}" for value in np.mean(list(errors.values()), axis=0))
    rmse = simulation_rmse(model, test)
    return " ".join(f"{value * record.factor:.3g}" for value in np.atleast_1d(rmse))


def simulation_rmse(model: Model, test: Test) -> np.ndarray:
    """Return the error of a simulation from the first outputs, after the warm-up, one per output."""
    given = max(test.warm_up, model.history)
    simulated = np.asarray(model.simulate(test.y[:given], test.u))
    measured = test.y[len(test.y) - len(simulated) :]
    begun = len(test.y) - len(simulated)
    return np.sqrt(np.mean((simulated - measured)[max(test.warm_up - begun, 0) :] ** 2, axis=0))


def narx(record: Record, peers: Path) -> Row:
    """Return sysidentpy's polynomial NARX as a row."""
    answer = narx_scores(record, peers)
    if isinstance(answer, str):
        return Row("NARX, sysidentpy", "–", "–", None, (answer,) * len(record.tests))
    scores = tuple(
        " / ".join(f"{value:.2g}" for value in one) if record.ahead else f"{one[0] * record.factor:.3g}"
        for one in answer["scores"]
    )
    return Row("NARX, sysidentpy", str(answer["terms"]), answer["delays"], answer["seconds"], scores)


def narx_scores(record: Record, peers: Path, simulated: bool = False) -> dict | str:
    """Return what sysidentpy's polynomial NARX scores in its own environment, or why it does not run."""
    ahead = () if simulated else record.ahead
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.npz"
        arrays = {f"train_y{i}": y for i, y in enumerate(record.train.states)}
        arrays |= {f"train_u{i}": u for i, u in enumerate(record.train.inputs)}
        for i, test in enumerate(record.tests.values()):
            arrays |= {f"test_y{i}": test.y, f"test_u{i}": test.u, f"test_w{i}": np.array(test.warm_up)}
        np.savez(path, ahead=np.array(ahead, dtype=int), **arrays)
        return run(interpreter(peers, "sysidentpy"), "sysidentpy_narx.py", path)


def table(record: Record, found: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    what = f"NMSE at {' / '.join(map(str, record.ahead))} steps" if record.ahead else f"RMSE, {record.unit}"
    lines = [
        f"\n**{record.name}** ({record.train.n_samples} training samples; {what})\n",
        f"| model | terms | delays | seconds | {' | '.join(record.tests)} |",
        "|---" * (4 + len(record.tests)) + "|",
    ]
    for row in found:
        seconds = "" if row.seconds is None else f"{row.seconds:.0f}"
        lines.append(f"| {row.method} | {row.terms} | {row.delays} | {seconds} | {' | '.join(row.scores)} |")
    for method, numbers in (record.published or {}).items():
        cells = numbers.split(" / ")
        lines.append(f"| {method} (published) | | | | {' | '.join(cells)} |")
    return "\n".join(lines)


def _embedded(data: Trajectories, embedding: Embedding) -> Trajectories:
    from koopsieve.data import embedded

    return embedded(data, embedding)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--records", nargs="*", default=[*RECORDS, *DOWNLOADED], choices=[*RECORDS, *DOWNLOADED])
    parser.add_argument("--peers", type=Path, help="folder of environments, made with --install-peers")
    parser.add_argument("--install-peers", type=Path, help="install sysidentpy there and stop")
    asked = parser.parse_args()
    if asked.install_peers is not None:
        from benchmarks.environments import SYSIDENTPY, install

        install(asked.install_peers, (SYSIDENTPY,))
        return
    warnings.simplefilter("ignore", KoopsieveWarning)
    for record in records(asked.records, asked.data):
        print(table(record, list(rows(record, asked.peers))), flush=True)


if __name__ == "__main__":
    main()
