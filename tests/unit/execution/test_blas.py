"""BLAS is limited to one thread while somebody wants it so, and gets its threads back."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from koopsieve.execution import one_blas_thread


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def before():
    with threadpool_limits(2, user_api="blas"):  # where the environment allows two
        yield blas_threads()


def test_blas_gets_its_threads_back(before):
    with one_blas_thread() as spare:
        assert spare == max(before)
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_blas_gets_its_threads_back_after_an_error(before):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        1 / 0  # noqa: B018
    assert blas_threads() == before


def test_an_inner_block_gives_no_threads_and_takes_none_back(before):
    with one_blas_thread():
        with one_blas_thread() as spare:
            assert spare == 1
        assert set(blas_threads()) == {1}
    assert blas_threads() == before
