"""Nothing but data through every way in: `sift`, a stream, the estimator and the command line find the same model."""

import numpy as np
import pandas as pd

from koopsieve import KoopmanSieve, Stream, Trajectories, sift
from koopsieve.cli.command_settings import HOLDOUT, Settings
from koopsieve.cli.sift import run


def record(rows=420):
    """Return times, y[k+1] = 1.5 y[k] − 0.7 y[k-1] − 0.1 y[k]³ + 0.4 u[k] with a little noise, and u."""
    rng = np.random.default_rng(5)
    y, u = np.zeros(rows), np.repeat(rng.normal(size=rows // 3), 3)
    for k in range(1, rows - 1):
        y[k + 1] = 1.5 * y[k] - 0.7 * y[k - 1] - 0.1 * y[k] ** 3 + 0.4 * u[k]
    return pd.DataFrame({"t": 0.1 * np.arange(rows), "y": y + 0.005 * rng.normal(size=rows), "u": u})


def test_nothing_but_data_gives_the_same_model_by_every_way_in(tmp_path):
    frame, file = record(), tmp_path / "record.csv"
    frame.to_csv(file, index=False)
    data = Trajectories.from_file(file, "y", "u", time="t")
    first, judged = sift(data), sift(data, test=HOLDOUT)  # a command holds data out to judge on
    ways = {
        "stream": (
            sift(Stream.from_arrays(data.states[0], data.inputs[0], dt=0.1, state_names="y", input_names="u")),
            first,
        ),
        "estimator": (KoopmanSieve().fit(data).result_, first),
        "estimator, frames": (KoopmanSieve().fit(frame[["y"]], u=frame[["u"]]).result_, first),
        "command": (run(Settings(files=(str(file),), states=("y",), inputs=("u",), time="t")), judged),
    }
    assert first.model.signals.embedding.state_delays >= 1  # nobody asked for delays
    for way, (found, expected) in ways.items():
        assert (found.model.form, found.retained_names) == (expected.model.form, expected.retained_names), way
        assert (*found.model.signals.outputs, *found.model.signals.inputs) == ("y", "u"), way
        assert found.model.signals.embedding == expected.model.signals.embedding, way
        assert found.horizons == expected.horizons, way
        inputs = data.inputs[0][: 24 + expected.model.signals.embedding.input_lead]
        one, other = (model.predict(data.states[0][:20], inputs, 5) for model in (found.model, expected.model))
        np.testing.assert_allclose(one, other, rtol=1e-6, err_msg=way)
