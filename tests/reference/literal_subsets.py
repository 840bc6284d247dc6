"""Subset selection by refitting every candidate from the rows themselves: slow, with no linear algebra of its own."""

import numpy as np


def squared_error(design, target, kept):
    kept = sorted(kept)
    if not kept:
        return float(target @ target)
    weights = np.linalg.lstsq(design[:, kept], target, rcond=None)[0]
    return float(np.sum((target - design[:, kept] @ weights) ** 2))


def backward(design, target, kept, size):
    """Take out, again and again, the column whose loss raises the squared error least."""
    kept = set(kept)
    while len(kept) > size:
        kept.remove(min(sorted(kept), key=lambda i: squared_error(design, target, kept - {i})))
    return kept


def forward(design, target, kept, size):
    """Put in, again and again, the column that lowers the squared error most."""
    kept = set(kept)
    while len(kept) < size:
        rest = sorted(set(range(design.shape[1])) - kept)
        kept.add(min(rest, key=lambda i: squared_error(design, target, kept | {i})))
    return kept
