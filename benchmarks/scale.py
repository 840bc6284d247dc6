"""What size costs: every job beside its peers and on many kinds of data, ten million samples, one Dask worker and two.

    python benchmarks/scale.py --install-peers PEERS     # once; each peer in an environment of its own, from PyPI
    python benchmarks/scale.py --peers PEERS             # all parts; --only peers, kinds, stream or dask for some

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
from environments import PEERS, Peer, begin, finish, install, interpreter, run
from scale_data import KINDS

JOBS = ("plain fit", "paper, mean field", "paper, averaged", "sift, linear form", "sift")  # of koopsieve_job.py
STREAM_FILES = 16
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> None:
    """Read the command line and run what it asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--install-peers", type=Path, metavar="DIR", help="install every peer below DIR and stop")
    parser.add_argument("--peers", type=Path, metavar="DIR", help="where the peers were installed")
    parser.add_argument("--only", choices=["peers", "kinds", "stream", "dask"], action="append")
    parser.add_argument(
        "--samples", type=int, default=100_000, help="of the comparison with peers and of the kinds of data"
    )
    parser.add_argument("--kind", default="", help="only the kinds of data whose name has this in it")
    parser.add_argument("--jobs", choices=JOBS, nargs="+", default=JOBS, help="of the kinds of data, only these")
    parser.add_argument("--stream-samples", type=int, default=10_000_000)
    parser.add_argument("--dask-samples", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=1, help="rounds; the fastest run of each counts")
    options = parser.parse_args()
    if options.install_peers:
        install(options.install_peers)
        return
    print(machine())
    parts = {"peers": all_peers, "kinds": kinds_of_data, "stream": from_parquet, "dask": two_workers}
    table: list[dict] = []
    with tempfile.TemporaryDirectory(prefix="koopsieve-scale-") as folder:
        for name in options.only or parts:
            table += parts[name](Path(folder), options)
    if table:
        print("\n" + as_markdown(table))


def machine() -> str:
    """Say where and when this runs, and whether anything else does."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    busy = "" if load < 0.3 else f"; NOT IDLE, {load:.1f} processes are running"
    today = datetime.now(UTC).date()
    return f"{today}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}{busy}"


def all_peers(folder: Path, options: argparse.Namespace) -> list[dict]:
    """The paper's job and the default job beside every peer's plain fit, on the kind of data that all can take."""
    kind, data = next(iter(KINDS)), folder / "peers.npz"
    KINDS[kind].write(data, options.samples)
    print(f"\n{kind}: {options.samples} samples; all programs read the same file")
    there = [peer for peer in PEERS if options.peers and interpreter(options.peers, peer.name).exists()]
    for peer in PEERS:
        if peer not in there:
            print(f"  {peer.name:34s} not installed; skipped (see --install-peers)")
    programs = [partial(run, sys.executable, "koopsieve_job.py", data, job) for job in JOBS]
    programs += [partial(run, interpreter(options.peers, peer.name), peer.script, data) for peer in there]
    found = in_rounds(programs, options.repeat)
    ours, theirs = [must(one) for one in found[: len(JOBS)]], found[len(JOBS) :]
    for one in ours:
        show(one, f"{one['kept']} kept, {one['stages']}")
    rows = [beside(peer, ours, result) for peer, result in zip(there, theirs, strict=True)]
    return [*ours, *(row for row in rows if row)]


def kinds_of_data(folder: Path, options: argparse.Namespace) -> list[dict]:
    """Every job on every kind of data, beside plain fits of the two peers that take any; prints a table of its own."""
    data, lines = folder / "kind.npz", []
    there = [peer for peer in PEERS[:2] if options.peers and interpreter(options.peers, peer.name).exists()]
    for kind in (kind for kind in KINDS if options.kind in kind):
        KINDS[kind].write(data, options.samples)
        print(f"\n{kind}: {options.samples} samples", flush=True)
        programs = [partial(run, sys.executable, "koopsieve_job.py", data, job) for job in options.jobs]
        programs += [partial(run, interpreter(options.peers, peer.name), peer.script, data) for peer in there]
        cells, names = [], [*options.jobs, *(peer.name for peer in there)]
        for job, one in zip(names, in_rounds(programs, options.repeat), strict=True):
            if isinstance(one, str):
                print(f"  {job:34s} {one}", flush=True)
                cells.append(one)
                continue
            show(one, f"{one['kept']} kept, {one['stages']}" if "kept" in one else "")
            cells.append(f"{one['seconds']:.1f} s, {one['cpu']:.1f} CPU s, {one['megabytes']:.0f} MB")
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    heads = ["data", *options.jobs, *(f"{peer.name}, plain fit" for peer in there)]
    print("\n".join(["", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *lines]))
    return []


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


def beside(peer: Peer, ours: list[dict], theirs: dict | str) -> dict | None:
    """Hold the jobs against one peer's plain fit, which may have failed."""
    if isinstance(theirs, str):
        print(f"  {peer.name:34s} failed: {theirs}")
        return None
    ratios = ", ".join(f"{job} {one['seconds'] / theirs['seconds']:.2f}" for job, one in zip(JOBS, ours, strict=True))
    show(theirs, f"over this: {ratios}")
    return {**theirs, "remark": f"over this: {ratios}"}


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
