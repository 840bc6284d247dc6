"""The ways out of Python that every form has; the work is done in `koopsieve.export`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from koopsieve.export.c import to_c
from koopsieve.export.fmu import to_fmu
from koopsieve.export.mpc import ControlProblem, Limits, Weights
from koopsieve.export.protocols import Predictor
from koopsieve.export.state_space import to_mat
from koopsieve.export.symbolic import CasadiModel, to_casadi, to_do_mpc


class Exportable:
    """What a model can become: C, CasADi, do-mpc, quadratic programmes, an FMU, a MATLAB file."""

    def to_c(self: Predictor, folder: str | os.PathLike[str], name: str = "model") -> tuple[Path, ...]:
        """Write the model as C99: a header, a source file, a program with test vectors and a Makefile.

        The code needs nothing but a compiler, and allocates nothing. The header says how to use it; `make` in the
        folder compiles it and compares it with what Python computes.

        Parameters
        ----------
        folder : path
            Made if it is not there.
        name : str
            Of the files, and what the names of functions begin with.

        Returns
        -------
        tuple of Path
            The files.

        Raises
        ------
        KoopsieveError
            If the dictionary holds a user's own code (the message says which block), or the folder cannot be written
            to; then no file is changed.
        """
        return to_c(self, folder, name)

    def to_casadi(self: Predictor) -> CasadiModel:
        """Return the model as CasADi functions `lift`, `start`, `step` and `read`, with exact derivatives.

        Raises
        ------
        KoopsieveError
            If CasADi is not installed, or the dictionary holds a user's own code; the message says which block.
        """
        return to_casadi(self)

    def to_do_mpc(self: Predictor, setup: bool = True) -> Any:
        """Return the model as a discrete `do_mpc.model.Model`.

        Its state is `carried`, what the model carries from step to step (`to_casadi().start` makes it of a state); its
        inputs and outputs (as expressions) have the model's names, made fit for Python.

        Parameters
        ----------
        setup : bool
            False leaves out the last call, `setup()`, so that variables can be added: a reference that changes in time,
            for example.

        Raises
        ------
        KoopsieveError
            If do-mpc is not installed, or the dictionary holds a user's own code; the message says which block.
        """
        return to_do_mpc(self, setup)

    def to_qp(
        self: Predictor, horizon: int, weights: Weights | None = None, limits: Limits | None = None
    ) -> ControlProblem:
        """Return the quadratic programmes of model predictive control, in OSQP's form.

        In the linear form the programme is condensed and built once: per step only vectors change. In the other forms
        it is built around the inputs planned last. `Controller` solves them in closed loop.

        Parameters
        ----------
        horizon : int
            Steps to look ahead.
        weights : Weights, optional
            Of tracking, of changes of the inputs, and of the inputs.
        limits : Limits, optional
            Of inputs and their changes, which are kept, and of outputs, which may be exceeded at a price.

        Raises
        ------
        KoopsieveError
            If the model has no inputs, or weights and limits do not fit its signals.
        """
        return ControlProblem(self, horizon, weights or Weights(), limits or Limits())

    def to_fmu(self: Predictor, path: str | os.PathLike[str]) -> Path:
        """Write the model as a functional mock-up unit: FMI 2.0 for co-simulation, compiled for this machine.

        Inputs and outputs have the model's names; the parameters "… at the start" set the outputs before the first
        step. Communication steps must be whole numbers of the sample time. The input that is set before a step acts in
        it; with `inputs_at` "k+1" that is the input sampled at the end of the step.

        Raises
        ------
        KoopsieveError
            If FMPy is not installed, there is no C compiler, or the dictionary holds a user's own code.
        """
        return to_fmu(self, path)

    def to_mat(self: Predictor, path: str | os.PathLike[str]) -> None:
        """Write the matrices (A, B, C and N, or coef, region and bounds), names, sample time and delays for MATLAB.

        Raises
        ------
        KoopsieveError
            If a matrix is not finite, or the file cannot be written.
        """
        to_mat(path, self)
