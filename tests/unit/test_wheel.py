"""The wheel holds everything that the program needs, and says what the project is."""

import re
from importlib.metadata import PackageNotFoundError, files, requires
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
REQUIRED = {"numpy", "scipy", "scikit-learn", "pandas", "sympy", "numba", "threadpoolctl", "cloudpickle", "h5py"}
REQUIRED |= {"typer", "rich", "jinja2"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    hatchling = pytest.importorskip("hatchling.build", reason="hatchling is not installed: pip install '.[dev]'")
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        name = hatchling.build_wheel(str(folder))
    with ZipFile(folder / name) as archive:
        yield archive


def test_every_file_of_the_package_is_inside(wheel):
    files = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in files}
    assert {"koopsieve/export/fmu/fmu.c", "koopsieve/report/templates/style.css", "koopsieve/py.typed"} <= wanted
    found = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert found == wanted


def test_it_says_what_it_is(wheel):
    metadata = wheel.read(next(name for name in wheel.namelist() if name.endswith("METADATA"))).decode()
    required = {
        re.split(r"[>=\[;]", line)[0] for line in re.findall(r"^Requires-Dist: (?!.*extra)(\S+)", metadata, re.M)
    }
    assert required == REQUIRED
    for label in ("Homepage", "Documentation", "Source", "Issues", "Changelog"):
        assert f"Project-URL: {label}, https://" in metadata
    assert "License-Expression: MIT" in metadata


def test_what_it_needs_is_small(wheel):
    """At most 650 MB, a third of it Numba: what the required packages list, sources twice, for the bytecode."""
    wanted, seen = list(REQUIRED), set()
    while wanted:
        name = wanted.pop()
        if canonicalize_name(name) in seen:
            continue
        try:
            requirements = requires(name) or []
        except PackageNotFoundError:
            continue  # not needed here, for example on another operating system
        seen.add(canonicalize_name(name))
        wanted += [
            one.name
            for one in map(Requirement, requirements)
            if one.marker is None or one.marker.evaluate({"extra": ""})
        ]
    held = [path for name in seen for path in files(name) or () if path.suffix != ".pyc"]
    sizes = [
        path.locate().stat().st_size * (2 if path.suffix == ".py" else 1) for path in held if path.locate().is_file()
    ]
    assert "scipy" in seen
    assert sum(sizes) + sum(one.file_size for one in wheel.infolist()) < 650e6
