"""The rules that the models of this distribution share, and those of all installed tasks."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from disambig.errors import UserError
from disambig.rules.naming import Concern, MistakeExample, Rule, RuleSet, default_rules

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
