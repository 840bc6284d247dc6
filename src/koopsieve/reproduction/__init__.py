"""The paper's results section as code: method comparison, simulated systems, Monte Carlo runs, tables (Section 5)."""

from koopsieve.reproduction.method_comparison import MethodComparison, compare_methods, paper_methods
from koopsieve.reproduction.reproduce import reproduce

__all__ = ["MethodComparison", "compare_methods", "paper_methods", "reproduce"]
