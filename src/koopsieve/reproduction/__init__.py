"""The paper's results section as code: simulated systems, Monte Carlo runs, tables and figures (Section 5)."""

from koopsieve.reproduction.reproduce import reproduce

__all__ = ["reproduce"]
