# Compress a stream of Parquet files: `koopsieve_stream.py FOLDER FILES`.
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet  # noqa: F401 - importing is not what is measured
from shared import report

import koopsieve as ks

files = sorted(Path(sys.argv[1]).iterdir())[: int(sys.argv[2])]
centers = np.random.default_rng(0).uniform(-1, 1, size=(97, 3))


def compress():
    data = ks.Stream.from_parquet(files, ["x", "y", "z"], episode="run")
    phi = (ks.States() + ks.SquaredExponential(centers=centers, coefficients=[2.0])).fit(data)
    return ks.compress(data, phi)


report("koopsieve from Parquet", compress, rows=lambda statistics: statistics.rows)
