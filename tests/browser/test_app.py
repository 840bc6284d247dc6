"""The app in a real browser, from dropped logs to downloads; and nobody else gets in."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile

import numpy as np
import pytest

from koopsieve import Model
from koopsieve.app.server import EXPORTS, FILES
from koopsieve.systems import bench_record

pytestmark = pytest.mark.slow
pytest.importorskip("nicegui")


@pytest.fixture
def address(tmp_path):
    """Start the app in a process of its own; yields its address."""
    command = [sys.executable, "-m", "koopsieve", "app", "--no-browser", "--out", str(tmp_path / "runs")]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment = {**inherited, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path) as process:
        try:
            found = re.search(r"http://127\.0\.0\.1:(\d+)/\S+", process.stdout.readline())
            wait_for(int(found[1]))
            yield found[0]
        finally:
            process.terminate()


def wait_for(port, seconds=60.0):
    """Wait until something listens."""
    last = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
        except OSError:
            if time.monotonic() > last:
                raise
            time.sleep(0.1)
        else:
            return


@pytest.fixture
def log(tmp_path):
    u, y = bench_record(600, seed=0)
    table = np.column_stack([0.05 * np.arange(600), u, y])
    np.savetxt(tmp_path / "bench.csv", table, delimiter=",", header="time,force [N],position [m]", comments="")
    return tmp_path / "bench.csv"


def pick(page, label, name):
    page.locator(".q-field", has_text=label).first.click()
    page.get_by_role("option", name=name, exact=True).click()
    page.keyboard.press("Escape")
    page.locator(".q-menu").wait_for(state="detached")  # the next list holds the same names


def downloaded(page, name):
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name, exact=True).click()
    assert waiting.value.suggested_filename == name
    return waiting.value.path()


def find_a_model(page, number):
    page.get_by_role("button", name="Find a model").click()
    page.get_by_role("button", name=f"run-{number}", exact=True).wait_for(timeout=300_000)


def test_from_dropped_logs_to_downloads(browser, address, log, tmp_path):
    page, trouble = browser.new_page(viewport={"width": 1400, "height": 1000}), []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.set_default_timeout(60_000)
    page.goto(address)
    page.locator("input[type=file]").set_input_files(str(log))
    for label, name in (("Outputs", "position [m]"), ("Inputs", "force [N]"), ("Time", "time")):
        pick(page, label, name)
    page.get_by_text("600 rows in 1 episode were read. Sample time 0.05.").wait_for()
    page.get_by_text("Short names").click()
    page.get_by_label("position [m]").fill("y")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Past samples (empty: automatic)").fill("1")
    page.get_by_label("Degree of products").fill("2")
    pick(page, "Form", "linear")
    find_a_model(page, 1)
    report = page.frame_locator("iframe")
    report.locator("#runs svg").first.wait_for()
    assert "y [m]" in report.locator("#runs").inner_text()
    equations = report.locator("#equations").inner_text()
    assert "y" in equations
    assert "position" not in equations
    page.get_by_text("beats the linear model").wait_for()
    files = {name: downloaded(page, name) for name in (*FILES, *EXPORTS)}
    assert all(path.stat().st_size > 100 for path in files.values())
    assert Model.load(files["model.npz"]).output_names == ("y",)
    with zipfile.ZipFile(files["model_c.zip"]) as archive:
        assert {"model.c", "model.h"} <= set(archive.namelist())
    page.get_by_text("Repeat it").click()
    page.get_by_text("'y=position [m]'").wait_for()
    page.get_by_text("Trajectories.from_file").wait_for()
    page.get_by_label("Degree of products").fill("3")
    find_a_model(page, 2)
    page.locator("thead .q-checkbox").click()
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Compare the selected runs").click()
    opened.value.get_by_text("Runs side by side").first.wait_for()
    assert trouble == []
    assert (tmp_path / "runs" / "run-2" / "result" / "report.html").is_file()


def test_without_the_token_there_is_nothing(address):
    for place in (address.split("?")[0], f"{address}x", address.split("?")[0] + "runs/run-1/report.html"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(place)
    with urllib.request.urlopen(address) as answer:
        assert answer.status == 200
