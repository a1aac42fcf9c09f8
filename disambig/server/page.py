"""The page to try it: one file, nothing loaded from elsewhere, nothing run that is not in it."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files

_INSIDE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
_RATE = 'data-rate=""'


@dataclass(frozen=True, slots=True)
class Page:
    """The page and the headers that it is sent with.

    Attributes
    ----------
    html : str
    headers : dict
    """

    html: str
    headers: dict[str, str]

    @classmethod
    def of(cls, flags_per_1000: float, *, least: float | None = None) -> Page:
        """Return the page of a server that shows flags at a rate.

        Parameters
        ----------
        flags_per_1000 : float
            In 1,000 words that are right.
        least : float, optional
            In place of the rate, the share of flags that is right.
        """
        html = files(__package__).joinpath("page.html").read_text(encoding="utf8")
        allowed = {kind: _hash(text) for kind, text in _INSIDE.findall(html)}
        policy = (
            "default-src 'none'; "
            f"script-src '{allowed['script']}'; style-src '{allowed['style']}'; "
            "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        headers = {"content-security-policy": policy, "x-frame-options": "DENY"}
        shown = f'data-rate="{flags_per_1000:g}"' if least is None else f'data-share="{least:g}"'
        return cls(html.replace(_RATE, shown), headers)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
