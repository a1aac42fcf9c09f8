"""Who may ask: programs of this machine, the page that is served, and the origins that were named.

A browser sends the origin of a page with whatever that page asks for. And it sends the name under which the
server was reached: a page of somebody else may have a name of its own point to this machine (DNS rebinding),
so only addresses and known names are answered.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from disambig.errors import UserError

EXTENSIONS = ("chrome-extension", "moz-extension", "safari-web-extension")
"""Schemes of origins of which all may be allowed at once: their names are made at installation."""
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s?#@]+")
_NO_HOST = re.compile(r"[/?#@]")
_LOCAL = ("localhost", "")


@dataclass(frozen=True, slots=True)
class Origins:
    """What is allowed.

    Attributes
    ----------
    hosts : frozenset of str
        Names under which the server may be reached, beside addresses and ``localhost``.
    allowed : frozenset of str
        Origins, in lower case; ``moz-extension://*`` stands for all of a scheme in `EXTENSIONS`.
    """

    hosts: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *, hosts: list[str], origins: list[str]) -> Origins:
        """Return what options allow.

        Raises
        ------
        UserError
            D882 for what is no origin, or more than one.
        """
        return cls(frozenset(map(str.lower, hosts)), frozenset(map(_checked, origins)))

    def check(self, method: str, headers: Mapping[str, str]) -> str:
        """Return the foreign origin that asks and is allowed to; "" for programs and the page itself.

        Parameters
        ----------
        headers : mapping
            With names in lower case.

        Raises
        ------
        UserError
            D886 where host or origin is not allowed.
        """
        host = headers.get("host", "")
        if not self._is_known(host):
            raise UserError("D886", what="the host", value=host, option="--allow-host")
        origin = headers.get("origin", "").lower()
        if not origin:
            embedded = headers.get("sec-fetch-mode") == "no-cors"
            if embedded and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
                named = headers.get("referer", "another site")
                raise UserError("D886", what="a page of", value=named, option="--allow-origin")
            return ""
        if origin == f"http://{host.lower()}":
            return ""
        if origin in self.allowed or f"{origin.partition('://')[0]}://*" in self.allowed:
            return headers["origin"]
        raise UserError("D886", what="the origin", value=headers["origin"], option="--allow-origin")

    def _is_known(self, host: str) -> bool:
        if _NO_HOST.search(host):
            return False
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        if name in _LOCAL or name in self.hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _checked(origin: str) -> str:
    origin = origin.strip().lower().rstrip("/")
    scheme, _, rest = origin.partition("://")
    problem = ""
    if origin in ("*", "null"):
        problem = "that would be any page in any browser of this machine"
    elif "*" in origin and not (rest == "*" and scheme in EXTENSIONS):
        problem = "a * stands for all extensions of a browser, and for nothing else"
    elif not _ORIGIN.fullmatch(origin):
        problem = "this is no origin"
    if problem:
        raise UserError("D882", value=origin, problem=problem)
    return origin
