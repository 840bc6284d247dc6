"""Logs with holes, jitter and several rates: what is filled, resampled, cut and dropped, and that it is told."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import io

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.data import Stream, Trajectories, embed_delays

NAN = float("nan")
T = 0.1 * np.arange(200)
WAVE = pd.DataFrame({"t": T, "y": np.sin(T), "z": np.cos(2 * T), "u": np.sign(np.sin(3 * T))})


def counts(trajectories):
    total = trajectories.provenance.total
    return (total.rows_read, total.rows_inserted, total.values_filled, total.samples_resampled, total.rows_dropped)


class TestInterpolation:
    def test_short_holes_are_filled_and_long_ones_cut(self):
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

    def test_nothing_is_filled_at_the_ends(self):
        data = Trajectories.from_arrays([NAN, 1.0, 2.0, 4.0, NAN], gaps="interpolate", max_gap=9)
        assert data.states[0].ravel().tolist() == [1, 2, 4]

    def test_an_input_before_the_first_is_not_known(self):
        with pytest.warns(KoopsieveWarning, match="lost 1 complete samples of 4"):
            data = Trajectories.from_arrays([1.0, 2.0, 4.0, 3.0], [NAN, 3.0, 1.0], gaps="interpolate", max_gap=9)
        assert data.states[0].ravel().tolist() == [2, 4, 3]

    def test_columns_are_filled_one_by_one(self):
        x = np.column_stack([[0.0, NAN, 2.0, 3.0], [5.0, 6.0, NAN, 9.0]])
        data = Trajectories.from_arrays(x, gaps="interpolate", max_gap=1)
        assert data.states[0].tolist() == [[0, 5], [1, 6], [2, 7.5], [3, 9]]

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
            ({"gaps": "interpolate"}, "needs max_gap, the longest hole to fill"),
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

    def test_long_holes_are_still_holes(self):
        frame = WAVE.drop(index=range(80, 100))
        message = r'Samples are missing in the frame: after time 7\.9 the next is 10\. Pass gaps="split"'
        with pytest.raises(KoopsieveError, match=message):
            Trajectories.from_frame(frame, "y", "u", time="t", resample=0.1)
        data = Trajectories.from_frame(frame, "y", "u", time="t", resample=0.1, gaps="split")
        assert [len(x) for x in data.states] == [80, 100]
        whole = Trajectories.from_frame(frame, "y", "u", time="t", resample=0.1, gaps="interpolate", max_gap=20)
        assert [len(x) for x in whole.states] == [200]

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
        with pytest.raises(KoopsieveError, match=r"State 'y' at row 7 .* is infinite"):
            Trajectories.from_frame(frame, "y", time="t", resample=0.05)


class TestSplitting:
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


class TestProvenance:
    def test_nothing_done_is_told_too(self):
        data = Trajectories.from_arrays([np.arange(5.0), np.arange(4.0) + 1])
        assert data.provenance.describe() == "9 rows in 2 episodes were read."
        assert data.provenance.to_dict() == {
            **{"episodes_read": 2, "rows_read": 9, "rows_inserted": 0, "values_filled": 0, "samples_resampled": 0},
            **{"rows_dropped": 0, "notes": [], "episodes": 2},
        }
        assert [source.label for source in data.provenance.sources] == ["episode 0", "episode 1"]
        assert data.provenance.sources[0].start is None

    def test_rows_and_times_lead_back_to_the_file(self, tmp_path):
        stamps = pd.date_range("2024-05-01 12:00", periods=60, freq="250ms")
        frame = pd.DataFrame({"when": stamps, "run": ["a"] * 25 + ["b"] * 35, "y": np.sin(np.arange(60.0))})
        frame.loc[40, "y"] = NAN
        frame.to_csv(tmp_path / "log.csv", index=False)
        data = Trajectories.from_file(tmp_path / "log.csv", "y", episode="run", time="when", gaps="split")
        assert [source.label.split(" of ")[0] for source in data.provenance.sources] == [
            *("episode 'a'", "episode 'b'", "episode 'b'")
        ]
        assert [source.first_row for source in data.provenance.sources] == [0, 25, 41]
        embedded = embed_delays(data, states=2)
        first, second = embedded.split(0.6)
        for part in (data, embedded, data.subset([2, 0]), first, second, Trajectories.join([second, first])):
            for source, x in zip(part.provenance.sources, part.states, strict=True):
                rows = frame.iloc[source.first_row :][: len(x)]
                np.testing.assert_array_equal(x[:, 0], rows["y"])
                np.testing.assert_array_equal(source.stamps, rows["when"])
                assert source.start == rows["when"].iloc[0]
            assert part.provenance.total.rows_read == 60
            assert part.provenance.total.rows_dropped == 1

    @pytest.mark.parametrize(
        "times",
        [
            np.arange(30) * 7,
            1_700_000_000_000_000_123 + 1000 * np.arange(30),
            0.25 * np.arange(30),
            pd.to_timedelta(np.arange(30) * 20, unit="ms"),
            pd.date_range("2024-05-01", periods=30, freq="50ms"),
            pd.date_range("2024-05-01", periods=30, freq="1D"),
        ],
        ids=["counts", "nanoseconds", "floats", "durations", "dates", "days"],
    )
    def test_times_come_back_as_they_went_in(self, times):
        frame = pd.DataFrame({"t": times, "y": np.sin(np.arange(30.0))})
        source = Trajectories.from_frame(frame, "y", time="t").provenance.sources[0]
        np.testing.assert_array_equal(source.stamps, frame["t"].to_numpy())
        assert source.stamps.dtype.kind == frame["t"].dtype.kind

    def test_dates_survive_resampling(self):
        frame = pd.DataFrame({"t": pd.date_range("2024-05-01", periods=30, freq="1s"), "y": np.sin(np.arange(30.0))})
        source = Trajectories.from_frame(frame, "y", time="t", resample=0.25).provenance.sources[0]
        np.testing.assert_array_equal(source.stamps, pd.date_range("2024-05-01", periods=117, freq="250ms"))

    def test_joining_parts_counts_nothing_twice(self):
        data = Trajectories.from_arrays([np.sin(T), np.cos(T), np.sin(2 * T)])
        joined = Trajectories.join(list(data))
        assert joined.provenance.total.rows_read == 600
        assert Trajectories.join([data, Trajectories.from_arrays(T)]).provenance.total.rows_read == 800

    def test_other_arrays_are_not_called_by_wrong_names(self):
        data = Trajectories.from_arrays([np.sin(T), np.cos(T)])
        fewer = replace(data, states=data.states[:1], inputs=data.inputs[:1])
        assert [source.label for source in fewer.provenance.sources] == ["episode 0"]


class TestFrames:
    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_a_list_of_frames_is_a_list_of_episodes(self, make):
        columns = {name: WAVE[name].to_numpy() for name in WAVE}
        halves = [
            make({name: v[:90] for name, v in columns.items()}),
            make({name: v[90:] for name, v in columns.items()}),
        ]
        data = Trajectories.from_frame(halves, ["y", "z"], "u", time="t")
        assert [len(x) for x in data.states] == [90, 110]
        assert [source.label for source in data.provenance.sources] == ["frame 0", "frame 1"]
        np.testing.assert_array_equal(np.concatenate(data.states), WAVE[["y", "z"]])

    def test_episodes_in_several_frames(self):
        frames = [WAVE.assign(run=name) for name in "ab"]
        data = Trajectories.from_frame(frames, "y", episode="run")
        assert [source.label for source in data.provenance.sources] == [
            "episode 'a' of frame 0",
            "episode 'b' of frame 1",
        ]
        with pytest.raises(KoopsieveError, match="episode 'a' is in two files, frame 0 and frame 1"):
            Trajectories.from_frame([frames[0], frames[0]], "y", episode="run")

    def test_what_is_wrong_in_one_of_them_is_said_of_it(self):
        with pytest.raises(KoopsieveError, match="Not in frame 1: 'y'"):
            Trajectories.from_frame([WAVE, WAVE.drop(columns="y")], "y")
        with pytest.raises(KoopsieveError, match="There are no frames"):
            Trajectories.from_frame([], "y")

    @pytest.mark.parametrize("name", [None, "when"])
    def test_an_index_of_dates_is_the_time(self, name):
        stamps = pd.date_range("2024-05-01", periods=200, freq="20ms")
        frame = WAVE.set_index(stamps.rename(name))
        data = Trajectories.from_frame(frame, "y", "u")
        assert data.dt == pytest.approx(0.02)
        np.testing.assert_array_equal(data.provenance.sources[0].stamps, stamps)
        holes = frame.drop(frame.index[50:60])
        with pytest.raises(KoopsieveError, match="evenly spaced in time"):
            Trajectories.from_frame(holes, "y", "u")
        assert len(Trajectories.from_frame(holes, "y", "u", gaps="split")) == 2

    def test_a_column_of_times_goes_before_the_index(self):
        frame = WAVE.set_index(pd.date_range("2024-05-01", periods=200, freq="20ms"))
        assert Trajectories.from_frame(frame, "y", time="t").dt == pytest.approx(0.1)

    def test_an_index_of_numbers_is_no_time(self):
        assert Trajectories.from_frame(WAVE.set_index(np.arange(200) ** 2), "y").dt == 1.0


class TestNamedArrays:
    Y, U = np.random.default_rng(0).normal(size=(50, 3)), np.random.default_rng(1).normal(size=(49, 2))

    @pytest.mark.parametrize("suffix", [".npz", ".mat"])
    def test_columns_by_the_names_they_get(self, suffix, tmp_path):
        path = tmp_path / f"x{suffix}"
        np.savez(path, y=self.Y, u=self.U) if suffix == ".npz" else io.savemat(path, {"y": self.Y, "u": self.U})
        data = Trajectories.from_file(path, ["y_3", "y_1"], "u_2")
        assert (data.state_names, data.input_names) == (("y_3", "y_1"), ("u_2",))
        np.testing.assert_array_equal(data.states[0], self.Y[:, [2, 0]])
        np.testing.assert_array_equal(data.inputs[0], self.U[:, 1:])
        mixed = Trajectories.from_file(path, "y", "u_1")
        assert mixed.state_names == ("y_1", "y_2", "y_3")

    def test_columns_that_are_not_there(self, tmp_path):
        path = tmp_path / "x.npz"
        np.savez(path, y=self.Y, w=self.Y[:, 0])
        with pytest.raises(KoopsieveError, match=r"has no 'y_4': 'y' there has shape \(50, 3\)"):
            Trajectories.from_file(path, "y_4")
        with pytest.raises(KoopsieveError, match=r"has no 'w_1': 'w' there has shape \(50,\)"):
            Trajectories.from_file(path, "w_1")
        with pytest.raises(KoopsieveError, match=r"Not in .*: 'v_1'\. The columns there are: 'y', 'w'"):
            Trajectories.from_file(path, "v_1")
        with pytest.raises(KoopsieveError, match="gives two columns named 'y_1'"):
            Trajectories.from_file(path, ["y", "y_1"])

    @pytest.mark.parametrize("suffix", [".npz", ".mat", ".parquet"])
    def test_a_small_file_does_not_fill_the_memory(self, suffix, tmp_path):
        path, zeros = tmp_path / f"x{suffix}", np.zeros(20_000_000)
        if suffix == ".npz":
            np.savez_compressed(path, y=zeros)
        elif suffix == ".mat":
            io.savemat(path, {"y": zeros}, do_compression=True)
        else:
            parquet.write_table(pa.table({"y": zeros}), path)
        assert path.stat().st_size < 10**6
        with pytest.raises(KoopsieveError, match=r"would unpack from .* to 153 MiB, more than 200 times its size"):
            Trajectories.from_file(path, "y")

    def test_a_stream_reads_what_is_too_large_at_once(self, tmp_path):
        parquet.write_table(pa.table({"y": np.zeros(20_000_000)}), tmp_path / "x.parquet")
        assert Stream.from_parquet(tmp_path / "x.parquet", "y").n_samples == 20_000_000
