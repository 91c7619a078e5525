import pytest

from skilleval import plaintext

SEQUENCES = ["\x1b[31m", "\x1b[2J", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1b(B", "\x1bc"]


@pytest.mark.parametrize("sequence", SEQUENCES, ids=repr)
def test_what_a_terminal_obeys_is_taken_out(sequence):
    assert plaintext.without_sequences(f"a{sequence}b") == "ab"


@pytest.mark.parametrize("sequence", SEQUENCES, ids=repr)
def test_one_line_holds_nothing_of_a_sequence(sequence):
    assert plaintext.one_line(f"a{sequence}b") == "ab"


def test_text_without_sequences_stays_as_it_is():
    assert plaintext.without_sequences("a\n\tb [31m é") == "a\n\tb [31m é"


def test_one_line_has_single_spaces_for_line_breaks_and_what_does_not_print():
    assert plaintext.one_line("  a\r\n\n b\x00c\u202ed  ") == "a b c d"


def test_escaped_shows_what_does_not_print_and_loses_nothing():
    assert plaintext.escaped("é\n\x00\u202e") == "é\\n\\x00\\u202e"


def test_every_says_how_many_there_are():
    assert [plaintext.every(count, "trial") for count in (1, 3)] == [
        "the only trial",
        "all 3 trials",
    ]
