"""Tasks as rules with categories, in the words of LanguageTool's interface."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from functools import lru_cache

from disambig.fields import concerns
from disambig.types import Task

PREFIX = "DISAMBIG_"


@dataclass(frozen=True, slots=True)
class Rule:
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


def rule_of(task: Task) -> Rule:
    """Return the rule of a task."""
    return _rule(task.name, concerns(task), type(task))


@lru_cache(maxsize=256)
def _rule(task: str, kind: str, made_by: type) -> Rule:
    name = PREFIX + re.sub(r"\W", "_", task).upper()
    said = (inspect.getdoc(made_by) or "").partition("\n")[0] or f"The task {task!r} proposes other words."
    short, category, category_name, issue = _KINDS.get(kind, _KINDS["other"])
    return Rule(name, said, short, category, category_name, issue)


def listed(rule: Rule) -> dict[str, str]:
    """Return a rule as ``/v2/configinfo`` lists it."""
    return {
        "ruleId": rule.id,
        "description": rule.description,
        "categoryId": rule.category,
        "categoryName": rule.category_name,
        "issueType": rule.issue,
    }
