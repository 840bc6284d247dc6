"""Controllers in C against the same controllers in Python, step by step."""

import ctypes
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.control import Controller, Limits, Noise, Weights
from koopsieve.data import Embedding, Signals, Trajectories
from koopsieve.uncertainty import Calibration, Support
from tests.compiled import STRICT
from tests.reference.pendulum import simulate_pendulum
from tests.unit.export.models import HOSTILE, NO_DELAYS, pendulum_model
from tests.unit.export.test_c import FPU, SINGLE

PLAIN = Limits((-1.0, 1.0))
FULL = Limits(([-1.0, -0.5], [1.0, 0.8]), rates=[0.2, np.inf], outputs=((-0.2, -0.3), (0.2, 0.3)))
MOVING = Limits((-1.0, np.linspace([1.0, 1.0], [0.1, 0.5], 6)), rates=0.1, outputs=(-np.inf, [0.15, np.inf]))
WEIGHTS = Weights([[1.0, 0.2], [0.2, 0.5]], [[0.02, 0.005], [0.005, 0.01]], [0.0, 1e-3])
ACCESS = """#include <stddef.h>
#include "controller.h"
size_t size_of(void);
double cost_of(const controller_t *controller);
size_t size_of(void) { return sizeof(controller_t); }
double cost_of(const controller_t *controller) { return controller->cost; }
"""

every_form = pytest.mark.parametrize("form", ["linear", "bilinear"])
every_estimate = pytest.mark.parametrize("filtered", [False, True], ids=["history", "filter"])


def controller_of(form, filtered=False, limits=PLAIN, embedding=NO_DELAYS, horizon=12, width=None, **options):
    model = pendulum_model(form, embedding, **options)
    known, support = Noise(np.full(len(model.carried_names), 1e-4), np.full(2, 1e-4), np.full(2, 3e-4)), None
    if width is not None:
        around = np.outer([-0.5, 0.5], np.full(len(model.signals.state_names) + 2, width))
        support = Support((model.names[0],), np.zeros((1, 1)), 1.0, around, around[:, :2])
    model = replace(model, calibration=Calibration(noise=known, support=support))
    return Controller(model.to_qp(horizon, WEIGHTS, limits), gain=None if filtered else 0.2)


class CompiledController:
    """The exported controller behind the interface of the one in Python."""

    def __init__(self, controller, folder):
        controller.to_c(folder)
        (folder / "access.c").write_text(ACCESS)
        sources = ["controller.c", "controller_model.c", "access.c"]
        subprocess.run([*STRICT, "-shared", "-fPIC", "-o", "c.so", *sources, "-lm"], cwd=folder, check=True)
        self.library, problem = ctypes.CDLL(str(folder / "c.so")), controller.problem
        self.library.size_of.restype, self.library.cost_of.restype = ctypes.c_size_t, ctypes.c_double
        self.memory, self.problem = ctypes.create_string_buffer(self.library.size_of()), problem
        self.library.controller_start(self.memory, self._array(np.zeros(len(problem.moved))))

    @staticmethod
    def _array(values):
        return np.ascontiguousarray(values, dtype=float).ctypes.data_as(ctypes.c_void_p)

    def step(self, measured, reference, acted, measured_inputs=None):
        wanted, ahead = self.problem.references(reference), measured_inputs
        kept = [np.ascontiguousarray(one, dtype=float) for one in (measured, wanted, acted)]
        forecast = None if ahead is None else self._array(np.tile(ahead, (self.problem.horizon, 1)))
        self.library.controller_step(self.memory, *map(self._array, kept), forecast)
        count = len(self.problem.moved)
        return np.frombuffer(self.memory, dtype=float, count=count).copy()

    @property
    def cost(self):
        return self.library.cost_of(self.memory)


def closed_loop(controller, compiled, steps=25, seed=3):
    """Run both on the same measurements, with missing samples, a spike and inputs from elsewhere."""
    rng, model, problem = np.random.default_rng(seed), controller.problem.model, controller.problem
    found, y, acted = [], np.array([0.05, -0.1]), np.zeros(len(problem.moved))
    for k in range(steps):
        reference = np.array([[0.15, 0.0], [-0.1, 0.1], [0.1, -0.2]][k // 5 % 3])
        measured = y + (0.5 if k == 12 else 0.0)
        measured = np.where([k == 8, k in (8, 9)], np.nan, measured)
        more = {"measured_inputs": [0.1 * np.sin(k)]} if len(problem.pinned) else {}
        ours = controller.step(measured, reference, acted=acted, **more)
        theirs = compiled.step(measured, reference, acted, **more)
        found.append(([*ours, controller.plan.cost], [*theirs, compiled.cost]))
        acted = ours + (0.1 if k == 15 else 0.0)
        acting = controller.state.acting.copy()
        acting[problem.moved] = acted
        y = model.read(model.advance(controller.state.situation.carried[None], acting[None]))[0]
        y = y + 0.01 * rng.normal(size=2)
    return np.array(found).transpose(1, 2, 0)


@every_form
@every_estimate
@pytest.mark.parametrize(
    "limits, embedding", [(PLAIN, Embedding()), (FULL, Embedding(1, 2)), (MOVING, Embedding(0, 1))], ids=["a", "b", "c"]
)
def test_every_step_is_that_of_python(form, filtered, limits, embedding, tmp_path):
    """Inputs agree where the programme is exact; elsewhere two searches may end in neighbouring minima after a jump."""
    controller = replace(controller_of(form, filtered, limits, embedding), iterations=10)
    (*ours, our_cost), (*theirs, their_cost) = closed_loop(controller, CompiledController(controller, tmp_path))
    assert np.ptp(ours, axis=1).min() > 0.1
    assert (their_cost <= 1.03 * our_cost + 1e-7).all()
    assert np.median(np.abs(their_cost / our_cost - 1)) < 0.005
    if form == "linear":
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-3)


@every_form
@every_estimate
def test_an_innovation_is_no_larger_than_the_data_are_wide(form, filtered, tmp_path):
    known, unknown = (
        replace(controller_of(form, filtered, width=width), iterations=10, gate=np.inf) for width in (0.2, None)
    )
    for controller, same in ((known, True), (unknown, False)):
        (tmp_path / str(same)).mkdir()
        (*_, ours), (*_, theirs) = closed_loop(controller, CompiledController(known, tmp_path / str(same)))
        assert (np.abs(theirs / ours - 1).max() < 0.03) == same


@every_form
def test_measured_inputs_are_taken_as_they_are(form, tmp_path):
    model = pendulum_model(form)
    given = Weights(1.0, 0.01), Limits((-1.0, 1.0), rates=0.3), (model.input_names[1],)
    controller = Controller(model.to_qp(8, *given), iterations=10)
    (ours, our_cost), (theirs, their_cost) = closed_loop(controller, CompiledController(controller, tmp_path))
    assert (their_cost <= 1.01 * our_cost + 1e-7).all()
    assert np.median(np.abs(theirs - ours)) < 2e-3


def made(folder, *options):
    return subprocess.run(["make", *options], cwd=folder, capture_output=True, text=True, check=False)


@every_form
@every_estimate
def test_the_folder_compiles_and_tests_itself_in_both_precisions(form, filtered, tmp_path):
    controller_of(form, filtered, FULL, Embedding(1, 1)).to_c(tmp_path, "tank 1")
    for options in ([], ["-B", f"CFLAGS={' '.join(SINGLE)}"]):
        done = made(tmp_path, *options)
        assert done.returncode == 0, done.stderr + done.stdout
        assert done.stdout.count(" ok\n") == 6
    subprocess.run(["cc", "-std=c99", "-c", "tank_1.c"], cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", "tank_1.o"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "malloc" not in symbols


@every_form
def test_a_single_output_compiles_without_warnings(form, tmp_path):
    """Compilers see more of loops that run once."""
    record = simulate_pendulum([160], 1, seed=4)
    data = Trajectories.from_arrays(record.states[0][:, :1], record.inputs[0], dt=0.1)
    model = pendulum_model(form, data=data)
    known = Calibration(noise=Noise(np.full(len(model.carried_names), 1e-4), np.full(1, 1e-4)))
    Controller(replace(model, calibration=known).to_qp(4, limits=PLAIN)).to_c(tmp_path)
    for options in ([], ["-B", "CFLAGS=-std=c99 -O3 -Wall -Wextra -Werror -pedantic"]):
        done = made(tmp_path, *options)
        assert done.returncode == 0, done.stderr + done.stdout


def test_the_test_program_fails_when_the_controller_is_another(tmp_path):
    controller_of("bilinear").to_c(tmp_path)
    text = (tmp_path / "controller.c").read_text()
    assert "#define GAIN ((real_t)0.2" in text
    (tmp_path / "controller.c").write_text(text.replace("#define GAIN ((real_t)0.2", "#define GAIN ((real_t)0.3"))
    done = made(tmp_path)
    assert done.returncode != 0
    assert "TOO LARGE" in done.stdout


@pytest.mark.parametrize("outputs, inputs", HOSTILE)
def test_columns_may_have_any_name(outputs, inputs, tmp_path):
    named = replace(simulate_pendulum([80], 2), signals=Signals(outputs, inputs, 0.1))
    model = pendulum_model("linear", data=named)
    Controller(model.to_qp(4, limits=PLAIN)).to_c(tmp_path, outputs[0][:40])
    assert made(tmp_path).returncode == 0


def test_other_forms_and_settings_are_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(KoopsieveError, match=r"linear or bilinear. Got a reprojected one"):
        Controller(pendulum_model("reprojected").to_qp(4)).to_c(tmp_path / "new")
    with pytest.raises(KoopsieveError, match="rounds"):
        controller_of("linear").to_c(tmp_path / "new", rounds=0)
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
@every_form
def test_it_runs_on_a_cortex_m4f(form, tmp_path):
    for program in ("arm-none-eabi-gcc", "arm-linux-gnueabihf-gcc", "qemu-arm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    controller_of(form, True, FULL).to_c(tmp_path)
    bare = ["arm-none-eabi-gcc", *SINGLE, "-mcpu=cortex-m4", *FPU, "-c", "controller.c", "-o", "controller.o"]
    subprocess.run(bare, cwd=tmp_path, check=True)
    symbols = subprocess.run(
        ["arm-none-eabi-nm", "controller.o"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert not any(one in symbols.stdout for one in ("__aeabi_dmul", "__aeabi_dadd", "malloc"))
    sources = ["controller_test.c", "controller.c", "controller_model.c"]
    compiler = ["arm-linux-gnueabihf-gcc", *SINGLE, "-mcpu=cortex-a7", *FPU, "-static"]
    subprocess.run([*compiler, "-o", "test", *sources, "-lm"], cwd=tmp_path, check=True)
    found = subprocess.run(["qemu-arm", tmp_path / "test"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
