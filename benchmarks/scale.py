"""What size costs: the whole sieve beside its peers, ten million samples from Parquet, one Dask worker against two.

    python benchmarks/scale.py --install-peers PEERS     # once; each peer in an environment of its own, from PyPI
    python benchmarks/scale.py --peers PEERS             # all three parts; --only whole, stream or dask for one

Read the ratios, not the seconds: everything that is compared runs in the same call, one after the other. A peer that is
not installed is skipped with a word. Nothing stays on disk.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src"
# what pip installs, and the script that runs it; pykoopman pins an old numpy and scikit-learn and needs Python < 3.12
PEERS = {
    "kooplearn": (["kooplearn"], "kooplearn_ridge.py"),
    "deeptime": (["deeptime"], "deeptime_edmd.py"),
    "autokoopman": (["autokoopman"], "autokoopman_rbf.py"),
    "pykoopman": (["pykoopman", "numpy<2", "setuptools<81"], "pykoopman_edmd.py"),
    "pydmd": (["pydmd"], "pydmd_dmd.py"),
}
PATIENCE = 900  # seconds for one script
LIMITS = {"deeptime": 1.0, "kooplearn": 1.0, "pykoopman": 0.25, "pydmd": 0.25, "autokoopman": 0.25}


def main() -> None:
    """Read the command line and run what it asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--install-peers", type=Path, metavar="DIR", help="install every peer below DIR and stop")
    parser.add_argument("--peers", type=Path, metavar="DIR", help="where the peers were installed")
    parser.add_argument("--only", choices=["whole", "stream", "dask"], action="append")
    parser.add_argument("--samples", type=int, default=100_000, help="of the comparison with peers")
    parser.add_argument("--observables", type=int, default=500, help="of the comparison with peers")
    parser.add_argument("--stream-samples", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=1, help="runs of each peer; the fastest counts")
    options = parser.parse_args()
    if options.install_peers:
        install(options.install_peers)
        return
    parts = {"whole": whole_sieve, "stream": from_parquet, "dask": two_workers}
    with tempfile.TemporaryDirectory(prefix="koopsieve-scale-") as folder:
        for name in options.only or parts:
            parts[name](Path(folder), options)


def install(folder: Path) -> None:
    """Make one environment per peer."""
    for name, (packages, _) in PEERS.items():
        venv.create(folder / name, with_pip=True, clear=True)
        pip = [str(interpreter(folder, name)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = subprocess.run([*pip, *packages], check=False)
        print(f"{name}: {'installed' if done.returncode == 0 else 'could not be installed'}")


def interpreter(folder: Path, name: str) -> Path:
    return folder / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(python: Path | str, script: str, *arguments: object, **variables: str) -> dict | str:
    """Run one script in a process of its own; return its JSON line, or why there is none."""
    command = [str(python), str(HERE / "peers" / script), *map(str, arguments)]
    own = {"PYTHONPATH": str(SOURCE)} if python == sys.executable else {}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, **own, **variables},
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"stopped after {PATIENCE} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1]
    return json.loads(done.stdout.strip().splitlines()[-1])


def whole_sieve(folder: Path, options: argparse.Namespace) -> None:
    """The whole sieve beside every peer's plain fit of the same regression."""
    data = folder / "lorenz.npz"
    lorenz_file(data, options.samples, options.observables)
    print(f"\n{options.samples} samples x {options.observables} observables")
    plain = best(sys.executable, "koopsieve_fit.py", data, options.repeat)
    print(f"  {plain['name']:34s} {plain['seconds']:7.2f} s  {plain['megabytes']:6.0f} MB", flush=True)
    ours = best(sys.executable, "koopsieve_sieve.py", data, options.repeat)
    print(f"  {ours['name']:34s} {ours['seconds']:7.2f} s  {ours['megabytes']:6.0f} MB   {ours['stages']}", flush=True)
    verdict("peak memory below 400 MB", ours["megabytes"] < 400)
    for name, (_, script) in PEERS.items():
        python = options.peers and interpreter(options.peers, name)
        if not python or not python.exists():
            print(f"  {name:34s} not installed; skipped (see --install-peers)")
            continue
        theirs = best(python, script, data, options.repeat)
        if isinstance(theirs, str):
            print(f"  {name:34s} failed: {theirs}")
            continue
        ratio = ours["seconds"] / theirs["seconds"]
        cost = f"{theirs['seconds']:7.2f} s  {theirs['megabytes']:6.0f} MB"
        print(f"  {theirs['name']:34s} {cost}   whole sieve / theirs {ratio:.2f}", flush=True)
        verdict(f"at most {LIMITS[name]:g} of {name}", ratio <= LIMITS[name])


def best(python: Path | str, script: str, data: Path, repeat: int) -> dict | str:
    results = [run(python, script, data) for _ in range(repeat)]
    good = [result for result in results if isinstance(result, dict)]
    if not good and python == sys.executable:
        raise SystemExit(results[0])
    return min(good, key=lambda result: result["seconds"]) if good else results[0]


def lorenz_file(path: Path, samples: int, observables: int) -> None:
    """Write one trajectory at 1 kHz, and centres for all to share."""
    sys.path.insert(0, str(SOURCE))
    from koopsieve import SquaredExponential, Trajectories
    from koopsieve.experiments.systems import lorenz

    states = lorenz(samples / 1000, 1e-3, seed=0)
    kernels = SquaredExponential(centers=observables - 3).fit(Trajectories.from_arrays(states), seed=0)
    np.savez(path, states=states, centers=kernels.families[0].centers, coefficient=1 / 128)


def from_parquet(folder: Path, options: argparse.Namespace) -> None:
    """Time and memory of streams of growing length, 100 observables, from Parquet files."""
    sizes = [options.stream_samples // share for share in (8, 4, 2, 1)]
    parquet = folder / "parquet"
    write_parquet(parquet, sizes[-1])
    files = sorted(parquet.iterdir())
    print(f"\nfrom {len(files)} Parquet files, {sum(f.stat().st_size for f in files) / 2**20:.0f} MB, 100 observables")
    results = []
    for size in sizes:
        result = run(sys.executable, "koopsieve_stream.py", parquet, size * len(files) // sizes[-1])
        if isinstance(result, str):
            raise SystemExit(result)
        results.append(result)
        cost = f"{result['seconds']:7.2f} s  {result['cpu']:7.2f} CPU s  {result['megabytes']:6.0f} MB"
        print(f"  {result['rows']:>10.0f} samples  {cost}", flush=True)
    rows, seconds = (np.array([result[key] for result in results]) for key in ("rows", "seconds"))
    slope, per_million = np.polyfit(np.log(rows), np.log(seconds), 1)[0], 1e6 * np.polyfit(rows, seconds, 1)[0]
    print(f"  seconds grow as samples to the power {slope:.2f}; {per_million:.2f} s per million")
    verdict("peak memory below 1 GB", results[-1]["megabytes"] < 1000)
    verdict("linear in samples (power 0.8 to 1.2)", 0.8 <= slope <= 1.2)


def write_parquet(folder: Path, samples: int, files: int = 16) -> None:
    """Write one long episode over several files, piece by piece."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir()
    rng = np.random.default_rng(0)
    position = np.zeros(3)
    for i in range(files):
        rows = samples // files
        walk = position + np.cumsum(rng.normal(size=(rows, 3)), axis=0)
        position = walk[-1]
        columns = dict(zip("xyz", np.sin(walk / 30).T, strict=True))
        table = pa.table({"run": pa.array(np.zeros(rows, dtype=np.int32)), **columns})
        parquet.write_table(table, folder / f"{i:03d}.parquet", row_group_size=65_536)


def two_workers(folder: Path, options: argparse.Namespace) -> None:
    """The same stream on one and on two Dask workers of one thread each."""
    parquet = folder / "for-dask"
    write_parquet(parquet, max(options.stream_samples // 10, 160_000))
    one, two = (run(sys.executable, "koopsieve_dask.py", parquet, workers, **ONE_THREAD) for workers in (1, 2))
    if isinstance(one, str) or isinstance(two, str):
        raise SystemExit(one if isinstance(one, str) else two)
    print(f"\nDask, {one['rows']:.0f} samples x {one['observables']} observables, linear algebra single-threaded")
    gain = one["seconds"] / two["seconds"]
    print(f"  one worker {one['seconds']:.2f} s, two workers {two['seconds']:.2f} s: {gain:.2f} times as fast")
    verdict("at least 1.6 times", gain >= 1.6)


ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def verdict(what: str, holds: bool) -> None:
    print(f"      {what}: {'yes' if holds else 'NO'}")


if __name__ == "__main__":
    main()
