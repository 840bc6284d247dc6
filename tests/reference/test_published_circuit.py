"""The paper's own updates on the measured Wiener–Hammerstein records: how many observables each reading keeps."""

import os
from pathlib import Path

import pytest

from koopsieve.datasets import FOLDER_VARIABLE
from koopsieve.identify import SpikeSlab, SpikeSlabPrior, UpdateOrder
from koopsieve.regression import compress
from koopsieve.reproduction.study_runs import observables
from koopsieve.reproduction.study_settings import FILE, circuit_study, load_records
from koopsieve.sieve.algorithm_2 import reduce

BESIDE = Path(__file__).parents[3] / "shared" / "data"
PRIOR = SpikeSlabPrior(a=1.0, b=0.1, c=1e-3, d=1e-3, e=0.1, f=20.0)  # the paper's table for this system


READINGS = {"PREVIOUS_SWEEP": 8, "NEW_BARS": 7, "LINE_BY_LINE": 9, "SEQUENTIAL": 39}
DAMPINGS = {0.3: 4, 0.5: 1, 0.9: 3}  # of the first reading
CASES = [(reading, 0.1, size) for reading, size in READINGS.items()]
CASES += [("PREVIOUS_SWEEP", relaxation, size) for relaxation, size in DAMPINGS.items()]


@pytest.fixture(scope="module")
def circuit():
    folder = Path(os.environ.get(FOLDER_VARIABLE) or BESIDE)
    if not (folder / FILE).is_file():
        pytest.skip(f"the measured records ({FILE}) are neither in {FOLDER_VARIABLE} nor in ../shared/data")
    study = circuit_study()
    train = load_records(folder, study.data, study.simulated, 0).train
    phi = observables(study.kernels).fit(train, seed=0)
    return compress(train, phi), phi.outputs, study.methods.threshold


@pytest.mark.filterwarnings("ignore:Algorithm 1 settled:koopsieve.KoopsieveWarning")
@pytest.mark.parametrize(("reading", "relaxation", "size"), CASES)
def test_the_size_depends_on_the_reading_and_on_the_damping(circuit, reading, relaxation, size):
    """The paper keeps 8: one of the four readings does, at one damping."""
    statistics, outputs, threshold = circuit
    found = SpikeSlab.published(PRIOR, relaxation=relaxation, order=UpdateOrder[reading]).identify(statistics)
    assert len(reduce(found.inclusion, outputs, threshold).retained) == size
