"""BLAS is limited to one thread while anybody wants it so, and gets its threads back."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from koopsieve.execution import one_blas_thread


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_gets_its_threads_back():
    with one_blas_thread() as spare:
        assert (spare, blas_threads()) == (2, {1})
    assert blas_threads() == {2}


def test_blas_gets_its_threads_back_after_an_error():
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        1 / 0  # noqa: B018
    assert blas_threads() == {2}


def test_an_inner_block_gives_no_threads_and_takes_none_back():
    with one_blas_thread():
        with one_blas_thread() as spare:
            assert spare == 1
        assert blas_threads() == {1}
    assert blas_threads() == {2}
