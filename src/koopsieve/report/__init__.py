"""Pages that open anywhere without a network: the report of a run, and runs side by side."""

from koopsieve.report.comparison import render_comparison, write_comparison
from koopsieve.report.html import render_report, write_report

__all__ = ["render_comparison", "render_report", "write_comparison", "write_report"]
