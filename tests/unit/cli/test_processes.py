"""The command line as a process: signals, encodings, ports that do not answer, damaged files of earlier runs."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from koopsieve import KoopsieveError
from koopsieve.execution import DaskExecutor

SRC = str(Path(__file__).parents[3] / "src")


def python(*arguments, cwd, **environment):
    own = {**os.environ, "PYTHONPATH": SRC, **environment}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *map(str, arguments)], cwd=cwd, env=own, **pipes)


def koopsieve(*arguments, **options):
    return python("-m", "koopsieve", *arguments, **options)


def finished(process):
    """Wait for the end, however busy the machine is; nothing is left running."""
    with process:
        try:
            out, err = process.communicate(timeout=500)
        finally:
            process.kill()
    return process.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_leaves_no_temporary_folder(number, tmp_path):
    """The process waits inside the hidden folder when the signal comes."""
    script = (
        "import sys, time; from koopsieve.cli import app, main; from koopsieve._exchange import whole_folder\n"
        "def wait():\n"
        "    with whole_folder('out') as place:\n"
        "        (place / 'half').write_text('half'); print('ready', flush=True); time.sleep(60)\n"
        "app.command('wait')(wait); sys.argv = ['koopsieve', 'wait']; main()"
    )
    process = python("-c", script, cwd=tmp_path)
    assert process.stdout.readline() == "ready\n"
    assert len(list(tmp_path.iterdir())) == 1
    process.send_signal(number)
    code, _, err = finished(process)
    assert code == 128 + number
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", ["numpy", "typer", "koopsieve.cli.sift"])
def test_an_interruption_while_packages_are_imported(package, tmp_path):
    """A package that is interrupted while it is imported, found first on the path of the command line."""
    if "." in package:
        hook = (
            "import sys\nclass Finder:\n    def find_spec(self, name, *_):\n"
            f"        if name == {package!r}: raise KeyboardInterrupt\n"
        )
        (tmp_path / "sitecustomize.py").write_text(hook + "sys.meta_path.insert(0, Finder())\n")
    else:
        (tmp_path / f"{package}.py").write_text("raise KeyboardInterrupt")
    path = os.pathsep.join([str(tmp_path), SRC])
    code, _, err = finished(koopsieve("--version", cwd=tmp_path, PYTHONPATH=path))
    assert err == "koopsieve: interrupted; no file is half written.\n"
    assert code in (130, -signal.SIGINT)


def test_a_screen_without_arrows(tmp_path):
    code, _, err = finished(koopsieve("example", "--samples", 300, cwd=tmp_path))
    assert (code, err) == (0, "")
    sift = ("sift", "bench.csv", "--states", "y", "--inputs", "u", "--kernels", 0, "--horizons", 1, "--sieve", "graph")
    for arguments in (sift, ("inspect", "result/model.npz"), ("sift", "--help"), ("sift", "gone.csv", "--states", "ü")):
        code, _, err = finished(koopsieve(*arguments, cwd=tmp_path, PYTHONIOENCODING="ascii"))
        assert code == (2 if "gone.csv" in arguments else 0)
        assert "Traceback" not in err


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("demo", "--snr", "-1e308"), "No such option: --snr"),
        (("demo", "--seed", "-1"), "Invalid value for '--seed'"),
        (("reproduce", "wiener-hammerstein", "--quick", "--out", "r", "--data", "foreign"), "cannot be read"),
        (("sift", "x.csv", "--states", "y", "--polynomials", "300"), "There is no file x.csv"),
    ],
)
def test_words_instead_of_tracebacks(arguments, message, tmp_path):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "wiener_hammerstein_process_noise.npz").write_bytes(b"junk")
    code, _, err = finished(koopsieve(*arguments, cwd=tmp_path))
    assert (code, message in err, "Traceback" in err) == (2, True, False)


def test_the_size_is_said_before_it_is_tried(tmp_path):
    finished(koopsieve("example", "--samples", 300, cwd=tmp_path))
    sift = ("sift", "bench.csv", "--states", "y", "--inputs", "u")
    for more, message in (
        (("--polynomials", 300), "degree must lie between 2 and 100"),
        (("--polynomials", 60, "--delays", 9), "products up to degree 60, more than 50000"),
    ):
        code, _, err = finished(koopsieve(*sift, *more, cwd=tmp_path))
        assert (code, message in err) == (2, True)


def test_a_port_that_accepts_and_never_answers():
    with socket.create_server(("127.0.0.1", 0)) as server:
        accepted = []
        threading.Thread(target=lambda: accepted.append(server.accept()), daemon=True).start()
        with pytest.raises(KoopsieveError, match=r"No Dask scheduler answered at .* within 1 s"):
            DaskExecutor.connect(f"tcp://127.0.0.1:{server.getsockname()[1]}", timeout=1.0)
        for connection, _ in accepted:
            connection.close()


@pytest.mark.parametrize("address", ["tls://127.0.0.1:1", "foo://x", "nonsense", "", "tcp://127.0.0.1:1"])
def test_addresses_that_lead_nowhere(address):
    with pytest.raises(KoopsieveError, match="No Dask scheduler answered"):
        DaskExecutor.connect(address, timeout=1.0)


def test_runs_that_were_cut_off_are_computed_again(tmp_path):
    from koopsieve.reproduction.monte_carlo import RunTask, claim, run_tasks

    tasks = [RunTask(f"run{i}", square, (i,)) for i in range(3)]
    assert [one["value"] for one in run_tasks(tasks, tmp_path, {"a": 1}, workers=1)] == [0, 1, 4]
    files = sorted(path for path in tmp_path.rglob("*.json") if "value" in path.read_text())
    files[1].write_text(files[1].read_text()[:5])
    files[2].write_text("")
    assert [one["value"] for one in run_tasks(tasks, tmp_path, {"a": 1}, workers=1)] == [0, 1, 4]
    settings = next(path for path in tmp_path.rglob("*.json") if "value" not in path.read_text())
    settings.write_text(json.dumps({"a": 1})[:4])
    with pytest.raises(KoopsieveError, match="cannot be read, it is not JSON"):
        claim(tmp_path, {"a": 1})


def square(number):
    return {"value": int(np.square(number))}
