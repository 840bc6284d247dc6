"""Days of logs: more data than memory should hold, in Parquet files, read piece by piece and once.

What is kept of the data is a small matrix of statistics. Its size does not depend on how long the logs are. The script
prints the peak of memory that reading and compressing took.
Run: python examples/days_of_logs.py [figure.png]
"""

import sys
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from koopsieve import (
    Constant,
    LinearModel,
    Monomials,
    SpikeSlab,
    States,
    Stream,
    Trajectories,
    compress,
    horizon_nmse,
    reduce,
)
from koopsieve.plots import new_axes, save_figure
from koopsieve.systems import duffing


def write_day(path, day, samples):
    """Write one day of a driven spring, position and speed measured with noise, as a Parquet file."""
    force = np.repeat(1.5 * np.random.default_rng(day).normal(size=(samples // 10, 1)), 10, axis=0)
    motion = duffing(force, 0.05)[:samples] + 1e-3 * np.random.default_rng(day).normal(size=(samples, 2))
    columns = {"t": 0.05 * np.arange(samples), "x": motion[:, 0], "v": motion[:, 1], "force": force[:, 0]}
    parquet.write_table(pa.table({"day": [day] * samples, **columns}), path)


def main(days=(1, 2, 4, 8), samples=50_000, figure=None):
    """Return the peak of memory in megabytes by number of samples, and the error of the last model."""
    peaks = {}
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"day-{day:02d}.parquet" for day in range(max(days) + 1)]
        for day, path in enumerate(files):
            write_day(path, day, samples)
        for count in days:
            data = Stream.from_parquet(files[:count], ["x", "v"], ["force"], episode="day", time="t")
            phi = (States() + Constant() + Monomials(degree=3)).fit(data)
            tracemalloc.start()
            statistics = compress(data, phi, max_bytes=4 * 2**20)
            peaks[count * samples] = tracemalloc.get_traced_memory()[1] / 2**20
            tracemalloc.stop()
            print(f"{count * samples} samples: {peaks[count * samples]:.1f} MB")
        found = SpikeSlab().identify(statistics)
        kept = reduce(found.inclusion, phi.outputs, threshold=0.1).retained
        model = LinearModel.from_estimate(SpikeSlab().identify(statistics.select(kept)), phi.select(kept))
        print("kept:", ", ".join(model.names))
        test = Trajectories.from_file(files[-1], ["x", "v"], ["force"], time="t")  # a day that was not learned from
        error = horizon_nmse(model, test, [1, 10])
        print("NMSE 1 and 10 steps ahead:", {name: values.round(6).tolist() for name, values in error.items()})
    if figure is not None:
        draw(peaks, 2 * phi.size, figure)
    return peaks, error


def draw(peaks, columns, path):
    """Draw memory against the length of the logs, beside what the data alone would take."""
    axes = new_axes(6.0, 3.4)
    counts = np.array(list(peaks))
    axes.plot(counts, list(peaks.values()), "o-", color="#0b6e99", label="reading piece by piece, with the statistics")
    whole = counts * columns * 8 / 2**20
    axes.plot(counts, whole, "--", color="#bc6c25", label="observables, now and at the next step, in memory")
    axes.set(xlabel="samples", ylabel="memory, MB", xlim=(0, 1.05 * counts[-1]), ylim=(0, None))
    axes.set_xticks(counts, [f"{count:,}".replace(",", " ") for count in counts])
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    save_figure(axes, path)


if __name__ == "__main__":
    main(figure=sys.argv[1] if len(sys.argv) > 1 else None)
