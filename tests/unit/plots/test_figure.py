"""Styles, ticks, and where the graph of dependencies is drawn."""

import numpy as np
import pytest

from koopsieve import GraphSieve, SquaredExponential, States
from koopsieve.plots.dependency_plots import dependencies
from koopsieve.plots.figure import METHODS, MODELS, NUMERALS, apart, style_of, styles_of, tick_text
from koopsieve.plots.layout import INPUT, MAX_NODES, NARROW, OUTPUT, WIDTH, cut_name, lay_out
from tests.runs import duffing_result


def test_every_name_has_a_look_of_its_own():
    looks = [*MODELS.values(), *METHODS.values()]
    assert len({(str(look["color"]), look["marker"]) for look in looks}) == len(looks)
    assert [style_of(numeral) for numeral in NUMERALS] == [METHODS[method] for method in NUMERALS.values()]
    found = styles_of(["mine", "yours", "sifted", "mine"])
    assert list(found) == ["mine", "yours", "sifted"]
    assert found["mine"] != found["yours"]
    assert found["sifted"] == MODELS["sifted"]


def test_ticks_are_plain_numbers_and_thinned_where_they_crowd():
    texts = {1.0: "1", 0.001: "0.001", 1e-4: "10⁻⁴", 1e5: "10⁵", 20.0: "20", 0.0: "0"}
    assert {value: tick_text(value) for value in texts} == texts
    assert apart([1, 2, 3, 5, 7, 9, 10, 11, 12]) == [1, 2, 3, 5, 7, 12]
    assert [cut_name(name, 11) for name in ("abc", "exp(-0.103|x-z17|^2) and more")] == ["abc", "exp(-… more"]


@pytest.fixture(scope="module")
def large():
    recipe = States() + SquaredExponential(centers=100, standardize=True)
    return duffing_result(dictionary=recipe, sieve=GraphSieve(), methods=False)


def overlap(a, b):
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


def check(result, width):
    graph = dependencies(result)
    layout = lay_out(graph, width)
    assert layout.width <= width
    for i, box in enumerate(layout.boxes):
        assert not any(overlap(box, other) for other in layout.boxes[i + 1 :])
        assert 0 <= box.x <= box.x + box.width <= layout.width
        assert 0 <= box.y <= box.y + box.height <= layout.height
        for chip in box.chips:
            assert box.x <= chip.x <= chip.x + chip.width <= box.x + box.width + 1e-9
            assert box.y <= chip.y <= chip.y + chip.height <= box.y + box.height + 1e-9
    assert sorted(i for box in layout.boxes for i in box.members) == list(range(len(graph.names)))
    assert min(box.x for box in layout.boxes) < 20  # the drawing begins at its left edge
    return layout


@pytest.mark.parametrize("width", [WIDTH, NARROW])
def test_boxes_do_not_overlap_and_hold_everything(any_result, width):
    check(any_result, width)


@pytest.mark.parametrize("width", [WIDTH, NARROW])
def test_of_very_many_those_without_influence_share_one_box(large, width):
    layout = check(large, width)
    assert large.dictionary.size > MAX_NODES
    assert sum(not box.retained for box in layout.boxes) <= 1


def test_arrows_lead_down_and_keep_who_depends_on_whom(any_result):
    graph = dependencies(any_result)
    layout = lay_out(graph)
    drawn = np.zeros_like(graph.links)
    for edge in layout.edges:
        assert layout.boxes[edge.source].y < layout.boxes[edge.target].y
        drawn[edge.source, edge.target] = True
    assert [box.members for box in layout.boxes] == [tuple(c.tolist()) for c in graph.components]
    reach = [np.linalg.matrix_power(np.eye(len(g)) + g, len(g)) > 0 for g in (drawn, graph.links)]
    np.testing.assert_array_equal(*reach)


def test_arrows_are_the_probable_dependencies(any_result):
    found, graph = any_result.explanation, dependencies(any_result)
    owner = {int(i): c for c, members in enumerate(graph.components) for i in members}
    place = {name: i for i, name in enumerate(graph.names)}
    for i, regressor in enumerate(found.regressors):
        for j, target in enumerate(found.targets):
            driven = target if any_result.form != "reprojected" else f"{target}[k+1]"
            if found.inclusion[i, j] >= any_result.reduction.threshold:
                a, b = owner[place[regressor]], owner[place[driven]]
                assert a == b or graph.links[a, b]


def test_outputs_and_inputs_have_their_kinds(small_result, reprojected_result):
    for result, kind, expected in (
        (small_result, OUTPUT, ["y"]),
        (small_result, INPUT, ["u"]),
        (reprojected_result, OUTPUT, ["y[k+1]"]),
    ):
        graph = dependencies(result)
        assert [name for name, one in zip(graph.names, graph.kinds, strict=True) if one == kind] == expected
