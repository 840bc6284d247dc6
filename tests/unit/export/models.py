"""Models of a pendulum in every form and with every timing, for the tests of exports."""

from types import SimpleNamespace

import numpy as np

from koopsieve.data import Embedding
from koopsieve.data.delays import embedded
from koopsieve.dictionary import (
    Constant,
    Fourier,
    Inputs,
    Monomials,
    PeriodicSquaredExponential,
    RandomFourier,
    SquaredExponential,
    States,
    Terms,
)
from koopsieve.forms import BilinearModel, HiddenModel, LinearModel, ReprojectedModel
from koopsieve.forms.hidden.power_table import PowerTable
from tests.reference.pendulum import simulate_pendulum

NO_DELAYS = Embedding()
FORMS = ("linear", "bilinear", "reprojected", "hidden")
EMBEDDINGS = (NO_DELAYS, Embedding(2, 0), Embedding(1, 2), Embedding(0, 2, "k+1"), Embedding(inputs_at="k+1"))
PLAIN = States() + Constant() + Monomials(degree=2)
EVERY_BLOCK = (
    States()
    + Constant()
    + Monomials(degree=3)
    + SquaredExponential(4, coefficients=[0.1, 0.4], standardize=True)
    + PeriodicSquaredExponential(2, coefficients=[0.5], frequencies=[0.3])
    + Fourier([0.2])
    + RandomFourier(3)
    + States() * (SquaredExponential(2, label="q") * Fourier([0.1]))
    + Terms("abs(x1)*x2", "sqrt(x2 + 0.4)", "max(x1 - 0.3, x2, 0)", "sign(x2)*x1", "min(x1, 0.1)^3/(2 + x2^2)")
    + Terms("log(3 + x1^2)*tanh(x2)", "atan(x1) - x2^1.5", "sinh(x1)*cosh(x2)*exp(-tan(0.1*x1))", "x1^9")
)
DRIVEN_MONOMIALS = States() + Constant() + Monomials(degree=3, of="states and inputs")
EVERY_DRIVE = (
    Inputs()
    + RandomFourier(2, of="states and inputs", label="w")
    + SquaredExponential(3, of="states and inputs", label="d")
    + PeriodicSquaredExponential(2, of="states and inputs", label="e")
    + Fourier([0.3], of="states and inputs")
    + Inputs() * RandomFourier(2, label="v")
    + Inputs() * (Inputs() * SquaredExponential(2, label="s"))
)

HOSTILE = (
    (("y */ #error", "`no` \u202ebreak\u00a0here"), ("//", "%d%n")),
    (("日本", "Δ"), ("é", "è")),
    (("int", "Makefile"), ("main", "model_test")),
    (("x" * 300, "x" * 299 + "y"), ("??/", "\\")),
    (("%{", "end"), ("'; error(1); '", "...")),
    (("$x_1^2$", "\\input{/etc/passwd}"), ("<script>", '"')),
)


def names_of(embedding):
    return "-".join(map(str, embedding.to_dict().values()))


def pendulum_model(form, embedding=NO_DELAYS, recipe=PLAIN, inputs=2, data=None):
    """A dictionary fitted to a pendulum, with random coefficients small enough for long runs to stay bounded."""
    data = embedded(simulate_pendulum([160, 90], inputs, seed=4) if data is None else data, embedding)
    if form == "reprojected" and inputs:
        recipe = recipe + (EVERY_DRIVE if recipe is EVERY_BLOCK else Inputs())
    phi = recipe.fit(data)
    if form == "hidden":
        return hidden_model(phi, inputs)
    seen = phi.bilinear() if form == "bilinear" else phi
    rng = np.random.default_rng(7)
    points = np.concatenate(list(data.acted_blocks()))
    scale = np.abs(seen.evaluate(points)).max(axis=0)
    coef = 0.5 * rng.normal(size=(len(scale), phi.size)) / scale[:, None] / np.sqrt(len(scale))
    if form == "reprojected":
        region = np.stack([points.min(axis=0), points.max(axis=0)])
        return ReprojectedModel(coef[:, list(phi.outputs)], phi, region)
    estimate = SimpleNamespace(coef=coef, noise_precision=np.ones(phi.size), regressors=seen.regressors)
    kind = BilinearModel if form == "bilinear" else LinearModel
    return kind.from_estimate(estimate, phi)


def hidden_model(phi, inputs, states=3):
    """Hidden states with random coefficients, a third of them zero."""
    rng = np.random.default_rng(7)
    powers = PowerTable.up_to(3, states, inputs).powers.astype(float)
    outputs = len(phi.signals.outputs)
    coef = 4 * rng.normal(size=(states + outputs, len(powers))) / len(powers)
    return HiddenModel(
        coef=np.where(rng.random(coef.shape) < 0.33, 0.0, coef),
        powers=powers,
        encoder=0.2 * rng.normal(size=(states, 1 + len(phi.signals.state_names))),
        center=0.1 * rng.normal(size=inputs),
        scale=0.5 + rng.random(inputs),
        limits=np.outer([-1.0, 1.0], 2 + rng.random(states + outputs)),
        dictionary=phi,
    )
