"""The example of a changing plant does what it says."""

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "changing_plant.py"


def test_what_is_kept_follows_the_plant(capsys):
    example = runpy.run_path(str(EXAMPLE))
    history = example["main"]()
    change = example["CHANGE"]
    assert "kept x1, x2, x3, 1, x2^2" in capsys.readouterr().out
    assert all(kept == ["x1", "x2", "x3", "1", "x2^2"] for kept in history[:change])
    assert history[-1] == ["x1", "x2", "x3", "x2 x3"]


def test_without_forgetting_the_old_plant_stays():
    history = runpy.run_path(str(EXAMPLE))["main"](1.0)
    assert "x2^2" in history[-1]
