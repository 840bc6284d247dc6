"""Executors do the same work in the same order and say what is wrong; one progress bar for a whole job never falls."""

import io
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from koopsieve import States, Trajectories, sift
from koopsieve._types import KoopsieveError
from koopsieve.execution import DaskExecutor, Serial, Threads, in_this_process, one_blas_thread, silent
from koopsieve.execution.executors import WholeJob, _Lines, part, whole_job


@pytest.mark.parametrize("executor", [Serial(), Threads(1), Threads(3)])
def test_results_come_in_the_order_of_the_items(executor):
    def slower_first(i):
        time.sleep(0.001 * (10 - i))
        return i

    assert list(executor.map(slower_first, range(10))) == list(range(10))
    assert executor.map_reduce(str, range(5), lambda a, b: a + b) == "01234"


def test_threads_work_at_the_same_time_with_one_blas_thread_each():
    together = threading.Barrier(2, timeout=20)

    def meet(_):
        together.wait()
        return max(blas_threads())

    np.linalg.norm(np.ones((2, 2)))
    before = blas_threads()
    assert list(Threads(2).map(meet, range(4))) == [1] * 4
    assert blas_threads() == before


def test_threads_begin_only_a_few_items_early_and_an_error_reaches_the_caller():
    begun = []
    results = Threads(2).map(begun.append, range(1000))
    next(results)
    time.sleep(0.05)
    assert len(begun) <= 6
    results.close()

    def fail(i):
        raise KoopsieveError(f"item {i}")

    with pytest.raises(KoopsieveError, match="item 0"):
        list(Threads(2).map(fail, range(5)))
    with pytest.raises(KoopsieveError, match="threads must be a whole number, 1 or more"):
        Threads(0)


def test_a_scheduler_that_is_not_there():
    pytest.importorskip("distributed")
    started = time.monotonic()
    with pytest.raises(KoopsieveError, match=r"No Dask scheduler answered at 'tcp://127.0.0.1:9' within 1 s"):
        DaskExecutor.connect("tcp://127.0.0.1:9", timeout=1)
    assert time.monotonic() - started < 30
    with pytest.raises(KoopsieveError, match="No Dask scheduler"):
        DaskExecutor.connect("not an address", timeout=1)


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_work_that_stays_here_takes_an_executor_that_works_here():
    serial = Serial()
    assert in_this_process(serial) is serial
    assert isinstance(in_this_process(None), Threads)


def inside_a_worker():
    with one_blas_thread() as spare:
        return spare


def test_blas_gets_its_threads_back_also_after_an_error_and_an_inner_block_has_as_many_to_give():
    with threadpool_limits(2, user_api="blas"):  # where the environment allows two
        before = blas_threads()
        with one_blas_thread() as spare:
            assert spare == max(before)
            with one_blas_thread() as inner:
                assert inner == spare
            assert set(blas_threads()) == {1}
            assert [*Threads(1).map(lambda _: inside_a_worker(), [0])] == [1]
        assert blas_threads() == before
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            1 / 0  # noqa: B018
        assert blas_threads() == before


def test_the_share_rises_through_loops_in_loops_and_parts():
    shares = []
    job = WholeJob(lambda share, _: shares.append(share))
    with part(job, 0.4):
        for _ in job(range(4), "outer", 4):
            for _ in job(range(3), "inner", None):
                pass
    assert shares[-1] == pytest.approx(0.4)
    assert np.all(np.diff(shares) >= 0)
    assert max(shares[:-1]) <= 0.4
    list(job(range(10), "rest", 10))
    assert 0.4 < shares[-1] < 1.0


def test_a_progress_that_knows_no_parts_is_left_alone():
    with part(silent, 0.5):
        pass
    with whole_job(silent) as given:
        assert given is silent
    with whole_job(False) as given:
        assert given is False


def test_a_line_now_and_then(monkeypatch):
    clock = iter([0.0, 1.0, 6.0, 7.0, 12.0])
    monkeypatch.setattr("koopsieve.execution.executors.time.monotonic", lambda: next(clock))
    written = []
    lines = _Lines(written.append, every=5.0)
    for share, doing in ((0.05, "a"), (0.1, "b"), (0.2, "c"), (0.5, "")):
        lines(share, doing)
    assert written == ["10 %, b, about 54 s left", "50 %, about 12 s left"]


def test_a_job_in_a_pipe_writes_lines_and_in_a_terminal_a_bar(monkeypatch):
    rng = np.random.default_rng(0)
    x = np.zeros(300)
    for k in range(299):
        x[k + 1] = 0.9 * x[k] + 0.1 * rng.normal()
    data = Trajectories.from_arrays(x)
    monkeypatch.setattr(sys, "stderr", piped := io.StringIO())
    sift(data, States(), form="linear", horizons=[1, 5], progress=True)
    assert piped.getvalue() == ""  # over before the first line
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := io.StringIO())
    sift(data, States(), form="linear", horizons=[1, 5], progress=True)
    assert "Starting" in terminal.getvalue()
    assert "%" in terminal.getvalue()
