"""Seats: so many agents at once, and whoever has one goes first."""

import threading

import pytest

from skilleval.errors import NotStarted
from skilleval.process import turns
from skilleval.seats import Seat


def nothing():
    pass


def never():
    return False


def test_a_seat_is_taken_once_and_given_back_once():
    free, begun = threading.Semaphore(1), []
    seat = Seat(free, lambda: begun.append(1), never)
    seat.take()
    with seat.held():
        assert begun == [1]
        assert not free.acquire(blocking=False)
    seat.give_back()
    assert free.acquire(blocking=False)
    assert not free.acquire(blocking=False)


def test_without_waiting_a_seat_is_taken_if_there_is_one():
    free, begun = threading.Semaphore(0), []
    seat = Seat(free, lambda: begun.append(1), never)
    seat.take(wait=False)
    seat.give_back()  # nothing was had
    assert (begun, free.acquire(blocking=False)) == ([], False)


def test_a_trial_begins_once_with_a_seat_or_without():
    free, begun = threading.Semaphore(1), []
    for number in (1, 2):
        seat = Seat(free, lambda number=number: begun.append(number), never)
        seat.take(wait=False)
        seat.be_begun()
        seat.be_begun()
    assert begun == [1, 2]


def test_who_waits_for_a_seat_lets_others_have_their_turn():
    free, others = threading.Semaphore(0), []

    def other():
        with turns.taken():
            others.append(1)
            free.release()

    thread = threading.Thread(target=other)
    with turns.taken():
        thread.start()
        with Seat(free, nothing, never).held():
            assert others == [1]
    thread.join(10)


def test_what_begin_raises_goes_on_and_the_seat_can_be_given_back():
    free = threading.Semaphore(1)

    def refuse():
        raise ValueError("refused")

    seat = Seat(free, refuse, never)
    with pytest.raises(ValueError, match="refused"), turns.taken(), seat.held():
        raise AssertionError("no agent may start")
    seat.give_back()
    assert free.acquire(blocking=False)


def test_no_agent_starts_once_the_run_has_ended():
    free, ended = threading.Semaphore(2), threading.Event()
    early, late = (Seat(free, nothing, ended.is_set) for _ in range(2))
    early.take()
    ended.set()
    for seat in (early, late):
        with pytest.raises(NotStarted), seat.held():
            raise AssertionError("no agent may start")
        seat.give_back()
    assert free.acquire(blocking=False)
    assert free.acquire(blocking=False)
