"""Models for other programs: C, CasADi, do-mpc, quadratic programmes, state-space objects and files.

Functions here take anything that predicts like a model (see `protocols`); the models' methods call them.
"""
