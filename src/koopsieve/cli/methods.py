"""The paper's four methods under the names that users read."""

from __future__ import annotations

from koopsieve.identify import STLSQ, Identifier, LeastSquares, SparseBayes, SpikeSlab

METHODS: dict[str, Identifier] = {
    "least-squares": LeastSquares(),
    "thresholded-least-squares": STLSQ(),
    "sparse-bayes": SparseBayes(),
    "spike-and-slab": SpikeSlab(),
}


def shown(name: str) -> str:
    """Return a method's name as it stands in tables."""
    return name.replace("-", " ")
