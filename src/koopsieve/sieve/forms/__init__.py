"""Stages three to six for each prediction form: compress, sieve, refit, choose, relearn."""

from koopsieve.sieve.forms.bilinear import BilinearSearch
from koopsieve.sieve.forms.linear import LinearSearch
from koopsieve.sieve.forms.reprojected import ReprojectedSearch
from koopsieve.sieve.forms.search import FormSearch, Outcome, Task, filled

__all__ = ["BilinearSearch", "FormSearch", "LinearSearch", "Outcome", "ReprojectedSearch", "Task", "filled"]
