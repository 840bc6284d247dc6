"""The paper's method on a system whose answer is known, step by step, with a picture of each object.

x1 decays and drives x2 through x1². With x1² as third coordinate the system is linear, so that of nine candidates three
should be kept. Run: python examples/paper_method.py [FOLDER for the figures]
"""

import sys
from pathlib import Path

import numpy as np

from koopsieve import (
    Monomials,
    SpikeSlab,
    SpikeSlabPrior,
    States,
    Trajectories,
    compare_methods,
    compress,
    paper_methods,
    reduce,
)
from koopsieve.plots import new_axes, plot_coefficients, plot_condensation, plot_graph, plot_inclusion, save_figure


def record(seed):
    """Return twenty records of forty samples from random starts, measured with noise."""
    rng = np.random.default_rng(seed)
    x = np.zeros((20, 40, 2))
    x[:, 0] = rng.uniform(-1.5, 1.5, (20, 2))
    for k in range(39):
        x[:, k + 1, 0] = 0.9 * x[:, k, 0]
        x[:, k + 1, 1] = 0.7 * x[:, k, 1] + 0.4 * x[:, k, 0] ** 2
    return Trajectories.from_arrays(list(x + 0.003 * rng.normal(size=x.shape)))


def main(figures=None):
    """Return the comparison of all methods."""
    train, test = record(0), record(1)
    phi = (States() + Monomials(degree=3)).fit(train)
    prior = SpikeSlabPrior(a=1.01, b=0.1, c=1e-3, d=1e-4, e=0.5, f=20)  # the paper's table for Lorenz
    method = SpikeSlab.published(prior, relaxation=0.3, tolerance=1e-3, max_sweeps=2000)
    estimate = method.identify(compress(train, phi))
    reduction = reduce(estimate.inclusion, phi.outputs, threshold=0.1)
    print("kept:", ", ".join(phi.names[i] for i in reduction.retained))
    found = compare_methods(train, test, phi, methods=paper_methods(sieve=method), horizons=[1, 2, 5, 10, 20])
    print(found)
    if figures is not None:
        folder = Path(figures)
        save_figure(plot_hierarchy(), folder / "paper_hierarchy.png")
        save_figure(plot_inclusion(estimate, reduction=reduction), folder / "paper_inclusion.png")
        save_figure(plot_graph(reduction, phi.names), folder / "paper_graph.png")
        save_figure(plot_condensation(reduction, phi.names), folder / "paper_condensation.png")
        save_figure(plot_coefficients(found.estimates["full"]["I"]), folder / "paper_heat_map.png")
        found.plot("x2").savefig(folder / "paper_methods.png", dpi=150)
    return found


NODES = {  # name: place and what it is
    "π": (4.2, 0.7, "Beta(e, f)"),
    "γ": (4.2, 2.0, "Bernoulli(π)"),
    "α": (1.8, 0.7, "Gamma(c, d)"),
    "β": (1.8, 2.0, "N(0, 1/α)"),
    "t": (3.0, 3.4, "N(Φ(γ∘β), I/ρ)"),
    "ρ": (5.6, 3.4, "Gamma(a, b)"),
}
ARROWS = [("π", "γ"), ("α", "β"), ("β", "t"), ("γ", "t"), ("ρ", "t")]


def plot_hierarchy(axes=None):
    """Draw the random variables of one target and their priors, as in the paper's figure of the hierarchy."""
    from matplotlib.patches import Circle, Rectangle

    ax = new_axes(6.4, 4.4) if axes is None else axes
    ax.set(xlim=(0, 8), ylim=(-0.35, 4.2), aspect="equal")
    ax.set_axis_off()
    ax.add_patch(Rectangle((0.9, -0.05), 5.1, 2.65, fill=False, edgecolor="0.5", linestyle="--"))
    ax.text(5.9, 0.02, "L + l regressors", ha="right", va="bottom", color="0.35", fontsize=9)
    for name, (x, y, prior) in NODES.items():
        ax.add_patch(Circle((x, y), 0.32, facecolor="0.85" if name == "t" else "white", edgecolor="black", zorder=3))
        ax.text(x, y, name, ha="center", va="center", fontsize=13, zorder=4)
        side = {"x": x - 0.42, "ha": "right"} if name == "t" else {"x": x + 0.42, "ha": "left"}
        ax.text(y=y, s=prior, va="center", fontsize=9, **side)
    for source, target in ARROWS:
        start, end = NODES[source][:2], NODES[target][:2]
        ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "shrinkA": 17, "shrinkB": 17, "color": "black"})
    ax.text(3.0, 3.95, "one target; grey: measured", ha="center", fontsize=9, color="0.35")
    return ax


if __name__ == "__main__":
    main(*sys.argv[1:])
