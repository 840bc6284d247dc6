"""What must not matter does not: units, the order of episodes, where data are cut, how they are chunked, duplicates."""

import numpy as np

from koopsieve import LeastSquares, SparseBayes, SpikeSlab, States, Trajectories, compress
from koopsieve.dictionary import Constant, Monomials
from koopsieve.execution import Serial
from tests.fuzz.values import pick, record

BLOCK = States() + Constant() + Monomials()


def case(rng, folder):
    n, width = int(rng.integers(1, 3)), int(rng.integers(0, 2))
    episodes = [record(rng, rows=int(rng.integers(25, 60)), columns=n, inputs=width) for _ in range(rng.integers(2, 4))]
    pick(rng, (_units, _order, _splitting, _chunking, _duplicates))(rng, episodes)


def _statistics(episodes, **options):
    data = Trajectories.from_arrays([x for x, _ in episodes], [u for _, u in episodes])
    return compress(data, BLOCK.fit(data), executor=Serial(), **options)


def _same(a, b, factor=1.0):
    gram, other = a.R.T @ a.R, b.R.T @ b.R
    scale = np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
    np.testing.assert_allclose(factor * gram / scale, other / scale, atol=1e-9)
    np.testing.assert_allclose(factor * a.leftover, b.leftover, rtol=1e-6, atol=1e-9 * np.abs(a.S).max() ** 2)
    assert factor * a.rows == b.rows


def _units(rng, episodes):
    """Inclusion does not depend on units; powers of two change no digit."""
    units = 2.0 ** rng.integers(-60, 60, size=episodes[0][0].shape[1])
    identifier = pick(rng, (SpikeSlab(), SparseBayes(), LeastSquares()))
    here, there = (identifier.identify(_statistics(one)) for one in (episodes, [(x * units, u) for x, u in episodes]))
    np.testing.assert_allclose(here.inclusion, there.inclusion, atol=1e-6)


def _order(rng, episodes):
    _same(_statistics(episodes), _statistics([episodes[i] for i in rng.permutation(len(episodes))]))


def _splitting(rng, episodes):
    """Statistics of parts merge to those of the whole."""
    cut = int(rng.integers(1, len(episodes)))
    data = Trajectories.from_arrays([x for x, _ in episodes], [u for _, u in episodes])
    phi = BLOCK.fit(data)
    parts = [compress(data.subset(range(a, b)), phi, executor=Serial()) for a, b in ((0, cut), (cut, len(episodes)))]
    _same(compress(data, phi, executor=Serial()), parts[0].merge(parts[1]))


def _chunking(rng, episodes):
    _same(_statistics(episodes), _statistics(episodes, chunk_rows=int(rng.integers(1, 50))))


def _duplicates(rng, episodes):
    """All data twice: the same least squares, twice the squares."""
    once, twice = _statistics(episodes), _statistics(episodes * 2)
    _same(once, twice, factor=2.0)
    errors = [LeastSquares().identify(one).noise_precision for one in (once, twice)]
    noisy = errors[0] < 1e12  # elsewhere rounding is all that is left
    np.testing.assert_allclose(errors[0][noisy], errors[1][noisy], rtol=1e-3)
