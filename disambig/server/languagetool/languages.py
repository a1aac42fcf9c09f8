"""Languages by the codes and names of LanguageTool's interface."""

from __future__ import annotations

from collections.abc import Sequence

from disambig.errors import UserError

AUTO = "auto"
NAMES = {"en": "English", "ja": "Japanese"}
REGIONS = {
    "en": {
        "AU": "Australian",
        "CA": "Canadian",
        "GB": "GB",
        "NZ": "New Zealand",
        "US": "US",
        "ZA": "South African",
    }
}
"""Clients ask for one of these; what is decided is the same in all."""


def languages(codes: Sequence[str]) -> list[dict[str, str]]:
    """Return the languages as ``/v2/languages`` lists them."""
    found = []
    for code in codes:
        name = NAMES.get(code, code)
        found.append({"name": name, "code": code, "longCode": code})
        for region, adjective in REGIONS.get(code, {}).items():
            found.append({"name": f"{name} ({adjective})", "code": code, "longCode": f"{code}-{region}"})
    return found


def language_of(asked: str, codes: Sequence[str]) -> dict[str, str]:
    """Return the language that a request means; for ``auto`` the first there is.

    Raises
    ------
    UserError
        D884 for one that is not there.
    """
    known = languages(codes)
    wanted = asked.replace("_", "-").lower()
    for each in known:
        if wanted in (AUTO, each["longCode"].lower()):
            return each
    raise UserError("D884", asked=asked[:40], names=", ".join(each["longCode"] for each in known))
