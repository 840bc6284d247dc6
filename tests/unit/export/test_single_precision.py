"""Exported C in single precision: on this machine, and for a Cortex-M4F under QEMU (slow)."""

import shutil
import subprocess

import pytest

from tests.unit.export.models import EVERY_BLOCK, FORMS, PLAIN, pendulum_model

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
