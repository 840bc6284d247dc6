"""Logs as they are, from the command line: holes, jitter, rates, dialects, dates; and predictions that join back."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from koopsieve.cli import reading
from koopsieve.systems import bench_record

pytestmark = pytest.mark.filterwarnings("default::koopsieve.KoopsieveWarning")  # shown as a user sees them
SIFT = ["--states", "y", "--inputs", "u", "--delays", "2", "--kernels", "0", "--polynomials", "2"]
SIFT += ["--horizons", "1,5", "--form", "linear", "--inputs-at", "k"]
LOG, PREDICT = ["sift", "log.csv", *SIFT], ["predict", "result/model.npz"]


def log(rows=900, dt=0.02, seed=0):
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.normal(size=rows // 10 + 1), 10)[:rows]
    y = np.zeros(rows)
    for k in range(1, rows - 1):
        y[k + 1] = 1.5 * y[k] - 0.6 * y[k - 1] + 0.1 * u[k] - 0.02 * min(y[k] ** 2, 4.0)
    return pd.DataFrame({"t": dt * np.arange(rows), "u": u, "y": y + 1e-3 * rng.normal(size=rows)})


def summary():
    return json.loads(Path("result/summary.json").read_text())


def table(text):
    header, *rows = csv.reader(text.splitlines())
    return pd.DataFrame(rows, columns=header)


def holes(frame, seed=1, count=60):
    """Return the frame without some rows: pieces between them are long and short."""
    rng = np.random.default_rng(seed)
    gone = np.unique(rng.integers(10, len(frame) - 10, size=count))
    return frame.drop(index=gone).reset_index(drop=True)


def test_gaps_and_delays_together_drop_what_is_too_short_and_say_how_much(koopsieve):
    holes(log(3000), count=500).to_csv("log.csv", index=False)
    code, out, err = koopsieve(*LOG, "--time", "t", "--gaps", "split")
    assert code == 0
    done, page = summary()["data"], Path("result/report.html").read_text()
    assert (done["episodes_read"], done["rows_dropped"] > 100, done["episodes"] > 50) == (1, True, True)
    for shown in (out, page):
        assert f"{done['rows_dropped']} samples were left out" in shown
    assert "too short for 2 delays left out" in out
    assert "an episode needs at least 4 samples" in err
    assert f'<th scope="row">rows dropped</th><td>{done["rows_dropped"]}</td>' in page


def test_short_holes_are_filled_and_long_ones_split(koopsieve):
    frame = log()
    frame = frame.drop(index=[100, 101, 300, *range(500, 520)])
    frame.loc[700, "y"] = np.nan
    frame.to_csv("log.csv", index=False)
    options = ("--time", "t", "--gaps", "interpolate", "--max-gap", 2)
    code, out, _ = koopsieve(*LOG, *options)
    assert code == 0
    done = summary()["data"]
    assert (done["rows_inserted"], done["values_filled"], done["episodes"]) == (3, 3 * 2 + 1, 2)
    assert "3 missing rows were put in, 7 missing values were filled in" in out


def test_gaps_are_refused_by_default_with_the_option_to_use(koopsieve):
    holes(log()).to_csv("log.csv", index=False)
    for more, option in ([], "--gaps split"), (["--gaps", "interpolate"], "--max-gap"):
        koopsieve.refused(option, *LOG, "--time", "t", *more)


def test_jitter_is_resampled_and_predictions_have_times_and_no_rows(koopsieve):
    frame = log()
    frame["t"] += np.random.default_rng(0).uniform(-5e-4, 5e-4, len(frame))
    frame.loc[np.arange(len(frame)) % 5 != 0, "u"] = np.nan  # every fifth row holds an input
    frame.to_csv("log.csv", index=False)
    koopsieve.refused("'u' may be sampled more slowly than the rest: pass --resample", *LOG, "--time", "t")
    code, out, _ = koopsieve(*LOG, "--time", "t", "--resample", 0.02)
    assert (code, "on an even time grid" in out) == (0, True)
    found = summary()
    assert found["data"]["samples_resampled"] in (899, 900)
    assert (found["dt"], found["data"]["rows_dropped"] < 20, found["test"]["nmse"]["y"][0] < 0.05) == (0.02, True, True)
    code, out, _ = koopsieve(*PREDICT, "log.csv")
    rows = table(out)
    assert (code, set(rows["row"])) == (0, {""})
    np.testing.assert_allclose(np.diff(rows["t"].astype(float)), 0.02, rtol=1e-6)


def test_a_german_log_with_dates_units_and_comments(koopsieve):
    frame = log()
    stamps = pd.Timestamp("2024-03-01 10:00:00") + pd.to_timedelta(np.round(frame["t"] * 1e3).astype(int), unit="ms")
    frame["Zeit"] = stamps.dt.strftime("%Y-%m-%d %H:%M:%S.%f").str[:-3]
    text = frame[["Zeit", "u", "y"]].to_csv(index=False, sep=";", decimal=",", float_format="%.6f")
    head, rest = text.split("\n", 1)
    Path("log.csv").write_text(f"# Prüfstand 7\n{head}\n;V;mm\n{rest}")
    code, out, err = koopsieve(*LOG, "--time", "Zeit")
    assert code == 0
    assert "semicolons, decimal commas, 1 line before the names skipped, a row of units skipped" in out
    assert "skipped" in err
    assert summary()["dt"] == pytest.approx(0.02)
    code, out, _ = koopsieve(*PREDICT, "log.csv", "--horizon", 5)
    rows = table(out)
    assert code == 0
    assert list(rows) == ["episode", "row", "Zeit", "steps", "y", "y_predicted"]
    joined = frame.assign(Zeit=pd.to_datetime(frame["Zeit"])).merge(
        rows.assign(Zeit=pd.to_datetime(rows["Zeit"]), y=rows["y"].astype(float)), on="Zeit", suffixes=("", "_there")
    )
    assert len(joined) == len(rows) == 900 - 2 - 5
    np.testing.assert_allclose(joined["y"], joined["y_there"], atol=1e-6)


def test_dates_with_points_and_zones(koopsieve):
    frame = log()
    stamps = pd.Timestamp("2024-03-01 10:00:00") + pd.to_timedelta(np.arange(900), unit="s")
    for write, there in (
        (stamps.strftime("%d.%m.%Y %H:%M:%S"), "2024-03-01T10:00:03"),
        (stamps.strftime("%Y-%m-%dT%H:%M:%S+02:00"), "2024-03-01T08:00:03Z"),
    ):
        frame.assign(t=write).to_csv("log.csv", index=False)
        assert koopsieve(*LOG, "--time", "t")[0] == 0
        rows = table(koopsieve(*PREDICT, "log.csv")[1])
        assert rows["t"][0].replace(".000000000", "") == there


def test_marks_of_missing_values_and_formats_of_dates_travel_with_the_model(koopsieve):
    frame = log().astype({"y": object})
    frame["t"] = (pd.Timestamp("2024-03-02") + pd.to_timedelta(np.arange(900), unit="s")).strftime("%d/%m/%Y %H:%M:%S")
    frame.loc[[100, 500], "y"] = ["-", "ERR"]
    frame.to_csv("log.csv", index=False)
    options = ["--time", "t", "--gaps", "split"]
    koopsieve.refused("'-' at row 102. If it marks a missing value, pass --missing '-'", *LOG, *options)
    options += ["--missing", "-,ERR"]
    koopsieve.refused('with --date-format "%d/%m/%Y %H:%M:%S"', *LOG, *options)
    assert koopsieve(*LOG, *options, "--date-format", "%d/%m/%Y %H:%M:%S")[0] == 0
    assert summary()["data"]["rows_dropped"] == 2
    rows = table(koopsieve(*PREDICT, "log.csv")[1])
    assert rows["t"][0] == "2024-03-02T00:00:03"
    log().to_parquet("other.parquet")  # holds no text
    assert koopsieve(*PREDICT, "other.parquet", "--time", "")[0] == 0
    koopsieve.refused(
        "--max-gap goes with --gaps interpolate. Pass both", *PREDICT, "other.parquet", "--time", "", "--max-gap", 3
    )


def test_a_new_log_may_be_written_in_another_way_than_the_one_learned_from(koopsieve):
    log().to_csv("log.csv", index=False)
    assert koopsieve(*LOG, "--time", "t")[0] == 0
    frame = log().astype({"y": object})
    frame["t"] += np.random.default_rng(0).uniform(-5e-4, 5e-4, len(frame))
    frame.to_csv("jitter.csv", index=False)
    koopsieve.refused("Pass --resample 0.0", *PREDICT, "jitter.csv")
    rows = table(koopsieve(*PREDICT, "jitter.csv", "--resample", 0.02)[1])
    np.testing.assert_allclose(np.diff(rows["t"].astype(float)), 0.02, rtol=1e-6)
    stamps = pd.Timestamp("2024-03-02") + pd.to_timedelta(20 * np.arange(900), unit="ms")
    frame["t"] = stamps.strftime("%d/%m/%Y %H:%M:%S.%f")
    frame.loc[100, "y"] = "ERR"
    frame.to_csv("dates.csv", index=False)
    koopsieve.refused("pass --missing 'ERR'", *PREDICT, "dates.csv")
    marks = ["--missing", "ERR", "--gaps", "split"]
    koopsieve.refused('with --date-format "%d/%m/%Y %H:%M:%S"', *PREDICT, "dates.csv", *marks)
    code, out, _ = koopsieve(*PREDICT, "dates.csv", *marks, "--date-format", "%d/%m/%Y %H:%M:%S.%f")
    assert (code, table(out)["t"][0][:10]) == (0, "2024-03-02")
    log().to_parquet("other.parquet")
    koopsieve.refused("--missing is about text", *PREDICT, "other.parquet", "--missing", "ERR")


def test_predictions_join_back_by_episode_row_and_time(koopsieve):
    """Nothing is said twice: the model file remembers the columns, the gaps and the delays."""
    runs = [holes(log(600, seed=i), seed=i, count=5).assign(run=name) for i, name in enumerate(["a", "b", "=c", "d"])]
    frame = pd.concat(runs, ignore_index=True)
    frame.to_csv("log.csv", index=False)
    options = ("--time", "t", "--episode", "run", "--gaps", "split")
    assert koopsieve(*LOG, *options)[0] == 0
    code, out, err = koopsieve(*PREDICT, "log.csv", "--horizon", 3)
    assert (code, "note" in err) == (0, False)
    rows = table(out)
    assert list(rows) == ["run", "row", "t", "steps", "y", "y_predicted"]
    assert set(rows["run"]) == {"a", "b", "'=c", "d"}  # no spreadsheet takes it for a formula
    there = frame.iloc[rows["row"].astype(int)].reset_index(drop=True)
    np.testing.assert_array_equal(there["y"], rows["y"].astype(float))
    np.testing.assert_array_equal(there["t"], rows["t"].astype(float))
    assert (there["run"] == rows["run"].str.lstrip("'")).all()
    code, out, _ = koopsieve("simulate", "result/model.npz", "log.csv")
    assert code == 0
    assert list(table(out)) == ["run", "row", "t", "y", "y_predicted"]
    start = rows["row"].astype(int)[900]
    code, out, _ = koopsieve(*PREDICT, "log.csv", "--horizon", 3, "--start", start)
    assert code == 0
    assert table(out)["run"].unique().tolist() == [rows["run"][900]]


def test_what_the_model_remembers_can_be_overruled(koopsieve):
    log().to_csv("log.csv", index=False)
    assert koopsieve(*LOG, "--time", "t")[0] == 0
    other = log(seed=5).drop(columns="t")
    other.to_csv("other.csv", index=False)
    koopsieve.refused("Not in other.csv: 't'", *PREDICT, "other.csv")
    code, out, _ = koopsieve(*PREDICT, "other.csv", "--time", "")
    assert (code, list(table(out))) == (0, ["episode", "row", "steps", "y", "y_predicted"])
    holes(log(seed=6)).to_csv("holes.csv", index=False)
    assert koopsieve(*PREDICT, "holes.csv")[0] == 2
    assert koopsieve(*PREDICT, "holes.csv", "--gaps", "split")[0] == 0


def kept():
    return summary()["observables"]["retained"]


def test_large_parquet_files_are_streamed_and_keep_the_same_set(koopsieve, monkeypatch):
    for i in range(6):
        log(1500, seed=i).to_parquet(f"log{i}.parquet", row_group_size=250)
    files = sorted(str(path) for path in Path().glob("log*.parquet"))
    assert koopsieve("sift", *files, *SIFT, "--time", "t")[0] == 0
    assert "stream" not in summary()["data"]["in_words"]
    in_memory, test = kept(), summary()["test"]["nmse"]["y"]

    monkeypatch.setattr(reading, "MAX_BYTES_IN_MEMORY", 8 * 2 * 9000 - 1)
    monkeypatch.setattr("koopsieve.sifting.split.MAX_NUMBERS_IN_MEMORY", 100)
    code, out, _ = koopsieve("sift", *files, *SIFT, "--time", "t")
    assert (code, "Read as a stream" in out) == (0, True)
    assert kept() == in_memory
    np.testing.assert_allclose(summary()["test"]["nmse"]["y"], test, rtol=1e-6)
    assert koopsieve(*PREDICT, files[0])[0] == 0

    assert koopsieve("sift", *files, *SIFT, "--time", "t", "--stream", "no")[0] == 0
    assert kept() == in_memory


def test_what_cannot_be_streamed_is_said(koopsieve):
    log().to_csv("log.csv", index=False)
    log().to_parquet("log.parquet")
    koopsieve.refused("Only Parquet files can be streamed", *LOG, "--stream", "yes")
    koopsieve.refused("cannot be cut at gaps", "sift", "log.parquet", *SIFT, "--stream", "yes", "--gaps", "split")


def test_columns_get_shorter_names_and_units_that_a_later_log_is_read_by(koopsieve, tmp_path):
    u, y = bench_record(300, seed=0)
    table = pd.DataFrame({"Stellgröße Motor [N]": u.ravel(), "Drehzahl Last [1/s]": y.ravel()})
    table.to_csv(tmp_path / "bench.csv", index=False)
    names = ["--states", "speed=Drehzahl Last [1/s]", "--inputs", "force=Stellgröße Motor [N]"]
    code, out, err = koopsieve("sift", "bench.csv", *names, *SIFT[4:], "--dt", "0.05", "--out", "result")
    assert code == 0, err
    assert "Kept: speed" in out
    assert "speed [1/s]" in (tmp_path / "result" / "report.html").read_text()
    code, _, err = koopsieve(*PREDICT, "bench.csv", "--horizon", "2", "--out", "ahead.csv")
    assert code == 0, err
    assert "speed_predicted" in pd.read_csv(tmp_path / "ahead.csv").columns
    koopsieve.refused("Did you mean 'Drehzahl Last [1/s]'?", "sift", "bench.csv", "--states", "Drehzal Last [1/s]")
    koopsieve.refused("occurs twice", "sift", "bench.csv", "--states", "a=Drehzahl Last [1/s],a=Stellgröße Motor [N]")
    short = [*names, *SIFT[4:10], *SIFT[12:], "--horizons", "5000", "--out", "far", "--path-length", "3"]
    code, _, err = koopsieve("sift", "bench.csv", *short)
    assert (code, "Horizons beyond" in err) == (0, True)
