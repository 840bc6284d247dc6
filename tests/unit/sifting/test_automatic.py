"""What is found when delays, timing, dictionary and form are left open."""

import re

import numpy as np
import pytest
from scipy.signal import lfilter

from koopsieve import (
    Constant,
    Embedding,
    KoopsieveError,
    KoopsieveWarning,
    Monomials,
    SimulationSieve,
    States,
    Stream,
    Trajectories,
    sift,
)
from koopsieve.data import Signals, embedded
from koopsieve.data.splitting import thinned
from koopsieve.forms import Model
from koopsieve.forms.linear.plain import arx_model
from koopsieve.regression import compress
from koopsieve.sifting.plan import plan_searches
from koopsieve.sifting.preliminary import Family, affordable_depth, dead_time, families, under_feedback
from koopsieve.sifting.settings import SiftSettings
from koopsieve.sifting.split import divide


def oscillator(seed=0, samples=900, ahead=0, noise=0.005):
    """y[k+1] = 1.5 y[k] − 0.7 y[k-1] − 0.1 y[k]³ + u: two samples of the output matter; u[k] acts, or u[k+1]."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.normal(size=(samples // 3 + 2, 1)), 3, axis=0)[: samples + 1]
    y = np.zeros((samples, 1))
    for k in range(1, samples - 1):
        y[k + 1] = 1.5 * y[k] - 0.7 * y[k - 1] - 0.1 * y[k] ** 3 + 0.4 * u[k + ahead]
    return Trajectories.from_arrays(y + noise * rng.normal(size=y.shape), u[:samples], dt=0.1, input_names=["u"])


@pytest.fixture(scope="module")
def found():
    return sift(oscillator(), test=oscillator(1), horizons=[1, 10])


def test_with_nothing_said_it_finds_delays_products_and_a_form_that_beats_arx(found):
    assert found.form == "reprojected"
    assert found.embedding.state_delays >= 1
    assert found.errors.mean[-1] < 0.5 * found.baselines["linear"].errors.mean[-1]
    assert set(found.paths) == {"linear", "bilinear", "reprojected"}


def test_every_search_is_in_the_table(found):
    preliminary, full = ([one for one in found.searches if one.stage == stage] for stage in ("preliminary", "full"))
    assert {one.form for one in full} == {"linear", "bilinear", "reprojected"}
    assert {one.embedding.inputs_at for one in preliminary} == {"k", "k+1"}
    assert {one.embedding.state_delays for one in preliminary} >= {0, 1, 2, 8}
    assert len({one.errors.blocks.shape for one in full}) == 1
    assert all(0 < one.seconds < sum(found.seconds.values()) for one in found.searches)
    assert found.left_out == ()


@pytest.mark.parametrize(("ahead", "timing"), [(0, "k"), (1, "k+1")])
def test_the_timing_of_the_input_is_found(ahead, timing):
    data = oscillator(ahead=ahead)
    grid = [Embedding(1, 0, "k"), Embedding(1, 0, "k+1")]
    result = sift(data, States() + Constant(), form="linear", delays=grid, horizons=[1, 5])
    assert result.embedding.inputs_at == timing


def test_a_horizon_counts_only_if_the_later_timing_of_the_inputs_leaves_a_window():
    rng = np.random.default_rng(0)
    data = Trajectories.from_arrays(rng.normal(size=(44, 1)), rng.normal(size=(44, 1)), dt=1.0)
    with pytest.warns(KoopsieveWarning, match="Horizons beyond 7 are left out"):  # 11 held out: 2 delays, one timing
        parts = divide(data, SiftSettings())
    timings = {one.embedding.inputs_at for one in plan_searches(parts, SiftSettings()).preliminary}
    assert timings == {"k", "k+1"}


@pytest.mark.filterwarnings("ignore:Horizons beyond")
def test_a_long_horizon_costs_short_records_no_delays():
    most = {}
    for rows in (150, 210, 230, 250, 300, 400):
        parts = divide(oscillator(samples=rows), SiftSettings())
        most[rows] = plan_searches(parts, SiftSettings()).deepest.state_delays
    assert min(most.values()) >= 8, most
    assert most[300] == most[400] == 14, most


def structure_with_resonances(count, samples=4000):
    """Accelerations of a structure with many lightly damped resonances under a random force, sampled at 100 Hz."""
    rng = np.random.default_rng(1)
    u, y = rng.normal(size=(samples, 1)), np.zeros((samples, 1))
    for turn in rng.uniform(0.15, 0.9, count):
        b, a = [0.0, rng.normal(), rng.normal()], [1.0, -2 * 0.995 * np.cos(turn), 0.995**2]
        y += lfilter(b, a, u, axis=0)
    return Trajectories.from_arrays(y + 0.01 * y.std() * rng.normal(size=y.shape), u, dt=0.01)


@pytest.mark.parametrize(("resonances", "deep"), [(2, False), (15, True)])
def test_more_delays_are_tried_only_where_the_most_of_the_usual_ones_suit_best(resonances, deep):
    plan = plan_searches(divide(structure_with_resonances(resonances), SiftSettings()), SiftSettings(form="linear"))
    assert {40, 64}.isdisjoint({one.embedding.state_delays for one in plan.preliminary}) is not deep
    assert (plan.line.state_delays > 24) is deep
    assert (plan.deepest.state_delays > 24) is deep


def test_delays_reach_into_samples_before_a_held_out_stretch():
    data = oscillator(samples=300)
    parts = divide(data, SiftSettings())
    held, whole = parts.validation.states[0][:, 0], data.states[0][:, 0]
    for delays in (0, 3, 8):
        windows = parts.embedded(Embedding(delays, delays), Embedding(8, 8)).windows
        np.testing.assert_array_equal(windows.states[0][:, 0], held)
        np.testing.assert_array_equal(
            windows.states[0][0, : delays + 1], whole[-len(held) - delays :][: delays + 1][::-1]
        )
    assert len(parts.embedded(Embedding(16, 16)).windows.states[0]) == len(held) - 2


def test_all_searches_start_at_the_same_samples():
    divided = divide(oscillator(), SiftSettings(horizons=(1, 10)))
    deepest = Embedding(5, 5, "k+1")
    first, *others = (
        divided.embedded(embedding, deepest).windows.states[0][:, 0]
        for embedding in (Embedding(), Embedding(2, 5), Embedding(0, 3, "k+1"), deepest)
    )
    for outputs in others:
        np.testing.assert_array_equal(outputs, first)


def test_the_time_is_kept():
    short = sift(oscillator(), States() + Constant() + Monomials(2), horizons=[1, 10], budget=1e-9)
    assert set(short.paths) == {"linear"}
    assert len(short.left_out) == 3
    assert "Not searched, because the time limit was reached: reprojected form of States()" in " ".join(short.remarks)


@pytest.mark.parametrize("form", ["linear", "bilinear", "reprojected"])
def test_no_more_terms_than_asked_for(form):
    asked = {"form": form, "delays": Embedding(1), "horizons": [1, 5], "path_length": 8, "max_terms": 3}
    assert len(sift(oscillator(), States() + Constant() + Monomials(3), **asked).retained) <= 3


def test_a_warning_says_where_no_set_is_as_small_as_asked_for():
    rng = np.random.default_rng(0)
    data = Trajectories.from_arrays(rng.normal(size=(120, 2)))
    with pytest.warns(KoopsieveWarning, match=r"No set has at most 1 terms \(max_terms=1\).* which has 2"):
        assert len(sift(data, States(), form="linear", horizons=[1, 2], max_terms=1).retained) == 2


def test_windows_are_as_long_as_the_sieve_says_or_the_horizon():
    asked = {"form": "reprojected", "delays": Embedding(1, 1), "horizons": [1, 20], "path_length": 3}
    recipe, data = States() + Constant() + Monomials(degree=2), oscillator(samples=300)
    short, default, long = (
        sift(data, recipe, sieve=SimulationSieve(length, rows=2000), **asked).model.coef for length in (4, None, 20)
    )
    assert short.shape != long.shape or not np.allclose(short, long, rtol=1e-6)
    np.testing.assert_array_equal(default, long)


def planned(data=None, **settings):
    asked = SiftSettings(**settings)
    return plan_searches(divide(oscillator() if data is None else data, asked), asked)


def test_only_what_is_left_open_is_looked_for():
    asked = {"delays": Embedding(1, 1), "horizons": (1, 5)}
    plan = planned(dictionary=States() + Constant(), **asked)
    assert plan.preliminary == ()
    plain, job = plan.jobs
    assert plain.embedding == job.embedding == Embedding(1, 1)
    assert [form.name for form in job.forms] == ["reprojected", "linear", "bilinear"]
    plan = planned(form="linear", **asked)
    assert {one.embedding for one in plan.jobs} == {Embedding(1, 1)}
    assert len(plan.jobs) == len(families(None))


def test_a_plant_without_inputs_is_searched_in_the_forms_that_it_has():
    t = np.arange(400) * 0.1
    data = Trajectories.from_arrays(np.column_stack([np.sin(t), np.cos(t)]), dt=0.1)
    result = sift(data, horizons=[1, 5])
    assert result.form == "linear"
    assert set(result.paths) == {"linear", "reprojected"}
    assert {one.embedding.inputs_at for one in result.searches} == {"k"}


def test_a_stream_gives_the_same_model():
    data = oscillator(samples=600)
    stream = Stream.from_arrays(data.states[0], data.inputs[0], dt=data.dt, input_names=["u"])
    settings = {"form": "reprojected", "delays": [Embedding(0, 0), Embedding(1, 0)], "horizons": [1, 5]}
    one, other = (sift(source, States() + Monomials(2), **settings) for source in (data, stream))
    assert one.retained_names == other.retained_names
    np.testing.assert_allclose(one.model.coef, other.model.coef, rtol=1e-8)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"delays": "many"}, 'delays may be "auto"'),
        ({"dictionary": "kernels"}, 'dictionary may be "auto"'),
        ({"form": "cubic"}, "form must be one of linear, bilinear, reprojected, hidden or auto"),
        ({"max_terms": 0}, "max_terms must be a whole number, 1 or more. Got 0"),
        ({"dictionary": (States() + Constant()).fit(oscillator()), "delays": "auto"}, "whose delays are decided"),
    ],
)
def test_what_means_nothing_is_refused(settings, message):
    with pytest.raises(KoopsieveError, match=message):
        sift(oscillator(), **settings)


def test_products_reach_back_as_far_as_there_is_room():
    signals = Signals(("y",), ("u",), 0.1)
    assert affordable_depth(signals, Embedding(2, 2), 3, joint=True) == 2
    assert affordable_depth(signals, Embedding(24, 24), 3, joint=True) == 2
    assert affordable_depth(signals, Embedding(24, 24), 2, joint=True) == 6
    many = Signals(tuple(f"y{i}" for i in range(30)), (), 0.1)
    assert affordable_depth(many, Embedding(), 3, joint=False) is None
    assert affordable_depth(many, Embedding(), 2, joint=False) == 0
    hundreds = Signals(tuple(f"y{i}" for i in range(200)), (), 1.0)  # they have 20 301 products
    assert affordable_depth(hundreds, Embedding(), 2, joint=False) is None
    assert Family(degree=3).recipe(many, Embedding(), sees_inputs=True) is None


def test_a_dictionary_that_grows_too_large_with_delays_is_tried_with_fewer():
    large = States() + Constant() + Monomials(4, of="states and inputs")
    plan = planned(dictionary=large, delays="auto", horizons=(1, 5))
    assert max(one.embedding.state_delays for one in plan.preliminary if one.form == "reprojected") == 2
    assert all(one.embedding.state_delays <= 2 for one in plan.jobs if one.dictionary is large)


def test_few_samples_have_few_kernels():
    assert max(one.kernels for one in families(120)) == 12
    assert max(one.kernels for one in families(None)) == max(one.kernels for one in families(10**6)) == 100


def test_kinks_are_found_where_a_valve_has_a_dead_zone_and_a_stop():
    rng = np.random.default_rng(0)
    u = np.repeat(rng.uniform(-2, 2, 60), 15)
    opened = np.clip(np.sign(u) * np.maximum(np.abs(u) - 0.3, 0), -1, 1)
    y = np.zeros(len(u))
    for k in range(2, len(u)):
        y[k] = 1.7 * y[k - 1] - 0.73 * y[k - 2] + 0.03 * opened[k - 1]
    y += 0.002 * rng.normal(size=y.shape)
    train, test = (Trajectories.from_arrays(y[part], u[part]) for part in (slice(600), slice(600, None)))
    result = sift(train, test=test, form="reprojected")
    assert any(name.startswith("max(u1") for name in result.retained_names)
    assert result.errors.mean[-1] < 0.3 * result.baselines["linear"].errors.mean[-1]


def test_a_part_of_the_data_is_spread_over_all_of_them():
    data = Trajectories.from_arrays([np.arange(1000.0)[:, None], np.arange(2000.0, 2600.0)[:, None]])
    part = thinned(data, 400, 50)
    firsts = [x[0, 0] for x in part.states]
    assert part.n_samples == 400
    assert firsts[0] == 0.0
    assert firsts[-1] == 2550.0
    assert thinned(data, 5000, 50) is data


def delayed(dead, samples=700, seed=0, noise=0.01):
    """y[k+1] = 1.6 y[k] − 0.63 y[k-1] + 0.03 u[k-dead]², the input held for 15 samples."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(size=samples // 15 + 12), 15)
    y = np.zeros(samples + 120)
    for k in range(max(dead, 1), len(y) - 1):
        y[k + 1] = 1.6 * y[k] - 0.63 * y[k - 1] + 0.03 * u[k - dead] ** 2
    measured = y + noise * rng.normal(size=len(y))
    return Trajectories.from_arrays(measured[120:], u[120 : len(y)], dt=1.0, state_names=["y"], input_names=["u"])


@pytest.mark.parametrize("dead", [0, 4, 40])
def test_the_dead_time_is_the_shift_that_explains_most(dead):
    assert abs(dead_time(delayed(dead), 80) - dead) <= 1


def test_without_evidence_there_is_no_dead_time():
    rng = np.random.default_rng(0)
    noise = Trajectories.from_arrays(rng.normal(size=400), rng.normal(size=400))
    assert dead_time(noise, 60) == dead_time(Trajectories.from_arrays(rng.normal(size=400)), 60) == 0
    assert dead_time(delayed(40), 0) == 0


def test_beyond_a_dead_time_few_delays_and_their_products_are_enough(tmp_path):
    result = sift(delayed(20), test=delayed(20, seed=1), form="reprojected", horizons=[1, 20])
    assert result.embedding.dead_time in (19, 20)
    past = [int(delay) for name in result.retained_names for delay in re.findall(r"u\[k-(\d+)\]", name)]
    assert min(past) >= 19
    assert result.errors.mean[-1] < 0.01
    result.model.save(tmp_path / "model.npz")
    given = np.zeros((40, 1)), np.ones(70)
    np.testing.assert_array_equal(Model.load(tmp_path / "model.npz").simulate(*given), result.model.simulate(*given))


def test_plain_linear_models_leave_out_inputs_within_the_dead_time():
    """The oracle: least squares on the columns that act."""
    data = embedded(delayed(3), Embedding(1, 4, dead_time=3))
    phi = (States() + Constant()).fit(data)
    model = arx_model(compress(data, phi), phi)
    x, following = data.states[0][:-1], data.states[0][1:, 0]
    columns = np.column_stack([x[:, :2], x[:, 4:6], np.ones(len(x))])  # y, y[k-1], u[k-3], u[k-4], 1
    expected = np.linalg.lstsq(columns, following, rcond=None)[0]
    np.testing.assert_allclose(model.A[0][[0, 1, 4, 5, 6]], expected, rtol=1e-8)
    assert not model.A[0][[2, 3]].any()
    assert not model.B[0].any()


def controlled(samples=1500, seed=0, gain=1.5):
    """A cart with drag, its position measured, that a controller keeps near a reference; without gain, open loop."""
    rng = np.random.default_rng(seed)
    reference = np.repeat(rng.normal(size=samples // 40 + 1), 40)
    y, u, speed = np.zeros(samples), np.zeros(samples), 0.0
    for k in range(samples - 1):
        u[k] = gain * (reference[k] - y[k]) - np.sign(gain) * speed + 0.3 * rng.normal()
        speed = 0.98 * speed + 0.1 * u[k]
        y[k + 1] = y[k] + 0.1 * speed + 0.01 * rng.normal()
    return Trajectories.from_arrays(y, u[:-1], dt=0.1)


def test_a_record_under_feedback_is_told_from_one_in_open_loop():
    assert under_feedback(controlled(), 24)
    multisine = np.cos(0.1 * np.arange(1, 9) * np.arange(1500)[:, None]).sum(axis=1)
    predictable = Trajectories.from_arrays(np.convolve(multisine, np.ones(30) / 30)[:1500], multisine)
    for data in (controlled(gain=0.0), oscillator(), oscillator(ahead=1), delayed(20), predictable):
        assert not under_feedback(data, 24)


def at_once(samples=1500, seed=0):
    """A cell whose charge a controller keeps; its current acts on its voltage at once."""
    rng = np.random.default_rng(seed)
    y, u, charge = np.zeros(samples), np.zeros(samples), 0.0
    for k in range(samples):
        u[k] = rng.normal() - 0.5 * charge
        y[k] = charge + 0.5 * u[k] + 0.005 * rng.normal()
        charge += 0.2 * u[k]
    return Trajectories.from_arrays(y, u, dt=0.1)


def test_an_input_that_acts_at_once_counts_under_feedback_too_and_a_warning_says_so():
    assert under_feedback(at_once(), 24)
    with pytest.warns(KoopsieveWarning, match="sampled with them more than 10 times as well"):
        plan = planned(at_once(), horizons=(1, 10))
    assert plan.line.inputs_at == "k+1"


def test_under_feedback_no_input_counts_that_was_sampled_with_the_output():
    """A controller answers at once, so such an input tells the output, and a model of it is of no use to control."""
    plan = planned(controlled(), horizons=(1, 10))
    assert {one.embedding.inputs_at for one in plan.preliminary} == {"k"}
