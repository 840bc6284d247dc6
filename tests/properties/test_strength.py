"""The strength of an observable is the threshold up to which `reduce` retains it."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from koopsieve.sieve import strength
from koopsieve.sieve.algorithm_2 import reduce

PROBABILITIES = st.sampled_from([0.0, 0.01, 0.1, 0.3, 0.5, 0.9, 1.0])


@st.composite
def problems(draw):
    observables = draw(st.integers(1, 9))
    inputs = draw(st.integers(0, 2))
    inclusion = draw(hnp.arrays(float, (observables + inputs, observables), elements=PROBABILITIES))
    outputs = draw(st.sets(st.integers(0, observables - 1), min_size=1, max_size=3))
    return inclusion, sorted(outputs)


@given(problems(), st.one_of(PROBABILITIES.filter(lambda p: 0 < p < 1), st.floats(0.001, 0.999)))
def test_at_every_threshold_the_strong_ones_are_retained(problem, threshold):
    inclusion, outputs = problem
    kept = reduce(inclusion, outputs, threshold).retained
    np.testing.assert_array_equal(np.flatnonzero(strength(inclusion, outputs).value >= threshold), kept)


@given(problems())
def test_every_path_leads_to_an_output_and_is_as_strong_as_its_weakest_link(problem):
    inclusion, outputs = problem
    found = strength(inclusion, outputs)
    for observable, value in enumerate(found.value):
        path = found.path(observable)
        links = [inclusion[a, b] for a, b in pairwise(path)]
        if value > 0:
            assert path[-1] in outputs
            assert value == min([1.0, *links])
        else:
            assert path == (observable,)
