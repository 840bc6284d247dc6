# Compress a stream on a Dask cluster of this machine: `koopsieve_dask.py FOLDER WORKERS`.
import sys
import time

import numpy as np
from distributed import Client, LocalCluster
from shared import peak_megabytes, report

import koopsieve as ks
from koopsieve.execution import DaskExecutor

centers = np.random.default_rng(0).uniform(-1, 1, size=(197, 3))


def warm_up():
    """Import and load what a worker needs, so that starting is not measured."""
    data = ks.Trajectories.from_arrays(np.random.default_rng(0).normal(size=(100, 3)))
    ks.compress(data, (ks.States() + ks.SquaredExponential(centers=5)).fit(data))
    import pyarrow.parquet  # noqa: F401


def main():
    count = int(sys.argv[2])
    cluster = LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        data = ks.Stream.from_parquet(sys.argv[1], ["x", "y", "z"], episode="run")
        phi = (ks.States() + ks.SquaredExponential(centers=centers, coefficients=[2.0])).fit(data)
        client.run(warm_up)
        before = np.array(list(client.run(time.process_time).values()))
        report(
            f"{count} Dask worker{'s' * (count > 1)}",
            lambda: ks.compress(data, phi, executor=DaskExecutor(client)),
            rows=lambda statistics: statistics.rows,
            workers=lambda _: (np.array(list(client.run(time.process_time).values())) - before).tolist(),
            cpu=lambda _: sum(client.run(time.process_time).values()) - before.sum(),
            megabytes=lambda _: max(client.run(peak_megabytes).values()),  # of one worker
        )


if __name__ == "__main__":
    main()
