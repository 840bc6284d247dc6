"""The table of known sets against plain dictionaries."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from koopsieve.identify.spike_slab.known_sets import KnownSets, key_of

rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 15), st.floats(-20, 20)), max_size=30)


def arrays(found):
    target, code = (np.array([row[i] for row in found], dtype=np.intp) for i in range(2))
    return target, code, np.array([row[2] for row in found], dtype=float)


def first():
    """One set per target, of which the second is expanded."""
    start = KnownSets.of(np.arange(3), np.array([1, 2, 3]), np.array([0.0, 1.0, -2.0]), 3)
    return start.with_solved(np.array([1]), np.array([1.5]), expanded=True)


def as_dict(known):
    return {(int(t), int(c)): float(v) for t, c, v in zip(known.target, known.code, known.value, strict=True)}


@given(rows)
def test_of_equal_sets_the_expanded_stays_or_the_largest_value(found):
    target, code, value = arrays(found)
    known = first().with_sets(key_of(target, code), value)
    expected = {(0, 1): 0.0, (1, 2): 1.5, (2, 3): -2.0}
    for t, c, v in found:
        if (t, c) != (1, 2):
            expected[t, c] = max(v, expected.get((t, c), -np.inf))
    assert as_dict(known) == expected
    assert np.all(np.diff(known.key) > 0)
    assert known.expanded.sum() == 1


@given(rows, st.floats(0.5, 10))
def test_far_sets_are_left_out_unless_they_were_expanded(found, nats):
    target, code, value = arrays(found)
    known = first().with_sets(key_of(target, code), value)
    best = {0: 0.0, 1: 1.5, 2: -2.0}  # estimates do not count
    kept = as_dict(known.within(nats))
    assert kept == {(t, c): v for (t, c), v in as_dict(known).items() if v >= best[t] - nats or (t, c) == (1, 2)}
    assert np.all(known.capped().value <= np.array([best[int(t)] for t in known.target]))


@given(rows)
def test_the_best_few_come_next(found):
    target, code, value = arrays(found)
    known = first().with_sets(key_of(target, code), value)
    chosen = known.next_to_expand(each=2, within=3.0, most=5, ever=9)
    best = {0: 0.0, 1: 1.5, 2: -2.0}
    for t in range(3):
        open_ = sorted((v for (u, c), v in as_dict(known).items() if u == t and (u, c) != (1, 2)), reverse=True)
        expected = [v for v in open_ if v >= best[t] - 3.0][:2]
        assert sorted(known.value[chosen][known.target[chosen] == t], reverse=True) == expected
    for limits in ({"most": 1, "ever": 9}, {"most": 5, "ever": 1}):
        assert 1 not in known.target[known.next_to_expand(each=2, within=3.0, **limits)]


def test_a_better_set_gives_the_search_a_new_budget():
    """The set of the second target that was expanded is no longer near the best once a better one was solved."""
    known = first().with_sets(key_of(np.array([1, 1]), np.array([7, 8])), np.array([1.0, 0.9]))
    assert 1 not in known.target[known.next_to_expand(each=2, within=3.0, most=1, ever=9)]
    row = int(np.flatnonzero(known.key == key_of(np.array(1), np.array(7)))[0])
    better = known.with_solved(np.array([row]), np.array([20.0]))
    assert row in better.next_to_expand(each=2, within=3.0, most=1, ever=9)
    assert row not in better.next_to_expand(each=2, within=3.0, most=1, ever=1)
    assert better.best()[1] == 20.0
    assert row not in better.next_to_solve(each=9, within=30.0)
    assert better.solved.sum() == 2


def test_totals_add_up():
    known = first().with_sets(key_of(np.array([0, 0]), np.array([4, 5])), np.array([0.0, -1.0]))
    np.testing.assert_allclose(known.log_total(), [np.log(2 + np.exp(-1)), 1.5, -2.0])
