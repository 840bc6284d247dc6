"""From many dictionaries to one: a family of ever smaller ones, each refitted, and judged on validation windows."""

from koopsieve.path.family import Candidate, GraphCandidate, GraphSieve, Sieve
from koopsieve.path.sieve_path import PathPoint, SievePath, sieve_path
from koopsieve.path.validation import WindowErrors, window_errors

__all__ = [
    "Candidate",
    "GraphCandidate",
    "GraphSieve",
    "PathPoint",
    "Sieve",
    "SievePath",
    "WindowErrors",
    "sieve_path",
    "window_errors",
]
