"""What a client asks of ``/v2/check``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from disambig.errors import UserError
from disambig.formats.documents import unfit
from disambig.server.annotated import AnnotatedText, pieces_of, plain
from disambig.server.languagetool.rules import Rule
from disambig.server.refusals import unclear

_MOST_FIELDS = 200
_YES = ("true", "yes")
_NO_TEXT = "textlevelonly"


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A request that was understood.

    Attributes
    ----------
    text : AnnotatedText
    language : str
        As it was asked for.
    enabled_rules, disabled_rules, enabled_categories, disabled_categories : frozenset of str
    enabled_only, picky : bool
    nothing : bool
        Whether only rules are asked for that look at whole texts: there are none.
    flags_per_1000 : float or None
        A field of ours: false alarms to accept per 1,000 words.
    """

    text: AnnotatedText
    language: str
    enabled_rules: frozenset[str]
    disabled_rules: frozenset[str]
    enabled_categories: frozenset[str]
    disabled_categories: frozenset[str]
    enabled_only: bool
    picky: bool
    nothing: bool
    flags_per_1000: float | None

    def wants(self, rule: Rule) -> bool:
        """Tell whether matches of a rule are asked for."""
        if self.enabled_only:
            return rule.id in self.enabled_rules or rule.category in self.enabled_categories
        if rule.id in self.disabled_rules:
            return False
        return rule.category not in self.disabled_categories or rule.id in self.enabled_rules


def fields_of(*encoded: bytes) -> dict[str, str]:
    """Return the fields of forms, those of later ones above those of earlier.

    Raises
    ------
    UserError
        D883 where they are no UTF-8 or too many.
    """
    found: dict[str, str] = {}
    for each in encoded:
        try:
            pairs = parse_qsl(
                each.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
            )
        except UnicodeError:
            raise unclear("the form is not UTF-8") from None
        except ValueError:
            raise unclear(f"the form has more than {_MOST_FIELDS} fields") from None
        found |= dict(pairs)
    return found


def check_request(fields: Mapping[str, str], *, max_text: int) -> CheckRequest:
    """Return what the fields of a form ask for; unknown ones are passed over.

    Raises
    ------
    UserError
        D883 for fields that are missing or make no sense together, D885 for a text that is too long.
    """
    language = fields.get("language", "").strip()
    if not language:
        raise unclear("missing 'language' parameter, e.g. 'language=en-US' or 'language=auto'")
    enabled_rules, disabled_rules = _listed(fields, "enabledRules"), _listed(fields, "disabledRules")
    enabled, disabled = _listed(fields, "enabledCategories"), _listed(fields, "disabledCategories")
    only = fields.get("enabledOnly", "").lower() in _YES
    if only and (disabled_rules or disabled):
        raise unclear("you cannot specify disabled rules or categories using enabledOnly=true")
    if only and not (enabled_rules or enabled):
        raise unclear("you must specify enabled rules or categories when using enabledOnly=true")
    return CheckRequest(
        text=_text(fields, max_text),
        language=language,
        enabled_rules=enabled_rules,
        disabled_rules=disabled_rules,
        enabled_categories=enabled,
        disabled_categories=disabled,
        enabled_only=only,
        picky=fields.get("level", "").lower() == "picky",
        nothing=fields.get("mode", "").lower() == _NO_TEXT,
        flags_per_1000=rate_of(fields.get("flagsPer1000")),
    )


def rate_of(value: object) -> float | None:
    """Return a rate that a client asks for; None where it asks for none.

    Raises
    ------
    UserError
        D883 for what is no rate.
    """
    if value in (None, ""):
        return None
    try:
        rate = float(str(value))
    except ValueError:
        rate = -1.0
    if isinstance(value, bool) or not 0 <= rate < float("inf"):
        raise unclear(f"{str(value)[:40]!r} is no rate of flags: give a number such as 1")
    return rate


def check_text(text: str, *, max_text: int) -> str:
    """Return a text that may be decided.

    Raises
    ------
    UserError
        D883 where it holds what is no text, D885 where it is too long.
    """
    if len(text) > max_text:
        raise UserError("D885", what="the text", limit=max_text, unit="characters")
    if problem := unfit(text):
        raise unclear(f"there is {problem}")
    return text


def json_of(data: str | bytes, what: str) -> Any:
    """Return JSON that a client sent.

    Raises
    ------
    UserError
        D883 where it is none.
    """
    try:
        return json.loads(data)
    except json.JSONDecodeError as problem:
        raise unclear(f"{what} is no JSON: {problem.msg}, column {problem.colno}") from None
    except (ValueError, RecursionError) as problem:
        raise unclear(f"{what} is no JSON: {type(problem).__name__}") from None


def _text(fields: Mapping[str, str], max_text: int) -> AnnotatedText:
    text, data = fields.get("text"), fields.get("data")
    if text is None and data is None:
        raise unclear("missing 'text' or 'data' parameter")
    if text is not None and data is not None:
        raise unclear("set only 'text' or 'data' parameter, not both")
    if text is not None:
        return plain(check_text(text, max_text=max_text))
    found = json_of(data or "", "'data'")
    if isinstance(found, dict) and isinstance(found.get("text"), str) and "annotation" not in found:
        return plain(check_text(found["text"], max_text=max_text))
    annotation = found.get("annotation") if isinstance(found, dict) else None
    if not isinstance(annotation, list):
        raise unclear("'data' has neither 'annotation', a list, nor 'text'")
    try:
        pieces = pieces_of(annotation)
    except ValueError as problem:
        raise unclear(f"'data': {problem}") from None
    whole = AnnotatedText.of(pieces)
    for each in (whole.read, whole.shown):
        check_text(each, max_text=max_text)
    return whole


def _listed(fields: Mapping[str, str], key: str) -> frozenset[str]:
    return frozenset(filter(None, (each.strip().upper() for each in fields.get(key, "").split(","))))
