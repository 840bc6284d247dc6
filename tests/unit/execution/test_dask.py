"""On a Dask cluster everything comes out as it does here; a worker that is killed costs nothing but time."""

import os
import signal
import threading
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from koopsieve._types import KoopsieveError
from koopsieve.data import Stream, Trajectories, embed_delays
from koopsieve.dictionary import Monomials, SquaredExponential, States
from koopsieve.execution import DaskExecutor, Serial
from koopsieve.regression import compress
from tests.problems import assert_same_statistics

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def make(lengths=(400, 90, 300), seed=0):
    rng = np.random.default_rng(seed)
    x = [np.cumsum(rng.normal(size=(T, 2)), axis=0) / 10 for T in lengths]
    return Trajectories.from_arrays(x, [rng.normal(size=(T - 1, 1)) for T in lengths])


def double(x):
    return 2 * x


def add(a, b):
    return a + b


def test_map_and_tree(client):
    executor = DaskExecutor(client)
    assert (executor.workers, executor.sharing) == (2, 1)
    assert list(executor.map(double, range(7))) == [0, 2, 4, 6, 8, 10, 12]
    seen = []

    def watch(items, description, total):
        for item in items:
            seen.append((description, total))
            yield item

    letters = list("abcdefghijklmnopqrs")
    assert executor.map_reduce(str, letters, add, progress=watch, description="Adding") == "".join(letters)
    assert seen == [("Adding", 19)] * 19


def test_trajectories_and_dask_arrays(client):
    import dask.array as da

    data = make()
    phi = (States() + Monomials()).fit(data)
    wanted = compress(data, phi, horizons=[1, 4], executor=Serial())
    x = [da.from_array(a, chunks=(70, 2)) for a in data.states]
    u = [da.from_array(a, chunks=(50, 1)) for a in data.inputs]
    streams = [Stream.from_arrays(states, u) for states in (x, [a.persist() for a in x])]
    for source, executor in (*((one, DaskExecutor(client)) for one in (data, *streams)), (streams[0], Serial())):
        found = compress(source, phi, horizons=[1, 4], chunk_rows=20, executor=executor)
        assert_same_statistics(found, wanted, 1e-10)


def test_parquet_and_dask_frames(client, tmp_path):
    import dask.dataframe as dd

    data = make(lengths=(400, 250))
    tables = [
        pa.table({"run": [f"run {i}"] * len(x), "p": x[:, 0], "q": x[:, 1], "u": np.append(u[:, 0], np.nan)})
        for i, (x, u) in enumerate(zip(data.states, data.inputs, strict=True))
    ]
    whole = pa.concat_tables(tables)
    for i, first in enumerate(range(0, 650, 130)):
        parquet.write_table(whole.slice(first, 130), tmp_path / f"{i}.parquet", row_group_size=40)
    expected = embed_delays(
        Trajectories.from_arrays(data.states, data.inputs, state_names=["p", "q"], input_names="u"), 2, 1
    )
    phi = (States() + Monomials()).fit(expected)
    wanted = compress(expected, phi, horizons=[3], executor=Serial())
    executor = DaskExecutor(client)
    frame = dd.read_parquet(tmp_path)
    for stream in (
        Stream.from_parquet(tmp_path, ["p", "q"], "u", episode="run"),
        Stream.from_dask(frame, ["p", "q"], "u", episode="run"),
    ):
        for engine in (executor, Serial()):
            came = compress(embed_delays(stream, 2, 1), phi, horizons=[3], chunk_rows=10, executor=engine)
            assert_same_statistics(came, wanted, 1e-10)


@pytest.mark.parametrize("workers", [1, 2])
def test_all_lifting_is_done_by_the_workers_and_by_all_of_them(workers):
    """A Dask frame, whose length nobody knows, and one worker are no exceptions."""
    import dask.dataframe as dd
    import pandas as pd

    from koopsieve.dictionary import Function

    cluster = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0)
    x = make(lengths=(900,)).states[0]
    frame = dd.from_pandas(pd.DataFrame({"run": 0, "p": x[:, 0], "q": x[:, 1]}), npartitions=6)
    with cluster, distributed.Client(cluster) as client:
        for stream in (
            Stream.from_arrays(x, state_names=["p", "q"]),
            Stream.from_dask(frame, ["p", "q"], episode="run"),
        ):
            phi = (
                States() + Function(lambda x: (time.sleep(0.05), np.full(len(x), os.getpid()))[1], names=["process"])
            ).fit(stream)
            found = compress(stream, phi, chunk_rows=20, executor=DaskExecutor(client))
            expected = list(client.run(os.getpid).values())
            mean = np.linalg.norm(found.R[:, -1]) / np.sqrt(899)  # of the process numbers, over all rows
            if workers == 1:
                np.testing.assert_allclose(mean, expected)
            else:
                assert min(expected) + 1e-3 < mean < max(expected) - 1e-3


def test_what_is_wrong_with_the_data_is_said_here(client):
    x = np.random.default_rng(0).normal(size=(400, 2))
    phi = States().fit(Trajectories.from_arrays(x))
    x[399, 0] = np.inf
    with pytest.raises(KoopsieveError, match="'x1' is missing or infinite"):
        compress(Stream.from_arrays(x), phi, chunk_rows=10, executor=DaskExecutor(client))
    with pytest.raises(KoopsieveError, match="Expected a Dask data frame, got ndarray"):
        Stream.from_dask(x, "x", episode="run")


def test_a_worker_killed_in_the_middle(client):
    """Kill a worker while it lifts: its share is computed again and the statistics are the same."""
    from koopsieve.dictionary import Function

    data = make(lengths=(2000,))
    slow = Function(lambda x: (time.sleep(0.02), np.abs(x[:, 0]))[1], names=["|x1|"])
    phi = (States() + SquaredExponential(centers=8) + slow).fit(data)
    wanted = compress(data, phi, horizons=[2], executor=Serial())
    victim = next(iter(client.run(os.getpid).values()))

    def kill():
        time.sleep(0.7)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    came = compress(data, phi, horizons=[2], chunk_rows=20, executor=DaskExecutor(client))
    killer.join()
    assert_same_statistics(came, wanted, 1e-10)
    client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()
    again = compress(data, phi, horizons=[2], chunk_rows=50, executor=DaskExecutor(client))
    assert_same_statistics(again, wanted, 1e-10)


def test_a_scheduler_without_workers():
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(KoopsieveError, match="has no workers"),
    ):
        list(DaskExecutor(client).map(double, [1, 2]))


def test_the_command_line_takes_an_address(client, tmp_path, monkeypatch, capsys):
    import json
    import sys
    import warnings

    from koopsieve.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main() replaces it

    def koopsieve(*arguments):
        monkeypatch.setattr(sys, "argv", ["koopsieve", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr().err

    assert koopsieve("example", "--samples", "400")[0] == 0
    sift = ["sift", "bench.csv", "--states", "y", "--inputs", "u", "--time", "t", "--kernels", "3"]
    sift += ["--horizons", "1,5"]
    assert koopsieve(*sift, "--out", "here")[0] == 0
    assert koopsieve(*sift, "--out", "there", "--scheduler", client.scheduler.address)[0] == 0
    here, there = (json.loads((tmp_path / name / "summary.json").read_text()) for name in ("here", "there"))
    assert here["observables"] == there["observables"]
    code, error = koopsieve(*sift, "--out", "nowhere", "--scheduler", "tcp://127.0.0.1:9")
    assert code == 2
    assert "No Dask scheduler answered at 'tcp://127.0.0.1:9'" in " ".join(error.split())
    assert not (tmp_path / "nowhere").exists()
