"""The order of names as people count."""

from skilleval.ordering import natural


def test_numbers_in_names_sort_by_value():
    names = ["iteration-10", "iteration-2", "iteration-1", "a", "10", "9b", "9a"]
    assert sorted(names, key=natural) == [
        *("9a", "9b", "10", "a", "iteration-1", "iteration-2", "iteration-10")
    ]


def test_any_two_names_can_be_compared():
    assert sorted(["", "1", "a1", "1a", "²", "é"], key=natural)[0] == ""
