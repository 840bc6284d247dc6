"""The example with scikit-learn's scaler and grid search, in a short form."""

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "scikit_learn.py"


@pytest.mark.filterwarnings("ignore::koopsieve.KoopsieveWarning")
def test_the_search_runs_through_the_pipeline(capsys):
    search = runpy.run_path(str(EXAMPLE))["main"](samples=240)
    assert search.best_params_ == {"koopmansieve__dictionary__monomials__degree": 3}
    printed = capsys.readouterr().out
    assert "degree 2: NMSE" in printed
    assert "ten steps ahead" in printed
