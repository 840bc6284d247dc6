"""The peers of `scale.py`: how each is installed in an environment of its own, and run in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src"
PATIENCE = 900  # seconds for one script


@dataclass(frozen=True)
class Peer:
    """A package to compare with.

    Parameters
    ----------
    name : str
        Of the package, of what is imported, and of its environment's folder.
    script : str
        Below `peers/`.
    steps : tuple of tuple of str
        Arguments of one `pip install` after the other; by default the name alone.
    """

    name: str
    script: str
    steps: tuple[tuple[str, ...], ...] = ()


# pykoopman asks for torch 2.1 with torchvision and torchaudio, for its documentation's tools and for an old notebook.
# What it imports is below; of torch, used only by its neural networks, any version will do.
_PYKOOPMAN = (
    ("--no-deps", "pykoopman==1.2.1"),
    (
        "numpy<=1.26",
        "scikit-learn==1.1.3",
        "scipy<=1.11.2",
        "pydmd<=0.4.1",
        "derivative~=0.6.0",
        "optht~=0.2.0",
        "prettytable<=3.9.0",
        "matplotlib",
        "lightning~=2.0.9",
        "torch==2.13.0",
        "setuptools<81",
    ),
)
PEERS = (
    Peer("kooplearn", "kooplearn_ridge.py"),
    Peer("deeptime", "deeptime_edmd.py"),
    Peer("datafold", "datafold_edmd.py", steps=(("datafold", "setuptools<81"),)),
    Peer("pykoop", "pykoop_edmd.py"),
    Peer("autokoopman", "autokoopman_rbf.py"),
    Peer("pykoopman", "pykoopman_edmd.py", _PYKOOPMAN),
    Peer("pydmd", "pydmd_dmd.py"),
)
SYSIDENTPY = Peer("sysidentpy", "sysidentpy_narx.py")


def interpreter(folder: Path, name: str) -> Path:
    """Return the Python of a peer's environment."""
    return folder / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(folder: Path, peers: tuple[Peer, ...] = PEERS) -> None:
    """Make one environment per peer, leaving alone those that are there and work."""
    for peer in peers:
        python = str(interpreter(folder, peer.name))
        if _imports(python, peer.name):
            print(f"{peer.name}: already there", flush=True)
            continue
        venv.create(folder / peer.name, with_pip=True, clear=True)
        for step in peer.steps or ((peer.name,),):
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *step]
            subprocess.run(pip, check=False)
        print(f"{peer.name}: {'installed' if _imports(python, peer.name) else 'could not be installed'}", flush=True)


def _imports(python: str, name: str) -> bool:
    if not Path(python).exists():
        return False
    return subprocess.run([python, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0


def run(python: Path | str, script: str, *arguments: object, **variables: str) -> dict | str:
    """Run one script in a process of its own; return its JSON line, or why there is none."""
    return finish(begin(python, script, *arguments, **variables))


def begin(python: Path | str, script: str, *arguments: object, **variables: str) -> subprocess.Popen[str]:
    """Start one script; our own ones see the package."""
    command = [str(python), str(HERE / "peers" / script), *map(str, arguments)]
    own = {"PYTHONPATH": str(SOURCE)} if python == sys.executable else {}
    environment = {**os.environ, **own, **variables}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def finish(process: subprocess.Popen[str]) -> dict | str:
    """Wait for a script; return its JSON line, or why there is none."""
    try:
        output, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"stopped after {PATIENCE} s"
    if process.returncode:
        return (errors.strip().splitlines() or ["failed"])[-1]
    return json.loads(output.strip().splitlines()[-1])
