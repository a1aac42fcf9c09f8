"""Rules: naming the rule of a correction, selecting rules, the shared and installed rules, and their page."""

from __future__ import annotations

import inspect
import json
import logging
import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from disambig.errors import UserError, contract_error, nearest_first
from disambig.formatting import FEW_MEASURED, describe_failure, describe_share
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
        return cls(comparable_form(observed), comparable_form(replacement), group)


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
            seen += f" for {correction!r}"
            raise contract_error(self._function, seen, "the name of a rule") from problem
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


def comparable_form(words: str) -> str:
    """Return words in the form in which they are compared: lower case, plain apostrophes, single spaces."""
    return " ".join(words.lower().replace("\u2019", "'").split())


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """The rules whose flags are shown, selected by their names or by the names of tasks."""

    # rules or tasks whose flags are shown; if it is empty, those of all rules
    only: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()  # rules or tasks whose flags are hidden

    def __bool__(self) -> bool:
        return bool(self.only or self.ignored)

    def shows(self, rule: str, tasks: Collection[str]) -> bool:
        """Return True if a flag is shown, given its rule and the tasks that propose its correction.

        It is shown as long as one of these tasks is not ignored.
        """
        remaining = set(tasks) - self.ignored
        is_selected = not self.only or rule in self.only or not self.only.isdisjoint(remaining)
        return rule not in self.ignored and bool(remaining) and is_selected

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

    `made_by`: class of the task; the first sentence of its docstring becomes the title.
    """
    title = (inspect.getdoc(made_by) or "").partition("\n")[0] or f"The task {task!r} proposes other words."
    name = re.sub(r"[^a-z0-9_-]", "-", task.lower()).lstrip("-_0123456789")[:60] or "other"
    return RuleSet((Rule(name, title, concern=concern),), _ConstantName(name))


PAGE_VARIABLE = "DISAMBIG_RULES_PAGE"
"""Environment variable with the address of a published copy of the rules page (see `local_page`)."""
_PROJECT = "https://pypi.org/project/disambig/"
PAGE = os.environ.get(PAGE_VARIABLE) or _PROJECT
"""Address of the rules page in reports; each rule has an anchor with its name.

Without `PAGE_VARIABLE`, it is the project's page, which does not describe each rule (see `rule_link`).
"""
_log = logging.getLogger(__name__)


def local_page() -> Path:
    """Return the path of the rules page that is installed with the package."""
    return Path(__file__).with_name("README.md")


def rule_link(rule: Rule) -> str:
    """Return the address at which users can read about a rule, "" if there is none.

    If the address is only that of the project's page, a command is returned instead.
    """
    return f"disambig rules {rule.name}" if rule.url.startswith(_PROJECT) else rule.url


def _rule(name: str, concern: Concern, title: str, description: str, *examples: tuple[str, str]) -> Rule:
    pairs = tuple(MistakeExample(*pair) for pair in examples)
    return Rule(name, title, description, pairs, concern, f"{PAGE}#{name}")


CATALOGUE = (
    _rule(
        "a-an",
        "grammar",
        'The sound of the next word needs "a" where "an" is written, or the other way round.',
        "The sound decides, not the letter: an hour, a user, an MRI scan, a URL.",
        ("I ate a apple.", "I ate an apple."),
        ("It took a hour.", "It took an hour."),
    ),
    _rule(
        "agreement",
        "grammar",
        "A singular stands where a plural is needed, or the other way round.",
        "A verb has the number of its subject, a noun that of the word before it (these files, each file).",
        ("She go to school.", "She goes to school."),
        ("These file are new.", "These files are new."),
    ),
    _rule(
        "apostrophe",
        "grammar",
        "An apostrophe is missing, or should not be there.",
        "Possessives (the dog's tail) and plurals (two dogs). For its and it's, see confused-words.",
        ("My sisters house is bigger than mine.", "My sister's house is bigger than mine."),
        ("It need's water.", "It needs water."),
    ),
    _rule(
        "article",
        "grammar",
        "An article (a, an, the) is missing, is another one, or should not be there.",
        "Which article a noun needs often depends on what the reader already knows, which is not in the "
        "sentence; therefore fewer flags of this rule are right than of others.",
        ("He is engineer.", "He is an engineer."),
        ("She plays the football on Sundays.", "She plays football on Sundays."),
    ),
    _rule(
        "confused-words",
        "confusion",
        "Another word is meant, which looks or sounds like the written one.",
        "Words that people confuse: then and than, its and it's, their and there, lose and loose.",
        ("She is taller then me.", "She is taller than me."),
        ("The dog wagged it's tail.", "The dog wagged its tail."),
        ("He should of gone.", "He should have gone."),
    ),
    _rule(
        "doubled-word",
        "repetition",
        "A word is written twice.",
        "Words that may stand twice, as in *he had had enough*, are not flagged.",
        ("We saw the the cat.", "We saw the cat."),
    ),
    _rule(
        "extra-preposition",
        "grammar",
        'A preposition, or a "to", does not belong here.',
        "Many verbs have an object without a preposition: discuss it, enter the room.",
        ("We discussed about it.", "We discussed it."),
        ("Let me to do it.", "Let me do it."),
    ),
    _rule(
        "extra-word",
        "grammar",
        "A word does not belong here.",
        "A word other than an article or a preposition; for a repeated one, see doubled-word.",
        ("This is more easier.", "This is easier."),
    ),
    _rule(
        "missing-preposition",
        "grammar",
        'A preposition, or the "to" of an infinitive, is missing.',
        "Many verbs and nouns need a preposition: listen to music, a number of people.",
        ("I listen music.", "I listen to music."),
        ("A large number people came.", "A large number of people came."),
    ),
    _rule(
        "missing-word",
        "grammar",
        "A word is missing.",
        "A function word other than an article or a preposition, such as is, not, that or you.",
        ("We been waiting for an hour.", "We have been waiting for an hour."),
    ),
    _rule(
        "one-word-or-two",
        "confusion",
        "One word is written as two, or two words as one.",
        "Both spellings can exist with different meanings: every day, an everyday problem.",
        ("I like it alot.", "I like it a lot."),
        ("Everyday I drink tea.", "Every day I drink tea."),
    ),
    _rule(
        "typo-that-is-a-word",
        "confusion",
        "A slip of the finger made another word, which a spelling checker accepts.",
        "Letters that are swapped, missing, added or wrong: form for from, on for one.",
        ("This file is form Berlin.", "This file is from Berlin."),
    ),
    _rule(
        "word-form",
        "grammar",
        "Another form of the word is needed.",
        "Another tense, a participle, an adverb for an adjective, a noun for a verb, a comparison.",
        ("He has went home.", "He has gone home."),
        ("He drives very careful.", "He drives very carefully."),
    ),
    _rule(
        "wrong-phrase",
        "confusion",
        "A fixed expression, or the construction of a verb, is written differently.",
        "Several words are replaced together.",
        ("For all intensive purposes it works.", "For all intents and purposes it works."),
        ("He suggested me to go.", "He suggested that I go."),
    ),
    _rule(
        "wrong-preposition",
        "grammar",
        "Another preposition belongs here.",
        "Which preposition a word needs is a matter of habit: depend on, good at, interested in.",
        ("It depends of the weather.", "It depends on the weather."),
    ),
)
"""The shared rules, by name."""


def installed_rules() -> dict[str, Rule]:
    """Return the shared rules, and those of the tasks of all installed plugins, by name.

    If several rules have a name, the first one is used: a rule of a plugin cannot replace a shared one.
    """
    from disambig import registry

    rules = {rule.name: (rule, "disambig itself") for rule in CATALOGUE}
    for task, factory in registry.load_all("tasks").items():
        for rule in _declared_rules(factory):
            first, owner = rules.setdefault(rule.name, (rule, f"the task {task}"))
            if first != rule:
                _log.warning("%s", UserError("D022", rule=rule.name, task=task, owner=owner))
    return {name: rule for name, (rule, _) in sorted(rules.items())}


def find_rule(name: str) -> Rule:
    """Return the rule with a name; if no installed task declares it, a rule without a description."""
    shared = next((rule for rule in CATALOGUE if rule.name == name), None)
    return shared or installed_rules().get(name) or Rule(name, f"The task {name!r} proposes other words.")


def _declared_rules(factory: Any) -> tuple[Rule, ...]:
    """Return the rules of the class of a task.

    There are none for functions, for tasks that do not correct words and for those whose instances have rules
    of their own.
    """
    declared, task = getattr(factory, "rules", None), getattr(factory, "name", None)
    if isinstance(declared, RuleSet):
        return declared.rules
    decides = getattr(factory, "decides", None)
    corrects = decides is None or (decides.where == "words" and decides.between != "labels")
    if declared is not None or not (isinstance(factory, type) and isinstance(task, str) and corrects):
        return ()
    return default_rules(task, factory, getattr(factory, "concerns", "other")).rules


MIN_FLAGS = 10
"""Minimum number of flags on which a share is measured."""
MEASURED = Path(__file__).with_name("measured.json")
"""The measured shares of right flags of the shared rules, written by ``corpora/disambig_en/scoring.py``."""


@dataclass(frozen=True, slots=True)
class MeasuredShare:
    """The share of a rule's flags that were right."""

    share: float  # the share in text with the usual number of mistakes (see ``disambig/checking/README.md``)
    flags: int  # number of flags on which it was measured

    def __str__(self) -> str:
        """Return the share in per cent, or in tenths if it was measured on few flags."""
        return describe_share(self.share, self.flags)


@lru_cache(maxsize=1)
def measured_shares() -> dict[str, MeasuredShare]:
    """Return the measured share of each shared rule with enough flags."""
    saved = json.loads(MEASURED.read_text(encoding="utf-8"))
    return {name: MeasuredShare(**measured) for name, measured in saved["rules"].items()}


def save_measured(shares: Mapping[str, MeasuredShare], *, text: str) -> None:
    """Replace the measured shares of the shared rules, and write the page again.

    `shares`: by rule; those of at least `MIN_FLAGS` flags are kept.
    `text`: description of the text on which they were measured.
    """
    kept = {name: asdict(share) for name, share in shares.items() if share.flags >= MIN_FLAGS}
    MEASURED.write_text(json.dumps({"text": text, "rules": kept}, indent=1) + "\n", encoding="utf-8")
    measured_shares.cache_clear()
    local_page().write_text(rules_page(), encoding="utf-8")


def rule_text(rule: Rule) -> str:
    """Return the description of a rule as lines of text."""
    lines = [rule.name, "", rule.title]
    lines += [rule.description] if rule.description else []
    for example in rule.examples:
        lines += ["", f"  wrong: {example.wrong}", f"  right: {example.right}"]
    lines += ["", f"Right: {share_text(rule)}."]
    lines += [f"Silence: <!-- disambig: ignore-next-line[{rule.name}] --> above a line, or", ""]
    lines += [f'    ignore_rules = ["{rule.name}"]', "", "in disambig.toml."]
    lines += [f"More: {rule.url}"] if rule.url and not rule.url.startswith(PAGE) else []
    return "\n".join(lines) + "\n"


def share_text(rule: Rule) -> str:
    """Return the measured share of the flags of a rule as text."""
    if rule not in CATALOGUE:
        return "not measured"
    share = measured_shares().get(rule.name)
    return "too few such flags to measure" if share is None else f"{share} of such flags"


_HEAD = """# Rules

A flag has a rule, which says what is wrong. The same correction has the same rule, whichever model proposes
it. `disambig rules` lists the rules in the terminal, and `disambig rules NAME` explains one.

*Right* is the share of flags whose correction is the writer's own, at the usual rates of the models of
[disambig_en](../../corpora/disambig_en/README.md). It was measured on
{text}
([how far to trust a flag](../checking/README.md#how-far-to-trust-a-flag)). Reports show another share with
each flag: that of the flags of its task, or of its pair of words, that are about as certain, whatever their
rule. It can be higher or lower, and also exists for rules with too few flags to measure. A share that was
measured on fewer than {few} flags is given in tenths.

| to silence a rule | write |
|---|---|
| in a line | `<!-- disambig: ignore-next-line[agreement] -->` above it, or `ignore-line[agreement]` in it |
| in a part | `<!-- disambig: off[agreement] -->` before it, `<!-- disambig: on[agreement] -->` after it |
| in a file | `<!-- disambig: ignore[agreement] -->` |
| in a project | `ignore_rules = ["agreement"]` in `disambig.toml` |
| once | `disambig check --ignore-rule agreement` |

`rules = ["agreement"]` and `--rule agreement` show this rule only. In other formats than Markdown, use
[their comments](../checking/README.md#formats). Names of tasks can stand for rules: a
flag is one of all tasks that propose its correction. A task of a plugin can
declare [rules of its own](../../plugins/README.md#rules); otherwise its flags have one rule, with the name
of the task. This page is written by `python -m disambig.rules.catalogue`.
"""


def rules_page() -> str:
    """Return the page of the shared rules in Markdown."""
    measured_on = json.loads(MEASURED.read_text(encoding="utf-8"))["text"]
    parts = [_HEAD.format(text=measured_on, few=FEW_MEASURED)]
    for rule in CATALOGUE:
        parts.append(f"\n## {rule.name}\n\n{rule.title} {rule.description}\n\n")
        parts += [f"* {example.wrong} → {example.right}\n" for example in rule.examples]
        parts.append(f"* Right: {share_text(rule)}.\n")
    return "".join(parts)


if __name__ == "__main__":
    local_page().write_text(rules_page(), encoding="utf-8")
