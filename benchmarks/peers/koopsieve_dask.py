# Compress a stream on a Dask cluster of this machine: `koopsieve_dask.py FOLDER WORKERS`.
import sys

import numpy as np
from distributed import Client, LocalCluster
from shared import report

import koopsieve as ks
from koopsieve.execution import DaskExecutor

centers = np.random.default_rng(0).uniform(-1, 1, size=(197, 3))


def main():
    workers = int(sys.argv[2])
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        executor = DaskExecutor(client)
        data = ks.Stream.from_parquet(sys.argv[1], ["x", "y", "z"], episode="run")
        phi = (ks.States() + ks.SquaredExponential(centers=centers, coefficients=[2.0])).fit(data)
        client.run(lambda: __import__("koopsieve.regression"))  # importing is not what is measured
        report(
            "koopsieve on Dask",
            lambda: ks.compress(data, phi, executor=executor),
            rows=lambda statistics: statistics.rows,
            observables=phi.size,
        )


if __name__ == "__main__":
    main()
