"""The C header: sizes, names and the functions, with what each takes and gives."""

from __future__ import annotations

from dataclasses import dataclass

from koopsieve.data import Signals
from koopsieve.export.c.literals import comment, identifiers, number, string
from koopsieve.forms import Model


@dataclass(frozen=True)
class Sizes:
    """Numbers of outputs, inputs, state columns, observables, and of what is carried from step to step."""

    outputs: int
    inputs: int
    states: int
    observables: int
    carried: int

    @classmethod
    def of(cls, model: Model) -> Sizes:
        """Count."""
        signals = model.signals
        states, carried = len(signals.state_names), len(model.carried_names)
        return cls(len(signals.outputs), len(signals.inputs), states, model.dictionary.size, carried)


def header(model: Model, sizes: Sizes, name: str, filtered: bool = False) -> str:
    """Return the header file."""
    guard, signals = name.upper(), model.signals
    return f"""/* A {model.form} model of {comment(", ".join(signals.outputs))}, written by koopsieve.
 *
 * C99 without dependencies and without allocation. All arrays are the caller's, rows one after the other; no array
 * may overlap another one in the same call. "carried" is what the model carries from step to step: {_carried(model)}.
 * {_timing(signals)}
 */
#ifndef {guard}_H
#define {guard}_H

/* Numbers are double, or float where KOOPSIEVE_FLOAT32 is defined: for processors that compute in single precision. */
#ifndef KOOPSIEVE_REAL_T
#define KOOPSIEVE_REAL_T
#ifdef KOOPSIEVE_FLOAT32
typedef float real_t;
#else
typedef double real_t;
#endif
#endif

#ifdef __cplusplus
extern "C" {{
#endif

#define {guard}_OUTPUTS {sizes.outputs}
#define {guard}_INPUTS {sizes.inputs}
#define {guard}_STATES {sizes.states} /* outputs and their delayed copies, then delayed inputs */
#define {guard}_OBSERVABLES {sizes.observables}
#define {guard}_CARRIED {sizes.carried}
#define {guard}_HISTORY {signals.embedding.history} /* rows of measured outputs that a prediction starts from */
#define {guard}_SAMPLE_TIME {number(signals.dt)}

{places(guard, "OUTPUT", signals.outputs)}{places(guard, "INPUT", signals.inputs)}
{_declarations(name, guard, sizes, signals)}{_start_slopes(name) if filtered else ""}
#ifdef __cplusplus
}}
#endif

#endif
"""


def names_source(signals: Signals, name: str) -> str:
    """Return the definitions of the names' tables, in the source file."""
    tables = [f"\nconst char *const {name}_output_names[] = {{{_strings(signals.outputs)}}};\n"]
    if signals.inputs:
        tables.append(f"const char *const {name}_input_names[] = {{{_strings(signals.inputs)}}};\n")
    return "".join(tables)


def _strings(names: tuple[str, ...]) -> str:
    return ", ".join(map(string, names))


def _carried(model: Model) -> str:
    return "the observables" if model.carries_observables else "the state itself"


def _timing(signals: Signals) -> str:
    if not signals.inputs:
        return "The model has no inputs; pass any pointer, it is not used."
    if signals.embedding.input_lead:
        return "The input of a step from k to k+1 is the one sampled at k+1."
    return "The input of a step from k to k+1 is the one that is held from k on."


def places(guard: str, kind: str, names: tuple[str, ...]) -> str:
    """Return definitions of where signals stand among others of their kind."""
    plain = identifiers(names)
    return "".join(
        f"#define {guard}_{kind}_{short.upper()} {i} /* {comment(full)} */\n"
        for i, (short, full) in enumerate(zip(plain, names, strict=True))
    )


def _start_slopes(name: str) -> str:
    return f"""
/* The derivatives of what is carried by the state it begins from: slopes (CARRIED x STATES). */
void {name}_start_slopes(const real_t *state, real_t *slopes);
"""


def _declarations(name: str, guard: str, sizes: Sizes, signals: Signals) -> str:
    rows = signals.embedding.history - 1 + signals.embedding.input_lead
    inputs = f"extern const char *const {name}_input_names[];\n" if sizes.inputs else ""
    return f"""extern const char *const {name}_output_names[];
{inputs}
/* Evaluate the observables (OBSERVABLES) of a state (STATES). */
void {name}_lift(const real_t *state, real_t *observables);

/* Make the state (STATES) of HISTORY rows of measured outputs, the newest last, and of the inputs ({rows} rows) from
 * the oldest of these rows on; inputs are used only where the state holds past inputs. */
void {name}_state(const real_t *outputs, const real_t *inputs, real_t *state);

/* Move the state on by one sample: the new outputs, and the input of the step that led to them. */
void {name}_shift(real_t *state, const real_t *output, const real_t *input);

/* Begin a prediction: what is carried (CARRIED), from a state. */
void {name}_start(const real_t *state, real_t *carried);

/* Go one step: what is carried next, under the input of this step (INPUTS). */
void {name}_step(const real_t *carried, const real_t *input, real_t *next);

/* Read the outputs (OUTPUTS) in what is carried. */
void {name}_read(const real_t *carried, real_t *output);

/* Describe one step around a point: next = a * carried + b * input + offset, a (CARRIED x CARRIED),
 * b (CARRIED x INPUTS). */
void {name}_linearise(const real_t *carried, const real_t *input, real_t *a, real_t *b, real_t *offset);

/* Run freely along a record: the first HISTORY rows of outputs as measured, a row of inputs per sample; gives the
 * samples - HISTORY rows of outputs that follow. */
void {name}_simulate(const real_t *outputs, const real_t *inputs, int samples, real_t *simulated);
"""
