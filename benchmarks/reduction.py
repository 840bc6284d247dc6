"""Which observables to keep: the horizon sieve against fourteen other ways, on fifteen systems, and its own choice.

    python benchmarks/reduction.py --data DIR                      one seed, all systems, 10, 20 and 40 dB
    python benchmarks/reduction.py --data DIR --seed 1 2 3 --rows FILE        writes as it goes, skips what is there
    python benchmarks/reduction.py --rows FILE --tables            prints the tables of what was written
    python benchmarks/reduction.py --choice --seed 101 102         only the automatic choice
    python benchmarks/reduction.py --equal --refit one-step        only the comparison at equal size, one refit

Every subset of observables gets both refits: least squares one step ahead, and over the horizons; each stabilised where
that costs nothing on the validation trajectories. All learn from the training trajectories alone. Errors are NMSE, mean
over the outputs, on test trajectories, started from noisy states and compared with the noise-free truth. Cases run side
by side, one thread each, in as many processes as there are cores.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from reduction_choice import choice_of, choice_table
from reduction_equal import Bench
from reduction_rows import HORIZONS, ONE_STEP, Choice, Found, Row, case_of, read_rows, write_rows
from reduction_systems import SAMPLES, SYSTEMS, Case, cases
from reduction_tables import tables

from koopsieve.execution.executors import available_cores

REFITS = {"both": (ONE_STEP, HORIZONS), "one-step": (ONE_STEP,), "horizons": (HORIZONS,)}
EQUAL, CHOICE = Row.__name__, Choice.__name__


def results_of(todo: tuple[str, Case], refits: tuple[str, ...]) -> list[Found]:
    """Return all that is measured in one part of the benchmark on one case."""
    part, case = todo
    return [choice_of(case)] if part == CHOICE else Bench(case, refits).rows()


def main() -> None:
    """Measure what is not yet there, and print the tables."""
    options = _options()
    with TemporaryDirectory() as folder:
        path = options.rows or Path(folder) / "rows.jsonl"
        if not options.tables:
            _measure(options, path)
        rows = read_rows(path)
    equal = [row for row in rows if isinstance(row, Row)]
    choices = [row for row in rows if isinstance(row, Choice)]
    if equal and not options.choice:
        print(f"{tables(equal)}\n")
    if choices and not options.equal:
        print(choice_table(choices))


def _measure(options: argparse.Namespace, path: Path) -> None:
    begun = time.perf_counter()
    levels = options.snr[:1] if options.quick else options.snr
    parts = [CHOICE] if options.choice else [EQUAL] if options.equal else [EQUAL, CHOICE]
    done = {case_of(row) for row in read_rows(path)}
    every = list(cases(options.systems, levels, options.data, 1000 if options.quick else SAMPLES, options.seed))
    todo = [(part, case) for case in every for part in parts if (part, case.key) not in done]
    work = partial(results_of, refits=REFITS[options.refit])
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # of the processes to come
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, mp_context=spawn) as pool:
        for found in pool.map(work, todo):
            write_rows(path, found)
    minutes = (time.perf_counter() - begun) / 60
    print(f"Ran {len(todo)} parts in {minutes:.1f} minutes, {options.processes} processes.\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the first noise level, half the samples")
    parser.add_argument("--choice", action="store_true", help="only the automatic choice, no rivals")
    parser.add_argument("--equal", action="store_true", help="only the comparison at equal size")
    parser.add_argument("--data", type=Path, default=os.environ.get("KOOPSIEVE_DATA"))
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--snr", nargs="+", type=float, default=[10.0, 20.0, 40.0])
    parser.add_argument("--seed", nargs="+", type=int, default=[7], help="of the data")
    parser.add_argument("--refit", choices=tuple(REFITS), default="both")
    parser.add_argument("--rows", type=Path, help="file to write to, and to continue")
    parser.add_argument("--tables", action="store_true", help="print the tables of --rows and measure nothing")
    parser.add_argument("--processes", type=int, default=available_cores())
    options = parser.parse_args()
    options.data = None if options.data is None else Path(options.data)
    if options.choice and options.equal:
        parser.error("--choice and --equal exclude each other")
    if options.tables and options.rows is None:
        parser.error("--tables needs --rows")
    return options


if __name__ == "__main__":
    main()
