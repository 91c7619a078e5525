"""The address of an HTTP endpoint: a URL in checked parts. Owns what counts as one."""

from __future__ import annotations

from typing import NamedTuple


class Address(NamedTuple):
    """A checked URL in parts; `netloc` without `userinfo`, `origin` with the port in any case."""

    scheme: str
    userinfo: str
    netloc: str
    origin: str
    path: str
    query: str

    @property
    def url(self) -> str:
        mark = "?" if self.query else ""
        return f"{self.scheme}://{self.netloc}{self.path}{mark}{self.query}"


def parse(url: str) -> Address:
    """The parts of an http(s) URL. Raises `ValueError` saying what is wrong with it.

    The message quotes nothing: what is wrong may be a password with a slash in it.
    """
    from urllib.parse import urlsplit

    if any(character <= " " or character == "\x7f" for character in url):
        raise ValueError("the URL holds a space or a control character")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        reason = "the host or the port of the URL is not valid; write / in a password as %2F"
        raise ValueError(reason) from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("the URL must look like http://host/path or https://host/path")
    if not f"{parts.path}{parts.query}".isascii():
        raise ValueError("the URL holds non-ASCII characters; percent-encode them")
    userinfo, _, netloc = parts.netloc.rpartition("@")
    origin = f"{parts.scheme}://{host}:{port or (443 if parts.scheme == 'https' else 80)}"
    return Address(parts.scheme, userinfo, netloc, origin, parts.path or "/", parts.query)


def place(url: str) -> str:
    """The URL without credentials, query and fragment, also of a text that is no valid URL."""
    try:
        return parse(url)._replace(query="").url
    except ValueError:  # whatever stands before an @ may be a password
        return url.rpartition("@")[2].partition("?")[0].partition("#")[0]
