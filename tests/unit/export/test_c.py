"""Models in C: the folder tests itself, names may be any, single precision, also for a Cortex-M4F (slow)."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from koopsieve.data import Embedding, Signals, Trajectories
from koopsieve.dictionary import Monomials, RandomFourier, SquaredExponential, States
from koopsieve.dictionary.expressions import real_symbols
from koopsieve.export.c import c_files
from koopsieve.export.c.terms import shapes
from koopsieve.forms import Model
from tests.compiled import STRICT, Compiled
from tests.reference.pendulum import simulate_pendulum
from tests.unit.export.models import EVERY_BLOCK, FORMS, PLAIN, pendulum_model

SINGLE = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-DKOOPSIEVE_FLOAT32"]
FPU = ["-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-fsingle-precision-constant"]  # that of a Cortex-M4F


def made(folder, *options):
    return subprocess.run(["make", *options], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("recipe", [PLAIN, EVERY_BLOCK], ids=["monomials", "every block"])
def test_the_folder_compiles_and_tests_itself_in_both_precisions(form, recipe, tmp_path):
    place = tmp_path / "new" / "folder"
    pendulum_model(form, Embedding(1, 1) if recipe is PLAIN else Embedding(), recipe).to_c(place, "tank 1")
    for options in ([], ["-B", f"CFLAGS={' '.join(SINGLE)}"]):
        done = made(place, *options)
        assert done.returncode == 0, done.stderr + done.stdout
        assert done.stdout.count(" ok\n") == 4
        assert "Werror" in done.stdout
    assert "typedef float real_t" in (place / "tank_1.h").read_text()


def test_numbers_read_back_to_the_same_bits_and_others_fail_the_test_program(tmp_path):
    model = pendulum_model("linear")
    a, b, _ = Compiled(model, tmp_path).linearise(np.zeros(len(model.A)), np.zeros(2))
    np.testing.assert_array_equal(a, model.A)
    np.testing.assert_array_equal(b, model.B)
    text, coefficient = (tmp_path / "model.c").read_text(), f"{model.A[0, 0]:.17g}"
    assert coefficient in text
    (tmp_path / "model.c").write_text(text.replace(coefficient, f"{model.A[0, 0] + 1e-9:.17g}", 1))
    done = made(tmp_path)
    assert done.returncode != 0
    assert "step" in done.stdout
    assert "TOO LARGE" in done.stdout


SAYS_A_NAME = """#include <stdio.h>
#include "x2nd_tank_H_he.h"
int main(void) { puts(x2nd_tank_H_he_output_names[0]); return 0; }
"""


def test_names_are_made_fit_for_c(tmp_path):
    named = replace(simulate_pendulum([80], 2), signals=Signals(("Δp */ ??/", 'a"b\\'), ("pump 1", "pump-1"), 0.1))
    files = pendulum_model("linear", data=named).to_c(tmp_path, "2nd tank: Höhe")
    stem = "x2nd_tank_H_he"
    assert [file.name for file in files] == [f"{stem}.h", f"{stem}.c", f"{stem}_test.c", "Makefile"]
    header = files[0].read_text(encoding="ascii")
    assert f"#define {stem.upper()}_INPUT_PUMP_1 0" in header
    assert f"#define {stem.upper()}_INPUT_PUMP_1_2 1" in header
    (tmp_path / "say.c").write_text(SAYS_A_NAME)
    subprocess.run([*STRICT, "-o", "say", "say.c", f"{stem}.c", "-lm"], cwd=tmp_path, check=True)
    printed = subprocess.run(["./say"], cwd=tmp_path, capture_output=True, check=True).stdout
    assert printed.decode().strip() == "Δp */ ??/"


def test_a_saved_model_is_exported_alike(tmp_path):
    model = pendulum_model("reprojected", recipe=EVERY_BLOCK)
    model.save(tmp_path / "model.npz")
    assert c_files(Model.load(tmp_path / "model.npz")) == c_files(model)


@pytest.mark.parametrize(
    "block, expected",
    [
        (States(), [(3, 0)]),
        (
            SquaredExponential([[1.5, 2.5, 3.5], [3.5, 4.5, 6.5]], [0.3]),
            [(2, 3)],
        ),  # all share a number: not in the table
        (SquaredExponential(20, [0.3, 2.0]), [(40, 4)]),  # equal numbers of a term are one column
        (RandomFourier(30), [(30, 4)]),
        (Monomials(degree=3), [(3, 0), (3, 0), (3, 0), (3, 0), (3, 0), (1, 0)]),  # x², xy, x³, x²y, xy², xyz
    ],
)
def test_terms_of_one_shape_are_one_loop_over_a_table_of_their_numbers(block, expected):
    (family,) = block.fit(Trajectories.from_arrays(np.random.default_rng(0).normal(size=(60, 3)))).families
    point = real_symbols("p", 3)
    found = shapes([family.expression(column, point) for column in range(family.size)], point)
    assert sorted((len(one.terms), one.values.shape[1]) for one in found) == sorted(expected)
    assert sorted(i for one in found for i in one.terms) == list(range(family.size))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_it_is_compiled_for_a_cortex_m4f_and_runs_under_qemu(form, tmp_path):
    """The object is built for the microcontroller; what runs has its Thumb-2 code and FPU, on a core with Linux."""
    for program in ("arm-none-eabi-gcc", "arm-linux-gnueabihf-gcc", "qemu-arm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    pendulum_model(form).to_c(tmp_path)
    bare = ["arm-none-eabi-gcc", *SINGLE, "-mcpu=cortex-m4", *FPU, "-c", "model.c", "-o", "model.o"]
    subprocess.run(bare, cwd=tmp_path, check=True)
    symbols = subprocess.run(["arm-none-eabi-nm", "model.o"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not any(one in symbols.stdout for one in ("__aeabi_dmul", "__aeabi_dadd", "malloc"))  # no doubles
    sources = ["-o", "model_test", "model_test.c", "model.c", "-lm"]
    linux = ["arm-linux-gnueabihf-gcc", *SINGLE, "-mcpu=cortex-a7", *FPU, "-static", *sources]
    subprocess.run(linux, cwd=tmp_path, check=True)
    found = subprocess.run(["qemu-arm", tmp_path / "model_test"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.count(" ok") == 4
