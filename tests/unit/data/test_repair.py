"""Logs with gaps, jitter and several rates: what is filled, resampled, cut and dropped, and the counts of it."""

import numpy as np
import pandas as pd
import pytest

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.data import Trajectories, embed_delays

NAN = float("nan")
T = 0.1 * np.arange(200)
WAVE = pd.DataFrame({"t": T, "y": np.sin(T), "z": np.cos(2 * T), "u": np.sign(np.sin(3 * T))})
FILL = {"gaps": "interpolate", "max_gap": 2}
LONG_GAP = np.where(np.isin(np.arange(12), [2, 6, 7, 8]), NAN, np.arange(12.0))


def counts(trajectories):
    total = trajectories.provenance.total
    return (total.rows_read, total.rows_inserted, total.values_filled, total.samples_resampled, total.rows_dropped)


def lists(arrays):
    return [x.ravel().tolist() for x in arrays]


ARRAYS = {
    "short gaps filled, long ones cut": (LONG_GAP, None, FILL, [[0, 1, 2, 3, 4, 5], [9, 10, 11]], [[], []], 1, [0, 9]),
    "outputs interpolated, inputs held": (
        *([0.0, NAN, NAN, 6.0, 1.0], [5.0, NAN, 7.0, NAN], FILL),
        *([[0, 2, 4, 6, 1]], [[5, 5, 7, 7]], 4, [0]),
    ),
    "nothing filled at the ends": ([NAN, 1.0, 2.0, 4.0, NAN], None, {**FILL, "max_gap": 9}, [[1, 2, 4]], [[]], 0, [1]),
    "column by column": ([[0, 5], [NAN, 6], [2, NAN], [3, 9]], None, FILL, [[0, 5, 1, 6, 2, 7.5, 3, 9]], [[]], 2, [0]),
    "cut around a missing state": (
        *([0.0, 1, 2, NAN, 4, 5], [10.0, 11, 12, 13, 14], {"gaps": "split"}),
        *([[0, 1, 2], [4, 5]], [[10, 11], [14]], 0, [0, 4]),
    ),
    "cut at a missing input": (
        *(np.arange(6.0), [10.0, 11, NAN, 13, 14], {"gaps": "split"}),
        *([[0, 1, 2], [3, 4, 5]], [[10, 11], [13, 14]], 0, [0, 3]),
    ),
    "cut at the ends": ([NAN, 1.0, 2.0, NAN], None, {"gaps": "split"}, [[1, 2]], [[]], 0, [1]),
    "masked": (np.ma.masked_equal(np.arange(6), 3), None, {"gaps": "split"}, [[0, 1, 2], [4, 5]], [[], []], 0, [0, 4]),
}


@pytest.mark.parametrize("states, inputs, options, kept, acting, filled, rows", ARRAYS.values(), ids=ARRAYS)
def test_what_is_filled_and_where_an_episode_is_cut(states, inputs, options, kept, acting, filled, rows):
    found = Trajectories.from_arrays(states, inputs, **options)
    assert (lists(found.states), lists(found.inputs)) == (kept, acting)
    assert counts(found) == (len(states), 0, filled, 0, len(states) - found.n_samples)
    assert [source.first_row for source in found.provenance.sources] == rows
    assert all(x.flags.c_contiguous and not x.flags.writeable for x in found.states)


def test_what_cannot_be_used_is_lost_with_a_warning():
    with pytest.warns(
        KoopsieveWarning, match="lost 1 complete samples of 4"
    ):  # the input before the first is not known
        data = Trajectories.from_arrays([1.0, 2.0, 4.0, 3.0], [NAN, 3.0, 1.0], gaps="interpolate", max_gap=9)
    assert lists(data.states) == [[2, 4, 3]]
    with pytest.warns(KoopsieveWarning, match=r"lost 3 complete samples of 8.*2 samples are left, in 1 episode\."):
        data = Trajectories.from_arrays([np.array([0.0, NAN, 2.0, NAN, 4.0, 5.0]), np.array([0.0, NAN])], gaps="split")
    assert lists(data.states) == [[4, 5]]


def test_rows_missing_in_time_are_put_in():
    frame = WAVE.drop(index=[10, 50, 51, 90, 91, 92, 93]).reset_index(drop=True)
    data = Trajectories.from_frame(frame, ["y", "z"], "u", time="t", **FILL)
    assert [len(x) for x in data.states] == [90, 106]
    assert counts(data) == (193, 3, 9, 0, 0)
    np.testing.assert_allclose(data.states[0][10], WAVE[["y", "z"]].iloc[[9, 11]].mean())
    np.testing.assert_array_equal(data.inputs[0][[50, 51]], WAVE[["u"]].iloc[[49, 49]])
    np.testing.assert_allclose(data.provenance.sources[0].stamps, T[:90])
    assert data.provenance.sources[0].first_row is None
    times = np.concatenate([T[:20], T[20:40] + 0.14])  # a jump over no whole number of steps
    data = Trajectories.from_frame(pd.DataFrame({"t": times, "y": np.sin(times)}), "y", time="t", **FILL)
    assert [len(x) for x in data.states] == [20, 20]
    frame = pd.DataFrame({"t": np.append(T, 3e7), "y": np.append(np.sin(T), 0.0)})
    with pytest.raises(KoopsieveError, match=r"would put \d+ rows into the 201 of the frame"):
        Trajectories.from_frame(frame, "y", time="t", gaps="interpolate", max_gap=10**9)


def test_splitting_and_delays_go_together():
    """What is too short for the delays is left out and counted."""
    y = np.where(np.isin(np.arange(200), [20, 23, 100]), NAN, np.sin(T))
    data = Trajectories.from_arrays(y, np.cos(T), gaps="split")
    assert [len(x) for x in data.states] == [20, 2, 76, 99]
    with pytest.warns(KoopsieveWarning, match=r"Left out, 2 samples of 197: episode 1 \(2 samples\)"):
        embedded = embed_delays(data, states=3, inputs=2)
    assert [len(x) for x in embedded.states] == [17, 73, 96]
    assert counts(embedded) == (200, 0, 0, 0, 5)
    assert [source.first_row for source in embedded.provenance.sources] == [3, 27, 104]
    for source, x in zip(embedded.provenance.sources, embedded.states, strict=True):
        np.testing.assert_array_equal(x[:, 0], np.sin(T)[source.first_row :][: len(x)])


def resampled(frame, states, inputs=(), step=0.1, **options):
    return Trajectories.from_frame(frame, states, inputs, time="t", resample=step, **options)


def test_jitter_is_taken_out():
    times = T + np.random.default_rng(0).uniform(-5e-3, 5e-3, size=200)
    frame = pd.DataFrame({"t": times, "y": np.sin(times), "u": times})
    with pytest.raises(KoopsieveError, match=r"Samples must be evenly spaced.* Pass resample=0\.\d+ to put them on"):
        Trajectories.from_frame(frame, "y", "u", time="t")
    data = resampled(frame, "y", "u")
    even = data.provenance.sources[0].stamps
    np.testing.assert_allclose(np.diff(even), 0.1, rtol=1e-12)
    np.testing.assert_allclose(data.states[0].ravel(), np.sin(even), atol=2e-3)
    last = np.searchsorted(times, even[:-1], side="right") - 1
    np.testing.assert_array_equal(data.inputs[0].ravel(), times[last])
    assert (data.dt, counts(data)[3], data.provenance.sources[0].first_row) == (0.1, data.n_samples, None)
    assert "resampled to" in data.provenance.describe()


@pytest.mark.parametrize("step, count", [(0.05, 399), (0.1, 200), (0.2, 100), (0.3, 67)])
def test_other_steps(step, count):
    data = resampled(WAVE, "y", "u", step)
    assert (data.n_samples, data.dt) == (count, step)
    np.testing.assert_allclose(data.states[0].ravel(), np.interp(step * np.arange(count), T, WAVE["y"]), atol=1e-9)
    if step == 0.1:
        np.testing.assert_array_equal(data.inputs[0], WAVE[["u"]][:-1])


def test_columns_of_several_rates():
    """z comes every fifth row, u every twentieth; y in all of them."""
    frame = WAVE.copy()
    frame.loc[np.arange(200) % 5 != 0, "z"] = NAN
    frame.loc[np.arange(200) % 20 != 0, "u"] = NAN
    with pytest.raises(KoopsieveError, match="'z' may be sampled more slowly than the rest: pass resample="):
        Trajectories.from_frame(frame, ["y", "z"], "u", time="t")
    data = resampled(frame, ["y", "z"], "u", gaps="split")
    assert [len(x) for x in data.states] == [196]  # up to the last sample of z
    np.testing.assert_allclose(data.states[0][:, 0], WAVE["y"][:196], atol=1e-12)
    np.testing.assert_allclose(data.states[0][:, 1], np.interp(T[:196], T[::5], WAVE["z"][::5]), atol=1e-12)
    np.testing.assert_array_equal(data.inputs[0].ravel(), np.repeat(WAVE["u"][::20], 20)[:195])
    assert counts(data) == (200, 0, 0, 200, 4)
    slow = pd.DataFrame({"t": T[::4] + 0.013, "z": np.cos(T[::4])})  # as loggers do with a line for every signal
    data = resampled(pd.concat([WAVE[["t", "y"]], slow]).sort_values("t"), ["y", "z"], gaps="split")
    assert (len(data), data.n_samples > 190) == (1, True)


def test_long_gaps_are_still_holes():
    frame = WAVE.drop(index=range(80, 100))
    message = r'missing after row 81 \(as in .* of the frame: after time 7\.9 the next is 10\.0\. Pass gaps="split"'
    with pytest.raises(KoopsieveError, match=message):
        resampled(frame, "y", "u")
    assert [len(x) for x in resampled(frame, "y", "u", gaps="split").states] == [80, 100]
    whole = resampled(frame, "y", "u", gaps="interpolate", max_gap=20)
    assert [len(x) for x in whole.states] == [200]
    assert counts(whole) == (180, 0, 40, 200, 0)
    assert "40 missing values were filled in" in whole.provenance.describe()
    times = np.concatenate([T[:100], T[:100] + 3e7, [9e7]])  # a year between is not filled with samples
    data = resampled(pd.DataFrame({"t": times, "y": np.sin(times)}), "y", step=0.05, gaps="split")
    assert [(len(one.stamps), one.stamps[0]) for one in data.provenance.sources] == [(199, 0.0), (199, 3e7)]


@pytest.mark.parametrize("step, filled", [(None, 5), (0.1, 3 + 2), (0.05, 7 + 5), (0.2, 2 + 1)])
def test_values_filled_on_the_new_grid_are_counted(step, filled):
    """A gap of y in rows 40 to 42 and one of u in rows 60 and 61; every second grid time is no row."""
    frame = WAVE.assign(y=WAVE["y"].mask(WAVE.index.isin([40, 41, 42])), u=WAVE["u"].mask(WAVE.index.isin([60, 61])))
    assert counts(resampled(frame, "y", "u", step, gaps="interpolate", max_gap=3))[2] == filled


INFINITE = WAVE.assign(y=WAVE["y"].where(WAVE.index != 7, np.inf))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"gaps": "interpolate"}, "needs max_gap, the longest gap to fill"),
        ({"gaps": "interpolate", "max_gap": 0}, "must be a whole number, 1 or more"),
        ({"gaps": "interpolate", "max_gap": 1.5}, "must be a whole number, 1 or more"),
        ({"gaps": "split", "max_gap": 3}, 'max_gap goes with gaps="interpolate"'),
        ({"gaps": "fill"}, 'gaps must be "raise", "split" or "interpolate"'),
        ({"resample": 0.1}, "resample= needs the times of the samples"),
        ({"resample": 0, "time": "t"}, "resample, the new sample time, must be a positive number"),
        ({"resample": NAN, "time": "t"}, "must be a positive number"),
        ({"resample": 0.1, "time": "t", "dt": 0.2}, r"dt=0\.2 contradicts resample= 0\.1"),
        ({"resample": 1e3, "time": "t"}, "resample=1000 is longer than every episode"),
        ({"resample": 1e-9, "time": "t"}, "would make 19900000001 samples of the 200 rows of the frame"),
        ({"resample": 0.05, "time": "t", "frame": INFINITE}, r"State 'y' at row 9 .* is infinite"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(KoopsieveError, match=message):
        Trajectories.from_frame(**{"frame": WAVE, "states": "y", **options})


@pytest.mark.parametrize("step, first", [(0.05, 100.0), (0.1, 0.0), (1 / 3, 7.0)])
def test_the_step_of_times_is_free_of_their_rounding(step, first):
    times = first + step * np.arange(300)
    found = Trajectories.from_frame(pd.DataFrame({"t": times, "y": np.sin(times)}), "y", time="t").dt
    assert found == pytest.approx(step, rel=1e-12)
    assert step == 1 / 3 or found == step
