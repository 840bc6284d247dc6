# What this machine gives at the most: matrix products of one process, or of several at the same time.
import sys
import time

import numpy as np
from shared import report

rows, square = np.random.default_rng(0).normal(size=(2048, 200)), np.eye(200)
seconds = float(sys.argv[1])


def products():
    count, stop = 0, time.perf_counter() + seconds
    while time.perf_counter() < stop:
        rows @ square
        count += 1
    return count


report("matrix products", products, count=lambda count: count)
