"""What the horizon sieve promises on the systems of `benchmarks/reduction.py`: slow; measured data where they are."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from koopsieve import (
    Constant,
    HorizonLeastSquares,
    HorizonSieve,
    LinearModel,
    SquaredExponential,
    States,
    Trajectories,
    compress,
    embed_delays,
    horizon_nmse,
    sift,
)
from koopsieve.evaluate import add_noise, free_run
from koopsieve.systems import lorenz

pytestmark = pytest.mark.slow
RECORDS = "wiener_hammerstein_process_noise.npz"


def wiener_hammerstein():
    """Return training, validation and test records with twelve delays of output and input, or skip."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    folders = [Path(os.environ["KOOPSIEVE_DATA"])] if "KOOPSIEVE_DATA" in os.environ else [beside]
    found = [folder / RECORDS for folder in folders if (folder / RECORDS).exists()]
    if not found:
        pytest.skip(f"{RECORDS} is not there; set KOOPSIEVE_DATA to its folder")
    with np.load(found[0]) as records:
        parts = [
            Trajectories.from_arrays([y[:, None].astype(float) for y in ys], [u[:, None].astype(float) for u in us])
            for ys, us in ((records["y_est"], records["u_est"]), (records["y_test"][:1], records["u_test"][:1]))
        ]
    estimation, test = (embed_delays(part, states=12, inputs=12) for part in parts)
    return estimation.subset(range(8)), estimation.subset([8, 9]), test


RECIPE = States() + Constant() + SquaredExponential(centers=100, coefficients=[0.03], standardize=True)


def test_eight_observables_of_the_wiener_hammerstein_record():
    train, _, test = wiener_hammerstein()
    phi = RECIPE.fit(train, seed=0)
    assert phi.size == 126
    statistics = compress(train, phi, horizons=(1, 3, 10, 20, 50))
    (found,) = HorizonSieve().sizes(statistics, [8])
    refitted = HorizonLeastSquares().identify(statistics.select(found.retained))
    model = LinearModel.from_estimate(refitted, phi.select(found.retained))
    (error,) = horizon_nmse(model, test, [10, 20, 50]).values()
    assert np.all(error <= [0.0090, 0.090, 0.30])


def test_the_choice_on_the_wiener_hammerstein_record_loses_nothing():
    train, validation, test = wiener_hammerstein()
    result = sift(train, RECIPE, validation=validation, horizons=(10, 20, 50), form="linear")
    full = result.outcome.everything[1]
    (error,), (whole,) = (horizon_nmse(model, test, [10, 20, 50]).values() for model in (result.model, full))
    assert result.path.choice.size <= 126 / 4
    assert np.all(error <= 1.1 * whole)
    assert np.isfinite(free_run(result.model, test.states[0][0], test.inputs[0][:1000])).all()


def test_thirty_observables_of_lorenz_are_five_times_better_than_random_ones():
    rng = np.random.default_rng(0)
    clean = [Trajectories.from_arrays(lorenz(40.0, 0.01, seed=rng), dt=0.01) for _ in range(2)]
    train, test = (add_noise(part, 40, rng) for part in clean)
    phi = (States() + Constant() + SquaredExponential(100, [0.3, 1.0, 3.0], standardize=True)).fit(train, seed=0)
    assert phi.size == 304
    statistics = compress(train, phi, horizons=(1, 2, 5, 10, 20))

    def error(retained):
        model = LinearModel.from_estimate(
            HorizonLeastSquares().identify(statistics.select(retained)), phi.select(retained)
        )
        return np.mean([column[0] for column in horizon_nmse(model, test, [20], truth=clean[1]).values()])

    (found,) = HorizonSieve().sizes(statistics, [30])
    others = [np.append([0, 1, 2], np.sort(rng.choice(np.arange(3, 304), 27, replace=False))) for _ in range(5)]
    assert 5 * error(found.retained) < np.median([error(kept) for kept in others])


def test_the_benchmark_runs_continues_and_names_every_rival(tmp_path):
    rows = tmp_path / "rows.jsonl"
    quick = ["--quick", "--systems", "duffing", "--seed", "1", "--snr", "20", "--processes", "1", "--rows", str(rows)]
    told = benchmark(*quick, "--equal")
    for rival in ("row-wise ℓ1", "group lasso", "T-SSD", "principal vectors", "pqEDMD", "matching pursuit", "k-means"):
        assert rival in told
    written = rows.read_text()
    assert "Ran 0 parts" in benchmark(*quick, "--equal")
    assert rows.read_text() == written
    choice = benchmark(*quick)
    assert rows.read_text().startswith(written)
    assert "| duffing | 20 dB | 1 |" in choice
    assert "Regret: geometric mean" in benchmark("--rows", str(rows), "--tables", "--choice")


def benchmark(*options):
    """Run the benchmark and return what it prints."""
    root = Path(__file__).parents[2]
    found = subprocess.run(
        [sys.executable, "benchmarks/reduction.py", *options], capture_output=True, text=True, cwd=root, check=True
    )
    return found.stdout
