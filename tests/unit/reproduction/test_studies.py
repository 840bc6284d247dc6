"""The studies: settings as in the paper, variants, averages."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import stats

from benchmarks.sensitivity import circuit_variants, noise_table, noise_variants
from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories, embed_delays
from koopsieve.execution import silent
from koopsieve.identify import SpikeSlab
from koopsieve.reproduction.study_runs import identifiers, observables, run_seed, simulate
from koopsieve.reproduction.study_settings import circuit_study, noise_study, paper_numbers
from koopsieve.reproduction.study_summary import average
from tests.studies import shortened


@pytest.mark.parametrize("system, size, inputs", [("lorenz", 23, 0), ("usv", 28, 2), ("usv-quadratic", 28, 2)])
def test_dictionaries_have_the_papers_sizes(system, size, inputs):
    study = noise_study(system)
    clean = simulate(study.data, 300 * study.data["dt"], np.random.SeedSequence(0))
    samples = embed_delays(clean, states=study.data["delays"])
    assert observables(study.kernels).fit(samples).size == size == paper_numbers(study.printed_as)["full_size"]
    assert samples.n_inputs == inputs


def test_the_circuits_dictionary_has_the_papers_size_and_distinct_names():
    y = Trajectories.from_arrays(np.random.default_rng(0).normal(size=200), state_names="y")
    phi = observables(circuit_study().kernels).fit(y)
    assert phi.size == 46 == paper_numbers("wiener-hammerstein")["full_size"]
    assert len(set(phi.names)) == 46


def test_quick_runs_and_published_updates():
    assert [noise_study("lorenz", **asked).runs for asked in ({}, {"quick": True}, {"quick": True, "runs": 7})] == [
        25,
        3,
        7,
    ]
    assert 20.0 in noise_study("usv", quick=True).snr_db
    with pytest.raises(KoopsieveError, match="at least 1"):
        noise_study("lorenz", runs=0)
    default, published = noise_study("lorenz"), noise_study("lorenz", as_published=True)
    assert default.fingerprint() == noise_study("lorenz", quick=True).fingerprint() != published.fingerprint()
    method = identifiers(published.methods)["IV"]
    assert type(method) is type(SpikeSlab.published())
    assert (method.prior.a, method.prior.b, method.prior.f) == (1.01, 0.1, 20.0)
    assert isinstance(identifiers(default.methods)["IV"], SpikeSlab)


def test_every_run_has_its_own_randomness_whatever_ran_before():
    every = list(product(("lorenz", "usv"), (-5.0, 10.0, 20.0), (0, 1), (0, 1)))
    assert len({run_seed(*one).generate_state(2).tobytes() for one in every}) == len(every)


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


def test_interval_is_students_t():
    values = np.random.default_rng(0).normal(3, 2, size=25)
    low, high = stats.t.interval(0.95, 24, loc=values.mean(), scale=stats.sem(values))
    found = average(values)
    assert found.mean == pytest.approx(values.mean(), rel=1e-14)
    assert (found.mean - found.ci95, found.mean + found.ci95) == pytest.approx((low, high))
    assert found.median == pytest.approx(np.median(values))


def test_huge_values_do_not_overflow_and_diverged_runs_show():
    assert average([1e200, 3e200]).mean == pytest.approx(2e200)
    assert math.isfinite(average([1e200, 3e200]).ci95)
    diverged = average([1.0, 2.0, math.inf])
    assert (diverged.mean, diverged.ci95, diverged.median) == (math.inf, math.inf, 2.0)
    assert math.isnan(average([5.0]).ci95)
    assert average([0.0, 0.0]).mean == 0.0
