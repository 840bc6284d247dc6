"""A whole reproduction on short records: fixed names, tables, figures, byte-for-byte repeatability, kill -9."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve.datasets import FOLDER_VARIABLE
from koopsieve.execution import silent
from koopsieve.reproduction import reproduce
from koopsieve.reproduction.reproduce import Options, reproduce_study
from koopsieve.reproduction.study_settings import noise_study
from tests.studies import shortened

SOURCE = Path(__file__).parents[2] / "src"


def options(workers=1, seed=0):
    return Options(None, None, seed, quick=True, as_published=False, workers=workers, progress=silent)


@pytest.fixture(scope="module")
def lorenz(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lorenz")
    study = shortened(noise_study("lorenz", runs=2, quick=True), train_seconds=0.5, test_seconds=0.5)
    return study, folder, reproduce_study(study, folder, options())


def test_summary_has_the_fixed_names_and_shapes(lorenz):
    study, folder, summary = lorenz
    stored = json.loads((folder / "summary.json").read_text(), parse_constant=pytest.fail)
    levels, horizons = len(study.snr_db), len(study.horizons)
    assert stored["snr_db"] == list(study.snr_db)
    assert stored["full_size"] == 23
    assert stored["runs"] == 2
    assert set(stored["reduced_size"]) == {f"{t:g}" for t in stored["thresholds"]}
    for suffix in ("", "_ci95"):
        assert all(len(sizes) == levels for sizes in stored["reduced_size" + suffix].values())
        for size in ("full", "reduced"):
            assert list(stored["one_step" + suffix][size]) == ["I", "II", "III", "IV"]
            for method in ("I", "II", "III", "IV"):
                assert set(stored["one_step" + suffix][size][method]) == {"train", "test"}
                assert len(stored["one_step" + suffix][size][method]["test"]) == levels
                assert len(stored["long_term" + suffix][size][method]) == horizons
                assert len(stored["condition_number" + suffix][size][method]) == levels
    assert summary["reduced_size"] == stored["reduced_size"]


def test_means_are_those_of_the_runs_on_disk(lorenz):
    study, folder, summary = lorenz
    runs = [json.loads((folder / "runs" / f"snr20dB_run{i:03d}.json").read_text()) for i in range(2)]
    level = study.snr_db.index(20.0)
    errors = [run["one_step"]["reduced"]["III"]["test"]["y"] for run in runs]
    assert summary["one_step"]["reduced"]["III"]["test"][level] == pytest.approx(np.mean(errors), rel=1e-12)
    assert runs[0]["long_term"]
    assert not json.loads((folder / "runs" / "snr10dB_run000.json").read_text())["long_term"]


def test_tables_and_figures_are_there(lorenz):
    _, folder, _ = lorenz
    for name in ("reduced_size", "one_step", "long_term", "condition_number"):
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (folder / f"{name}.svg").read_bytes()[:1000]
        assert len((folder / f"{name}.csv").read_text().splitlines()) > 3
    assert "paper: 23" in (folder / "tables.md").read_text()


def test_the_same_command_again_changes_no_byte(lorenz):
    study, folder, _ = lorenz
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    reproduce_study(study, folder, options())
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_other_seed_in_the_same_folder_is_refused(lorenz):
    study, folder, _ = lorenz
    with pytest.raises(KoopsieveError, match="seed: asked 1, found 0"):
        reproduce_study(study, folder, options(seed=1))


def test_unknown_system_and_negative_seed(tmp_path):
    with pytest.raises(KoopsieveError, match="Expected one of lorenz"):
        reproduce("pendulum", tmp_path)
    with pytest.raises(KoopsieveError, match="seed"):
        reproduce("lorenz", tmp_path, seed=-1)


SCRIPT = """
import sys
from pathlib import Path
from koopsieve.execution import silent
from koopsieve.reproduction.reproduce import Options, reproduce_study
from koopsieve.reproduction.study_settings import noise_study
from tests.studies import shortened
study = shortened(noise_study("lorenz", runs=3, quick=True), train_seconds=0.5, test_seconds=0.5)
options = Options(None, None, 0, quick=True, as_published=False, workers=2, progress=silent)
reproduce_study(study, Path(sys.argv[1]), options)
"""


def command(folder):
    return [sys.executable, "-c", SCRIPT, str(folder)]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kill -9 is a Unix thing")
def test_killed_and_resumed_gives_the_same_bytes_as_undisturbed(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    process = subprocess.Popen(command(killed), env=environment, start_new_session=True)
    finished = killed / "runs"
    deadline = time.monotonic() + 120
    while len(list(finished.glob("snr*.json"))) < 3:
        assert process.poll() is None, "ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _wait_until_group_is_gone(process.pid)
    kept = {path.name: path.stat().st_mtime_ns for path in finished.glob("snr*.json")}
    assert 3 <= len(kept) < 9
    assert not (killed / "summary.json").exists()

    subprocess.run(command(killed), env=environment, check=True)
    subprocess.run(command(undisturbed), env=environment, check=True)
    assert (killed / "summary.json").read_bytes() == (undisturbed / "summary.json").read_bytes()
    for path in (undisturbed / "runs").iterdir():
        assert path.read_bytes() == (finished / path.name).read_bytes()
    for name, when in kept.items():
        assert (finished / name).stat().st_mtime_ns == when, "a finished run was computed again"


def _wait_until_group_is_gone(group):
    """Workers must notice that their parent was killed; they may finish what they are at."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("workers outlived the killed program")


def test_simulated_circuit_is_named_in_every_table(tmp_path, monkeypatch):
    from koopsieve.reproduction import study_settings

    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(study_settings, "_from_package", lambda data: (_ for _ in ()).throw(ImportError))
    with pytest.warns(KoopsieveWarning, match="simulated circuit"):
        found = reproduce("wiener-hammerstein", tmp_path)["wiener-hammerstein"]
    assert found["full_size"] == 46
    for path in (tmp_path / "wiener-hammerstein").glob("*.csv"):
        assert "SIMULATED" in path.read_text().splitlines()[0]
    assert (tmp_path / "wiener-hammerstein" / "tables.md").read_text().count("SIMULATED") == 3
    assert (tmp_path / "summary.json").read_bytes() == (tmp_path / "wiener-hammerstein" / "summary.json").read_bytes()
