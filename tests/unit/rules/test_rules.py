"""Rules: the name of each kind of correction, the page, the rules of tasks, and choosing rules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from disambig.errors import UserError
from disambig.rules import (
    CATALOGUE,
    ENGLISH_RULES,
    Correction,
    MistakeExample,
    Rule,
    RuleSelection,
    RuleSet,
    english_rule,
    installed_rules,
    local_page,
    rule_text,
    rules_page,
)
from disambig.tasks import OwnCandidates
from disambig.testing import check_task
from disambig.types import task_rules

CORRECTIONS = {
    "a-an": "a > an; an > a",
    "agreement": "go > goes; results > result; was > were; this > these; city > cities; man > men",
    "apostrophe": "dogs > dog's; need's > needs; cities > city's; whats > what's",
    "article": " > the; a > ; a > the",
    "confused-words": "then > than; its > it's; your > you're; should of > should have; said > told",
    "extra-preposition": "about > ; let me to go > let me go",
    "extra-word": "more easier > easier; very > ",
    "missing-preposition": " > to; listen > listen to; explained me > explained to me",
    "missing-word": " > is; > you",
    "one-word-or-two": "alot > a lot; every day > everyday; in tact > intact; deep seated > deep-seated",
    "typo-that-is-a-word": "form > from; the > they; on > one; an > and; trail > train; us > is",
    "word-form": "go > went; is > was; quick > quickly; plan > planned; create > creation",
    "wrong-phrase": "me to > that i; beckon call > beck and call; escape goat > scapegoat",
    "wrong-preposition": "of > on; married with > married to; in > at",
}


@pytest.mark.parametrize(
    ("rule", "pair"), [(rule, pair) for rule, pairs in CORRECTIONS.items() for pair in pairs.split("; ")]
)
def test_rule_of_a_correction(rule, pair):
    observed, _, replacement = pair.partition(">")
    assert ENGLISH_RULES.rule_name(Correction.plain(observed, replacement)) == rule


def test_ignores_case_blanks_and_curly_apostrophes():
    for observed in ("it's", "It\u2019s", " IT'S "):
        assert ENGLISH_RULES.rule_name(Correction.plain(observed, "its")) == "confused-words"


def test_examples_belong_to_their_rule():
    for rule in CATALOGUE:
        if rule.name == "doubled-word":  # which needs more than the words: see the task
            continue
        for wrong, right in rule.examples:
            before, after = (re.sub("[.,]", "", text) for text in (wrong, right))
            assert english_rule(Correction.plain(before, after)) == rule.name, wrong


def test_describes_every_rule():
    names = [rule.name for rule in CATALOGUE]
    assert names == sorted(set(names))
    assert set(CORRECTIONS) | {"doubled-word"} == set(names)
    for rule in CATALOGUE:
        assert rule.title.endswith(".") and rule.description.endswith(".") and rule.examples
        assert rule.url.endswith(f"#{rule.name}")
        assert f"ignore-next-line[{rule.name}]" in rule_text(rule)


def test_page_is_up_to_date():
    page = local_page().read_text(encoding="utf8")
    assert page == rules_page(), "run: python -m disambig.rules.page"
    assert len(page.splitlines()) <= 150
    assert {line[3:] for line in page.splitlines() if line.startswith("## ")} == {r.name for r in CATALOGUE}


def test_lists_confused_words_once():
    path = Path(local_page()).with_name("english_confused.txt")
    lines = [line.split() for line in path.read_text(encoding="utf8").splitlines() if line[:1] != "#"]
    assert all(len(line) == len(set(line)) >= 2 for line in lines)


def name_by_size(correction):
    return "yours-long" if len(correction.observed) > 3 else "yours-short"


YOURS = RuleSet(
    (
        Rule("yours-long", "A long word is wrong.", "", (MistakeExample("a long one", "a short one"),)),
        Rule("yours-short", "A short word is wrong."),
    ),
    name_by_size,
    "en",
)


@dataclass(frozen=True)
class Plain:
    """Decide something of a plugin."""

    name: str = "plain_task"
    language: str = "en"


@dataclass(frozen=True)
class WithRules(Plain):
    rules: ClassVar[RuleSet] = YOURS


@dataclass(frozen=True)
class WithNonsense(Plain):
    rules: ClassVar[str] = "nonsense"


def test_default_rule_of_a_task():
    rules = task_rules(Plain())
    (rule,) = rules.rules
    assert (rule.name, rule.title) == ("plain_task", "Decide something of a plugin.")
    assert rules.rule_name(Correction("then", "than")) == "plain_task"


def test_rules_of_a_task_depend_on_the_language():
    assert task_rules(WithRules()) is YOURS
    assert task_rules(WithRules()).rule_name(Correction("cat", "dog")) == "yours-short"
    assert [rule.name for rule in task_rules(WithRules(language="xx")).rules] == ["plain_task"]


def test_rejects_invalid_rules():
    with pytest.raises(UserError, match="D414"):
        task_rules(WithNonsense())
    with pytest.raises(UserError, match="D414"):
        RuleSet(YOURS.rules, english_rule).rule_name(Correction("then", "than"))
    with pytest.raises(UserError, match="D414"):
        Rule("Not A Name", "")


def test_installed_rules():
    rules = installed_rules()
    assert {rule.name: rules[rule.name] for rule in CATALOGUE} == {rule.name: rule for rule in CATALOGUE}
    assert not {"it", "sense", "topic"} & set(rules)


def test_selects_rules_by_names_or_tasks():
    assert not RuleSelection() and RuleSelection().shows("a-an", "article")
    only = RuleSelection(only=frozenset(("a-an", "form")))
    assert only.shows("a-an", "spelling") and only.shows("agreement", "form")
    assert not only.shows("article", "article")
    hidden = RuleSelection(ignored=frozenset(("article",)))
    assert hidden.shows("confused-words", "spelling") and not hidden.shows("a-an", "article")
    with pytest.raises(UserError, match=r"D519.*article"):
        RuleSelection(only=frozenset(("artcle",))).check({"article", "a-an"})


@dataclass(frozen=True)
class Misnamed(OwnCandidates):
    """Names rules that it does not declare."""

    rules: ClassVar[RuleSet] = RuleSet(YOURS.rules, english_rule)


def test_check_task_checks_rules():
    ours, misnamed = (
        {item.name: item for item in check_task(task(candidates=["then", "than"]), ["then that."])}
        for task in (OwnCandidates, Misnamed)
    )
    ours["names_the_rules_of_its_corrections"]()
    with pytest.raises(AssertionError, match="D414"):
        misnamed["names_the_rules_of_its_corrections"]()
