"""A short run of every fuzzer; `make fuzz` runs many cases."""

import pytest

from tests.fuzz.runner import ENTRIES, run

CASES = {"files": 150, "frames": 150, "logs": 150, "streams": 100, "facade": 40, "stages": 60, "models": 60}
CASES |= {"archives": 150, "settings": 300, "options": 25, "report": 6, "metamorphic": 40, "exports": 60, "kills": 10}


@pytest.mark.parametrize("entry", ENTRIES)
def test_nothing_is_found(entry):
    outcome = run(entry, CASES[entry], seed=1)
    assert outcome.cases == CASES[entry]
    assert outcome.findings == []


def test_the_runner_finds_what_there_is_to_find(tmp_path):
    import numpy as np

    from koopsieve import KoopsieveError
    from tests.fuzz.runner import attempt

    def case(error):
        def fail(rng, folder):
            raise error

        return fail

    rng = np.random.default_rng(0)
    assert attempt(lambda rng, folder: None, rng, tmp_path) is None
    assert attempt(case(KoopsieveError("no")), rng, tmp_path) == ""
    for error in (ValueError("no"), AssertionError("wrong"), SystemExit(3), RuntimeWarning("odd")):
        assert "no" in attempt(case(error), rng, tmp_path) or type(error).__name__ in attempt(
            case(error), rng, tmp_path
        )
