"""Sift a Koopman dictionary: keep what drives the outputs, refit a small well-conditioned predictor."""

__version__ = "0.1.0"
