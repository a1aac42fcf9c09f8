"""Who may ask."""

from __future__ import annotations

import pytest

from disambig.errors import UserError
from disambig.server import AllowedOrigins

NAMED = AllowedOrigins.from_options(
    hosts=["checker.internal"], origins=["https://Good.example/", "chrome-extension://*", "app://obsidian.md"]
)


@pytest.mark.parametrize("host", ["127.0.0.1:8081", "localhost", "LOCALHOST:1", "[::1]:8081", "10.0.0.7", ""])
def test_addresses_and_this_machine_are_known(host):
    assert AllowedOrigins().check("GET", {"host": host}) == ""


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "[::1",
        "a@b",
        "evil.example@localhost",
        "localhost/a",
        "localhost?a",
        "localhost#a",
    ],
)
def test_other_names_are_not(host):
    with pytest.raises(UserError) as caught:
        AllowedOrigins().check("GET", {"host": host})
    assert caught.value.code == "D886"


def test_a_named_host_is_known():
    assert NAMED.check("GET", {"host": "Checker.internal:8081"}) == ""


@pytest.mark.parametrize("origin", ["https://good.example", "chrome-extension://abc", "app://obsidian.md"])
def test_named_origins_may_ask(origin):
    assert NAMED.check("POST", {"host": "localhost", "origin": origin}) == origin


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://good.example"},
        {"origin": "moz-extension://abc"},
        {"origin": "null"},
        {"origin": "https://localhost"},
        {"sec-fetch-mode": "no-cors", "sec-fetch-site": "cross-site"},
        {"sec-fetch-mode": "no-cors", "sec-fetch-site": "same-site"},
    ],
    ids=str,
)
def test_others_may_not(headers):
    with pytest.raises(UserError) as caught:
        NAMED.check("GET", {"host": "localhost", **headers})
    assert caught.value.code == "D886"


def test_the_page_itself_and_a_link_to_it_may():
    assert NAMED.check("POST", {"host": "localhost:8081", "origin": "http://localhost:8081"}) == ""
    followed = {"host": "localhost", "sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site"}
    assert NAMED.check("GET", followed) == ""


@pytest.mark.parametrize("origin", ["*", "null", "https://*", "*.example", "example.org", "https://a/b", ""])
def test_what_is_no_origin_is_refused(origin):
    with pytest.raises(UserError) as caught:
        AllowedOrigins.from_options(hosts=[], origins=[origin])
    assert caught.value.code == "D882"
