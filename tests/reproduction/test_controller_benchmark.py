"""What docs/control.md says of closed loops, on two plants of `benchmarks/controller.py`: slow."""

import pytest

from koopsieve import sift
from koopsieve.systems.control_tasks import reactor_task, vehicle_task

SEEDS = 5  # as in the docs


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::koopsieve.KoopsieveWarning")
@pytest.mark.parametrize("task", [vehicle_task(), reactor_task()], ids=lambda task: task.name)
def test_sifted_models_control_nearly_as_well_as_the_plants_own_equations(task):
    pytest.importorskip("casadi")
    from benchmarks.controller import GAIN, bound, controller, measure, measured, sifted

    result = sifted(task, measured(task, 4000, seed=1), "bilinear")
    limit = bound(task, SEEDS)
    same = {"gain": GAIN}  # the bound's way to estimate the disturbance
    lifted = measure("sifted", task, lambda: controller(task, result.model, **same), 0, SEEDS)
    plain = measure("linear", task, lambda: controller(task, result.baselines["linear"].model, **same), 0, SEEDS)
    assert lifted.error < 1.1 * limit.error
    assert plain.error > 1.5 * lifted.error


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::koopsieve.KoopsieveWarning")
def test_a_levitated_ball_stays_up_with_the_default_model_and_controller():
    from benchmarks.controller import controller, measure, measured
    from benchmarks.systems.control_plants import levitation_task

    task = levitation_task()
    result = sift(measured(task, 4000, seed=1))
    assert result.unstable
    assert result.model.signals.embedding.inputs_at == "k"
    held = measure("sifted", task, lambda: controller(task, result.model), 0, SEEDS)
    plain = measure("linear", task, lambda: controller(task, result.baselines["linear"].model), 0, SEEDS)
    assert max(run.states[:, 0].max() for run in held.runs) < 15.0  # mm; the floor is at 20
    assert held.mean("cost") < 1.05 * plain.mean("cost")
