"""Simulated systems: those of the paper's results section, oscillators, a bench record, and plants to control."""

from koopsieve.systems.closed_loop import ClosedLoopRun, ControlTask, follow
from koopsieve.systems.differential_equations import (
    BENCH_SAMPLE_TIME,
    CircuitRecord,
    bench_record,
    duffing,
    lorenz,
    random_drive,
    van_der_pol,
    wiener_hammerstein,
)
from koopsieve.systems.plants import (
    HERON,
    HERON_QUADRATIC,
    SurfaceVehicle,
    random_thrust,
    reactor_task,
    surface_vehicle,
    tanks_task,
    two_tanks,
    vehicle_task,
)

__all__ = [
    "BENCH_SAMPLE_TIME",
    "HERON",
    "HERON_QUADRATIC",
    "CircuitRecord",
    "ClosedLoopRun",
    "ControlTask",
    "SurfaceVehicle",
    "bench_record",
    "duffing",
    "follow",
    "lorenz",
    "random_drive",
    "random_thrust",
    "reactor_task",
    "surface_vehicle",
    "tanks_task",
    "two_tanks",
    "van_der_pol",
    "vehicle_task",
    "wiener_hammerstein",
]
