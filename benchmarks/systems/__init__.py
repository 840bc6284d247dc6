"""Simulated systems that only benchmarks use, beside those of `koopsieve.systems`."""

from .attractors import rossler
from .coupled_weather import lorenz96
from .driven_pendulum import pendulum
from .excitable import fitzhugh_nagumo, oregonator
from .noisy_double_well import double_well
from .planar_quadrotor_model import PlanarQuadrotor, planar_quadrotor
from .predator_prey import lotka_volterra
from .stirred_tank_reactor import stirred_tank

__all__ = [
    "PlanarQuadrotor",
    "double_well",
    "fitzhugh_nagumo",
    "lorenz96",
    "lotka_volterra",
    "oregonator",
    "pendulum",
    "planar_quadrotor",
    "rossler",
    "stirred_tank",
]
