"""Work on many things, a few at once: their order, and how it ends."""

import subprocess
import sys
import threading
import tracemalloc

import pytest
from checkout import ROOT

from skilleval.workers import at_once


def test_what_comes_of_the_items_is_in_their_order_whichever_ends_first():
    second_ended = threading.Event()

    def work(item):
        if item == 0:
            assert second_ended.wait(20)
        else:
            second_ended.set()
        return item * 10

    assert at_once(work, range(5), 2, threading.Event(), name="w") == [0, 10, 20, 30, 40]


def test_no_more_than_the_threads_work_at_once():
    together = threading.Barrier(3)
    names = set()

    def work(item):
        together.wait(20)  # breaks unless three come
        names.add(threading.current_thread().name)

    at_once(work, range(9), 3, threading.Event(), name="w")
    assert names == {"w_0", "w_1", "w_2"}


def test_an_exception_ends_it_although_earlier_items_still_run():
    stopped = threading.Event()
    begun, ended = [], []

    def work(item):
        begun.append(item)
        if item == 1:
            raise ValueError("kaput")
        assert stopped.wait(20)  # is told to end, and waited for
        ended.append(item)

    with pytest.raises(ValueError, match="kaput"):
        at_once(work, range(50), 2, stopped, name="w")
    assert begun[:2] == [0, 1]
    assert ended == [item for item in begun if item != 1]
    assert len(begun) < 50


def test_second_half_of_the_threads_begins_after_what_is_to_happen_meanwhile():
    threads, counted = set(), []
    both, go_on = threading.Barrier(3), threading.Event()

    def work(item):
        threads.add(threading.current_thread().name)
        both.wait(20)
        assert go_on.wait(20)

    def meanwhile():
        both.wait(20)  # two have begun
        counted.append(len(threads))
        go_on.set()

    def quick(item):
        if item < 2:
            work(item)
        return item

    stopped = threading.Event()
    found = at_once(quick, range(6), 4, stopped, name="w", meanwhile=meanwhile)
    assert (found, counted) == ([0, 1, 2, 3, 4, 5], [2])


def test_what_happens_meanwhile_does_so_for_few_items_too():
    called = []
    stopped = threading.Event()
    at_once(str, [1], 4, stopped, name="w", meanwhile=lambda: called.append(1))
    assert called == [1]


def test_exception_meanwhile_ends_it():
    stopped = threading.Event()

    def meanwhile():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        at_once(lambda item: stopped.wait(20), range(9), 4, stopped, name="w", meanwhile=meanwhile)
    assert stopped.is_set()


def test_ctrl_c_goes_on_whenever_it_comes():
    """Also while threads begin, some of which are not quite there."""
    script = (
        "import signal, threading\n"
        "from skilleval.workers import at_once\n"
        "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
        "for number in range(300):\n"
        "    stopped = threading.Event()\n"
        "    try:\n"
        "        signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.00002 * number)\n"
        "        at_once(lambda item: stopped.wait(1), range(100), 100, stopped, name='w')\n"
        "    except KeyboardInterrupt:\n"
        "        stopped.set()  # it may have come before anything was begun\n"
        "print('all')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert (done.returncode, done.stdout) == (0, "all\n"), done.stderr


def test_of_nothing_comes_nothing_and_the_end_is_told():
    stopped = threading.Event()
    assert at_once(str, [], 4, stopped, name="w") == []
    assert stopped.is_set()


def test_an_item_that_waits_takes_no_memory():
    at_once(str, range(8), 2, threading.Event(), name="w")
    tracemalloc.start()
    try:
        at_once(lambda item: None, range(4000), 2, threading.Event(), name="w")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak / 4000 < 60  # bytes; a future has 1,000
