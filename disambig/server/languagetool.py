"""LanguageTool's public HTTP interface: requests, rules, languages, annotated texts and matches."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from disambig import __version__
from disambig.checking import (
    Flag,
    FlagCandidate,
    TextLines,
    find_flags,
    flag_candidates,
    flag_question,
    most_certain,
    read_directives,
    sentence_around,
)
from disambig.data import check_writing
from disambig.decision import edits_to_keep
from disambig.errors import UserError
from disambig.formats import AnnotatedDocument, text_problem
from disambig.markup import PlainText, read_markup
from disambig.rules import Rule
from disambig.server.checker import ServerChecker
from disambig.server.middleware import unclear_request
from disambig.text import LANGUAGE_NAMES, NO_LANGUAGE, ForeignParagraph

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class Utf16Offsets:
    """Offsets of one text, converted from characters to UTF-16 code units."""

    def __init__(self, text: str) -> None:
        self._astral = [] if text.isascii() else [match.start() for match in _ASTRAL.finditer(text)]

    def count(self, offset: int) -> int:
        """Return the number of code units before the character at `offset`."""
        return offset + bisect_left(self._astral, offset)


def utf16_length(text: str) -> int:
    """Return the length of a text in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_LINE_COMMENT = re.compile(r"%+[^\S\n]*disambig\s*:[^\n]*")


class AnnotatedPiece(NamedTuple):
    """A piece of a text."""

    original: str  # the piece as the user wrote it
    # the text that a piece of markup stands for, often ""; None for a piece of text
    interpretation: str | None = None


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A text with markup, and the same text without it."""

    plain: str  # the text that is checked, with markup replaced by its interpretation
    original: str  # the text as the user wrote it
    comments: tuple[tuple[int, int], ...]  # comments in `original`, which may be directives
    starts: tuple[int, ...]  # start of each run of text in `plain`, in ascending order
    # the runs of text: offsets into `plain`, and the number to add to them for offsets into `original`
    runs: tuple[tuple[int, int, int], ...]

    @classmethod
    def from_pieces(cls, pieces: Iterable[AnnotatedPiece]) -> AnnotatedText:
        """Join pieces to a text; adjacent pieces of text form one run."""
        plain: list[str] = []
        original: list[str] = []
        runs: list[tuple[int, int, int]] = []
        comments: list[tuple[int, int]] = []
        start = original_start = 0
        for piece in pieces:
            new = piece.original if piece.interpretation is None else piece.interpretation
            end, shift = start + len(new), original_start - start
            if piece.interpretation is not None:
                for match in _LINE_COMMENT.finditer(piece.original):
                    comments.append((original_start + match.start(), original_start + match.end()))
            elif runs and runs[-1][1:] == (start, shift):
                # Nothing is between the two pieces in either text, so a flag may span both.
                runs[-1] = (runs[-1][0], end, shift)
            elif new:
                runs.append((start, end, shift))
            plain.append(new)
            original.append(piece.original)
            start, original_start = end, original_start + len(piece.original)
        whole = "".join(original)
        # in the whole original: a client may send a comment of HTML as text or as markup
        comments += read_markup("text", whole).comments
        return cls("".join(plain), whole, tuple(sorted(comments)), tuple(run[0] for run in runs), tuple(runs))

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the offsets of ``plain[start:end]`` in `original`; None if it is not inside one run."""
        index = bisect_right(self.starts, start) - 1
        if index < 0 or end > self.runs[index][1]:
            return None
        shift = self.runs[index][2]
        return start + shift, end + shift


def plain_annotated(text: str) -> AnnotatedText:
    """Return a text without markup."""
    return AnnotatedText.from_pieces((AnnotatedPiece(text),))


def parse_annotation(annotation: Sequence[object]) -> list[AnnotatedPiece]:
    """Return the pieces of an annotation that a client sent.

    Raises `ValueError` if an item is not a valid piece; the message gives the reason.
    """
    pieces = []
    for number, entry in enumerate(annotation):
        if not isinstance(entry, dict):
            raise ValueError(f"annotation {number} is not an object")
        text, markup, interpretation = values = [entry.get(key) for key in ("text", "markup", "interpretAs")]
        if any(value is not None and not isinstance(value, str) for value in values):
            raise ValueError(f"text, markup or interpretAs of annotation {number} is not a string")
        if text is not None and markup is not None:
            raise ValueError(f"annotation {number} has both text and markup")
        if text is not None and interpretation is not None:
            raise ValueError(f"annotation {number} has text and interpretAs, which is only for markup")
        if text is None and markup is None:
            raise ValueError(f"annotation {number} has neither text nor markup")
        pieces.append(
            AnnotatedPiece(markup or "", interpretation or "") if text is None else AnnotatedPiece(text)
        )
    return pieces


PREFIX = "DISAMBIG_"


@dataclass(frozen=True, slots=True)
class LanguageToolRule:
    """A rule in the form of LanguageTool's interface."""

    id: str  # begins with `PREFIX`; clients treat ids with MORFOLOGIK, HUNSPELL or SPELLER as spelling rules
    # a sentence, and a short name
    description: str
    short: str
    # id and name of the category
    category: str
    category_name: str
    issue: str  # issue type of the Internationalization Tag Set
    url: str = ""  # address of the documentation; "" if there is none


_CATEGORIES = {
    "grammar": ("Grammar", "GRAMMAR", "Grammar", "grammar"),
    "confusion": ("Confused words", "CONFUSED_WORDS", "Commonly Confused Words", "uncategorized"),
    "repetition": ("Repeated word", "MISC", "Miscellaneous", "duplication"),
    "other": ("Another word", "MISC", "Miscellaneous", "uncategorized"),
}


def rule_id(name: str) -> str:
    """Return the id of a rule. The name of a task, which older versions used, also has an id."""
    return PREFIX + re.sub(r"\W", "_", name).upper()


@lru_cache(maxsize=256)
def languagetool_rule(rule: Rule) -> LanguageToolRule:
    """Return a rule in the form of LanguageTool's interface."""
    short, category, category_name, issue = _CATEGORIES.get(rule.concern, _CATEGORIES["other"])
    return LanguageToolRule(rule_id(rule.name), rule.title, short, category, category_name, issue, rule.url)


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
"""Regional variants that clients may ask for; the results are the same for all of them."""


def languages(codes: Sequence[str]) -> list[dict[str, str]]:
    """Return the languages as ``/v2/languages`` lists them."""
    entries = []
    for code in codes:
        name = LANGUAGE_NAMES.get(code, code)
        entries.append({"name": name, "code": code, "longCode": code})
        for region, adjective in REGIONS.get(code, {}).items():
            entries.append({"name": f"{name} ({adjective})", "code": code, "longCode": f"{code}-{region}"})
    return entries


def find_language(name: str, codes: Sequence[str], preferred_variants: Sequence[str] = ()) -> dict[str, str]:
    """Return the language that a request names; for ``auto``, the first language.

    Raises D884 if there is no such language or variant.

    `name`: language code as the client sent it.
    `codes`: the languages of the models.
    `preferred_variants`: codes such as ``"en-GB"``. For ``auto``, the last one that is a variant of the first
    language is returned; those of other languages have no effect.
    """
    available = languages(codes)
    requested = _normal_code(name)
    # LanguageTool detects the language; we decide only in the language of the models.
    if requested == AUTO and available:
        chosen = available[0]
        for code in preferred_variants:
            if _normal_code(code).split("-")[0] == available[0]["code"]:
                chosen = find_language(code, codes)
        return chosen
    for language in available:
        if requested == language["longCode"].lower():
            return language
    raise UserError("D884", asked=name[:40], names=", ".join(language["longCode"] for language in available))


def _normal_code(code: str) -> str:
    return code.strip().replace("_", "-").lower()


_MAX_FIELDS = 200
_YES = ("true", "yes")
_PICKY, _TEXT_LEVEL_ONLY = "picky", "textLevelOnly"
_LEVELS = (
    "default",
    _PICKY,
    *"academic clarity creative customer elegant jobapp objective professional".split(),
)
"""The levels that LanguageTool accepts; only `_PICKY` has an effect here."""
_MODES = ("all", _TEXT_LEVEL_ONLY, "allButTextLevelOnly", "batch")


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A parsed request to ``/v2/check``."""

    text: AnnotatedText
    language: str  # language code as the client sent it
    # codes of the variants to use if `language` is ``"auto"``, such as ``"en-GB"``
    preferred_variants: tuple[str, ...]
    enabled_rules: frozenset[str]
    disabled_rules: frozenset[str]
    enabled_categories: frozenset[str]
    disabled_categories: frozenset[str]
    enabled_only: bool
    picky: bool
    text_level_only: bool  # whether only rules for whole texts are requested; we have no such rules
    flags_per_1000: float | None  # our own extension: accepted number of false alarms per 1,000 words
    writing: str | None = None  # our own extension: kind of writing

    def includes(self, rule: LanguageToolRule, task: str) -> bool:
        """Return True if matches of a rule are requested, by the name of the rule or of its task."""
        ids = {rule.id, rule_id(task)}
        if self.enabled_only:
            return bool(ids & self.enabled_rules) or rule.category in self.enabled_categories
        if ids & self.disabled_rules:
            return False
        return rule.category not in self.disabled_categories or bool(ids & self.enabled_rules)


def parse_form(*encoded: bytes) -> dict[str, str]:
    """Return the fields of forms; later forms take precedence.

    Raises D883 if a form is not UTF-8 or has too many fields.
    """
    fields: dict[str, str] = {}
    for form in encoded:
        try:
            pairs = parse_qsl(
                form.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS
            )
        except UnicodeError:
            raise unclear_request("the form is not UTF-8") from None
        except ValueError:
            raise unclear_request(f"the form has more than {_MAX_FIELDS} fields") from None
        fields |= dict(pairs)
    return fields


def parse_check_request(fields: Mapping[str, str], *, max_text: int) -> CheckRequest:
    """Parse the fields of a form; unknown fields are ignored.

    Raises D883 for missing, contradictory or invalid fields, D885 for a text that is too long.
    """
    language = fields.get("language", "").strip()
    if not language:
        raise unclear_request("missing 'language' parameter, e.g. 'language=en-US' or 'language=auto'")
    enabled_rules, disabled_rules, enabled_categories, disabled_categories = (
        _split_list(fields, key)
        for key in ("enabledRules", "disabledRules", "enabledCategories", "disabledCategories")
    )
    enabled_only = fields.get("enabledOnly", "").lower() in _YES
    # These messages have LanguageTool's wording, because clients may compare them.
    if enabled_only and (disabled_rules or disabled_categories):
        raise unclear_request("you cannot specify disabled rules or categories using enabledOnly=true")
    if enabled_only and not (enabled_rules or enabled_categories):
        raise unclear_request("you must specify enabled rules or categories when using enabledOnly=true")
    return CheckRequest(
        text=_parse_text(fields, max_text),
        language=language,
        preferred_variants=_preferred_variants(fields, language),
        enabled_rules=enabled_rules,
        disabled_rules=disabled_rules,
        enabled_categories=enabled_categories,
        disabled_categories=disabled_categories,
        enabled_only=enabled_only,
        picky=_choice(fields, "level", _LEVELS) == _PICKY,
        text_level_only=_choice(fields, "mode", _MODES) == _TEXT_LEVEL_ONLY,
        flags_per_1000=parse_rate(fields.get("flagsPer1000")),
        writing=parse_writing(fields.get("writing")),
    )


def parse_rate(value: object) -> float | None:
    """Return the rate that a client requests; None if it requests none. Raises D883 for an invalid rate."""
    if value in (None, ""):
        return None
    try:
        rate = float(str(value))
    except ValueError:
        rate = -1.0
    if isinstance(value, bool) or not 0 <= rate < float("inf"):
        raise unclear_request(f"invalid rate of flags {str(value)[:40]!r}: expected a number such as 1")
    return rate


def parse_writing(value: object) -> str | None:
    """Return the kind of writing that a client names; None if it does not name one.

    Raises D883 for an unknown kind of writing.
    """
    if value in (None, ""):
        return None
    try:
        return check_writing(value)
    except UserError as problem:
        raise unclear_request(problem.text) from None


def check_text(text: str, *, max_text: int) -> str:
    """Return the text if it can be checked.

    Raises D883 if it contains characters that are not text, D885 if it is too long.
    """
    if len(text) > max_text:
        raise UserError("D885", what="the text", limit=max_text, unit="characters")
    if problem := text_problem(text):
        raise unclear_request(f"the request has {problem}")
    return text


def parse_json(data: str | bytes, what: str) -> Any:
    """Parse JSON that a client sent; `what` names it in messages. Raises D883 if it is not valid JSON."""
    try:
        return json.loads(data)
    except json.JSONDecodeError as problem:
        raise unclear_request(f"{what} is not valid JSON: {problem.msg}, column {problem.colno}") from None
    except UnicodeDecodeError:
        raise unclear_request(f"{what} is not valid UTF-8") from None
    except (ValueError, RecursionError) as problem:
        raise unclear_request(f"{what} is not valid JSON: {type(problem).__name__}") from None


def _parse_text(fields: Mapping[str, str], max_text: int) -> AnnotatedText:
    """Return the text of a request: the field ``text``, or the JSON in the field ``data``."""
    text, data = fields.get("text"), fields.get("data")
    if text is None and data is None:
        raise unclear_request("missing 'text' or 'data' parameter")
    if text is not None and data is not None:
        raise unclear_request("set only 'text' or 'data' parameter, not both")
    if text is not None:
        return plain_annotated(check_text(text, max_text=max_text))
    value = parse_json(data or "", "'data'")
    if isinstance(value, dict) and isinstance(value.get("text"), str) and "annotation" not in value:
        return plain_annotated(check_text(value["text"], max_text=max_text))
    annotation = value.get("annotation") if isinstance(value, dict) else None
    if not isinstance(annotation, list):
        raise unclear_request("'data' has neither a list 'annotation' nor 'text'")
    try:
        pieces = parse_annotation(annotation)
    except ValueError as problem:
        raise unclear_request(f"'data': {problem}") from None
    whole = AnnotatedText.from_pieces(pieces)
    for version in (whole.plain, whole.original):
        check_text(version, max_text=max_text)
    return whole


def _preferred_variants(fields: Mapping[str, str], language: str) -> tuple[str, ...]:
    is_detected = _normal_code(language) == AUTO or fields.get("multilingual", "false") != "false"
    # language_tool_python sends them with any language; LanguageTool rejects that, but we ignore them.
    if "preferredVariants" not in fields or not is_detected:
        return ()
    variants = tuple(code.strip() for code in fields["preferredVariants"].split(","))
    for code in variants:
        if "-" not in code.replace("_", "-"):
            raise unclear_request(
                f"invalid format for 'preferredVariants', expected a dash as in 'en-GB': {code[:40]!r}"
            )
    return variants


def _choice(fields: Mapping[str, str], key: str, choices: Sequence[str]) -> str:
    """Return the value of a field, ignoring its case; by default the first of `choices`."""
    value = fields.get(key, "").strip()
    for choice in choices:
        if value.lower() in ("", choice.lower()):
            return choice
    raise unclear_request(f"invalid {key!r} {value[:40]!r}: expected one of {', '.join(choices)}")


def _split_list(fields: Mapping[str, str], key: str) -> frozenset[str]:
    return frozenset(filter(None, (name.strip().upper() for name in fields.get(key, "").split(","))))


_NAME = "text"
MAX_FLAGS = 5_000
"""Maximum number of flags per text; the most certain ones are returned."""
_WORD_BEFORE = re.compile(r"\S+[^\S\r\n]*\Z")
_WORD_AFTER = re.compile(r"[^\S\r\n]*\S+")
_MAX_DISTANCE = 80
"""Number of characters in which the neighbouring word is searched."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A replacement, with the measured share of such flags that were right; None if it was not measured."""

    text: str
    share: float | None = None


@dataclass(frozen=True, slots=True)
class VisibleFlag:
    """A flag as an edit of a non-empty span of the original text, which LanguageTool's clients require."""

    flag: Flag  # the flag; its offsets refer to `AnnotatedText.plain`
    # offsets into `AnnotatedText.original`. If a word is missing or superfluous, the neighbouring word is
    # included
    start: int
    end: int
    # replacements: that of the flag, those of less certain tasks, and other candidates of the model
    proposals: tuple[Proposal, ...]


def visible_flags(
    text: AnnotatedText, document: AnnotatedDocument, checker: ServerChecker
) -> list[VisibleFlag]:
    """Return the flags of an annotated text that can be shown, in text order; at most `MAX_FLAGS`."""
    decisions = [of_task for of_task in document.decisions if of_task.flagged.any()]
    checked = find_flags(_NAME, text.plain, PlainText(text.plain), decisions, ignore=checker.ignore)
    directives = read_directives(_NAME, text.original, text.comments, TextLines(text.original))
    # Limit the number before candidates are computed, which is slower: MAX_FLAGS per 1,000 of 1,000 words.
    flags = most_certain(checked.flags, 1000, MAX_FLAGS)
    all_candidates = flag_candidates(flags, decisions, text.plain, checker.loaded)
    visible = []
    for flag, candidates in zip(flags, all_candidates, strict=True):
        visible_flag = make_visible(flag, text, candidates)
        if visible_flag and not directives.hiding(visible_flag.start, flag.observed, *flag.names):
            visible.append(visible_flag)
    # Flags that did not overlap may do so now that neighbouring words are included.
    visible = _without_overlaps(visible)
    kept = most_certain(
        [visible_flag.flag for visible_flag in visible], checked.words, checker.max_flags_per_1000
    )
    kept_ids = set(map(id, kept))  # a flag has no hash
    return [visible_flag for visible_flag in visible if id(visible_flag.flag) in kept_ids]


def make_visible(flag: Flag, text: AnnotatedText, candidates: Sequence[FlagCandidate]) -> VisibleFlag | None:
    """Return a flag as an edit of non-empty original text; None if markup prevents that."""
    start, end, new = flag.edit
    for first, last in _widen(text.plain, start, end, bool(flag.replacement)):
        replacement = text.plain[first:start] + new + text.plain[end:last]
        # a space at the end that stays as it is does not belong to the match
        while last > first and replacement[-1:].isspace() and replacement[-1] == text.plain[last - 1]:
            last, replacement = last - 1, replacement[:-1]
        if last > first and (span := text.original_span(first, last)):
            proposals = [Proposal(replacement, None if flag.trust is None else flag.trust.share)]
            for candidate in candidates[1:]:
                other_start, other_end, other_new = candidate.edit
                if first <= other_start and other_end <= last:
                    changed = text.plain[first:other_start] + other_new + text.plain[other_end:last]
                    proposals += [Proposal(changed)] if changed.strip() else []
            return VisibleFlag(flag, *span, _unique_proposals(proposals, text.plain[first:last]))
    return None


def _without_overlaps(flags: Sequence[VisibleFlag]) -> list[VisibleFlag]:
    """Return the flags whose spans, including neighbouring words, do not overlap a more certain one."""
    kept = edits_to_keep(
        [(flag.start, flag.end, flag.proposals[0].text if flag.proposals else "") for flag in flags],
        [flag.flag.probability for flag in flags],
        [flag.flag.task for flag in flags],
    )
    return [flags[i] for i in kept]


def _widen(text: str, start: int, end: int, has_replacement: bool) -> list[tuple[int, int]]:
    """Return spans around an edit that are not empty before or after the edit, the best one first."""
    if start < end and has_replacement:
        return [(start, end)]
    before = _WORD_BEFORE.search(text, max(0, start - _MAX_DISTANCE), start)
    after = _WORD_AFTER.match(text, end, end + _MAX_DISTANCE)
    spans = [(before.start(), end)] if before and start < end else []
    spans += [(start, after.end())] if after else []
    spans += [(before.start(), end)] if before and start == end else []
    return [*spans, (start, end)]


def _unique_proposals(proposals: Sequence[Proposal], observed: str) -> tuple[Proposal, ...]:
    """Return the first proposal of each text, without the observed text."""
    by_text: dict[str, Proposal] = {}
    for proposal in proposals:
        if proposal.text != observed:
            by_text.setdefault(proposal.text, proposal)
    return tuple(by_text.values())


SOFTWARE = {
    "name": "disambig",
    "version": __version__,
    "buildDate": "",
    "apiVersion": 1,
    "premium": False,
    "premiumHint": "",
    "status": "",
}
CONTEXT_LENGTH = 40
"""Number of characters of context on each side."""


def check_response(
    matches: Sequence[tuple[VisibleFlag, LanguageToolRule]],
    text: AnnotatedText,
    *,
    language: dict[str, str],
    is_complete: bool = True,
    foreign: Sequence[ForeignParagraph] = (),
) -> dict[str, Any]:
    """Return the response to a request to ``/v2/check``.

    `language`: as `find_language` returns it.
    `foreign`: paragraphs that were left alone. If they are most of the text, their language is the detected
    one.
    """
    offsets = Utf16Offsets(text.original)
    code_and_name = {"name": language["name"], "code": language["longCode"]}
    detected = {**_detect_language(code_and_name, text.plain, foreign), "source": "disambig"}
    return {
        "software": SOFTWARE,
        "warnings": {"incompleteResults": not is_complete},
        "language": {**code_and_name, "detectedLanguage": detected},
        "matches": [_match(flag, rule, text, offsets) for flag, rule in matches],
    }


def _detect_language(
    language: dict[str, str], text: str, foreign: Sequence[ForeignParagraph]
) -> dict[str, str | float]:
    """Return the language of most of a text, with its share of the characters as the confidence."""
    lengths: Counter[str] = Counter()
    for paragraph in foreign:
        if paragraph.language != NO_LANGUAGE:
            lengths[paragraph.language] += paragraph.end - paragraph.start
    text_length = max(len(text.strip()), 1)
    if 2 * lengths.total() <= text_length:
        return {**language, "confidence": 1.0}
    code, length = lengths.most_common(1)[0]
    share = round(min(length / text_length, 1.0), 3)
    return {"name": LANGUAGE_NAMES[code], "code": code, "confidence": share}


def _match(
    visible_flag: VisibleFlag, rule: LanguageToolRule, text: AnnotatedText, offsets: Utf16Offsets
) -> dict[str, Any]:
    """Return a match as ``/v2/check`` lists it."""
    flag = visible_flag.flag
    start = offsets.count(visible_flag.start)
    return {
        "message": flag_question(flag, "“”"),
        "shortMessage": rule.short,
        "replacements": [_replacement(proposal) for proposal in visible_flag.proposals],
        "offset": start,
        "length": offsets.count(visible_flag.end) - start,
        "context": context(text.original, visible_flag.start, visible_flag.end),
        "sentence": sentence_around(text.plain, flag.start, flag.end),
        "type": {"typeName": "Other"},
        "rule": {
            "id": rule.id,
            "description": rule.description,
            "issueType": rule.issue,
            "category": {"id": rule.category, "name": rule.category_name},
            **({"urls": [{"value": rule.url}]} if rule.url else {}),
        },
        "ignoreForIncompleteSentence": False,
        "contextForSureMatch": 0,
    }


def context(text: str, start: int, end: int) -> dict[str, Any]:
    """Return the context of a match on one line, with the offset of the match in it."""
    first, last = max(0, start - CONTEXT_LENGTH), min(len(text), end + CONTEXT_LENGTH)
    before = ("..." if first else "") + text[first:start]
    after = text[end:last] + ("..." if last < len(text) else "")
    line = "".join(" " if char in "\r\n\t" else char for char in before + text[start:end] + after)
    return {"text": line, "offset": utf16_length(before), "length": utf16_length(text[start:end])}


def _replacement(proposal: Proposal) -> dict[str, Any]:
    share = proposal.share
    return {"value": proposal.text, **({} if share is None else {"confidence": round(share, 4)})}
