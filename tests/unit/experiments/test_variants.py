"""Each variant of a study changes something, and only what its name says."""

from dataclasses import replace

import pytest

from koopsieve.execution import silent
from koopsieve.experiments.sensitivity import noise_table
from koopsieve.experiments.variants import circuit_variants, noise_variants
from tests.studies import shortened


@pytest.mark.parametrize("system, size", [("lorenz", 20), ("usv", 22)])
def test_every_variant_differs_from_the_reported_study_but_keeps_the_papers_size(system, size):
    variants = dict(noise_variants(system))
    reported = variants.pop("as reported")
    for study in variants.values():
        assert sum(block.centers * len(block.coefficients) for block in study.kernels) == size
    same = [name for name, study in variants.items() if study.fingerprint() == reported.fingerprint()]
    assert same == [f"kernel coefficient {reported.kernels[0].coefficients[0]:g}"]


def test_every_circuit_variant_differs():
    variants = [str(study.fingerprint()) for study in circuit_variants().values()]
    assert len(set(variants)) == len(variants)


def test_a_table_has_one_row_per_variant(tmp_path):
    few = list(noise_variants("usv").items())[:2]
    short = {
        name: replace(shortened(study, train_seconds=20.0, test_seconds=10.0), runs=1, snr_db=(20.0,))
        for name, study in few
    }
    table = noise_table("usv", short, tmp_path, 1, silent)
    assert [row[0] for row in table.rows] == [name for name, _ in few]
    assert all(len(row) == len(table.header) for row in table.rows)
    assert all(3 <= kept <= 28 for row in table.rows for kept in row[1:2])
