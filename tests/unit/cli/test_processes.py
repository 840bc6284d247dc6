"""The command line as a process: signals, encodings, completion, ports that do not answer."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

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
        assert (code, "Traceback" in err) == (2 if "gone.csv" in arguments else 0, False)


@pytest.mark.parametrize("stage", ["sift_with", "write_report"])
def test_an_interrupt_leaves_nothing_behind(stage, tmp_path):
    finished(koopsieve("example", "--samples", 300, cwd=tmp_path))
    script = (
        "import os, signal, sys\nimport koopsieve.cli.sift as run\n"
        f"run.{stage} = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.argv[1:] = 'sift bench.csv --states y --kernels 0 --horizons 1 --sieve graph'.split()\n"
        "from koopsieve.cli import main; main()"
    )
    assert finished(python("-c", script, cwd=tmp_path)) == (
        130,
        "",
        "koopsieve: interrupted; no file is half written.\n",
    )
    assert [p.name for p in tmp_path.iterdir()] == ["bench.csv"]


def test_completion_knows_the_commands(tmp_path):
    asked = {"_KOOPSIEVE_COMPLETE": "complete_bash", "COMP_WORDS": "koopsieve si", "COMP_CWORD": "1"}
    _, out, _ = finished(python("-c", "from koopsieve.cli import main; main()", cwd=tmp_path, **asked))
    assert {"sift", "simulate"} <= set(out.split())


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
