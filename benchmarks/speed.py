"""How long a default `sift` takes, beside an earlier version of the package and beside peers, in one run.

    python -m benchmarks.speed --against OLD [--data FOLDER] [--peers DIR] [--only TEXT] [--repeat N] [--threads N]

OLD is a checkout of an earlier version (`git worktree add OLD COMMIT`). Every job runs in a process of its own, ours
and theirs in turn, so that a slow minute is slow for both. Linear algebra has as many threads as in any call of a user,
one per core unless `--threads` or the environment says another number. What counts is processor time, the least of the
rounds. Each line also says how the errors on another record of the same kind compare, so that speed is not bought with
accuracy: the geometric mean over the outputs and 1, 10 and 50 steps of the new error over the old one. FOLDER holds
silverbox.mat and cascaded_tanks.mat. With `--peers`, the polynomial NARX model of sysidentpy runs on the same records
with one input and one output, and kooplearn, deeptime and pykoop fit one Koopman matrix to the record with two past
samples, lifted by 100 kernels: nothing is searched, chosen or judged there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.environments import PEERS, SYSIDENTPY, install, interpreter, run

HERE = Path(__file__).parent
THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PLAIN = tuple(peer for peer in PEERS if peer.name in ("kooplearn", "deeptime", "pykoop"))
PAST, KERNELS = 2, 100  # what the peers lift
Record = tuple[np.ndarray, np.ndarray]  # outputs (samples, n) and inputs (samples - 1, l)


def oscillator(samples: int, dt: float = 0.1, noise: float = 0.01, seed: int = 0) -> Record:
    """Return the position of a Duffing oscillator under a force that is held for a second."""
    rng = np.random.default_rng(seed)
    hold = max(round(1 / dt), 1)
    force = np.repeat(rng.uniform(-1, 1, (samples // hold + 1, 1)), hold, axis=0)[: samples - 1]
    state, found = np.zeros(2), np.zeros((samples, 1))
    for k in range(samples - 1):
        for _ in range(5):
            x, v = state
            state = state + dt / 5 * np.array([v, -x - 0.5 * v - x**3 + 3 * force[k, 0]])
        found[k + 1] = state[0]
    return found + noise * found.std() * rng.normal(size=found.shape), force


def four_tanks(samples: int, seed: int = 0) -> Record:
    """Return the two lower levels of four tanks with two pumps."""
    rng = np.random.default_rng(seed)
    pumps = np.repeat(rng.uniform(0.2, 1, (samples // 20 + 1, 2)), 20, axis=0)[: samples - 1]
    levels = np.ones((samples, 4))
    for k, (a, b) in enumerate(pumps):
        h = levels[k]
        for _ in range(5):
            out = 0.5 * np.sqrt(np.maximum(h, 0))
            flow = [0.7 * a + out[2] - out[0], 0.6 * b + out[3] - out[1], 0.4 * b - out[2], 0.3 * a - out[3]]
            h = h + 0.1 * np.array(flow)
        levels[k + 1] = h
    found = levels[:, :2]
    return found + 0.005 * found.std(axis=0) * rng.normal(size=found.shape), pumps


def chaos(samples: int, dt: float, seed: int = 0) -> Record:
    """Return the three states of the Lorenz system with noise at 40 dB."""
    rng = np.random.default_rng(seed)
    states = np.empty((samples, 3))
    s = np.array([1.0 + seed, 1.0, 20.0])
    for k in range(-2000, samples):
        if k >= 0:
            states[k] = s
        for _ in range(10):
            x, y, z = s
            s = s + dt / 10 * np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
    return states + 0.01 * states.std(axis=0) * rng.normal(size=states.shape), np.zeros((0, 0))


def measured(folder: Path, name: str, seed: int) -> Record:
    """Return the training part of a measured record for seed 0, else a test part."""
    from scipy.io import loadmat

    file = loadmat(folder / f"{name}.mat")
    if name == "cascaded_tanks":
        part = "Val" if seed else "Est"
        return file[f"y{part}"].reshape(-1, 1), file[f"u{part}"].reshape(-1, 1)[:-1]
    first, cut, last = 40650, 40650 + int(0.75 * (127400 - 40650)), 127400
    rows = slice(cut, last) if seed else slice(first, cut)
    return file["V2"].reshape(-1, 1)[rows], file["V1"].reshape(-1, 1)[rows][:-1]


def kinds(folder: Path | None) -> dict[str, Callable[[int], Record]]:
    """Return the kinds of data, by a seed: one record to learn from, one to judge on."""
    found: dict[str, Callable[[int], Record]] = {
        "one input, one output, 4000 samples, 1 % noise": lambda seed: oscillator(4000, seed=seed),
        "the same, 1000 samples": lambda seed: oscillator(1000, seed=seed),
        "the same, 4000 samples, no noise": lambda seed: oscillator(4000, noise=0.0, seed=seed),
        "the same, sampled five times as fast, 5 % noise": lambda seed: oscillator(4000, 0.02, 0.05, seed),
        "two inputs, two outputs, 4000 samples": lambda seed: four_tanks(4000, seed),
        "no input, three outputs, 4000 samples at 100 Hz": lambda seed: chaos(4000, 0.01, seed),
    }
    if folder is not None:
        found["measured: tanks, 1024 samples"] = lambda seed: measured(folder, "cascaded_tanks", seed)
        found["measured: Silverbox, 65 062 samples"] = lambda seed: measured(folder, "silverbox", seed)
    return found


JOB = """
import json, sys, time, numpy as np
from koopsieve import Trajectories, horizon_nmse, sift
def read(path):
    with np.load(path) as file:
        return Trajectories.from_arrays(file["outputs"], file["inputs"] if file["inputs"].size else None)
data = read(sys.argv[1])
begun, computed = time.perf_counter(), time.process_time()
result = sift(data)
cpu, wall = time.process_time() - computed, time.perf_counter() - begun
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
errors = horizon_nmse(result.model, read(sys.argv[2]), [1, 10, 50])
print(json.dumps({"cpu": cpu, "wall": wall, "megabytes": int(peak.split()[1]) / 1024, "form": result.path.form,
    "terms": result.path.choice.size, "errors": np.concatenate(list(errors.values())).tolist()}))
"""


def sifted(source: Path, data: Path, test: Path, limits: dict[str, str]) -> dict:
    """Run the default job with the package of a checkout, in a process of its own, and judge it on another record."""
    environment = {**os.environ, **limits, "PYTHONPATH": str(source)}
    command = [sys.executable, "-W", "ignore", "-c", JOB, str(data), str(test)]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    found: dict = json.loads(output.strip().splitlines()[-1])
    return found


def narx(peers: Path, record: Record, folder: Path, limits: dict[str, str]) -> str:
    """Return the processor seconds of sysidentpy's NARX model on the same record, and how many terms it has."""
    outputs, inputs = record
    if outputs.shape[1] != 1 or inputs.shape[-1:] != (1,):
        return "–"
    file, y, u = folder / "narx.npz", outputs, np.vstack([inputs, inputs[-1:]])
    arrays = {f"{part}_{name}0": values for part in ("train", "test") for name, values in (("y", y), ("u", u))}
    np.savez(file, **arrays, test_w0=50, ahead=np.array([]))
    found = run(interpreter(peers, SYSIDENTPY.name), SYSIDENTPY.script, file, **limits)
    return found if isinstance(found, str) else f"{found['cpu']:.1f} s, {found['terms']}"


def plain_fits(peers: Path, record: Record, folder: Path, limits: dict[str, str]) -> list[str]:
    """Return the processor seconds of each peer's plain fit to the record with its past, in units of its deviations."""
    outputs, inputs = record
    signals = np.hstack([outputs, np.vstack([inputs, inputs[-1:]])]) if inputs.size else outputs
    rows = len(signals) - PAST
    states = np.hstack([signals[PAST - back : PAST - back + rows] for back in range(PAST + 1)])
    states = (states - states.mean(axis=0)) / np.where(states.std(axis=0) > 0, states.std(axis=0), 1.0)
    centers = np.random.default_rng(0).choice(states, KERNELS, replace=False)
    file, none = folder / "lifted.npz", np.zeros((0, 0))
    np.savez(file, states=states, inputs=none, dt=1.0, centers=centers, coefficients=[0.5 / states.shape[1]])
    found = [run(interpreter(peers, peer.name), peer.script, file, **limits) for peer in PLAIN]
    return [one if isinstance(one, str) else f"{one['cpu']:.2f} s" for one in found]


def line(name: str, new: dict, old: dict | None, peers: list[str]) -> str:
    """Return one line of the table."""
    cells = [name, f"{new['cpu']:.1f} s", f"{new['megabytes']:.0f} MB", f"{new['form']}, {new['terms']}"]
    if old is not None:
        ratio = float(np.exp(np.mean(np.log(np.array(new["errors"]) / np.array(old["errors"])))))
        before = [f"{old['cpu']:.1f} s", f"{old['megabytes']:.0f} MB", f"{old['form']}, {old['terms']}"]
        cells += [*before, f"{new['cpu'] / old['cpu']:.2f}", f"{ratio:.3f}"]
    return f"| {' | '.join([*cells, *peers])} |"


def main() -> None:
    """Run every kind of data and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="a checkout of an earlier version")
    parser.add_argument("--data", type=Path, help="where silverbox.mat and cascaded_tanks.mat are")
    parser.add_argument("--peers", type=Path, help="where the peers were installed")
    parser.add_argument("--install-peers", type=Path, metavar="DIR", help="install the peers below DIR and stop")
    parser.add_argument("--only", default="", help="only the kinds of data whose name has this in it")
    parser.add_argument("--repeat", type=int, default=1, help="rounds; the least processor time counts")
    parser.add_argument("--threads", type=int, help="of linear algebra; left out, one per core")
    options = parser.parse_args()
    limits = dict.fromkeys(THREAD_LIMITS, str(options.threads)) if options.threads else {}
    if options.install_peers:
        install(options.install_peers, (SYSIDENTPY, *PLAIN))
        return
    head = "| data | CPU | memory | form, terms |"
    head += " CPU before | memory | form, terms | CPU ratio | error ratio |" if options.against else ""
    head += f" sysidentpy, terms | {' | '.join(peer.name for peer in PLAIN)} |" if options.peers else ""
    print(head, "|---" * (head.count("|") - 1) + "|", sep="\n", flush=True)
    sources = [HERE.parent / "src", *([options.against / "src"] if options.against else [])]
    with tempfile.TemporaryDirectory(prefix="koopsieve-speed-") as folder:
        for name, make in kinds(options.data).items():
            if options.only not in name:
                continue
            record, files = make(0), [Path(folder) / f"record_{seed}.npz" for seed in (0, 1)]
            for seed, file in enumerate(files):
                np.savez(file, **dict(zip(("outputs", "inputs"), make(seed), strict=True)))
            rounds = [[sifted(source, *files, limits) for source in sources] for _ in range(options.repeat)]
            best = [min(runs, key=lambda one: one["cpu"]) for runs in zip(*rounds, strict=True)]
            peers: list[str] = []
            if options.peers:
                given = options.peers, record, Path(folder), limits
                peers = [narx(*given), *plain_fits(*given)]
            print(line(name, best[0], best[1] if options.against else None, peers), flush=True)


if __name__ == "__main__":
    main()
