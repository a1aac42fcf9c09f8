"""What ``/v2/check`` answers. All offsets and lengths are UTF-16 code units of the user's text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disambig import __version__
from disambig.checking.fingerprints import sentence_around
from disambig.server.annotated import AnnotatedText
from disambig.server.flags import Proposal, Shown
from disambig.server.languagetool.rules import Rule
from disambig.server.utf16 import Utf16, units
from disambig.visible import visible

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
    matches: Sequence[tuple[Shown, Rule]],
    text: AnnotatedText,
    *,
    language: dict[str, str],
    whole: bool = True,
) -> dict[str, Any]:
    """Return the whole answer.

    Parameters
    ----------
    language : dict
        As `language_of` returns it.
    whole : bool
        Whether all matches are there.
    """
    offsets = Utf16(text.shown)
    spoken = {"name": language["name"], "code": language["longCode"]}
    return {
        "software": SOFTWARE,
        "warnings": {"incompleteResults": not whole},
        "language": {**spoken, "detectedLanguage": {**spoken, "confidence": 1.0, "source": "disambig"}},
        "matches": [_match(each, rule, text, offsets) for each, rule in matches],
    }


def _match(shown: Shown, rule: Rule, text: AnnotatedText, offsets: Utf16) -> dict[str, Any]:
    flag = shown.flag
    start = offsets.of(shown.start)
    return {
        "message": message(shown),
        "shortMessage": rule.short,
        "replacements": [_replacement(each) for each in shown.proposals],
        "offset": start,
        "length": offsets.of(shown.end) - start,
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


def message(shown: Shown) -> str:
    """Return a flag as a question, with how often such flags were right; if unknown, how probable it is."""
    flag = shown.flag
    observed, meant = (visible(" ".join(each.split())) for each in (flag.observed, flag.replacement))
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
    return {"text": line, "offset": units(before), "length": units(text[start:end])}


def _replacement(proposal: Proposal) -> dict[str, Any]:
    return {"value": proposal.text, "confidence": round(proposal.probability, 4)}
