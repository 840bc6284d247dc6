import numpy as np
import pytest

from koopsieve import HorizonSieve, SquaredExponential, States, Trajectories, sieve_path
from koopsieve.plots import new_axes, plot_path
from koopsieve.systems import random_drive, van_der_pol


@pytest.fixture(scope="module")
def path():
    drive = random_drive(300, 10, 1.0, 0)
    data = Trajectories.from_arrays(van_der_pol(drive, 0.1), drive, dt=0.1)
    recipe = States() + SquaredExponential(centers=8, coefficients=[0.5])
    return sieve_path(HorizonSieve(), data, recipe, horizons=[1, 5], steps=4)


def test_every_horizon_has_a_line_of_the_paths_errors(path):
    axes = plot_path(path)
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["1 step ahead", "5 steps ahead"]
    for column, container in enumerate(axes.containers):
        np.testing.assert_allclose(container[0].get_xdata(), path.sizes)
        np.testing.assert_allclose(container[0].get_ydata(), path.error[:, column])


def test_the_choice_is_marked_on_the_axes_given(path):
    axes = new_axes(4, 3)
    assert plot_path(path, axes) is axes
    assert axes.get_title() == f"chosen: {path.choice.size} of 10 terms"
    assert path.choice.size in [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1]


def test_a_path_of_one_set_has_whole_ticks(graph_result):
    axes = plot_path(graph_result)
    axes.get_figure().canvas.draw()
    size = graph_result.path.choice.size
    assert [label.get_text() for label in axes.get_xticklabels()] == [str(size - 1), str(size), str(size + 1)]
