"""The package as a whole: what it exports, and what importing it does not drag in."""

import subprocess
import sys
from pathlib import Path

import koopsieve


def test_every_public_name_is_there():
    for name in koopsieve.__all__:
        assert getattr(koopsieve, name) is not None


HEAVY = [
    "sklearn",
    "pandas",
    "pyarrow",
    "matplotlib",
    "dask",
    "control",
    "h5py",
    "typer",
    "rich",
    "jinja2",
    "scipy.stats",
]


def test_importing_it_leaves_heavy_packages_alone():
    code = f"import sys, koopsieve; print([name for name in {HEAVY} if name in sys.modules])"
    here = {"PYTHONPATH": str(Path(koopsieve.__file__).parents[1])}
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=here).stdout
    assert printed.strip() == "[]"
