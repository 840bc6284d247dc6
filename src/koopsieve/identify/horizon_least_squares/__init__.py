"""A refit for several horizons: white coordinates, the loss over the horizons and its gradient, the method."""

from koopsieve.identify.horizon_least_squares.horizon_least_squares import HorizonLeastSquares

__all__ = ["HorizonLeastSquares"]
