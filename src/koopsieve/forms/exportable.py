"""The ways out of Python that every form has, and model files: one archive for every form, with the dictionary inside.

The work of other ways out is done in `koopsieve.export`, imported when it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from koopsieve._archive import Arrays, read_archive, write_archive
from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.dictionary import Dictionary
from koopsieve.uncertainty.calibrate import Calibration

if TYPE_CHECKING:
    from koopsieve.control import ControlProblem, Limits, Weights
    from koopsieve.export.casadi import CasadiModel
    from koopsieve.export.toolboxes import Equations
    from koopsieve.forms.model import Model

KIND = "koopsieve model"
VERSION = 3
_PREFIX, _CALIBRATION = "dictionary.", "calibration."


class Exportable:
    """What a model can become: equations, C, CasADi, do-mpc, quadratic programmes, an FMU, MATLAB files."""

    @property
    def _model(self) -> Model:
        return cast("Model", self)  # nothing else is exportable

    def to_sympy(self) -> Equations:
        """Return the equations of one step in SymPy, with every digit: `start`, `step` and `read`.

        Raises
        ------
        KoopsieveError
            If the dictionary holds a user's own code; the message says which block.
        """
        from koopsieve.export.toolboxes import to_sympy

        return to_sympy(self._model)

    def equations(self) -> str:
        """Return the equations of one step as text, numbers in three digits; `print(model)` shows them cut short.

        Observables that are no samples of a signal are called φ with their number; below stands what they are. Delayed
        copies go without saying.
        """
        from koopsieve.export.formulas import equations

        return equations(self._model)

    def __str__(self) -> str:
        from koopsieve.export.formulas import equations

        return equations(self._model, short=True)

    def _repr_latex_(self) -> str:
        from koopsieve.export.formulas import equations_in_latex

        return equations_in_latex(self._model)

    def to_c(self, folder: str | os.PathLike[str], name: str = "model") -> tuple[Path, ...]:
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
        from koopsieve.export.c import to_c

        return to_c(self._model, folder, name)

    def to_casadi(self) -> CasadiModel:
        """Return the model as CasADi functions `lift`, `start`, `step` and `read`, with exact derivatives.

        Raises
        ------
        KoopsieveError
            If CasADi is not installed, or the dictionary holds a user's own code; the message says which block.
        """
        from koopsieve.export.casadi import to_casadi

        return to_casadi(self._model)

    def to_do_mpc(self, setup: bool = True) -> Any:
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
        from koopsieve.export.casadi import to_do_mpc

        return to_do_mpc(self._model, setup)

    def to_qp(
        self,
        horizon: int,
        weights: Weights | None = None,
        limits: Limits | None = None,
        measured_inputs: tuple[str, ...] = (),
    ) -> ControlProblem:
        """Return the quadratic programmes of model predictive control, in OSQP's form.

        In the linear form the programme is condensed and built once: per step only vectors change. In the other forms
        it is built around the inputs planned last. `Controller` solves them in closed loop.

        Parameters
        ----------
        horizon : int
            Number of steps.
        weights : Weights, optional
            Of tracking, of changes of the inputs, and of the inputs.
        limits : Limits, optional
            Of inputs and their changes, which are kept, and of outputs, which may be exceeded at a price.
        measured_inputs : tuple of str
            Inputs that are measured and not moved, such as the temperature outside.

        Raises
        ------
        KoopsieveError
            If the model has no inputs, or weights and limits do not fit its signals.
        """
        from koopsieve.control import ControlProblem, Limits, Weights

        return ControlProblem(self._model, horizon, weights or Weights(), limits or Limits(), measured_inputs)

    def to_fmu(self, path: str | os.PathLike[str]) -> Path:
        """Write the model as a functional mock-up unit: FMI 2.0 for co-simulation, compiled for this machine.

        Inputs and outputs have the model's names; the parameters "… at the start" set the outputs before the first
        step. Communication steps must be whole numbers of the sample time. The input that is set before a step acts in
        it; with `inputs_at` "k+1" that is the input sampled at the end of the step.

        Raises
        ------
        KoopsieveError
            If FMPy is not installed, there is no C compiler, or the dictionary holds a user's own code.
        """
        from koopsieve.export.fmu import to_fmu

        return to_fmu(self._model, path)

    def to_m(self, path: str | os.PathLike[str]) -> Path:
        """Write the model as one .m file: a function for MATLAB and Octave that begins and steps a prediction.

        Its help says how it is called. It needs no toolbox and no other file.

        Parameters
        ----------
        path : path
            Called like a function, such as model.m.

        Raises
        ------
        KoopsieveError
            If the dictionary holds a user's own code, the name cannot be that of a function, or it cannot be written.
        """
        from koopsieve.export.toolboxes import to_m

        return to_m(self._model, path)

    def to_function(self) -> Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """Return one step as a plain function of arrays: (carried, inputs) to what is carried next, and the outputs.

        `model.start(states)` gives what is carried at the beginning. For simulators and optimisers of your own.
        """
        model = self._model

        def step(carried: FloatArray, inputs: FloatArray) -> tuple[FloatArray, FloatArray]:
            following = model.advance(np.atleast_2d(carried), np.atleast_2d(inputs))[0]
            return following, model.read(following[None])[0]

        return step

    def to_scipy(self) -> Any:
        """Return a linear model as `scipy.signal.dlti`; its state is the lifted state.

        Raises
        ------
        KoopsieveError
            In the other forms, which SciPy has no object for.
        """
        from koopsieve.export.toolboxes import to_scipy

        return to_scipy(self._model)

    def to_control(self) -> Any:
        """Return the model for python-control, with all names (dots become middle dots).

        In the linear form that is a `control.StateSpace`, in the others a `control.NonlinearIOSystem` (`nlsys`). Their
        state is what the model carries.

        Raises
        ------
        KoopsieveError
            If python-control is not installed.
        """
        from koopsieve.export.toolboxes import to_control

        return to_control(self._model)

    def to_mat(self, path: str | os.PathLike[str]) -> None:
        """Write the matrices (A, B, C and N, or coef, region and bounds), names, sample time and delays for MATLAB.

        Raises
        ------
        KoopsieveError
            If a matrix is not finite, or the file cannot be written.
        """
        from koopsieve.export.toolboxes import to_mat

        to_mat(path, self._model)


def write_model(path: str | os.PathLike[str], model: Model) -> None:
    """Write the file, whole or not at all."""
    config, arrays = model.dictionary.to_parts()
    named: Arrays = {**model.arrays(), **{_PREFIX + name: values for name, values in arrays.items()}}
    header: dict[str, Any] = {"form": model.form, "dictionary": config, "calibration": None}
    if model.calibration is not None:
        header["calibration"], found = model.calibration.to_parts()
        named |= {_CALIBRATION + name: values for name, values in found.items()}
    write_archive(path, KIND, VERSION, header, named)


def read_model(path: str | os.PathLike[str], functions_from: Sequence[str] = ()) -> Model:
    """Read a model in whichever form it is; see `Model.load`."""
    return read_archive(path, KIND, VERSION, lambda header, arrays: _build(header, arrays, functions_from))


def _build(header: dict[str, Any], arrays: Arrays, functions_from: Sequence[str]) -> Model:
    from koopsieve.forms import FORMS

    if header["form"] not in FORMS:
        raise KoopsieveError(f"Its form is {header['form']!r}. Expected one of {', '.join(FORMS)}.")
    parts, found = (
        {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}
        for prefix in (_PREFIX, _CALIBRATION)
    )
    own = {name: values for name, values in arrays.items() if not name.startswith((_PREFIX, _CALIBRATION))}
    for name, values in own.items():
        if values.dtype != np.float64:
            raise KoopsieveError(f"Its array {name} should hold 64-bit floats, got {values.dtype}.")
        if not np.isfinite(values).all():
            raise KoopsieveError(f"Its array {name} holds numbers that are not finite.")
    build: Any = FORMS[header["form"]].model
    known = None if header["calibration"] is None else Calibration.from_parts(header["calibration"], found)
    dictionary = Dictionary.from_parts(header["dictionary"], parts, functions_from)
    if known is not None:
        known.check(dictionary)
    model: Model = build(dictionary=dictionary, calibration=known, **own)
    return model
