"""From many dictionaries to one: a family of ever smaller ones, each refitted, and judged on validation windows."""

from koopsieve.path.choice import choose
from koopsieve.path.family import Candidate, GraphCandidate, GraphSieve, Sieve
from koopsieve.path.points import PathPoint, SievePath
from koopsieve.path.sieve_path import sieve_path
from koopsieve.path.validation import WindowErrors, window_errors

__all__ = [
    "Candidate",
    "GraphCandidate",
    "GraphSieve",
    "PathPoint",
    "Sieve",
    "SievePath",
    "WindowErrors",
    "choose",
    "sieve_path",
    "window_errors",
]
