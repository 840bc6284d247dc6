"""Every command as a user types it; what goes wrong is one or two lines and exit code 2."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from koopsieve import KoopsieveError, LinearModel, reduce
from koopsieve.cli.command_settings import Settings, to_toml

SRC = str(Path(__file__).parents[3] / "src")
FILES = ["inclusion.csv", "model.npz", "report.html", "summary.json"]
SIFT = ["sift", "bench.csv", "--states", "y", "--inputs", "u", "--time", "t", "--delays", "1", "--polynomials", "3"]
SIFT += ["--kernels", "0", "--horizons", "1,10", "--form", "linear", "--inputs-at", "k"]
QUICK = [*SIFT, "--sieve", "graph"]
PREDICT = ["predict", "result/model.npz", "bench.csv", "--horizon", "10"]


@pytest.fixture
def bench(koopsieve):
    code, out, _ = koopsieve("example", "--samples", 800)
    assert (code, out.startswith("Written to bench.csv: 800 samples")) == (0, True)
    return koopsieve


def read_csv(text):
    """Return the names of the columns, and the columns: numbers but for the episode, which is the file's name."""
    header, *rows = csv.reader(text.splitlines())
    return header, dict(zip(header[1:], np.array([row[1:] for row in rows], dtype=float).T, strict=True))


def test_from_a_file_to_a_report_a_model_and_predictions(bench, tmp_path):
    code, out, err = bench(*SIFT, "--out", "result")
    assert (code, err) == (0, "")
    assert "Report: result/report.html" in out
    assert "held out" in out
    assert re.search("Learned from (\\d+) samples, .* on each of 3 parts of the \\1, fitted without it[.;]", out)
    assert "on each of 3 parts of the " in (tmp_path / "result" / "report.html").read_text()
    assert sorted(p.name for p in (tmp_path / "result").iterdir()) == FILES
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bench.csv", "result"]
    summary = json.loads((tmp_path / "result" / "summary.json").read_text())
    assert summary["observables"]["reduced"] < summary["observables"]["full"] == 20
    assert summary["test"]["nmse"]["y"][1] < 0.01 < summary["baselines"]["persistence"]["y"][1]
    assert summary["judged_on"] == "held-out"
    assert summary["embedding"] == {"state_delays": 1, "input_delays": 1, "inputs_at": "k"}
    assert "of 20 candidates kept" in out
    assert summary["path"]["sizes"][summary["path"]["chosen"]] == summary["observables"]["reduced"]

    model = LinearModel.load(tmp_path / "result" / "model.npz")
    assert set(summary["observables"]["retained"]) <= set(model.names)
    for radius in re.findall(r"spectral radius (?:was [\d.]+, now|is) ([\d.]+)", out):
        assert float(radius.rstrip(".")) == pytest.approx(model.spectral_radius, abs=1e-6)

    code, out, _ = bench(*PREDICT)
    header, rows = read_csv(out)
    assert (code, header) == (0, ["episode", "row", "t", "steps", "y", "y_predicted"])
    file = np.genfromtxt(tmp_path / "bench.csv", delimiter=",", names=True)
    measured = file["y"]
    np.testing.assert_array_equal(rows["row"], np.arange(11, 800))
    np.testing.assert_array_equal(rows["t"], file["t"][11:])
    np.testing.assert_array_equal(rows["y"], measured[11:])
    assert np.mean((rows["y_predicted"] - rows["y"]) ** 2) < 0.01 * measured.var()

    code, out, err = bench(
        "predict", "result/model.npz", "bench.csv", "--horizon", 10, "--start", 100, "--out", "p.csv"
    )
    assert (code, out, err) == (0, "", "Written to p.csv\n")
    _, one = read_csv((tmp_path / "p.csv").read_text())
    np.testing.assert_array_equal(one["row"], np.arange(101, 111))
    np.testing.assert_array_equal(one["steps"], np.arange(1, 11))
    np.testing.assert_allclose(one["y_predicted"][-1], rows["y_predicted"][rows["row"] == 110], rtol=1e-9)

    code, out, _ = bench("simulate", "result/model.npz", "bench.csv")
    header, run = read_csv(out)
    assert (code, header) == (0, ["episode", "row", "t", "y", "y_predicted"])
    np.testing.assert_array_equal(run["row"], np.arange(2, 800))
    np.testing.assert_array_equal(run["y"], measured[2:])
    assert np.isfinite(run["y_predicted"]).all()

    code, out, _ = bench("inspect", "result/model.npz")
    assert code == 0
    assert "spectral radius" in out
    assert "y[k-1]" in out
    code, out, _ = bench("inspect", "result/model.npz", "--json")
    facts = json.loads(out)
    assert facts["observables"] == list(model.names)
    assert (facts["form"], facts["history"], facts["sample_time"]) == ("linear", 2, pytest.approx(0.05))
    assert facts["embedding"] == {"state_delays": 1, "input_delays": 1, "inputs_at": "k"}


def test_machines_get_json_of_the_papers_sieve_and_the_settings_in_it_give_the_same_run_again(bench, tmp_path):
    code, out, _ = bench(*QUICK, "--threshold", "0.5", "--compare", "sparse-bayes", "--json")
    summary = json.loads(out)
    assert (code, len(summary["path"]["sizes"]), summary["threshold"]) == (0, 1, 0.5)
    assert "sparse bayes" in summary["nmse"]["reduced"]
    header, *rows = csv.reader(Path("result/inclusion.csv").read_text().splitlines())
    kept = reduce([[float(v) for v in row[1:]] for row in rows], [0], 0.5).retained
    assert summary["observables"]["retained"] == [header[1 + i] for i in kept]
    assert summary["settings"]["horizons"] == [1, 10]
    assert json.loads(Path("result/summary.json").read_text()) == summary
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in summary["settings"].items()}
    (tmp_path / "again.toml").write_text(to_toml(Settings(**frozen)))
    bench("sift", "--config", "again.toml", "--out", "again")
    again = json.loads(Path("again/summary.json").read_text())
    assert (again["nmse"], again["observables"]) == (summary["nmse"], summary["observables"])


def test_a_test_file_and_a_configuration(bench, tmp_path):
    bench("example", "--samples", 300, "--seed", 1, "--out", "other.csv")
    (tmp_path / "s.toml").write_text(
        'files = ["bench.csv"]\nstates = ["y"]\ninputs = ["u"]\ntime = "t"\ntest = "other.csv"\n'
        'delays = 1\ninputs_at = "k"\nform = "linear"\nkernels = 5\nhorizons = 5\nout = "elsewhere"\n'
    )
    code, out, _ = bench("sift", "--config", "s.toml")
    assert code == 0
    assert "Errors are on other.csv" in out
    summary = json.loads((tmp_path / "elsewhere" / "summary.json").read_text())
    assert summary["judged_on"] == "test"
    assert summary["observables"]["full"] == 3 + 1 + 5
    assert list(summary["nmse"]["full"]) == ["everything"]


def test_names_in_the_file_may_differ_from_those_in_the_model(bench, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2)).cumsum(axis=0) / 10
    np.savez(tmp_path / "a.npz", x=x, z=x[:, 0], u=rng.normal(size=300))
    options = ["--kernels", 4, "--horizons", 2, "--delays", 0, "--inputs-at", "k", "--form", "linear", "--out", "a"]
    assert bench("sift", "a.npz", "--states", "x", "--inputs", "u", *options)[0] == 0
    assert LinearModel.load("a/model.npz").output_names == ("x_1", "x_2")
    code, out, _ = bench("predict", "a/model.npz", "a.npz", "--states", "x")
    header, rows = read_csv(out)
    assert (code, header[3:]) == (0, ["x_1", "x_1_predicted", "x_2", "x_2_predicted"])
    np.testing.assert_allclose(np.column_stack([rows["x_1"], rows["x_2"]]), x[1:])
    code, _, err = bench("predict", "a/model.npz", "a.npz", "--states", "z")
    assert (code, err.strip()) == (2, "koopsieve: The model has 2 outputs (x_1, x_2) and 1 inputs (u). Got 1 and 1.")


def test_data_sampled_differently_are_refused(bench, tmp_path):
    bench.refused("--dt says 0.1, but the times in column 't' are 0.05 apart", *QUICK, "--dt", 0.1)
    text = (tmp_path / "bench.csv").read_text().splitlines()
    slow = [text[0], *(f"{2 * float(line.split(',', 1)[0]):.2f},{line.split(',', 1)[1]}" for line in text[1:])]
    (tmp_path / "slow.csv").write_text("\n".join(slow) + "\n")
    bench.refused("same sample time. Expected 0.05, got 0.1", *QUICK, "--test", "slow.csv")
    assert not (tmp_path / "result").exists()
    bench(*QUICK)
    bench.refused("same sample time", *PREDICT[:2], "slow.csv", "--time", "t")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sift", "none.csv", "--states", "y"], "none.csv"),
        (["sift", "bench.csv", "--states", "speed"], "'speed'.*'t', 'u', 'y'"),
        (["sift", "bench.csv", "--states", "Y"], "Did you mean 'y'"),
        (["sift", "bench.csv", "--states", "y", "--horizons", "a"], "horizons must be one or more whole numbers"),
        (["sift", "bench.csv", "--states", "y", "--horizon", "5"], "No such option: --horizon"),
        (
            ["sift", "bench.csv", "--states", "y", "--delays", "many"],
            "delays must be a whole number, 0 or more, or auto",
        ),
        (["sift", "bench.csv"], "Name them with --states"),
        (["sift"], "There is no data file"),
        (["sift", "bench.csv", "--states", "y", "--out", "bench.csv"], "is a file. Choose another folder"),
        (["sift", "bench.csv", "--states", "y", "--config", "none.toml"], "none.toml: No such file"),
        (["sift", "broken.parquet", "--states", "y"], "broken.parquet"),
        (["sift", "empty.csv", "--states", "y"], "NaN"),
        (["sift", "words.csv", "--states", "y"], "must hold numbers"),
        (["sift", "comma.csv", "--states", "Weg, Kolben"], "Did you mean 'Weg, Kolben'.* file for --config"),
        (["sift", "bench.csv", "--states", "y", "--test", "./bench.csv"], "bench.csv is to be learned from and judged"),
        (["sift", "log.txt", "--states", "y"], "Expected .csv, .*; rename text to .csv"),
        (["export", "a.npz", "--to", "java", "--out", "x"], "Invalid value for '--to': 'java' is not one of"),
        (["predict", "bench.csv", "bench.csv"], "damaged or not a file of koopsieve"),
        (["predict", "none.npz", "bench.csv"], "There is no file none.npz"),
        (["inspect", "none.npz"], "There is no file none.npz"),
        (["inspect"], "Missing argument"),
        (["predict", "a.npz", "b.csv", "--horizon", "0"], "--horizon"),
        (["example", "--out", "nowhere/bench.csv"], "there is no folder .*nowhere"),
        (["sieve"], "No such command 'sieve'"),
        (["demo", "--snr", "-1e308"], "No such option: --snr"),
        (["demo", "--seed", "-1"], "Invalid value for '--seed'"),
        (["reproduce", "wiener-hammerstein", "--out", "r", "--data", "foreign"], "cannot be read"),
        (["reproduce", "wiener-hammerstein", "--quick", "--out", "r"], "runs and quick have no effect"),
        (["sift", "bench.csv", "--states", "y", "--polynomials", "300"], "degree must lie between 2 and 100"),
        ([*SIFT[:6], "--polynomials", "60", "--delays", "9"], "products up to degree 60, more than 50000"),
    ],
)
def test_an_error_is_one_or_two_lines_and_exit_code_2(bench, tmp_path, arguments, message):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "wiener_hammerstein_process_noise.npz").write_bytes(b"junk")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really")
    (tmp_path / "empty.csv").write_text("t,y\n1,\n2,\n3,\n")
    (tmp_path / "words.csv").write_text("t,y\n1,off\n2,on\n3,on\n")
    (tmp_path / "comma.csv").write_text('t,"Weg, Kolben"\n1,2\n2,3\n3,5\n')
    (tmp_path / "log.txt").write_text("t,y\n1,2\n2,3\n3,5\n")
    before = sorted(p.name for p in tmp_path.iterdir())
    code, out, err = bench(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("koopsieve: ")
    assert 1 <= len(err.strip().splitlines()) <= 2
    assert "Traceback" not in err
    assert re.search(message, err), err
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_debug_shows_the_traceback_wherever_it_stands(bench):
    for arguments in (["--debug", "inspect", "none.npz"], ["inspect", "none.npz", "--debug"]):
        with pytest.raises(KoopsieveError):
            bench(*arguments)


def test_help_has_examples(koopsieve):
    for command in ("sift", "predict", "simulate", "inspect", "compare", "example", "demo"):
        code, out, _ = koopsieve(command, "--help")
        assert code == 0
        assert f"koopsieve {command} " in out.replace("\n", " ")
        assert "xample:" in out
    assert "(default 1,10,50)" in " ".join(koopsieve("sift", "--help")[1].replace("│", " ").split())
    code, out, err = koopsieve()
    assert (code, err) == (2, "")
    assert "predict" in out
    code, out, _ = koopsieve("--version")
    assert (code, out.split()[0]) == (0, "koopsieve")


def test_a_report_says_how_to_repeat_it_and_runs_are_compared(bench, tmp_path):
    assert bench(*QUICK, "--out", "one")[0] == 0
    command = "koopsieve sift bench.csv --states y --inputs u --time t --delays 1 --kernels 0 --polynomials 3"
    command += " --inputs-at k --form linear --horizons 1,10 --sieve graph --out one"
    assert json.loads((tmp_path / "one" / "summary.json").read_text())["command"] == command
    assert f'<pre id="command">{command}</pre>' in (tmp_path / "one" / "report.html").read_text()
    before = (tmp_path / "one" / "model.npz").read_bytes()
    bench.refused("Already there: one/summary.json, one/model.npz", *command.split()[1:])
    assert bench(*command.split()[1:], "--overwrite")[0] == 0
    assert (tmp_path / "one" / "model.npz").read_bytes() == before

    assert bench(*QUICK, "--polynomials", "2", "--out", "two")[0] == 0
    code, out, err = bench("compare", "one", "two", "--out", "both.html", "--title", "Degrees")
    assert (code, out, err) == (0, "Written to both.html: 2 runs side by side.\n", "")
    page = (tmp_path / "both.html").read_text()
    assert "<h1>Degrees</h1>" in page
    assert not re.search(r"(src|href|url)\s*[=(]\s*[\"']?(https?:)?//", page)
    bench.refused("koopsieve: Compare two runs or more. Got 1.\n", "compare", "one")
    bench.refused("nowhere cannot be read", "compare", "one", "nowhere")


@pytest.mark.parametrize(
    "arguments, written",
    [
        (["sift", "gone.csv", "--states", "y", "--out", "out"], "out/inclusion.csv"),
        (["demo", "--out", "out"], "out/error.png"),
        (["reproduce", "lorenz", "--out", "out"], "out/summary.json"),
        (["reproduce", "all", "--out", "out"], "out/usv/summary.json"),
        (["export", "gone.npz", "--to", "fmu", "--out", "out"], "out/model.fmu"),
        (["compare", "one", "two", "--out", "out/both.html"], "out/both.html"),
        (["predict", "gone.npz", "gone.csv", "--out", "out/ahead.csv"], "out/ahead.csv"),
        (["simulate", "gone.npz", "gone.csv", "--out", "out/run.csv"], "out/run.csv"),
        (["inspect", "gone.npz", "--bands", "out/bands.csv"], "out/bands.csv"),
        (["example", "--out", "out/bench.csv"], "out/bench.csv"),
    ],
)
def test_earlier_files_are_not_replaced_unasked(koopsieve, tmp_path, arguments, written):
    """Refused before any work: what would be read is not even there."""
    (tmp_path / written).parent.mkdir(parents=True)
    (tmp_path / written).write_text("mine")
    code, out, err = koopsieve(*arguments)
    assert (code, out) == (2, "")
    assert err == f"koopsieve: Already there: {written}. Replace with --overwrite, or name another place with --out.\n"
    assert [p.read_text() for p in tmp_path.rglob("*") if p.is_file()] == ["mine"]


@pytest.mark.parametrize("command", ["predict", "simulate"])
@pytest.mark.parametrize("out", ["model.npz", "record.csv"])
def test_what_a_command_reads_is_not_replaced(koopsieve, tmp_path, command, out):
    for name in ("model.npz", "record.csv"):
        (tmp_path / name).write_text("mine")
    code, _, err = koopsieve(command, "model.npz", "record.csv", "--out", out, "--overwrite")
    assert (code, err) == (2, f"koopsieve: {out} is read here, so it is not replaced. Name another place with --out.\n")
    assert (tmp_path / out).read_text() == "mine"


def test_a_finished_reproduction_is_not_replaced_and_an_interrupted_one_goes_on(tmp_path):
    from koopsieve.reproduction.reproduce import FOLDERS, summaries

    done = [tmp_path / name / "summary.json" for name in FOLDERS["all"]]
    for path in done:
        assert summaries("all", tmp_path) == done[done.index(path) :]  # foreign, if a summary were there without runs
        (path.parent / "runs").mkdir(parents=True)
        (path.parent / "runs" / "settings.json").write_text("{}")
    assert summaries("all", tmp_path) == []
    for path in done:
        assert summaries("all", tmp_path) == []
        path.write_text("{}")
    assert summaries("all", tmp_path) == done
    assert summaries("lorenz", tmp_path) == []
    (tmp_path / "summary.json").write_text("{}")
    assert summaries("lorenz", tmp_path) == [tmp_path / "summary.json"]


def test_without_out_a_new_name_is_taken(bench, tmp_path):
    assert bench("example", "--samples", 200)[1].startswith("Written to bench-2.csv: 200 samples")
    assert bench("example", "--samples", 300)[1].startswith("Written to bench-3.csv: 300 samples")
    assert bench("example", "--samples", 400, "--overwrite")[1].startswith("Written to bench.csv: 400 samples")
    for name in ("result", "result-2"):
        assert f"Report: {name}/report.html" in bench(*QUICK)[1]
        summary = json.loads((tmp_path / name / "summary.json").read_text())
        assert summary["settings"]["out"] == name
        assert "--out" not in summary["command"]  # the same command goes into a new folder
    assert bench("compare", "result", "result-2")[1].startswith("Written to comparison.html")
    assert bench("compare", "result", "result-2")[1].startswith("Written to comparison-2.html")
