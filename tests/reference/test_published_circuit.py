"""The paper's own updates on the measured Wiener–Hammerstein records: how many observables each reading keeps."""

import os
from pathlib import Path

import pytest

from koopsieve.identify import SpikeSlab, SpikeSlabPrior
from koopsieve.identify.spike_slab.algorithm_1 import UpdateOrder
from koopsieve.regression import compress
from koopsieve.reproduction.method_comparison import observables
from koopsieve.reproduction.records import FILE, VARIABLE, load_records
from koopsieve.reproduction.study_settings import circuit_study
from koopsieve.sieve.algorithm_2 import reduce

BESIDE = Path(__file__).parents[3] / "shared" / "data"
PRIOR = SpikeSlabPrior(a=1.0, b=0.1, c=1e-3, d=1e-3, e=0.1, f=20.0)  # the paper's table for this system


@pytest.mark.parametrize(("order", "size"), [(UpdateOrder.PREVIOUS_SWEEP, 8), (UpdateOrder.LINE_BY_LINE, 9)])
def test_to_the_letter_it_keeps_as_many_as_the_paper_and_line_by_line_one_more(order, size):
    folder = Path(os.environ.get(VARIABLE) or BESIDE)
    if not (folder / FILE).is_file():
        pytest.skip(f"the measured records ({FILE}) are neither in {VARIABLE} nor in ../shared/data")
    study = circuit_study()
    train = load_records(folder, study.data, study.simulated, 0).train
    phi = observables(study.kernels).fit(train, seed=0)
    found = SpikeSlab.published(PRIOR, order=order).identify(compress(train, phi))
    assert len(reduce(found.inclusion, phi.outputs, study.methods.threshold).retained) == size
