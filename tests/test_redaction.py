"""Which values of an environment are secret. How texts are redacted, test_http says."""

import pytest

from skilleval.redaction import secrets_in


@pytest.mark.parametrize(
    "name", ["MY_API_KEY", "my_token", "CLIENT_SECRET", "DB_PASSWORD", "PROXY_AUTHORIZATION"]
)
def test_value_of_a_variable_whose_name_says_so_is_secret(name):
    assert secrets_in({name: "hunter22", "EDITOR": "a-long-value"}) == ("hunter22",)


def test_variable_that_is_named_is_secret_whatever_it_is_called():
    assert secrets_in({"MY_LOGIN": "hunter22"}, ["MY_LOGIN", "NOT_THERE"]) == ("hunter22",)


def test_short_values_are_no_secrets():
    environ = {"TOKEN_LIMIT": "4096", "MY_HEADERS": "X-Try: 4096\nAuthorization: Bearer x"}
    assert secrets_in(environ) == ("Bearer x",)


def test_values_of_headers_are_secret_each_by_itself():
    headers = "X-Gateway: gw-1234567\r\nAuthorization: Bearer hunter22\nX-Title: two words\nbad"
    assert set(secrets_in({"ANTHROPIC_CUSTOM_HEADERS": headers})) == {
        "gw-1234567",
        "Bearer hunter22",
        "hunter22",
        "two words",
    }
