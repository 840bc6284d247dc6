"""The paper's results section as code: simulated systems, Monte Carlo runs, tables and figures (Section 5)."""
