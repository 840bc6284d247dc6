"""Simulated systems: those of the paper's results section, oscillators, and plants to control."""

from koopsieve.systems.attractors import lorenz, rossler
from koopsieve.systems.closed_loop import ControlTask, Run, follow
from koopsieve.systems.control_tasks import control_tasks, reactor_task, tanks_task, vehicle_task
from koopsieve.systems.coupled_weather import lorenz96
from koopsieve.systems.driven_pendulum import pendulum
from koopsieve.systems.excitable import fitzhugh_nagumo, oregonator
from koopsieve.systems.noisy_double_well import double_well
from koopsieve.systems.oscillators import duffing, random_drive, van_der_pol
from koopsieve.systems.planar_quadrotor_model import PlanarQuadrotor, planar_quadrotor
from koopsieve.systems.predator_prey import lotka_volterra
from koopsieve.systems.stirred_tank_reactor import StirredTank, stirred_tank
from koopsieve.systems.surface_vehicle_model import (
    HERON,
    HERON_QUADRATIC,
    SurfaceVehicle,
    random_thrust,
    surface_vehicle,
)
from koopsieve.systems.two_tank_levels import TwoTanks, two_tanks
from koopsieve.systems.wiener_hammerstein_circuit import CircuitRecord, wiener_hammerstein

__all__ = [
    "HERON",
    "HERON_QUADRATIC",
    "CircuitRecord",
    "ControlTask",
    "PlanarQuadrotor",
    "Run",
    "StirredTank",
    "SurfaceVehicle",
    "TwoTanks",
    "control_tasks",
    "double_well",
    "duffing",
    "fitzhugh_nagumo",
    "follow",
    "lorenz",
    "lorenz96",
    "lotka_volterra",
    "oregonator",
    "pendulum",
    "planar_quadrotor",
    "random_drive",
    "random_thrust",
    "reactor_task",
    "rossler",
    "stirred_tank",
    "surface_vehicle",
    "tanks_task",
    "two_tanks",
    "van_der_pol",
    "vehicle_task",
    "wiener_hammerstein",
]
