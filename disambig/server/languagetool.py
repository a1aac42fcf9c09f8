"""The public HTTP interface of LanguageTool: requests, rules, languages and matches."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from disambig import __version__
from disambig.checking import (
    Flag,
    FlagCandidate,
    TextLines,
    find_flags,
    flag_candidates,
    read_directives,
    sentence_around,
    surest,
    tasks_at,
)
from disambig.errors import UserError
from disambig.formats import AnnotatedDocument, text_problem
from disambig.formatting import escape_control_chars
from disambig.markup import PlainText
from disambig.server.annotated_text import (
    AnnotatedText,
    Utf16Offsets,
    parse_annotation,
    plain_annotated,
    utf16_length,
)
from disambig.server.checker import ServerChecker
from disambig.server.middleware import unclear_request
from disambig.types import Task, concerns

PREFIX = "DISAMBIG_"


@dataclass(frozen=True, slots=True)
class LanguageToolRule:
    """A rule.

    Attributes
    ----------
    id : str
        Begins with `PREFIX`; clients take ids with MORFOLOGIK, HUNSPELL or SPELLER for spelling.
    description, short : str
        In a sentence, in two words.
    category, category_name : str
    issue : str
        Type of the Internationalization Tag Set.
    """

    id: str
    description: str
    short: str
    category: str
    category_name: str
    issue: str


_KINDS = {
    "grammar": ("Grammar", "GRAMMAR", "Grammar", "grammar"),
    "confusion": ("Confused words", "CONFUSED_WORDS", "Commonly Confused Words", "uncategorized"),
    "repetition": ("Repeated word", "MISC", "Miscellaneous", "duplication"),
    "other": ("Another word", "MISC", "Miscellaneous", "uncategorized"),
}


def task_rule(task: Task) -> LanguageToolRule:
    """Return the rule of a task."""
    return _rule(task.name, concerns(task), type(task))


@lru_cache(maxsize=256)
def _rule(task: str, kind: str, made_by: type) -> LanguageToolRule:
    name = PREFIX + re.sub(r"\W", "_", task).upper()
    said = (inspect.getdoc(made_by) or "").partition("\n")[0] or f"The task {task!r} proposes other words."
    short, category, category_name, issue = _KINDS.get(kind, _KINDS["other"])
    return LanguageToolRule(name, said, short, category, category_name, issue)


def rule_as_json(rule: LanguageToolRule) -> dict[str, str]:
    """Return a rule as ``/v2/configinfo`` lists it."""
    return {
        "ruleId": rule.id,
        "description": rule.description,
        "categoryId": rule.category,
        "categoryName": rule.category_name,
        "issueType": rule.issue,
    }


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


def find_language(asked: str, codes: Sequence[str]) -> dict[str, str]:
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

    def wants(self, rule: LanguageToolRule) -> bool:
        """Tell whether matches of a rule are asked for."""
        if self.enabled_only:
            return rule.id in self.enabled_rules or rule.category in self.enabled_categories
        if rule.id in self.disabled_rules:
            return False
        return rule.category not in self.disabled_categories or rule.id in self.enabled_rules


def parse_form(*encoded: bytes) -> dict[str, str]:
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
            raise unclear_request("the form is not UTF-8") from None
        except ValueError:
            raise unclear_request(f"the form has more than {_MOST_FIELDS} fields") from None
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
        raise unclear_request("missing 'language' parameter, e.g. 'language=en-US' or 'language=auto'")
    enabled_rules, disabled_rules = _split_list(fields, "enabledRules"), _split_list(fields, "disabledRules")
    enabled, disabled = _split_list(fields, "enabledCategories"), _split_list(fields, "disabledCategories")
    only = fields.get("enabledOnly", "").lower() in _YES
    if only and (disabled_rules or disabled):
        raise unclear_request("you cannot specify disabled rules or categories using enabledOnly=true")
    if only and not (enabled_rules or enabled):
        raise unclear_request("you must specify enabled rules or categories when using enabledOnly=true")
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
        flags_per_1000=parse_rate(fields.get("flagsPer1000")),
    )


def parse_rate(value: object) -> float | None:
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
        raise unclear_request(f"{str(value)[:40]!r} is no rate of flags: give a number such as 1")
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
    if problem := text_problem(text):
        raise unclear_request(f"there is {problem}")
    return text


def parse_json(data: str | bytes, what: str) -> Any:
    """Return JSON that a client sent.

    Raises
    ------
    UserError
        D883 where it is none.
    """
    try:
        return json.loads(data)
    except json.JSONDecodeError as problem:
        raise unclear_request(f"{what} is no JSON: {problem.msg}, column {problem.colno}") from None
    except (ValueError, RecursionError) as problem:
        raise unclear_request(f"{what} is no JSON: {type(problem).__name__}") from None


def _text(fields: Mapping[str, str], max_text: int) -> AnnotatedText:
    text, data = fields.get("text"), fields.get("data")
    if text is None and data is None:
        raise unclear_request("missing 'text' or 'data' parameter")
    if text is not None and data is not None:
        raise unclear_request("set only 'text' or 'data' parameter, not both")
    if text is not None:
        return plain_annotated(check_text(text, max_text=max_text))
    found = parse_json(data or "", "'data'")
    if isinstance(found, dict) and isinstance(found.get("text"), str) and "annotation" not in found:
        return plain_annotated(check_text(found["text"], max_text=max_text))
    annotation = found.get("annotation") if isinstance(found, dict) else None
    if not isinstance(annotation, list):
        raise unclear_request("'data' has neither 'annotation', a list, nor 'text'")
    try:
        pieces = parse_annotation(annotation)
    except ValueError as problem:
        raise unclear_request(f"'data': {problem}") from None
    whole = AnnotatedText.from_pieces(pieces)
    for each in (whole.read, whole.shown):
        check_text(each, max_text=max_text)
    return whole


def _split_list(fields: Mapping[str, str], key: str) -> frozenset[str]:
    return frozenset(filter(None, (each.strip().upper() for each in fields.get(key, "").split(","))))


_NAME = "text"
MOST_FLAGS = 5_000
"""Flags of a text that are shown: the surest."""
_BEFORE = re.compile(r"\S+[^\S\r\n]*\Z")
_AFTER = re.compile(r"[^\S\r\n]*\S+")
_FAR = 80  # characters in which the word beside is looked for


@dataclass(frozen=True, slots=True)
class Proposal:
    """What should stand there, with the probability that it should."""

    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class ShownFlag:
    """A flag as an edit that is neither empty nor invisible.

    Attributes
    ----------
    flag : Flag
        Its offsets are those into the text as it is read.
    start, end : int
        Offsets into the text as the user has it. Where a word is missing or one too many, the word beside
        is taken along.
    proposals : tuple of Proposal
        What to put there: that of the flag, those of less sure tasks, and other candidates.
    """

    flag: Flag
    start: int
    end: int
    proposals: tuple[Proposal, ...]


def shown_flags(text: AnnotatedText, found: AnnotatedDocument, checker: ServerChecker) -> list[ShownFlag]:
    """Return the flags of a decided text that are to be shown, in text order; `MOST_FLAGS` at most."""
    decisions = [each for each in found.decisions if each.flagged.any()]
    checked = find_flags(_NAME, text.read, PlainText(text.read), decisions, ignore=checker.ignore)
    directives = read_directives(_NAME, text.shown, text.comments, TextLines(text.shown))
    shown = []
    flags = surest(checked.flags, 1000, MOST_FLAGS)
    candidates = flag_candidates(flags, decisions, text.read, checker.loaded)
    for flag, listed in zip(flags, candidates, strict=True):
        each = _show_flag(flag, text, listed)
        tasks = flag.task, *tasks_at(flag.start, flag.end, flag.alternatives)
        if each and not directives.hiding(each.start, flag.observed, *tasks):
            shown.append(each)
    apart = _apart(shown)
    kept = surest([each.flag for each in apart], checked.words, checker.max_flags_per_1000)
    chosen = set(map(id, kept))
    return [each for each in apart if id(each.flag) in chosen]


def _show_flag(flag: Flag, text: AnnotatedText, candidates: Sequence[FlagCandidate]) -> ShownFlag | None:
    """Return a flag as it is shown; None where it cannot be, because markup is in the way."""
    start, end, new = flag.edit
    for first, last in _widen(text.read, start, end, bool(flag.replacement)):
        whole = text.read[first:start] + new + text.read[end:last]
        while last > first and whole[-1:].isspace() and whole[-1] == text.read[last - 1]:
            last, whole = last - 1, whole[:-1]
        if last > first and (place := text.place(first, last)):
            proposals = [Proposal(whole, flag.probability)]
            for other in candidates[1:]:
                begin, stop, put = other.edit
                if first <= begin and stop <= last:
                    changed = text.read[first:begin] + put + text.read[stop:last]
                    proposals += [Proposal(changed, other.probability)] if changed.strip() else []
            return ShownFlag(flag, *place, _distinct(proposals, text.read[first:last]))
    return None


def _apart(shown: Sequence[ShownFlag]) -> list[ShownFlag]:
    """Return the flags without those that overlap a surer one, now that words beside them belong to them."""
    kept: list[ShownFlag] = []
    for each in sorted(shown, key=lambda each: (each.start, each.end)):
        if not kept or kept[-1].end <= each.start:
            kept.append(each)
        elif kept[-1].flag.probability < each.flag.probability:
            kept[-1] = each
    return kept


def _widen(text: str, start: int, end: int, puts: bool) -> list[tuple[int, int]]:
    """Return stretches around an edit in which something stands before and after, the best first."""
    if start < end and puts:
        return [(start, end)]
    before = _BEFORE.search(text, max(0, start - _FAR), start)
    after = _AFTER.match(text, end, end + _FAR)
    found = [(before.start(), end)] if before and start < end else []
    found += [(start, after.end())] if after else []
    found += [(before.start(), end)] if before and start == end else []
    return [*found, (start, end)]


def _distinct(proposals: Sequence[Proposal], observed: str) -> tuple[Proposal, ...]:
    first: dict[str, Proposal] = {}
    for each in proposals:
        if each.text != observed:
            first.setdefault(each.text, each)
    return tuple(first.values())


SOFTWARE = {
    "name": "disambig",
    "version": __version__,
    "buildDate": "",
    "apiVersion": 1,
    "premium": False,
    "premiumHint": "",
    "status": "",
}
AROUND = 40
"""Characters of context on each side."""


def answer(
    matches: Sequence[tuple[ShownFlag, LanguageToolRule]],
    text: AnnotatedText,
    *,
    language: dict[str, str],
    whole: bool = True,
) -> dict[str, Any]:
    """Return the whole answer.

    Parameters
    ----------
    language : dict
        As `find_language` returns it.
    whole : bool
        Whether all matches are there.
    """
    offsets = Utf16Offsets(text.shown)
    spoken = {"name": language["name"], "code": language["longCode"]}
    return {
        "software": SOFTWARE,
        "warnings": {"incompleteResults": not whole},
        "language": {**spoken, "detectedLanguage": {**spoken, "confidence": 1.0, "source": "disambig"}},
        "matches": [_match(each, rule, text, offsets) for each, rule in matches],
    }


def _match(
    shown: ShownFlag, rule: LanguageToolRule, text: AnnotatedText, offsets: Utf16Offsets
) -> dict[str, Any]:
    flag = shown.flag
    start = offsets.count(shown.start)
    return {
        "message": message(shown),
        "shortMessage": rule.short,
        "replacements": [_replacement(each) for each in shown.proposals],
        "offset": start,
        "length": offsets.count(shown.end) - start,
        "context": context(text.shown, shown.start, shown.end),
        "sentence": sentence_around(text.read, flag.start, flag.end),
        "type": {"typeName": "Other"},
        "rule": {
            "id": rule.id,
            "description": rule.description,
            "issueType": rule.issue,
            "category": {"id": rule.category, "name": rule.category_name},
        },
        "ignoreForIncompleteSentence": False,
        "contextForSureMatch": 0,
    }


def message(shown: ShownFlag) -> str:
    """Return a flag as a question, with how often such flags were right; if unknown, how probable it is."""
    flag = shown.flag
    observed, meant = (
        escape_control_chars(" ".join(each.split())) for each in (flag.observed, flag.replacement)
    )
    sure = f"{round(100 * flag.probability)} % sure"
    if flag.trust is not None:
        sure = f"of such flags {round(100 * flag.trust.share)} % were right"
    if not observed:
        return f"Is “{meant}” missing here? ({sure})"
    if not meant:
        return f"Is “{observed}” one word too many? ({sure})"
    return f"Did you mean “{meant}” in place of “{observed}”? ({sure})"


def context(text: str, start: int, end: int) -> dict[str, Any]:
    """Return what stands around a place, in a line."""
    first, last = max(0, start - AROUND), min(len(text), end + AROUND)
    before = ("..." if first else "") + text[first:start]
    after = text[end:last] + ("..." if last < len(text) else "")
    line = "".join(" " if each in "\r\n\t" else each for each in before + text[start:end] + after)
    return {"text": line, "offset": utf16_length(before), "length": utf16_length(text[start:end])}


def _replacement(proposal: Proposal) -> dict[str, Any]:
    return {"value": proposal.text, "confidence": round(proposal.probability, 4)}
