import pytest

from skilleval.process.capture import Capture, pieces


def captured(data: bytes, limit: int, step: int = 3) -> tuple[str, int]:
    capture = Capture(limit)
    for start in range(0, len(data), step):
        capture.add(data[start : start + step])
    return capture.text()


def test_text_within_the_limit_is_whole():
    assert captured(b"0123456789", 10) == ("0123456789", 0)


def test_head_is_four_fifths_and_tail_one_fifth():
    assert captured(b"0123456789abcdefghij", 10) == ("01234567\n[... 10 bytes cut ...]\nij", 10)


def test_character_at_the_cut_is_cut_whole():
    text, cut = captured("aé€😀".encode() * 10, 15)
    assert "\ufffd" not in text
    kept = text.replace(f"\n[... {cut} bytes cut ...]\n", "")
    assert len(kept.encode()) + cut == 100


def test_character_at_the_joint_of_a_whole_text_is_whole():
    assert captured("€€€".encode(), 9) == ("€€€", 0)


@pytest.mark.parametrize("limit", [0, 1, 4])
def test_tiny_limits_hold(limit):
    text, cut = captured(b"x" * 50, limit)
    assert text.count("x") == limit
    assert cut == 50 - limit


def test_memory_stays_bounded_whatever_comes():
    capture = Capture(1000)
    for _ in range(1000):
        capture.add(b"x" * 64)
        assert len(capture.head) + len(capture.tail) <= 1000 + 200 + 64
    assert capture.total == 64_000


def test_pieces_are_what_was_kept_around_the_cut():
    text, cut = captured(b"abcdefghijklmnopqrst", 10)
    assert cut == 10
    assert pieces(text) == ["abcdefgh", "st"]
    assert pieces("a\nb") == ["a\nb"]
