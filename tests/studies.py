"""Studies of the paper on shorter records, for tests."""

from dataclasses import replace


def shortened(study, *, train_seconds, test_seconds):
    """Return the study on shorter records."""
    return replace(study, data={**study.data, "train_seconds": train_seconds, "test_seconds": test_seconds})
