"""Rules, the function of a task that names the rule of each of its corrections, and selections of rules."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, NamedTuple

from disambig.errors import UserError, contract_error, nearest_first
from disambig.formatting import describe_failure
from disambig.registry import plugin_packages

Concern = Literal["grammar", "confusion", "repetition", "other"]
"""Kinds of errors: grammar, a word confused with another, a repeated word, or others."""
rule_pattern = re.compile(r"[a-z][a-z0-9_-]{0,59}")
"""Names of rules: lower-case letters, digits, hyphens and underscores."""


class Correction(NamedTuple):
    """What a flag changes.

    Attributes
    ----------
    observed, replacement : str
        The written words and those that replace them, in lower case, with plain apostrophes and single
        spaces; "" for no word.
    group : str
        Name of the group of candidates.
    """

    observed: str
    replacement: str
    group: str = ""

    @classmethod
    def plain(cls, observed: str, replacement: str, group: str = "") -> Correction:
        """Return the correction of words as they are written."""
        return cls(_plain(observed), _plain(replacement), group)


class MistakeExample(NamedTuple):
    """A sentence with a mistake, and the corrected sentence."""

    wrong: str
    right: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of mistake.

    Attributes
    ----------
    name : str
        Matches `rule_pattern`; it does not change from one model to the next.
    title : str
        What is wrong, in one sentence.
    description : str
        Which mistakes have this rule, in a few sentences.
    examples : tuple of MistakeExample
    concern : str
        The kind of error, for programs that group flags.
    url : str
        Address of the documentation; "" if there is none.
    """

    name: str
    title: str
    description: str = ""
    examples: tuple[MistakeExample, ...] = ()
    concern: Concern = "other"
    url: str = ""

    def __post_init__(self) -> None:
        if not rule_pattern.fullmatch(self.name):
            raise contract_error("a rule", f"its name is {self.name!r}", "lower-case letters and hyphens")


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of a task.

    Attributes
    ----------
    rules : tuple of Rule
    name_correction : callable
        Returns the name of the rule of a `Correction`, and depends on nothing else, so that equal corrections
        of different models have the same rule. It must be a function of a module, because it is sent to other
        processes.
    language : str
        Code of the language to which the rules apply; "" for any. Tasks of other languages do not use them.
    """

    rules: tuple[Rule, ...]
    name_correction: Callable[[Correction], str]
    language: str = ""

    def rule_name(self, correction: Correction) -> str:
        """Return the name of the rule of a correction.

        Raises
        ------
        UserError
            D414 if `name_correction` raises an exception, or returns a name that is not in `rules`.
        """
        try:
            name = self.name_correction(correction)
        except Exception as problem:  # of a plugin
            seen = f"it raised {describe_failure(problem, plugin_packages())}"
            raise contract_error(
                self._function, f"{seen} for {correction!r}", "the name of a rule"
            ) from problem
        if all(rule.name != name for rule in self.rules):
            names = " or ".join(repr(rule.name) for rule in self.rules)
            raise contract_error(self._function, f"it returned {name!r} for {correction!r}", names)
        return name

    @property
    def _function(self) -> str:
        """A description of `name_correction` for messages."""
        function = self.name_correction
        name = getattr(function, "__qualname__", type(function).__name__)
        return f"the function {getattr(function, '__module__', '?')}.{name}, which names rules"


def _plain(words: str) -> str:
    """Return words in lower case, with plain apostrophes and single spaces."""
    return " ".join(words.lower().replace("\u2019", "'").split())


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """The rules whose flags are shown, selected by their names or by the names of tasks."""

    # rules or tasks whose flags are shown; if it is empty, those of all rules
    only: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()  # rules or tasks whose flags are hidden

    def __bool__(self) -> bool:
        return bool(self.only or self.ignored)

    def shows(self, *names: str) -> bool:
        """Return True if a flag with these names, its rule and its task, is shown."""
        return (not self.only or not self.only.isdisjoint(names)) and self.ignored.isdisjoint(names)

    def check(self, available: Collection[str]) -> None:
        """Check that every name is one of `available`. Raises D519 for an unknown name."""
        for name in sorted(self.only | self.ignored):
            if name not in available:
                raise UserError("D519", where="", name=name, names=nearest_first(name, available))


ALL_RULES = RuleSelection()
"""The flags of every rule are shown."""


@dataclass(frozen=True, slots=True)
class _ConstantName:
    """Gives every correction the same rule."""

    name: str

    def __call__(self, correction: Correction) -> str:
        return self.name


def default_rules(task: str, made_by: type, concern: Concern = "other") -> RuleSet:
    """Return the rules of a task that declares none: a single one, with the name of the task.

    Parameters
    ----------
    task : str
        Name of the task.
    made_by : type
        Class of the task; the first sentence of its docstring becomes the title.
    """
    title = (inspect.getdoc(made_by) or "").partition("\n")[0] or f"The task {task!r} proposes other words."
    name = re.sub(r"[^a-z0-9_-]", "-", task.lower()).lstrip("-_0123456789")[:60] or "other"
    return RuleSet((Rule(name, title, concern=concern),), _ConstantName(name))
