"""What size costs: the whole sieve beside its peers, ten million samples from Parquet, one Dask worker against two.

    python benchmarks/scale.py --install-peers PEERS     # once; each peer in an environment of its own, from PyPI
    python benchmarks/scale.py --peers PEERS             # all three parts; --only whole, stream or dask for one

Everything that is compared runs in the same call, one process after the other in rounds (`--repeat`; the fastest run of
each counts), on an otherwise idle machine if the seconds are to mean anything; processor time beside them shows whether
it was. A peer that is not installed is skipped with a word. Nothing stays on disk. The last lines are the table of
docs/scaling.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
from environments import PEERS, SOURCE, Peer, begin, finish, install, interpreter, run

STREAM_FILES = 16
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> None:
    """Read the command line and run what it asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--install-peers", type=Path, metavar="DIR", help="install every peer below DIR and stop")
    parser.add_argument("--peers", type=Path, metavar="DIR", help="where the peers were installed")
    parser.add_argument("--only", choices=["whole", "stream", "dask"], action="append")
    parser.add_argument("--samples", type=int, default=100_000, help="of the comparison with peers")
    parser.add_argument("--observables", type=int, default=500, help="of the comparison with peers")
    parser.add_argument("--snr", type=float, default=40.0, help="of its data in dB; inf for no sensor noise")
    parser.add_argument("--stream-samples", type=int, default=10_000_000)
    parser.add_argument("--dask-samples", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=1, help="rounds; the fastest run of each counts")
    options = parser.parse_args()
    if options.install_peers:
        install(options.install_peers)
        return
    print(machine())
    parts = {"whole": whole_sieve, "stream": from_parquet, "dask": two_workers}
    table: list[dict] = []
    with tempfile.TemporaryDirectory(prefix="koopsieve-scale-") as folder:
        for name in options.only or parts:
            table += parts[name](Path(folder), options)
    print("\n" + as_markdown(table))


def machine() -> str:
    """Say where and when this runs, and whether anything else does."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    busy = "" if load < 0.3 else f"; NOT IDLE, {load:.1f} processes are running"
    today = datetime.now(UTC).date()
    return f"{today}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}{busy}"


def whole_sieve(folder: Path, options: argparse.Namespace) -> list[dict]:
    """The whole sieve beside every peer's plain fit of the same regression."""
    data = folder / "lorenz.npz"
    lorenz_file(data, options.samples, options.observables, options.snr)
    noise = "no sensor noise" if np.isinf(options.snr) else f"sensor noise at {options.snr:g} dB"
    print(f"\n{options.samples} samples x {options.observables} observables, {noise}; all programs read the same file")
    there = [peer for peer in PEERS if options.peers and interpreter(options.peers, peer.name).exists()]
    for peer in PEERS:
        if peer not in there:
            print(f"  {peer.name:34s} not installed; skipped (see --install-peers)")
    programs = [partial(run, sys.executable, script, data) for script in ("koopsieve_fit.py", "koopsieve_sieve.py")]
    programs += [partial(run, interpreter(options.peers, peer.name), peer.script, data) for peer in there]
    plain, ours, *theirs = in_rounds(programs, options.repeat)
    plain, ours = must(plain), must(ours)
    show(plain)
    show(ours, f"{ours['kept']} kept, {ours['stages']}")
    verdict("peak memory at most 400 MB", ours["megabytes"] <= 400)
    rows = [beside(peer, ours, result) for peer, result in zip(there, theirs, strict=True)]
    return [plain, ours, *(row for row in rows if row)]


def in_rounds(programs: Sequence[Callable[[], dict | str]], rounds: int) -> list[dict | str]:
    """Run every program once per round, so that a slow minute is slow for all, and return the fastest run of each."""
    runs = [[program() for program in programs] for _ in range(rounds)]
    return [fastest(results) for results in zip(*runs, strict=True)]


def fastest(results: Sequence[dict | str]) -> dict | str:
    """Return the fastest of several runs, or what was said where all failed."""
    good = [result for result in results if isinstance(result, dict)]
    return min(good, key=lambda result: result["seconds"]) if good else results[0]


def must(result: dict | str) -> dict:
    """Return a result of ours, which may not have failed."""
    if isinstance(result, str):
        raise SystemExit(result)
    return result


def beside(peer: Peer, ours: dict, theirs: dict | str) -> dict | None:
    """Hold the whole sieve against one peer, which may have failed."""
    if isinstance(theirs, str):
        print(f"  {peer.name:34s} failed: {theirs}")
        return None
    ratio, by_cpu = (ours[key] / theirs[key] for key in ("seconds", "cpu"))
    show(theirs, f"whole sieve / theirs {ratio:.2f}, by processor time {by_cpu:.2f}")
    if peer.limit is not None:
        verdict(f"at most {peer.limit:g} of {peer.name}", ratio <= peer.limit)
    return {**theirs, "remark": f"whole sieve / this: {ratio:.2f}"}


def lorenz_file(path: Path, samples: int, observables: int, snr: float) -> None:
    """Write one trajectory at 1 kHz with sensor noise, and centres for all to share."""
    sys.path.insert(0, str(SOURCE))
    from koopsieve import SquaredExponential, Trajectories
    from koopsieve.evaluate import add_noise
    from koopsieve.systems import lorenz

    states = add_noise(lorenz(samples / 1000, 1e-3, seed=0), snr, 1)
    kernels = SquaredExponential(centers=observables - 3).fit(Trajectories.from_arrays(states), seed=0)
    np.savez(path, states=states, centers=kernels.families[0].centers, coefficient=1 / 128)


def from_parquet(folder: Path, options: argparse.Namespace) -> list[dict]:
    """Time and memory of streams of growing length, 100 observables, from Parquet files."""
    parquet = folder / "parquet"
    write_parquet(parquet, options.stream_samples)
    size = sum(file.stat().st_size for file in parquet.iterdir()) / 2**20
    print(f"\nfrom {STREAM_FILES} Parquet files, {size:.0f} MB, 100 observables")
    programs = [partial(run, sys.executable, "koopsieve_stream.py", parquet, files) for files in (2, 4, 8, 16)]
    results = map(must, in_rounds(programs, options.repeat))
    results = [{**result, "name": f"{result['rows']:,.0f} samples x 100 from Parquet"} for result in results]
    for result in results:
        show(result)
    grows = [growth(results, key) for key in ("seconds", "cpu")]
    for what, (power, per_million) in zip(("wall", "processor"), grows, strict=True):
        print(f"  {what} time grows as samples to the power {power:.2f}, {per_million:.2f} s per million")
        verdict("linear in samples but for what a start costs (power at most 1.1)", power <= 1.1)
    verdict("peak memory at most 1 GB", results[-1]["megabytes"] <= 1000)
    powers = ", ".join(f"{what} ∝ samples^{power:.2f}" for what, (power, _) in zip(("wall", "CPU"), grows, strict=True))
    return [*results[:-1], {**results[-1], "remark": powers}]


def growth(results: list[dict], key: str) -> tuple[float, float]:
    """Return the power of samples that time grows as, and seconds per million samples, both by least squares."""
    rows, seconds = (np.array([result[name] for result in results]) for name in ("rows", key))
    return float(np.polyfit(np.log(rows), np.log(seconds), 1)[0]), float(1e6 * np.polyfit(rows, seconds, 1)[0])


def write_parquet(folder: Path, samples: int) -> None:
    """Write one long episode over several files, piece by piece."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir()
    rng = np.random.default_rng(0)
    position, rows = np.zeros(3), samples // STREAM_FILES
    for i in range(STREAM_FILES):
        walk = position + np.cumsum(rng.normal(size=(rows, 3)), axis=0)
        position = walk[-1]
        columns = dict(zip("xyz", np.sin(walk / 30).T, strict=True))
        table = pa.table({"run": pa.array(np.zeros(rows, dtype=np.int32)), **columns})
        parquet.write_table(table, folder / f"{i:03d}.parquet", row_group_size=16_384)


def two_workers(folder: Path, options: argparse.Namespace) -> list[dict]:
    """The same stream on one and on two Dask workers of one thread each."""
    parquet = folder / "for-dask"
    write_parquet(parquet, options.dask_samples)
    print(f"\nDask, {options.dask_samples} samples x 200 observables, linear algebra single-threaded")
    programs = [partial(run, sys.executable, "koopsieve_dask.py", parquet, n, **ONE_THREAD) for n in (1, 2)]
    one, two = map(must, in_rounds(programs, options.repeat))
    for workers, result in enumerate((one, two), start=1):
        busy = sum(result["workers"]) / (workers * result["seconds"])
        each = ", ".join(f"{seconds:.2f}" for seconds in result["workers"])
        show(result, f"workers computed {each} s, {busy:.0%} of the time")
    gain, by_cpu = one["seconds"] / two["seconds"], max(one["workers"]) / max(two["workers"])
    print(f"  two workers are {gain:.2f} times as fast as one, {by_cpu:.2f} times by processor time of the busiest")
    print(f"  matrix products alone, two processes against one: {products():.2f} times")
    verdict("at least 1.6 times", gain >= 1.6)
    return [one, {**two, "remark": f"{gain:.2f} times as fast as one worker"}]


def products(seconds: float = 3.0) -> float:
    """Return how many times the products of one process two processes get done: what the machine gives at the most."""
    alone = run(sys.executable, "products.py", seconds, **ONE_THREAD)
    both = [finish(p) for p in [begin(sys.executable, "products.py", seconds, **ONE_THREAD) for _ in range(2)]]
    return sum(result["count"] for result in both) / alone["count"]


def show(result: dict, remark: str = "") -> None:
    """Print one line."""
    cost = f"{result['seconds']:7.2f} s  {result['cpu']:7.2f} CPU s  {result['megabytes']:6.0f} MB"
    print(f"  {result['name']:34s} {cost}   {remark}".rstrip(), flush=True)


def verdict(what: str, holds: bool) -> None:
    print(f"      {what}: {'yes' if holds else 'NO'}", flush=True)


def as_markdown(table: list[dict]) -> str:
    """Return all that was measured as one table."""
    rows = [
        f"| {row['name']} | {row['seconds']:.2f} s | {row['cpu']:.2f} s | {row['megabytes']:.0f} MB "
        f"| {row.get('remark', '')} |"
        for row in table
    ]
    return "\n".join([f"{machine()}:", "", "| | wall | CPU | peak memory | |", "|---|---|---|---|---|", *rows])


if __name__ == "__main__":
    main()
