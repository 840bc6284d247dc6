"""Places: joined and cut as rows are, every row keeps its name."""

from hypothesis import given
from hypothesis import strategies as st

from koopsieve.data.streaming.places import Places

sources = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.integers(1, 4)), min_size=1, max_size=6)


def joined(parts):
    places = Places()
    for label, first, rows in parts:
        places = places.then(Places.of(label, first, rows))
    return places


def names(parts):
    return [f"row {first + i} of {label}" for label, first, rows in parts for i in range(rows)]


@given(sources)
def test_every_row_keeps_its_name(parts):
    expected, places = names(parts), joined(parts)
    assert [places.name(i) for i in range(len(expected))] == expected


@given(sources, st.data())
def test_cutting_keeps_names(parts, data):
    expected, places = names(parts), joined(parts)
    start = data.draw(st.integers(0, len(expected)))
    stop = data.draw(st.integers(start, len(expected)))
    cut = places.between(start, stop)
    assert [cut.name(i) for i in range(stop - start)] == expected[start:stop]


def test_rows_that_go_on_are_one_stretch():
    assert len(joined([("a", 0, 3), ("a", 3, 2), ("a", 9, 1), ("b", 10, 1)]).stretches) == 3
