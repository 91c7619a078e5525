"""What must not be written. Owns which texts of a request are secret and how they are hidden.

Secrets of the environment are the values of variables whose names say so (`secrets_in`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skilleval.http import Request, Response

SECRET_WORDS = ("authorization", "cookie", "key", "password", "secret", "token")
REDACTED = "[redacted]"
# Servers without a key are given words such as "x" or "-": hiding those would blacken every text.
SHORTEST_SECRET = 4
# A variable such as TOKEN_LIMIT=4096 or KEY_FILE=key is no secret; real ones are longer.
SHORTEST_VALUE = 8


def secrets_of(request: Request) -> tuple[str, ...]:
    """The texts that must not leave with an error about `request`.

    Values of headers and query parameters whose name speaks of a key, token, secret, password,
    cookie or authorization (also without their scheme, as in "Bearer"), and URL credentials.
    """
    from urllib.parse import unquote_plus

    found: list[str] = []
    for name, value in request.headers.items():
        if _is_secret(name):
            found += [value, value.partition(" ")[2]]
    address, _, query = request.url.partition("?")
    userinfo = address.partition("://")[2].partition("/")[0].rpartition("@")[0]
    found += [userinfo, *userinfo.split(":", 1)]
    for pair in query.partition("#")[0].split("&"):
        name, _, value = pair.partition("=")
        if _is_secret(name):
            found.append(value)
    found += [unquote_plus(value) for value in found]
    return tuple(sorted({value for value in found if len(value) >= SHORTEST_SECRET}))


def secrets_in(environ: Mapping[str, str], names: Iterable[str] = ()) -> tuple[str, ...]:
    """The values of the variables named *KEY*, *TOKEN*, *SECRET*, *PASSWORD* and so on.

    Those in `names` are secret whatever they are called, and so is each value in a variable of
    headers (`ANTHROPIC_CUSTOM_HEADERS`), for the headers of a gateway have any name. Shorter ones
    than 8 characters are none.
    """
    secret = {name for name in environ if _is_secret(name)}.union(names) & environ.keys()
    found = [environ[name] for name in secret]
    for name, text in environ.items():
        if name.upper().endswith("HEADERS"):
            found += _values(text)
    return tuple(sorted({value for value in found if len(value) >= SHORTEST_VALUE}))


def _values(headers: str) -> Iterator[str]:
    """Of lines `Name: value` the values; of a secret name also without a scheme, as in "Bearer"."""
    for line in headers.splitlines():
        name, _, value = line.partition(":")
        yield value.strip()
        if _is_secret(name):
            yield value.strip().partition(" ")[2].strip()


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` without `secrets`, as they are or escaped for JSON or URLs, and without `//user:pw@`.

    Secrets shorter than four characters are left, and empty ones do nothing.
    """
    for form in _forms(tuple(secrets)):
        text = text.replace(form, REDACTED)
    if "://" not in text:
        return text
    import re

    return re.sub(r"://[^/\s@]+@", f"://{REDACTED}@", text)


@functools.lru_cache(maxsize=16)
def _forms(secrets: tuple[str, ...]) -> tuple[str, ...]:
    """All that stands for a secret, the longest first: one may hold another."""
    import json
    from urllib.parse import quote, quote_plus

    forms: set[str] = set()
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            raw = secret.encode("utf-8", "replace")
            forms |= {secret, json.dumps(secret)[1:-1], quote(raw, safe=""), quote_plus(raw)}
    return tuple(sorted(forms, key=len, reverse=True))


def excerpt(response: Response, secrets: Iterable[str], limit: int = 300) -> str:
    """The body for an error message: one printable line of about `limit` characters, redacted.

    Redacts before it cuts, so that no half of a secret is left at the end.
    """
    from skilleval.plaintext import one_line

    text = redact(response.text, secrets).strip()
    line = one_line(text[: limit * 8])
    if len(line) <= limit and len(text) <= limit * 8:
        return line or "(empty body)"
    return f"{line[:limit]}… ({len(response.body)} bytes)"


def _is_secret(name: str) -> bool:
    return any(word in name.lower() for word in SECRET_WORDS)
