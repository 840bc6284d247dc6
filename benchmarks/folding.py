"""What the cross products of what is left over cost in folding, beside their diagonal alone.

    python -m benchmarks.folding [--rows 60000] [--sizes 100 300 500]

Rows of overlapping kernels and their targets, as many as regressors, are absorbed by a triangular factor in chunks as
`compress` does it; both ways in turn, the quickest of several. Certificates need the products; at most a third more
time was allowed for them.
"""

import argparse
import time
from unittest.mock import patch

import numpy as np

from koopsieve.execution import one_blas_thread
from koopsieve.regression import TriangularFactor, factor

CHUNK = 8192
ALLOWED = 4 / 3


def squares(columns):
    """Return the squared norms alone, on the diagonal of a matrix."""
    return np.diag(np.einsum("ij,ij->j", columns, columns))


def folded(design, targets):
    """Return the processor seconds of absorbing all rows."""
    known = TriangularFactor.empty(design.shape[1], targets.shape[1])
    begin = time.process_time()
    for start in range(0, len(design), CHUNK):
        known = known.absorb(design[start : start + CHUNK], targets[start : start + CHUNK])
    return time.process_time() - begin


def compared(rows, size, repeats):
    """Return the seconds with the diagonal alone and with all products."""
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.normal(size=(rows + 1, 2)), axis=0)
    x = np.sin(0.05 * x) + 0.01 * rng.normal(size=x.shape)
    centres = rng.uniform(-1, 1, size=(size, 2))
    lifted = np.exp(-4 * np.sum((x[:, None] - centres) ** 2, axis=2))
    diagonal, all_ = [], []
    for _ in range(repeats):
        with patch.object(factor, "products", squares):
            diagonal.append(folded(lifted[:-1], lifted[1:]))
        all_.append(folded(lifted[:-1], lifted[1:]))
    return min(diagonal), min(all_)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 500])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    for size in options.sizes:
        with one_blas_thread():
            diagonal, both = compared(options.rows, size, options.repeats)
        kept = "yes" if both <= ALLOWED * diagonal else "no"
        print(
            f"{options.rows} rows, {size} regressors and targets: diagonal {diagonal:.2f} s, "
            f"all products {both:.2f} s, {both / diagonal:.2f} times | allowed {ALLOWED:.2f} | {kept}",
            flush=True,
        )


if __name__ == "__main__":
    main()
