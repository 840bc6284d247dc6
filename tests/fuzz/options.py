"""Command lines: they work, or end with one of the errors that are shown in words."""

import contextlib
import io
import os

import numpy as np

from koopsieve import KoopsieveError
from koopsieve.cli.app import _is_for_users, app
from koopsieve.systems import BENCH_SAMPLE_TIME, bench_record
from tests.fuzz.models import model
from tests.fuzz.values import NAMES, pick

VALUES = (
    *NAMES, "", "-1", "0", "1", "2", "1.5", "nan", "inf", "1e308", "a,b", "1,2", ",", "split", "graph", "auto", "y",
    "u", "t",
)  # fmt: skip
OPTIONS = (
    "--states", "--inputs", "--episode", "--time", "--dt", "--gaps", "--max-gap", "--resample", "--delays",
    "--kernels", "--polynomials", "--form", "--horizons", "--sieve", "--threshold", "--compare", "--validation",
    "--holdout", "--seed", "--stream", "--inputs-at", "--input-delays", "--test", "--config", "--nonsense", "--json",
)  # fmt: skip
SHARED = (
    "--horizon", "--start", "--level", "--joint", "--states", "--inputs", "--time", "--gaps", "--max-gap", "--episode",
    "--resample", "--missing", "--date-format",
)  # fmt: skip


def case(rng, folder):
    _prepare(folder)
    arguments = _arguments(rng)
    before = sorted(os.listdir(folder))  # noqa: PTH208
    here = os.getcwd()  # noqa: PTH109
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            app(arguments, prog_name="koopsieve", standalone_mode=False)
    except (Exception, SystemExit) as error:
        if not isinstance(error, SystemExit) and not _is_for_users(error):
            raise
        assert sorted(os.listdir()) == before, "something was left behind"  # noqa: PTH208
        raise KoopsieveError(str(error)) from error
    finally:
        os.chdir(here)


def _prepare(folder):
    if (folder / "bench.csv").exists():
        return
    u, y = bench_record(70, seed=0)
    table = np.column_stack([BENCH_SAMPLE_TIME * np.arange(70), u, y])
    np.savetxt(folder / "bench.csv", table, delimiter=",", header="t,u,y", comments="")
    (folder / "broken.csv").write_text("t,u,y\n1,2\n")
    np.savetxt(folder / "other.csv", table[:, [0, 1, 2, 2]], delimiter=",", header="t,u1,x1,x2", comments="")
    model("linear", 1).save(folder / "model.npz")
    (folder / "result").mkdir()


def _arguments(rng):
    file = pick(rng, ("bench.csv", "bench.csv", "broken.csv", "gone.csv", "result", "model.npz"))
    if rng.random() < 0.35:
        command = pick(rng, ("predict", "simulate", "inspect"))
        words = [command, pick(rng, ("model.npz", "model.npz", "model.npz", "bench.csv", "gone.npz"))]
        words += [] if command == "inspect" else [pick(rng, ("other.csv", "other.csv", file))]
        return words + [word for _ in range(int(rng.integers(0, 3))) for word in (pick(rng, SHARED), pick(rng, VALUES))]
    words = ["sift", file, "--states", "y", "--inputs", "u", "--kernels", "0", "--horizons", "1"]
    words += ["--sieve", "graph", "--out", "result", "--overwrite"]
    words += [word for _ in range(int(rng.integers(1, 4))) for word in (pick(rng, OPTIONS), pick(rng, VALUES))]
    return words if rng.random() < 0.9 else [str(word) for word in rng.permutation(words)]
