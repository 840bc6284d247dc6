"""The systems of the paper's results section, simulated: functions from a seed to arrays of samples."""

from koopsieve.systems.driven_pendulum import pendulum
from koopsieve.systems.lorenz_attractor import lorenz
from koopsieve.systems.oscillators import duffing, random_drive, van_der_pol
from koopsieve.systems.predator_prey import lotka_volterra
from koopsieve.systems.rossler_attractor import rossler
from koopsieve.systems.surface_vehicle_model import (
    HERON,
    HERON_QUADRATIC,
    SurfaceVehicle,
    random_thrust,
    surface_vehicle,
)
from koopsieve.systems.wiener_hammerstein_circuit import CircuitRecord, wiener_hammerstein

__all__ = [
    "HERON",
    "HERON_QUADRATIC",
    "CircuitRecord",
    "SurfaceVehicle",
    "duffing",
    "lorenz",
    "lotka_volterra",
    "pendulum",
    "random_drive",
    "random_thrust",
    "rossler",
    "surface_vehicle",
    "van_der_pol",
    "wiener_hammerstein",
]
