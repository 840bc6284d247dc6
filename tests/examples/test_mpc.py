"""The example of model predictive control does what it says."""

import runpy
from pathlib import Path

import numpy as np

EXAMPLE = Path(__file__).parents[2] / "examples" / "mpc.py"


def test_the_vehicle_follows_its_reference_within_the_bounds(capsys):
    error, thrusts = runpy.run_path(str(EXAMPLE))["main"]()
    assert "candidates kept" in capsys.readouterr().out
    assert error[0] < 0.2
    assert error[1] < 0.1
    assert np.abs(thrusts).max() <= 20.0 + 1e-9
