"""Models for other programs: equations, C, CasADi, do-mpc, MATLAB, FMI, and state-space objects.

Functions here take a `Model` in any form and ask it for its maps (`start_map`, `step_map`, `read_map`). The models'
methods call them, and import them only then.
"""
