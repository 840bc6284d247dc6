"""Models in C against the same models in Python: in double and single precision, also for a Cortex-M4F (slow)."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding, Signals
from koopsieve.dictionary import Function, Inputs, States, Transformer
from koopsieve.export.c import c_files
from koopsieve.forms import Model
from tests.compiled import STRICT, Compiled
from tests.reference.pendulum import simulate_pendulum
from tests.unit.export.models import (
    DRIVEN_MONOMIALS,
    EMBEDDINGS,
    EVERY_BLOCK,
    FORMS,
    HOSTILE,
    PLAIN,
    names_of,
    pendulum_model,
)

every_form = pytest.mark.parametrize("form", FORMS)
every_embedding = pytest.mark.parametrize("embedding", EMBEDDINGS, ids=names_of)


def assert_same(found, expected, size=0.0):
    """To 1e-12 of the largest value, or of `size`, the largest sum behind it."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    largest = max(np.abs(expected).max(initial=0.0), size)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * largest)


def compare(model, folder, seed=1):
    """Every function of the compiled model at points from a record."""
    compiled = Compiled(model, folder)
    inputs = len(model.input_names)
    record = simulate_pendulum([30], inputs, seed=seed)
    y, u = record.states[0], np.vstack([record.inputs[0], np.zeros((1, inputs))])
    rows, ahead = model.history, model.signals.embedding.ahead
    states, acting = model.signals.embedding.embed(y, u)
    for k in range(0, len(acting), 4):
        x, v = states[k], acting[k]
        np.testing.assert_array_equal(compiled.state(y[k : k + rows], u[k : k + rows - 1 + ahead]), x)
        np.testing.assert_array_equal(compiled.shift(x, y[k + rows], v), states[k + 1])
        assert_same(compiled.lift(x), model.dictionary(x))
        carried = model.start(x[None])
        assert_same(compiled.start(x), carried[0])
        assert_same(compiled.step(carried[0], v), model.advance(carried, v[None])[0])
        assert_same(compiled.read(carried[0]), model.read(carried)[0])
        around = model.jacobians(carried, v[None])
        for found, expected in zip(compiled.linearise(carried[0], v), (around.A, around.B, around.offset), strict=True):
            assert_same(found, expected[0], np.abs(around.A).max())
    expected = model.simulate(y[:rows], u if inputs else None, len(u))
    assert_same(compiled.simulate(y[:rows], u), expected)
    return compiled


@every_form
@every_embedding
def test_every_form_and_timing(form, embedding, tmp_path):
    compiled = compare(pendulum_model(form, embedding), tmp_path)
    assert compiled.sizes["HISTORY"] == embedding.history
    assert compiled.sizes["SAMPLE_TIME"] == 0.1


@every_form
@pytest.mark.parametrize("embedding", [Embedding(), Embedding(1, 1, "k+1")], ids=names_of)
def test_every_block(form, embedding, tmp_path):
    compare(pendulum_model(form, embedding, EVERY_BLOCK), tmp_path)


@pytest.mark.parametrize("embedding", [Embedding(), Embedding(1, 2, "k+1")], ids=names_of)
def test_monomials_of_states_and_inputs(embedding, tmp_path):
    compare(pendulum_model("reprojected", embedding, DRIVEN_MONOMIALS), tmp_path)


@every_form
@pytest.mark.parametrize("embedding", [Embedding(), Embedding(1)], ids=names_of)
def test_without_inputs(form, embedding, tmp_path):
    compare(pendulum_model(form, embedding, inputs=0), tmp_path)


@pytest.mark.parametrize("limits", [None, [[-0.1, -9.0], [0.1, 9.0]]])
def test_outputs_are_held_within_bounds(limits, tmp_path):
    model = pendulum_model("reprojected")
    model = replace(model, limits=limits if limits is None else np.array(limits))
    compiled, held = Compiled(model, tmp_path), 0
    for far in ([60.0, 0.1], [0.2, -90.0], [0.01, 0.02]):
        x, v = np.array(far), np.array([0.3, 9.0])
        following = compiled.step(x, v)
        assert_same(following, model.advance(x[None], v[None])[0])
        around = model.jacobians(x[None], v[None])
        a, b, offset = compiled.linearise(x, v)
        for found, expected in ((a, around.A), (b, around.B), (offset, around.offset)):
            assert_same(found, expected[0], np.abs(following).max())
        held += np.isin(following, model.bounds).sum()
        assert not a[np.isin(following, model.bounds)].any()
    assert held >= 2


@pytest.mark.parametrize("delays", [127, 128, 150])
@pytest.mark.parametrize("form", ["linear", "reprojected"])
def test_indices_beyond_one_byte(form, delays, tmp_path):
    data = simulate_pendulum([delays + 40], 1)
    model = pendulum_model(form, Embedding(delays, 1), States(), 1, data)
    assert len(model.signals.state_names) > 256
    compiled, rng = Compiled(model, tmp_path), np.random.default_rng(0)
    x, v = rng.normal(size=(1, len(model.signals.state_names))), rng.normal(size=(1, 1))
    z = model.start(x)
    assert_same(compiled.step(z[0], v[0]), model.advance(z, v)[0])
    assert_same(compiled.linearise(z[0], v[0])[0], model.jacobians(z, v).A[0])


@every_form
def test_the_folder_compiles_and_tests_itself(form, tmp_path):
    pendulum_model(form, Embedding(1, 1)).to_c(tmp_path / "new" / "folder", "tank 1")
    done = subprocess.run(["make"], cwd=tmp_path / "new" / "folder", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" ok\n") == 4
    assert "Werror" in done.stdout


def test_the_test_program_fails_when_the_model_is_another(tmp_path):
    model = pendulum_model("bilinear")
    model.to_c(tmp_path)
    text = (tmp_path / "model.c").read_text()
    coefficient = f"{model.A[0, 0]:.17g}"
    assert coefficient in text
    (tmp_path / "model.c").write_text(text.replace(coefficient, f"{model.A[0, 0] + 1e-9:.17g}", 1))
    done = subprocess.run(["make"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "step" in done.stdout
    assert "TOO LARGE" in done.stdout


def test_numbers_are_written_so_that_they_read_back_to_the_same_bits(tmp_path):
    model = pendulum_model("linear")
    compiled = Compiled(model, tmp_path)
    a, b, _ = compiled.linearise(np.zeros(len(model.A)), np.zeros(2))
    np.testing.assert_array_equal(a, model.A)
    np.testing.assert_array_equal(b, model.B)


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
    said = subprocess.run(["./say"], cwd=tmp_path, capture_output=True, check=True).stdout
    assert said.decode().strip() == "Δp */ ??/"
    subprocess.run(["make"], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize("outputs, inputs", HOSTILE)
@pytest.mark.parametrize("form", ["linear", "reprojected"])
def test_columns_may_have_any_name(form, outputs, inputs, tmp_path):
    named = replace(simulate_pendulum([80], 2), signals=Signals(outputs, inputs, 0.1))
    pendulum_model(form, Embedding(1, 1), data=named).to_c(tmp_path, outputs[0][:40])
    subprocess.run(["make"], cwd=tmp_path, check=True, capture_output=True)


def test_a_saved_model_is_exported_alike(tmp_path):
    model = pendulum_model("reprojected", recipe=EVERY_BLOCK)
    model.save(tmp_path / "model.npz")
    assert c_files(Model.load(tmp_path / "model.npz")) == c_files(model)


def absolute(x):
    return np.abs(x[:, 0])


@pytest.mark.parametrize(
    "block, said",
    [
        (Function(absolute, names=["|x1|"]), r"The observables \|x1\| .* Function\(absolute\), .* in C\."),
        (Inputs() * Function(absolute, names=["|x1|"]), r"\|x1\| .* Function\(absolute\)"),
    ],
)
def test_a_users_own_code_cannot_be_exported(block, said, tmp_path):
    model = pendulum_model("reprojected", recipe=States() + block)
    with pytest.raises(KoopsieveError, match=said):
        model.to_c(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_transformer_cannot_be_exported(tmp_path):
    from sklearn.preprocessing import PolynomialFeatures

    block = Transformer(PolynomialFeatures(2, include_bias=False), names=[f"p{i}" for i in range(5)])
    with pytest.raises(KoopsieveError, match=r"p0, p1, p2, … .* Transformer\(PolynomialFeatures\)"):
        pendulum_model("linear", recipe=States() + block).to_c(tmp_path)


def test_a_model_that_is_not_finite_is_refused(tmp_path):
    model = pendulum_model("linear")
    with pytest.raises(KoopsieveError, match="coefficient of the model is nan"):
        replace(model, A=np.full_like(model.A, np.nan)).to_c(tmp_path)


SINGLE = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-DKOOPSIEVE_FLOAT32"]
FPU = ["-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-fsingle-precision-constant"]  # that of a Cortex-M4F


def compiled(compiler, options, folder):
    sources = ["model_test.c", "model.c"]
    subprocess.run([compiler, *SINGLE, *options, "-o", "model_test", *sources, "-lm"], cwd=folder, check=True)
    return folder / "model_test"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("recipe", [PLAIN, EVERY_BLOCK], ids=["monomials", "every block"])
def test_single_precision_is_as_near_as_single_precision_is(form, recipe, tmp_path):
    pendulum_model(form, recipe=recipe).to_c(tmp_path)
    found = subprocess.run([compiled("cc", [], tmp_path)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
    assert "typedef float real_t" in (tmp_path / "model.h").read_text()


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
    program = compiled("arm-linux-gnueabihf-gcc", ["-mcpu=cortex-a7", *FPU, "-static"], tmp_path)
    found = subprocess.run(["qemu-arm", program], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.count(" ok") == 4
