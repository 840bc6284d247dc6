"""The paper's methods by name, and the dictionary of an experiment, both from settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from koopsieve.dictionary import Block, PeriodicSquaredExponential, SquaredExponential, States
from koopsieve.experiments.settings import KernelSettings, MethodSettings
from koopsieve.identify import STLSQ, Identifier, LeastSquares, SparseBayes, SpikeSlab, SpikeSlabPrior

SIEVE = "IV"
FLAT_SIEVE = "IV*"


def identifiers(methods: MethodSettings) -> dict[str, Identifier]:
    """Return the methods I to IV."""
    return {
        "I": LeastSquares(relative_cutoff=methods.pseudo_inverse_cutoff),
        "II": STLSQ(threshold=methods.stlsq_threshold),
        "III": SparseBayes(),
        SIEVE: spike_slab(methods),
    }


def spike_slab(methods: MethodSettings, *, flat: bool = False) -> Identifier:
    """Return method IV, by default or with the paper's own updates; `flat` is the paper's IV* (e = f = 1)."""
    prior = SpikeSlabPrior(**asdict(methods.prior))
    prior = prior.flat() if flat else prior
    if methods.as_published:
        return SpikeSlab.published(prior, relaxation=methods.relaxation, max_sweeps=methods.max_sweeps)
    return SpikeSlab(prior=prior)


def observables(kernels: Sequence[KernelSettings]) -> Block:
    """Return the states and the blocks of kernels, with different letters for their centres."""
    total: Block = States()
    for kernel, letter in zip(kernels, "zpqrs", strict=False):
        total = total + _block(kernel, letter)
    return total


def _block(kernel: KernelSettings, letter: str) -> Block:
    if kernel.frequencies:
        return PeriodicSquaredExponential(kernel.centers, kernel.coefficients, kernel.frequencies, label=letter)
    return SquaredExponential(kernel.centers, kernel.coefficients, label=letter)
