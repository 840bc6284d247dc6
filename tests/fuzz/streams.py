"""Streams of chunks, arrays and files: the same statistics as in memory, whatever the cuts, or words."""

from itertools import pairwise

import numpy as np
import pandas as pd

from koopsieve import Trajectories, compress, embed_delays
from koopsieve.data import Stream
from koopsieve.execution import Serial, Threads
from tests.fuzz.values import ODD, pick, recipe, record, with_accident


def case(rng, folder):
    n, width = int(rng.integers(1, 3)), int(rng.integers(0, 2))
    episodes = [record(rng, rows=int(rng.integers(8, 40)), columns=n, inputs=width) for _ in range(rng.integers(1, 4))]
    outliers = pick(rng, ("keep", "keep", "drop"))
    if rng.random() < 0.3:
        _spoil(rng, episodes)
    whole = Trajectories.from_arrays([x for x, _ in episodes], [u for _, u in episodes], outliers=outliers)
    how = pick(rng, ("chunks", "arrays", "parquet", "wrong"))
    if how == "wrong":
        _wrong(rng, episodes)
        return
    stream = {"chunks": _chunks, "arrays": _arrays, "parquet": _parquet}[how](rng, episodes, folder, outliers)
    delays = int(rng.integers(3))
    a, b = (embed_delays(data, delays, delays * bool(width)) for data in (_named(whole, stream), stream))
    phi = recipe(rng).fit(a)
    horizons = [1, int(rng.integers(2, 4))]
    here = compress(a, phi, horizons=horizons, executor=Serial())
    there = compress(
        b, phi, horizons=horizons, chunk_rows=int(rng.integers(1, 30)), executor=pick(rng, (Serial(), Threads(2)))
    )
    assert here.rows == there.rows
    scale = np.abs(here.R).max()
    np.testing.assert_allclose(here.R.T @ here.R, there.R.T @ there.R, rtol=1e-7, atol=1e-9 * scale**2)
    assert here.multistep.factor.rows == there.multistep.factor.rows


def _named(whole, stream):
    from dataclasses import replace

    return replace(whole, signals=replace(stream.signals, reading=None))


def _chunks(rng, episodes, folder, outliers):
    found = []
    for number, (x, u) in enumerate(episodes):
        cuts = np.unique([0, *rng.integers(1, len(x), size=int(rng.integers(0, 5))), len(x)])
        padded = np.vstack([u, np.full((1, u.shape[1]), np.nan)])
        found += [(number, x[a:b], padded[a:b]) for a, b in pairwise(cuts)]
    return Stream.from_chunks(found, outliers=outliers)


def _arrays(rng, episodes, folder, outliers):
    return Stream.from_arrays([x for x, _ in episodes], [u for _, u in episodes], outliers=outliers)


def _parquet(rng, episodes, folder, outliers):
    files = []
    for number, (x, u) in enumerate(episodes):
        columns = {f"x{i + 1}": column for i, column in enumerate(x.T)}
        columns |= {f"u{i + 1}": np.append(column, 0.0) for i, column in enumerate(u.T)}
        files.append(folder / f"part{number}.parquet")
        pd.DataFrame(columns).to_parquet(files[-1], row_group_size=int(rng.integers(2, 20)))
    n, width = episodes[0][0].shape[1], episodes[0][1].shape[1]
    names = [f"x{i + 1}" for i in range(n)], [f"u{i + 1}" for i in range(width)]
    return Stream.from_parquet(files, *names, outliers=outliers)


def _spoil(rng, episodes):
    """Put samples far outside into the data, alone or several in a row."""
    for _ in range(int(rng.integers(1, 4))):
        values = pick(rng, pick(rng, episodes))
        if values.size:
            row, column = int(rng.integers(len(values))), int(rng.integers(values.shape[1]))
            values[row : row + int(rng.integers(1, 5)), column] = pick(rng, (1e3, -1e5, 1e9))


def _wrong(rng, episodes):
    x, u = episodes[0]
    changed, accident = with_accident(rng, x)
    if rng.random() < 0.5:
        stream = Stream.from_arrays(changed, pick(rng, (None, u, *ODD)), dt=pick(rng, (1.0, *ODD)))
    else:
        stream = Stream.from_chunks(pick(rng, ([(0, changed, u)], [(pick(rng, ODD), changed)], [changed], *ODD)))
    data = embed_delays(stream, 1)
    compress(data, recipe(rng).fit(data), executor=Serial())
    assert accident not in ("nan", "inf", "mask", "complex", "text"), f"{accident} was taken for numbers"
