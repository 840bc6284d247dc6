"""Delayed copies in a dictionary: where each is copied from, and what must be carried along for that."""

import numpy as np

from koopsieve.data import Trajectories, embed_delays
from koopsieve.dictionary import Constant, Monomials, States
from koopsieve.dictionary.term_map import shifts, with_delay_line

DATA = Trajectories.from_arrays(
    np.random.default_rng(0).normal(size=(30, 2)),
    np.random.default_rng(1).normal(size=(29, 1)),
    state_names=["y", "z"],
    input_names=["u"],
)


def dictionary(states, inputs, inputs_at="k"):
    return (Constant() + States() + Monomials()).fit(embed_delays(DATA, states, inputs, inputs_at))


def cut(phi, *names):
    return phi.select([i for i, name in enumerate(phi.names) if name in names])


def test_copies_by_hand():
    phi = cut(dictionary(2, 2), "1", "y", "z", "y[k-1]", "y[k-2]", "u[k-1]", "u[k-2]", "y^2")
    found = shifts(phi)
    named = {phi.names[t]: (*phi.names, "u")[s] for t, s in zip(found.targets, found.sources, strict=True)}
    assert named == {"y[k-1]": "y", "y[k-2]": "y[k-1]", "u[k-1]": "u", "u[k-2]": "u[k-1]"}
    assert dict(zip(phi.names, found.delays.tolist(), strict=True)) == {
        **{"1": 0, "y": 0, "z": 0, "y[k-1]": 1, "y[k-2]": 2, "u[k-1]": 1, "u[k-2]": 2, "y^2": 0}
    }
    assert [name for name, free in zip(phi.names, found.free, strict=True) if free] == ["1", "y", "z", "y^2"]


def test_what_is_missing_is_carried_along_behind_the_rest():
    assert shifts(cut(dictionary(2, 2), "y", "z", "y[k-2]", "u[k-2]")).free.all()  # without it, it must be predicted
    phi = cut(dictionary(3, 2), "y", "z", "z[k-3]", "u[k-2]", "y z")
    carried = with_delay_line(phi)
    assert carried.names == (*phi.names, "z[k-1]", "z[k-2]", "u[k-1]")
    found = shifts(carried)
    assert [name for name, free in zip(carried.names, found.free, strict=True) if free] == ["y", "z", "y z"]
    states = embed_delays(DATA, 3, 2).states[0]
    np.testing.assert_array_equal(carried(states)[:, : phi.size], phi(states))
    for phi in (dictionary(0, 0), dictionary(2, 1), cut(dictionary(2, 1), "y", "z", "y z")):
        assert with_delay_line(phi) is phi  # nothing is missing


def test_copies_are_what_the_data_say():
    """One step later every copy holds what its source held."""
    data = embed_delays(DATA, 2, 3, "k+1")
    phi = (States() + Monomials()).fit(data)
    lifted, found = phi(data.states[0]), shifts(phi)
    everything = np.hstack([lifted[:-1], data.inputs[0]])
    np.testing.assert_array_equal(lifted[1:, found.targets], everything[:, found.sources])
    named = {phi.names[t]: (*phi.names, "acting")[s] for t, s in zip(found.targets, found.sources, strict=True)}
    assert named == {
        **{"y[k-1]": "y", "z[k-1]": "z", "y[k-2]": "y[k-1]", "z[k-2]": "z[k-1]"},
        **{"u[k]": "acting", "u[k-1]": "u[k]", "u[k-2]": "u[k-1]"},
    }
