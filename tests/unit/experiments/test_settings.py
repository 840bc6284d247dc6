"""The settings say what the paper says."""

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories, embed_delays
from koopsieve.experiments.methods import identifiers, observables
from koopsieve.experiments.noise_study import run_seed, simulate
from koopsieve.experiments.settings import circuit_study, noise_study, paper_numbers
from koopsieve.identify import SpikeSlab


@pytest.mark.parametrize("system, size, inputs", [("lorenz", 23, 0), ("usv", 28, 2), ("usv-quadratic", 28, 2)])
def test_dictionaries_have_the_papers_sizes(system, size, inputs):
    study = noise_study(system)
    clean = simulate(study.data, 300 * study.data["dt"], np.random.SeedSequence(0))
    samples = embed_delays(clean, states=study.data["delays"])
    assert observables(study.kernels).fit(samples).size == size == paper_numbers(system.split("-")[0])["full_size"]
    assert samples.n_inputs == inputs


def test_the_circuits_dictionary_has_the_papers_size_and_distinct_names():
    y = Trajectories.from_arrays(np.random.default_rng(0).normal(size=200), state_names="y")
    phi = observables(circuit_study().kernels).fit(y)
    assert phi.size == 46 == paper_numbers("wiener-hammerstein")["full_size"]
    assert len(set(phi.names)) == 46


def test_quick_and_runs():
    assert noise_study("lorenz").runs == 25
    assert noise_study("lorenz", quick=True).runs == 3
    assert noise_study("lorenz", quick=True, runs=7).runs == 7
    assert 20.0 in noise_study("usv", quick=True).snr_db
    with pytest.raises(KoopsieveError, match="at least 1"):
        noise_study("lorenz", runs=0)


def test_more_runs_or_levels_belong_to_the_same_folder_but_other_updates_do_not():
    assert noise_study("lorenz").fingerprint() == noise_study("lorenz", quick=True).fingerprint()
    assert noise_study("lorenz").fingerprint() != noise_study("lorenz", as_published=True).fingerprint()


def test_as_published_uses_the_papers_updates_and_priors():
    published = identifiers(noise_study("lorenz", as_published=True).methods)["IV"]
    assert type(published) is type(SpikeSlab.published())
    assert (published.prior.a, published.prior.b, published.prior.f) == (1.01, 0.1, 20.0)
    assert isinstance(identifiers(noise_study("lorenz").methods)["IV"], SpikeSlab)


def test_every_run_has_its_own_randomness_whatever_ran_before():
    draws = {
        (system, snr, run, seed): run_seed(system, snr, run, seed).generate_state(2).tobytes()
        for system in ("lorenz", "usv")
        for snr in (-5.0, 10.0, 20.0)
        for run in (0, 1)
        for seed in (0, 1)
    }
    assert len(set(draws.values())) == len(draws)
