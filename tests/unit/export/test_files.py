"""Files of an export appear all together, or not at all; what is in the way is named."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures

from koopsieve._exchange import whole_folder, write_file, write_files
from koopsieve._types import KoopsieveError
from koopsieve.dictionary import Function, Inputs, States, Transformer
from tests.unit.export.models import pendulum_model

EXPORTS = {
    "c": lambda model, place: model.to_c(place),
    "casadi": lambda model, place: model.to_casadi().save(place),
    "mat": lambda model, place: model.to_mat(place / "model.mat"),
    "fmu": lambda model, place: model.to_fmu(place / "model.fmu"),
}
TO_FILES = [*EXPORTS]
EXPORTS |= {
    "m": lambda model, place: model.to_m(place / "model.m"),
    "do_mpc": lambda model, place: model.to_do_mpc(),
    "control": lambda model, place: model.to_control(),
    "sympy": lambda model, place: model.to_sympy(),
}


def content(folder):
    return {path.relative_to(folder).as_posix(): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


def test_folders_are_made_and_files_replaced(tmp_path):
    place = tmp_path / "a" / "b"
    assert write_files(place, {"x": b"1", "y": b"2"}) == (place / "x", place / "y")
    assert write_file(place / "x", b"3") == place / "x"
    assert content(place) == {"x": b"3", "y": b"2"}
    (tmp_path / "link").symlink_to("a/b/y")
    write_file(tmp_path / "link", b"4")
    assert ((tmp_path / "link").is_symlink(), content(place)) == (True, {"x": b"3", "y": b"4"})


@pytest.mark.parametrize("export", TO_FILES)
def test_a_file_in_the_place_of_the_folder_stays_what_it_is(export, tmp_path):
    (tmp_path / "taken").write_text("mine")
    for place in (tmp_path / "taken", tmp_path / "taken" / "deeper"):
        with pytest.raises(KoopsieveError, match=r"taken.* cannot be written to: .*taken is a file"):
            EXPORTS[export](pendulum_model("linear"), place)
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
        with pytest.raises(KoopsieveError, match=r"could not be written: No space left on device"):
            pendulum_model("linear").to_c(place)
    assert content(tmp_path) == before
    assert len(old) == 4
    written.clear()
    with (
        pytest.raises(KoopsieveError, match=r"/asked for/model\w*\.[ch] could not be written"),
        whole_folder(tmp_path / "asked for") as place,
    ):
        pendulum_model("linear").to_c(place)  # the folder that was asked for is named, not the hidden one


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="Nothing is closed to this user.")
def test_a_folder_that_is_closed_is_named(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(KoopsieveError, match=r"cannot be written to: you have no write permission"):
        pendulum_model("linear").to_c(tmp_path / "new")


def absolute(x):
    return np.abs(x[:, 0])


@pytest.mark.parametrize(
    "block, message",
    [
        (Function(absolute, names=["|x1|"]), r"The observables \|x1\| .* Function\(absolute\), .* in {}\."),
        (Inputs() * Function(absolute, names=["|x1|"]), r"\|x1\| .* Function\(absolute\), .* in {}\."),
        (
            Transformer(PolynomialFeatures(2, include_bias=False), list("abcde")),
            r"a, b, c, … .* Transformer\(Poly.* {}",
        ),
    ],
)
@pytest.mark.parametrize(
    "export, language",
    [("c", "C"), ("casadi", "CasADi"), ("fmu", "C"), ("do_mpc", "CasADi"), ("m", "MATLAB"), ("sympy", "SymPy")],
)
def test_a_users_own_code_cannot_be_exported_and_leaves_no_folder(export, language, block, message, tmp_path):
    with pytest.raises(KoopsieveError, match=message.format(language)):
        EXPORTS[export](pendulum_model("reprojected", recipe=States() + block), tmp_path / "new")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "export, message",
    [
        ("c", "coefficient of the model is nan"),
        ("m", "coefficient of the model is nan"),
        ("mat", "model's A is not finite"),
    ],
)
def test_a_model_that_is_not_finite_is_refused(export, message, tmp_path):
    model = pendulum_model("linear")
    with pytest.raises(KoopsieveError, match=message):
        EXPORTS[export](replace(model, A=np.full_like(model.A, np.nan)), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "export, module, extra",
    [
        ("casadi", "casadi", "casadi"),
        ("do_mpc", "do_mpc", "do-mpc"),
        ("control", "control", "control"),
        ("fmu", "fmpy.build", "fmu"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(export, module, extra, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(KoopsieveError, match=rf"to_{export}\(\) needs {module}.*pip install 'koopsieve\[{extra}\]'"):
        EXPORTS[export](pendulum_model("linear"), tmp_path)
