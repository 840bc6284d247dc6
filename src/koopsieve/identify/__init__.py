"""Stage four: from statistics to a Koopman matrix and inclusion probabilities (the paper's methods I to IV)."""

from koopsieve.identify.estimate import Estimate, Identifier, Status

__all__ = ["Estimate", "Identifier", "Status"]
