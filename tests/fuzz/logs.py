"""Logs with holes and jitter: no transition spans a hole, nothing is invented but what is counted."""

import numpy as np
import pandas as pd

from koopsieve import Trajectories
from tests.fuzz.values import pick


def case(rng, folder):
    rows, dt = int(rng.integers(20, 120)), pick(rng, (1.0, 0.02, 1e-3, 60.0))
    t = dt * np.arange(rows) + pick(rng, (0.0, 1e6, -3.0))
    frame = pd.DataFrame({"t": t, "y": np.arange(rows) + 0.5, "u": np.arange(rows) * 2.0})
    whole = frame.copy()
    for _ in range(int(rng.integers(0, 5))):
        a, length = int(rng.integers(2, rows - 2)), int(rng.integers(1, 7))
        if rng.random() < 0.5:
            frame = frame.drop(index=[i for i in range(a, min(a + length, rows - 2)) if i in frame.index])
        else:
            frame.loc[a : a + length, pick(rng, ("y", "u"))] = np.nan
    gaps = pick(rng, ("raise", "split", "interpolate"))
    arguments = {"gaps": gaps, "max_gap": int(rng.integers(1, 5)) if gaps == "interpolate" else None}
    jitter = rng.random() < 0.3
    if jitter:
        frame["t"] += rng.uniform(-0.2, 0.2, len(frame)) * dt
        arguments["resample"] = dt * pick(rng, (1.0, 0.5, 2.0, 0.7))
    data = Trajectories.from_frame(frame, "y", "u", time="t", **arguments)
    counts = data.provenance.total
    assert all(np.isfinite(one).all() for one in (*data.states, *data.inputs))
    assert counts.rows_read == len(frame)
    base = counts.samples_resampled or counts.rows_read + counts.rows_inserted
    assert data.n_samples == base - counts.rows_dropped
    for source, y, u in zip(data.provenance.sources, data.states, data.inputs, strict=True):
        steps = np.diff(source.times)
        np.testing.assert_allclose(steps, arguments.get("resample", dt), rtol=1e-3)
        if not jitter:
            _is_the_log(whole, source.times, y, u, gaps, t[0], dt)


def _is_the_log(whole, times, y, u, gaps, start, dt):
    """Compare with the log as it was without holes: outputs are linear in time, so that filling them in is exact."""
    rows = np.round((times - start) / dt).astype(int)
    np.testing.assert_array_equal(np.diff(rows), 1)
    np.testing.assert_allclose(y[:, 0], whole["y"][rows], rtol=1e-9)
    held = whole["u"][rows[:-1]].to_numpy() - u[:, 0]
    assert (held >= 0).all() and (held == 0).all() if gaps != "interpolate" else (held <= 2 * 4).all()
