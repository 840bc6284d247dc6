"""Packages that exports need are extras of the project, under the names that the messages give."""

import re
import tomllib
from pathlib import Path

import pytest

from koopsieve._types import KoopsieveError, needed

ROOT = Path(__file__).parents[3]
ASKED = re.compile(r'needed\("(\w+)[\w.]*", "[^"]+", "([\w-]+)"\)')


def asked():
    rooms = (ROOT / "src" / "koopsieve" / room for room in ("export", "control"))
    texts = (path.read_text() for room in rooms for path in room.rglob("*.py"))
    return {found for text in texts for found in ASKED.findall(text)}


def test_every_package_that_is_asked_for_is_in_its_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {extra for _, extra in asked()} == {"control", "casadi", "do-mpc", "osqp", "fmu"}
    for module, extra in asked():
        packages = {re.split(r"[>=\[]", package)[0].replace("-", "_") for package in extras[extra]}
        assert module in packages
        assert f"[{extra}" in extras["dev"][0] or f",{extra}" in extras["dev"][0]


def test_contributing_says_why_each_is_here():
    table = (ROOT / "CONTRIBUTING.md").read_text()
    for module, _ in asked():
        assert f"| {module.replace('_', '-')} (`" in table


def test_what_is_not_there_is_named_with_its_command():
    with pytest.raises(KoopsieveError, match=r"to_x\(\) needs nowhere, .* pip install 'koopsieve\[far\]'"):
        needed("nowhere", "to_x()", "far")
