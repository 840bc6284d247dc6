"""The wheel holds everything that the program needs, and says what the project is."""

import re
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]


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
    assert "matplotlib" not in required
    assert {"numpy", "scipy"} <= required
    for label in ("Homepage", "Documentation", "Source", "Issues", "Changelog"):
        assert f"Project-URL: {label}, https://" in metadata
    assert "License-Expression: MIT" in metadata
