"""The wheel in an environment of its own: what the README shows works there, with nothing of the clone in reach."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]  # it installs some 400 MB
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with an environment in which the wheel is installed."""
    hatchling = pytest.importorskip("hatchling.build", reason="hatchling is not installed: pip install '.[dev]'")
    folder = tmp_path_factory.mktemp("clean")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        wheel = folder / hatchling.build_wheel(str(folder))
    run(folder, sys.executable, "-m", "venv", "env")
    run(folder, "env/bin/python", "-m", "pip", "install", "--quiet", f"{wheel}[plots]")
    return folder


def run(folder, *words):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    done = subprocess.run(words, cwd=folder, env=inherited, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_readme_works_from_the_wheel(place):
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```", (ROOT / "README.md").read_text(), flags=re.S | re.M)
    where = run(place, "env/bin/python", "-c", "import koopsieve; print(koopsieve.__file__)")
    assert where.startswith(str(place))
    for line in (line for kind, text in blocks if kind == "sh" for line in text.splitlines()):
        words = shlex.split(line, comments=True)
        if words[:1] == ["koopsieve"]:
            run(place, f"env/bin/{words[0]}", *words[1:])
    program = "\n".join(text for kind, text in blocks if kind == "python")
    assert "NMSE on held-out data" in run(place, "env/bin/python", "-W", "ignore", "-c", program)
    assert (place / "result" / "report.html").stat().st_size > 10_000


def test_what_is_not_installed_is_said(place):
    done = subprocess.run(
        ["env/bin/koopsieve", "app", "--no-browser"], cwd=place, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 2
    assert "pip install 'koopsieve[app]'" in done.stderr
