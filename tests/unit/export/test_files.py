"""Files of an export appear all together, or not at all; what is in the way is named."""

import os

import numpy as np
import pytest

from koopsieve._exchange import whole_folder, write_file, write_files
from koopsieve._types import KoopsieveError
from koopsieve.dictionary import Function, States
from tests.unit.export.models import pendulum_model

EXPORTS = {
    "c": lambda model, place: model.to_c(place),
    "casadi": lambda model, place: model.to_casadi().save(place),
    "mat": lambda model, place: model.to_mat(place / "model.mat"),
    "fmu": lambda model, place: model.to_fmu(place / "model.fmu"),
}
every_export = pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS.keys())


def content(folder):
    return {path.relative_to(folder).as_posix(): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


def test_folders_are_made_and_files_replaced(tmp_path):
    place = tmp_path / "a" / "b"
    assert write_files(place, {"x": b"1", "y": b"2"}) == (place / "x", place / "y")
    assert write_file(place / "x", b"3") == place / "x"
    assert content(place) == {"x": b"3", "y": b"2"}


@every_export
def test_a_file_in_the_place_of_the_folder_stays_what_it_is(export, tmp_path):
    (tmp_path / "taken").write_text("mine")
    for place in (tmp_path / "taken", tmp_path / "taken" / "deeper"):
        with pytest.raises(KoopsieveError, match=r"taken.* cannot be written to: .*taken is a file"):
            export(pendulum_model("linear"), place)
    assert content(tmp_path) == {"taken": b"mine"}


@pytest.mark.parametrize("name, export", [("model.c", "c"), ("step.casadi", "casadi"), ("model.mat", "mat")])
def test_a_folder_in_the_place_of_a_file_stays_and_nothing_else_appears(name, export, tmp_path):
    (tmp_path / name).mkdir()
    with pytest.raises(KoopsieveError, match=f"{name} is a folder"):
        EXPORTS[export](pendulum_model("linear"), tmp_path)
    assert content(tmp_path) == {name: False}


@pytest.mark.parametrize("fails_at", [0, 2])
def test_a_disk_that_fills_up_leaves_nothing_behind(fails_at, tmp_path, monkeypatch):
    written = []

    def full(descriptor):
        if len(written) == fails_at:
            raise OSError(28, "No space left on device")
        written.append(descriptor)

    old = pendulum_model("bilinear").to_c(tmp_path / "there")
    before = content(tmp_path)
    monkeypatch.setattr("koopsieve._written.os.fsync", full)
    for place in (tmp_path / "there", tmp_path / "new" / "folder"):
        written.clear()
        with pytest.raises(KoopsieveError, match=r"cannot be written to \(No space left on device\)"):
            pendulum_model("linear").to_c(place)
    assert content(tmp_path) == before
    assert len(old) == 4
    written.clear()
    with (
        pytest.raises(KoopsieveError, match=r"/asked for cannot be written to"),
        whole_folder(tmp_path / "asked for") as place,
    ):
        pendulum_model("linear").to_c(place)  # the folder that was asked for is named, not the hidden one


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="Nothing is closed to this user.")
def test_a_folder_that_is_closed_is_named(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(KoopsieveError, match=r"cannot be written to: you have no write permission"):
        pendulum_model("linear").to_c(tmp_path / "new")


@pytest.mark.parametrize("export", ["c", "casadi", "fmu"])
def test_a_model_that_cannot_be_exported_leaves_no_folder(export, tmp_path):
    model = pendulum_model("linear", recipe=States() + Function(np.abs, names=["a", "b"]))
    with pytest.raises(KoopsieveError, match=r"Function\(absolute\)"):
        EXPORTS[export](model, tmp_path / "new")
    assert not list(tmp_path.iterdir())
