"""Turns of threads: one works at a time, and nobody waits for long with a turn."""

import contextlib
import subprocess
import sys
import threading
import time

import pytest
from checkout import ROOT

from skilleval.process import Command, run, turns


def at_once(count, work):
    """Runs `work` in as many threads, to their end."""
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


def test_one_thread_works_at_a_time():
    inside, most = [], []

    def work():
        with turns.taken():
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.005)
            inside.pop()

    at_once(8, work)
    assert most == [1] * 8


def test_who_has_a_turn_does_not_wait_for_another():
    with turns.taken(), turns.taken():
        pass
    with turns.taken():  # and it has been given back once
        pass


def test_who_waits_for_a_program_has_given_up_its_turn():
    started = time.monotonic()

    def work():
        with turns.taken():
            assert run(Command(["sleep", "0.5"], 10)).exit_code == 0

    at_once(8, work)
    assert time.monotonic() - started < 8 * 0.5


def test_a_turn_is_had_again_after_a_wait():
    others = []

    def other():
        with turns.taken():
            others.append(1)

    with turns.taken():
        thread = threading.Thread(target=other)
        with turns.given_up():
            thread.start()
            thread.join(10)
        assert others == [1]
        late = threading.Thread(target=other)
        late.start()
        late.join(0.05)
        assert others == [1]
    late.join(10)
    assert others == [1, 1]


def test_a_program_is_ended_at_its_deadline_whoever_has_the_turn():
    """A turn that lasts must not let a program run on that should have been killed."""
    release = threading.Event()

    def holder():
        with turns.taken():
            release.wait(10)

    found = []

    def work():
        with turns.taken():
            blocker.start()
            found.append(run(Command(["sleep", "30"], 0.2, grace_s=0.1)))

    blocker = threading.Thread(target=holder)
    worker = threading.Thread(target=work)
    started = time.monotonic()
    worker.start()
    time.sleep(1.0)
    release.set()
    worker.join(10)
    blocker.join(10)
    assert found[0].timed_out
    assert found[0].seconds < 0.9
    assert time.monotonic() - started < 9


def test_work_is_done_right_away_if_nobody_wants_a_turn():
    done = []
    with turns.taken():
        turns.later(lambda: done.append(threading.current_thread()))
    assert done == [threading.current_thread()]


@contextlib.contextmanager
def taken_by_another():
    """Another thread has its turn meanwhile."""
    has, release = threading.Event(), threading.Event()

    def other():
        with turns.taken():
            has.set()
            release.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    assert has.wait(10)
    try:
        yield
    finally:
        release.set()
        thread.join(10)


def test_work_is_put_off_while_others_want_a_turn():
    done = []
    with taken_by_another():
        turns.later(lambda: done.append(1))
        assert not done
    turns.settle()
    assert done == [1]


def test_what_was_put_off_is_done_before_settle_returns():
    done = []
    with taken_by_another():
        for number in range(turns.PUT_OFF + 5):  # what is beyond the limit is done at once
            turns.later(lambda number=number: done.append(number))
        assert done == list(range(turns.PUT_OFF, turns.PUT_OFF + 5))
        turns.settle()  # although somebody has the turn
        assert sorted(done) == list(range(turns.PUT_OFF + 5))


def test_who_can_wait_has_its_turn_after_the_others():
    order = []

    def patiently():
        turns.be_patient(True)
        with turns.taken():
            order.append("patient")

    def urgently():
        with turns.taken():
            order.append("urgent")

    with turns.taken():
        threads = [threading.Thread(target=patiently)]
        threads[0].start()
        time.sleep(0.1)
        threads += [threading.Thread(target=urgently) for _ in range(3)]
        for thread in threads[1:]:
            thread.start()
        time.sleep(0.1)
    for thread in threads:
        thread.join(10)
    assert order == ["urgent"] * 3 + ["patient"]


def test_patience_ends():
    order = []

    def late():
        turns.be_patient(True)
        with turns.taken():
            order.append("patient")

    def once():
        turns.be_patient(True)
        turns.be_patient(False)
        with turns.taken():
            order.append("urgent")

    threads = [threading.Thread(target=late), threading.Thread(target=once)]
    with turns.taken():
        for thread in threads:
            thread.start()
            time.sleep(0.1)
    for thread in threads:
        thread.join(10)
    assert order == ["urgent", "patient"]


def test_work_is_done_beside_what_can_wait():
    done, has, go_on = threading.Event(), threading.Event(), threading.Event()

    def patiently():
        turns.be_patient(True)
        with turns.taken():
            has.set()
            assert go_on.wait(10)

    thread = threading.Thread(target=patiently)
    thread.start()
    assert has.wait(10)
    turns.later(done.set)
    assert done.wait(10)
    go_on.set()
    thread.join(10)
    turns.settle()


def test_calm_comes_when_nobody_wants_a_turn_any_more():
    turns.await_calm()  # nobody does
    over = []

    def work():
        with turns.taken():
            time.sleep(0.2)
            over.append(1)

    with turns.taken():
        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.05)
    turns.await_calm()
    assert over == [1]
    thread.join(10)


def test_calm_that_does_not_come_is_not_waited_for():
    with taken_by_another():
        started = time.monotonic()
        turns.await_calm()
        assert turns.CALM_S <= time.monotonic() - started < 8


def test_work_is_done_right_away_where_no_thread_can_begin():
    script = (
        "import threading\n"
        "from skilleval.process import turns\n"
        "has, release = threading.Event(), threading.Event()\n"
        "def other():\n"
        "    with turns.taken():\n"
        "        has.set(); release.wait(20)\n"
        "thread = threading.Thread(target=other); thread.start(); has.wait(20)\n"
        "threading.stack_size(1 << 46)\n"
        "try: threading.Thread(target=print).start()\n"
        "except RuntimeError: print('no room')\n"
        "turns.later(lambda: print('done')); release.set(); turns.settle(); thread.join()\n"
    )
    argv = [sys.executable, "-c", script]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, cwd=ROOT)
    if "no room" not in done.stdout:
        pytest.skip("a thread may be as large as it likes here")
    assert (done.stdout, done.stderr) == ("no room\ndone\n", "")
