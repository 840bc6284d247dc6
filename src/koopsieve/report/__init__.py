"""The report: one HTML file that shows what was kept and why, and opens anywhere without a network."""

from koopsieve.report.page import render_report, write_report

__all__ = ["render_report", "write_report"]
