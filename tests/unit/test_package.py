"""The package as a whole: what it exports, and what importing it does not drag in."""

import subprocess
import sys
from pathlib import Path

import pytest

import koopsieve


def test_every_public_name_is_there():
    for name in koopsieve.__all__:
        assert getattr(koopsieve, name) is not None


HEAVY = {"sklearn", "pandas", "pyarrow", "matplotlib", "dask", "control", "h5py", "typer", "rich", "jinja2"}
HEAVY |= {"scipy.stats"}


def loaded(code):
    here = {"PYTHONPATH": str(Path(koopsieve.__file__).parents[1])}
    code += "; import sys; print(*sys.modules)"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=here
    ).stdout.split()


def own(modules):
    return [name for name in modules if name.split(".")[0] == "koopsieve"]


def test_importing_what_sift_needs_leaves_heavy_packages_alone():
    modules = loaded("from koopsieve import sift, Trajectories, States, LinearModel")
    assert not HEAVY & set(modules)


def test_importing_the_package_loads_next_to_nothing_of_it():
    assert len(own(loaded("import koopsieve"))) < 5


def test_its_listing_is_its_public_names():
    rooms = set(dir(koopsieve)) - set(koopsieve.__all__)
    assert set(koopsieve.__all__) < set(dir(koopsieve))
    assert all(getattr(koopsieve, name).__name__ == f"koopsieve.{name}" for name in rooms)
    assert "plots" in rooms
    assert koopsieve.sieve.__name__ == "koopsieve.sieve"  # folders of the machinery are found, not listed
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        koopsieve.nothing  # noqa: B018
