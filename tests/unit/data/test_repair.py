"""Logs with gaps, jitter and several rates: what is filled, resampled, cut and dropped, and the counts of it."""

import numpy as np
import pandas as pd
import pytest

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.data import Trajectories, embed_delays

NAN = float("nan")
T = 0.1 * np.arange(200)
WAVE = pd.DataFrame({"t": T, "y": np.sin(T), "z": np.cos(2 * T), "u": np.sign(np.sin(3 * T))})


def counts(trajectories):
    total = trajectories.provenance.total
    return (total.rows_read, total.rows_inserted, total.values_filled, total.samples_resampled, total.rows_dropped)


class TestInterpolation:
    def test_short_gaps_are_filled_and_long_ones_cut(self):
        y = np.arange(12.0)
        y[[2, 6, 7, 8]] = NAN
        data = Trajectories.from_arrays(y, gaps="interpolate", max_gap=2)
        assert [x.ravel().tolist() for x in data.states] == [[0, 1, 2, 3, 4, 5], [9, 10, 11]]
        assert counts(data) == (12, 0, 1, 0, 3)
        assert [source.first_row for source in data.provenance.sources] == [0, 9]

    def test_outputs_are_interpolated_and_inputs_held(self):
        y = np.array([0.0, NAN, NAN, 6.0, 1.0])
        u = np.array([5.0, NAN, 7.0, NAN])
        data = Trajectories.from_arrays(y, u, gaps="interpolate", max_gap=2)
        assert data.states[0].ravel().tolist() == [0, 2, 4, 6, 1]
        assert data.inputs[0].ravel().tolist() == [5, 5, 7, 7]
        assert counts(data)[2] == 4

    @pytest.mark.parametrize(
        "states, max_gap, filled",
        [
            ([NAN, 1.0, 2.0, 4.0, NAN], 9, [[1], [2], [4]]),  # nothing is filled at the ends
            ([[0.0, 5.0], [NAN, 6.0], [2.0, NAN], [3.0, 9.0]], 1, [[0, 5], [1, 6], [2, 7.5], [3, 9]]),  # one by one
        ],
    )
    def test_what_is_filled(self, states, max_gap, filled):
        data = Trajectories.from_arrays(states, gaps="interpolate", max_gap=max_gap)
        assert data.states[0].tolist() == filled

    def test_an_input_before_the_first_is_not_known(self):
        with pytest.warns(KoopsieveWarning, match="lost 1 complete samples of 4"):
            data = Trajectories.from_arrays([1.0, 2.0, 4.0, 3.0], [NAN, 3.0, 1.0], gaps="interpolate", max_gap=9)
        assert data.states[0].ravel().tolist() == [2, 4, 3]

    def test_rows_missing_in_time_are_put_in(self):
        frame = WAVE.drop(index=[10, 50, 51, 90, 91, 92, 93]).reset_index(drop=True)
        data = Trajectories.from_frame(frame, ["y", "z"], "u", time="t", gaps="interpolate", max_gap=2)
        assert [len(x) for x in data.states] == [90, 106]
        assert counts(data) == (193, 3, 9, 0, 0)
        np.testing.assert_allclose(data.states[0][10], WAVE[["y", "z"]].iloc[[9, 11]].mean())
        np.testing.assert_array_equal(data.inputs[0][[50, 51]], WAVE[["u"]].iloc[[49, 49]])
        np.testing.assert_allclose(data.provenance.sources[0].stamps, T[:90])
        assert data.provenance.sources[0].first_row is None
        np.testing.assert_allclose(data.dt, 0.1)

    def test_a_year_is_not_filled_with_rows(self):
        frame = pd.DataFrame({"t": np.append(T, 3e7), "y": np.append(np.sin(T), 0.0)})
        with pytest.raises(KoopsieveError, match=r"would put \d+ rows into the 201 of the frame"):
            Trajectories.from_frame(frame, "y", time="t", gaps="interpolate", max_gap=10**9)

    def test_a_jump_over_no_whole_number_of_steps_is_cut(self):
        times = np.concatenate([T[:20], T[20:40] + 0.14])
        frame = pd.DataFrame({"t": times, "y": np.sin(times)})
        data = Trajectories.from_frame(frame, "y", time="t", gaps="interpolate", max_gap=5)
        assert [len(x) for x in data.states] == [20, 20]

    @pytest.mark.parametrize(
        "options, message",
        [
            ({"gaps": "interpolate"}, "needs max_gap, the longest gap to fill"),
            ({"gaps": "interpolate", "max_gap": 0}, "must be a whole number, 1 or more"),
            ({"gaps": "interpolate", "max_gap": 1.5}, "must be a whole number, 1 or more"),
            ({"gaps": "split", "max_gap": 3}, 'max_gap goes with gaps="interpolate"'),
            ({"gaps": "fill"}, 'gaps must be "raise", "split" or "interpolate"'),
        ],
    )
    def test_what_is_refused(self, options, message):
        with pytest.raises(KoopsieveError, match=message):
            Trajectories.from_arrays(np.arange(5.0), **options)


class TestResampling:
    def test_jitter_is_taken_out(self):
        rng = np.random.default_rng(0)
        times = T + rng.uniform(-5e-3, 5e-3, size=200)
        frame = pd.DataFrame({"t": times, "y": np.sin(times), "u": times})
        with pytest.raises(
            KoopsieveError, match=r"Samples must be evenly spaced.* Pass resample=0\.\d+ to put them on"
        ):
            Trajectories.from_frame(frame, "y", "u", time="t")
        data = Trajectories.from_frame(frame, "y", "u", time="t", resample=0.1)
        even = data.provenance.sources[0].stamps
        np.testing.assert_allclose(np.diff(even), 0.1, rtol=1e-12)
        np.testing.assert_allclose(data.states[0].ravel(), np.sin(even), atol=2e-3)
        last = np.searchsorted(times, even[:-1], side="right") - 1
        np.testing.assert_array_equal(data.inputs[0].ravel(), times[last])
        assert data.dt == 0.1
        assert counts(data)[3] == data.n_samples
        assert "resampled to" in data.provenance.describe()
        assert data.provenance.sources[0].first_row is None

    def test_an_even_clock_stays_as_it_is(self):
        data = Trajectories.from_frame(WAVE, ["y", "z"], "u", time="t", resample=0.1)
        np.testing.assert_allclose(data.states[0], WAVE[["y", "z"]], atol=1e-12)
        np.testing.assert_array_equal(data.inputs[0], WAVE[["u"]][:-1])

    @pytest.mark.parametrize("step, count", [(0.05, 399), (0.2, 100), (0.3, 67)])
    def test_other_steps(self, step, count):
        data = Trajectories.from_frame(WAVE, "y", "u", time="t", resample=step)
        assert data.n_samples == count
        assert data.dt == step
        np.testing.assert_allclose(data.states[0].ravel(), np.interp(step * np.arange(count), T, WAVE["y"]), atol=1e-9)

    def test_columns_of_several_rates(self):
        """z comes every fifth row, u every twentieth; y in all of them."""
        frame = WAVE.copy()
        frame.loc[np.arange(200) % 5 != 0, "z"] = NAN
        frame.loc[np.arange(200) % 20 != 0, "u"] = NAN
        with pytest.raises(KoopsieveError, match="'z' may be sampled more slowly than the rest: pass resample="):
            Trajectories.from_frame(frame, ["y", "z"], "u", time="t")
        data = Trajectories.from_frame(frame, ["y", "z"], "u", time="t", resample=0.1, gaps="split")
        assert len(data) == 1
        assert data.n_samples == 196  # up to the last sample of z
        np.testing.assert_allclose(data.states[0][:, 0], WAVE["y"][:196], atol=1e-12)
        np.testing.assert_allclose(data.states[0][:, 1], np.interp(T[:196], T[::5], WAVE["z"][::5]), atol=1e-12)
        np.testing.assert_array_equal(data.inputs[0].ravel(), np.repeat(WAVE["u"][::20], 20)[:195])
        assert counts(data) == (200, 0, 0, 200, 4)

    def test_rows_of_different_rates_one_after_the_other(self):
        """As loggers write them that put every signal on a line of its own."""
        slow = pd.DataFrame({"t": T[::4] + 0.013, "z": np.cos(T[::4])})
        frame = pd.concat([WAVE[["t", "y"]], slow]).sort_values("t").reset_index(drop=True)
        data = Trajectories.from_frame(frame, ["y", "z"], time="t", resample=0.1, gaps="split")
        assert len(data) == 1
        assert data.n_samples > 190

    def test_long_gaps_are_still_holes(self):
        frame = WAVE.drop(index=range(80, 100))
        message = r'missing after row 81 \(as in .* of the frame: after time 7\.9 the next is 10\.0\. Pass gaps="split"'
        with pytest.raises(KoopsieveError, match=message):
            Trajectories.from_frame(frame, "y", "u", time="t", resample=0.1)
        data = Trajectories.from_frame(frame, "y", "u", time="t", resample=0.1, gaps="split")
        assert [len(x) for x in data.states] == [80, 100]
        whole = Trajectories.from_frame(frame, "y", "u", time="t", resample=0.1, gaps="interpolate", max_gap=20)
        assert [len(x) for x in whole.states] == [200]
        assert counts(whole) == (180, 0, 40, 200, 0)
        assert "40 missing values were filled in" in whole.provenance.describe()

    def test_values_filled_on_the_new_grid_are_counted(self):
        """A gap of y in rows 40 to 42 and one of u in rows 60 and 61; every second grid time is no row."""
        frame = WAVE.copy()
        frame.loc[40:42, "y"] = NAN
        frame.loc[60:61, "u"] = NAN
        arguments = {"time": "t", "gaps": "interpolate", "max_gap": 3}
        for step, filled in ((0.1, 3 + 2), (0.05, 7 + 5), (0.2, 2 + 1)):
            data = Trajectories.from_frame(frame, "y", "u", resample=step, **arguments)
            assert counts(data)[2] == filled
        assert counts(Trajectories.from_frame(frame, "y", "u", **arguments))[2] == 5

    def test_a_year_between_two_stretches_is_not_filled_with_samples(self):
        times = np.concatenate([T[:100], T[:100] + 3e7, [9e7]])
        frame = pd.DataFrame({"t": times, "y": np.sin(times)})
        data = Trajectories.from_frame(frame, "y", time="t", resample=0.05, gaps="split")
        assert [len(x) for x in data.states] == [199, 199]
        assert [source.start for source in data.provenance.sources] == [0.0, 3e7]

    @pytest.mark.parametrize(
        "options, message",
        [
            ({"resample": 0.1}, "resample= needs the times of the samples"),
            ({"resample": 0, "time": "t"}, "resample, the new sample time, must be a positive number"),
            ({"resample": NAN, "time": "t"}, "must be a positive number"),
            ({"resample": 0.1, "time": "t", "dt": 0.2}, r"dt=0\.2 contradicts resample= 0\.1"),
            ({"resample": 1e3, "time": "t"}, "resample=1000 is longer than every episode"),
            ({"resample": 1e-9, "time": "t"}, "would make 19900000001 samples of the 200 rows of the frame"),
        ],
    )
    def test_what_is_refused(self, options, message):
        with pytest.raises(KoopsieveError, match=message):
            Trajectories.from_frame(WAVE, "y", **options)

    def test_an_infinite_sample_is_not_smeared(self):
        frame = WAVE.assign(y=WAVE["y"].where(np.arange(200) != 7, np.inf))
        with pytest.raises(KoopsieveError, match=r"State 'y' at row 9 .* is infinite"):
            Trajectories.from_frame(frame, "y", time="t", resample=0.05)


class TestSplitting:
    @pytest.mark.parametrize(
        "states, inputs, kept, acting",
        [
            ([0.0, 1, 2, NAN, 4, 5], [10.0, 11, 12, 13, 14], [[0, 1, 2], [4, 5]], [[10, 11], [14]]),
            (np.arange(6.0), [10.0, 11, NAN, 13, 14], [[0, 1, 2], [3, 4, 5]], [[10, 11], [13, 14]]),
            ([NAN, 1.0, 2.0, NAN], None, [[1, 2]], [[]]),
            (np.ma.masked_array(np.arange(6), mask=[0, 0, 0, 1, 0, 0]), None, [[0, 1, 2], [4, 5]], [[], []]),
            ([[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]], None, [[0, 1, 2], [1, 2, 3]], [[], []]),
        ],
        ids=["around a missing state", "at a missing input", "at the ends", "masked", "nowhere"],
    )
    def test_where_an_episode_is_cut(self, states, inputs, kept, acting):
        states = list(map(np.array, states)) if np.ndim(states) == 2 else states
        found = Trajectories.from_arrays(states, inputs, gaps="split")
        assert [x.ravel().tolist() for x in found.states] == kept
        assert [u.ravel().tolist() for u in found.inputs] == acting
        assert all(x.flags.c_contiguous and not x.flags.writeable for x in found.states)

    def test_lonely_samples_are_lost_with_a_warning(self):
        states = [np.array([0.0, NAN, 2.0, NAN, 4.0, 5.0]), np.array([0.0, NAN])]
        with pytest.warns(KoopsieveWarning, match=r"lost 3 complete samples of 8.*2 samples in 1 episodes are left"):
            trajectories = Trajectories.from_arrays(states, gaps="split")
        assert [x.ravel().tolist() for x in trajectories.states] == [[4, 5]]

    def test_splitting_and_delays_go_together(self):
        """What is too short for the delays is left out and counted."""
        y = np.sin(T)
        y[[20, 23, 100]] = NAN
        data = Trajectories.from_arrays(y, np.cos(T), gaps="split")
        assert [len(x) for x in data.states] == [20, 2, 76, 99]
        with pytest.warns(KoopsieveWarning, match=r"Left out, 2 samples of 197: episode 1 \(2 samples\)"):
            embedded = embed_delays(data, states=3, inputs=2)
        assert [len(x) for x in embedded.states] == [17, 73, 96]
        assert counts(embedded) == (200, 0, 0, 0, 5)
        assert [source.first_row for source in embedded.provenance.sources] == [3, 27, 104]
        for source, x in zip(embedded.provenance.sources, embedded.states, strict=True):
            np.testing.assert_array_equal(x[:, 0], np.sin(T)[source.first_row :][: len(x)])


@pytest.mark.parametrize("step, first", [(0.05, 100.0), (0.1, 0.0), (1 / 3, 7.0)])
def test_the_step_of_times_is_free_of_their_rounding(step, first):
    times = first + step * np.arange(300)
    found = Trajectories.from_frame(pd.DataFrame({"t": times, "y": np.sin(times)}), "y", time="t").dt
    assert found == pytest.approx(step, rel=1e-12)
    assert step == 1 / 3 or found == step
