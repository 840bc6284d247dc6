"""Linear algebra that the Bayesian methods share: standard units, stacks of small systems, Gaussian posteriors."""
