import pytest

from skilleval.reading import jsonvalues


@pytest.mark.parametrize("value", [None, True, "12", -1, [], float("nan"), float("inf"), 10**400])
def test_what_is_no_number_of_tokens_is_unknown(value):
    assert jsonvalues.count(value) is None
    assert jsonvalues.total([value]) is None


def test_sum_is_of_the_known_numbers():
    assert jsonvalues.total([1, None, 2]) == 3


@pytest.mark.parametrize("value", [None, True, "x", 1, 2.5, {"a": 1}, ["a"]], ids=repr)
def test_a_value_of_another_type_is_nothing_of_the_type(value):
    assert jsonvalues.mapping(value) == (value if isinstance(value, dict) else {})
    assert list(jsonvalues.items(value)) == (value if isinstance(value, list) else [])
    assert jsonvalues.word(value) == (value if isinstance(value, str) else "")
