"""Variants of the studies: each changes one choice on which the paper is silent, or one of ours."""

from __future__ import annotations

from dataclasses import asdict, fields, replace

from koopsieve.experiments.settings import (
    CircuitStudy,
    KernelSettings,
    MethodSettings,
    NoiseStudy,
    PriorSettings,
    circuit_study,
    noise_study,
)
from koopsieve.identify import SpikeSlabPrior


def noise_variants(system: str) -> dict[str, NoiseStudy]:
    """Return the study as it is, then with other kernels, excitation, priors, pseudo-inverse and updates."""
    study = noise_study(system, quick=True)
    widths = (3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3) if system == "lorenz" else (0.01, 0.03, 0.1, 0.3, 1.0)
    centers = study.kernels[0].centers
    found = {"as reported": study}
    for width in widths:
        found[f"kernel coefficient {width:g}"] = replace(study, kernels=(KernelSettings(centers, (width,)),))
    mixed = (widths[0], widths[1], widths[2], widths[3]) if centers % 4 == 0 else (widths[0], widths[2])
    kernels = (KernelSettings(centers // len(mixed), mixed),)
    found[f"coefficients {', '.join(f'{c:g}' for c in mixed)}"] = replace(study, kernels=kernels)
    for hold in (3, 30) if "hold" in study.data else ():
        found[f"thrust held {hold} samples"] = replace(study, data={**study.data, "hold": hold})
    found["predictions start from true states"] = replace(study, data={**study.data, "noisy_test": False})
    for name, methods in _method_variants(study.methods).items():
        found[name] = replace(study, methods=methods)
    for relaxation in (0.02, 0.1, 0.3):
        published = noise_study(system, quick=True, as_published=True)
        methods = replace(published.methods, relaxation=relaxation)
        found[f"published updates, damping {relaxation:g}"] = replace(published, methods=methods)
    return found


def circuit_variants() -> dict[str, CircuitStudy]:
    """Return the study as it is, then with other records, kernels, priors and updates."""
    study = circuit_study()
    found = {"as reported": study}
    for train in ("fade", "sweep", "all"):
        found[f"trained on {train}"] = replace(study, data={**study.data, "train": train})
    narrow = replace(study.kernels[0], coefficients=(1e-3, 0.1, 10.0))
    slow = replace(study.kernels[1], frequencies=(1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0))
    found["kernels ten times wider"] = replace(study, kernels=(narrow, slow))
    for name, methods in _method_variants(study.methods).items():
        found[name] = replace(study, methods=methods)
    for relaxation in (0.02, 0.1, 0.3):
        published = circuit_study(as_published=True)
        methods = replace(published.methods, relaxation=relaxation)
        found[f"published updates, damping {relaxation:g}"] = replace(published, methods=methods)
    return found


def _method_variants(methods: MethodSettings) -> dict[str, MethodSettings]:
    prior, cutoff = methods.prior, methods.pseudo_inverse_cutoff
    found = {
        f"I cut off at 1e-12 instead of {cutoff:g}": replace(methods, pseudo_inverse_cutoff=1e-12),
        f"b = 1e-8 instead of {prior.b:g}": replace(methods, prior=replace(prior, b=1e-8)),
        "the library's default prior": replace(methods, prior=_shipped()),
    }
    for worth in (0.0, 0.01, 0.03, 0.1):
        if worth != prior.worth:
            found[f"worth = {worth:g} instead of {prior.worth:g}"] = replace(methods, prior=replace(prior, worth=worth))
    return found


def _shipped() -> PriorSettings:
    every = asdict(SpikeSlabPrior())
    return PriorSettings(**{field.name: every[field.name] for field in fields(PriorSettings)})
