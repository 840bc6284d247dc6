"""The polynomial NARX of sysidentpy (FROLS, BIC); lags and degree by simulating the last quarter to learn from."""

import json
import sys
import time
import warnings

import numpy as np
from sysidentpy.basis_function import Polynomial
from sysidentpy.model_structure_selection import FROLS
from sysidentpy.parameter_estimation import LeastSquares

SETTINGS = ((2, 2), (2, 3), (5, 2))  # lags, degree
MOST_TERMS = 30
MOST_ROWS = 20_000  # forward regression holds the whole design in memory


def fitted(y, u, lags, degree):
    model = FROLS(
        order_selection=True,
        n_info_values=MOST_TERMS,
        ylag=lags,
        xlag=lags,
        info_criteria="bic",
        estimator=LeastSquares(),
        basis_function=Polynomial(degree=degree),
    )
    model.fit(X=u[:MOST_ROWS], y=y[:MOST_ROWS])
    return model


def rmse(model, y, u, warm_up):
    with np.errstate(all="ignore"):
        simulated = model.predict(X=u, y=y[: max(warm_up, model.max_lag)])
    error = float(np.sqrt(np.mean((simulated - y)[warm_up:] ** 2)))
    return error if np.isfinite(error) else float("inf")


def nmse(model, y, u, steps):
    with np.errstate(all="ignore"):
        ahead = model.predict(X=u, y=y, steps_ahead=int(steps))
    last = slice(model.max_lag + int(steps) - 1, None, int(steps))  # it starts anew every so many samples
    return float(np.mean((ahead - y)[last] ** 2) / np.var(y))


def main():
    warnings.simplefilter("ignore")
    with np.load(sys.argv[1]) as file:
        record = dict(file)
    begun, computed = time.perf_counter(), time.process_time()
    y, u = record["train_y0"], record["train_u0"][: len(record["train_y0"])]
    y = y[: len(u)]
    cut = 3 * len(y) // 4
    tried = []
    for lags, degree in SETTINGS:
        model = fitted(y[:cut], u[:cut], lags, degree)
        tried.append((rmse(model, y[cut:], u[cut:], 50), lags, degree))
    _, lags, degree = min(tried)
    model = fitted(y, u, lags, degree)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - computed
    scores = []
    for i in range(sum(name.startswith("test_y") for name in record)):
        test_y, test_u = record[f"test_y{i}"], record[f"test_u{i}"]
        if len(record["ahead"]):
            scores.append([nmse(model, test_y, test_u, h) for h in record["ahead"]])
        else:
            scores.append([rmse(model, test_y, test_u, int(record[f"test_w{i}"]))])
    terms = len(model.final_model)
    answer = {"seconds": seconds, "cpu": cpu, "terms": terms, "delays": f"{lags}, {lags}", "scores": scores}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
