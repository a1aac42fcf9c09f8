"""Rules: the name of each kind of correction, the page, the rules of tasks, and selections of rules."""

from __future__ import annotations

import re
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import assume, given, strategies as st

from disambig.errors import UserError
from disambig.rules import (
    CATALOGUE,
    ENGLISH_RULES,
    Correction,
    MeasuredShare,
    MistakeExample,
    Rule,
    RuleSelection,
    RuleSet,
    begins_gerund_subject,
    catalogue,
    default_rules,
    english_rule,
    find_rule,
    installed_rules,
    local_page,
    measured_shares,
    rule_link,
    rule_text,
    rules_page,
)
from disambig.tasks import OwnCandidates
from disambig.testing import check_task
from disambig.types import task_rules

CORRECTIONS = {
    "a-an": "a > an; an > a",
    "agreement": (
        "go > goes; results > result; was > were; this > these; city > cities; man > men; box > boxes; "
        "wishes > wish; potato > potatoes; do > does; people > person; two cats > two cat; heights > height"
    ),
    "apostrophe": (
        "dogs > dog's; need's > needs; cities > city's; whats > what's; dogs' > dog's; boxes > box's; "
        "class's > classes; dont > don't"
    ),
    "article": " > the; a > ; a > the; an > the; use the > use a",
    "confused-words": (
        "then > than; its > it's; your > you're; should of > should have; said > told; of > off; to > too; "
        "trail > trial; cat > cow; us > used; abcd > badc; on > oned; this > those"
    ),
    "extra-preposition": "about > ; let me to go > let me go",
    "extra-word": "more easier > easier; very > ; very much > much; a b > a",
    "missing-preposition": " > to; listen > listen to; explained me > explained to me",
    "missing-word": " > is; > you",
    "one-word-or-two": (
        "alot > a lot; every day > everyday; in tact > intact; deep seated > deep-seated; incase > in case;"
        " e mail > email"
    ),
    "typo-that-is-a-word": (
        "form > from; the > they; on > one; an > and; trail > train; us > is; his > hi; new > news; bus > "
        "bu; go > gos; red > redr; be > bed; as > a; house > horse; tabel > table; stone > shore; "
        "apple > apply"
    ),
    "word-form": (
        "go > went; is > was; quick > quickly; plan > planned; create > creation; our > ours; use > used; "
        "large > largest; big > bigger; run > runner; free > freed; add > added; act > action; happy > "
        "happily; tries > trying; creative > creation; relevance > relevant; efficient > efficiency; undone"
        " > undid; mistook > mistaken; makes > made; ran > running; one > once; based > bases; nature > "
        "natural; simple > simply; probable > probably; easily > ease; used > uses"
    ),
    "wrong-phrase": (
        "me to > that i; beckon call > beck and call; escape goat > scapegoat; the of > ; look for > see "
        "at; a > a c d"
    ),
    "wrong-preposition": "of > on; married with > married to; in > at; look for > look at",
}


@pytest.mark.parametrize(
    ("rule", "pair"), [(rule, pair) for rule, pairs in CORRECTIONS.items() for pair in pairs.split("; ")]
)
def test_rule_of_a_correction(rule, pair):
    observed, _, replacement = pair.partition(">")
    assert ENGLISH_RULES.rule_name(Correction.plain(observed, replacement)) == rule


WORDS_AND_FORMS = st.sampled_from(
    [
        ("walk", "walks", "walked", "walking"),
        ("stop", "stops", "stopped", "stopping"),
        ("use", "uses", "used", "using"),
        ("carry", "carries", "carried", "carrying"),
        ("write", "writes", "wrote", "writing"),
        ("grow", "grows", "grew", "grown"),
    ]
)


@given(WORDS_AND_FORMS, st.integers(0, 3), st.integers(0, 3), st.sampled_from(["", "the ", "we often "]))
def test_forms_of_a_word(forms, one, other, before):
    assume(one != other)
    expected = "agreement" if {one, other} == {0, 1} else "word-form"
    correction = Correction.plain(before + forms[one], before + forms[other])
    assert english_rule(correction) == expected


@given(st.from_regex("[a-z' -]{0,12}", fullmatch=True), st.from_regex("[a-z' -]{0,12}", fullmatch=True))
def test_every_correction_has_a_shared_rule(observed, replacement):
    correction = Correction.plain(observed, replacement)
    name = ENGLISH_RULES.rule_name(correction)
    if english_rule(correction, otherwise="other") == "other":
        assert name in ("typo-that-is-a-word", "confused-words")
    else:
        assert english_rule(correction, otherwise="other") == name


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


def test_text_of_a_rule():
    article = next(rule for rule in CATALOGUE if rule.name == "article")
    lines = rule_text(article).splitlines()
    assert lines[:2] == ["article", ""] and lines[2] == article.title and lines[3] == article.description
    assert "  wrong: He is engineer." in lines and "  right: He is an engineer." in lines
    assert f"Right: {measured_shares()['article']} of such flags." in lines
    assert not any(line.startswith("More:") for line in lines)
    elsewhere = Rule("yours", "A word is wrong.", url="https://example.org/rules#yours")
    assert rule_text(elsewhere).splitlines()[-1] == "More: https://example.org/rules#yours"
    assert "Right: not measured." in rule_text(elsewhere).splitlines()  # only shared rules are measured


def test_link_of_a_rule():
    assert rule_link(find_rule("a-an")) == "disambig rules a-an"
    assert rule_link(Rule("yours", "A word is wrong.", url="https://example.org/#yours")).startswith("https")
    assert rule_link(Rule("yours", "A word is wrong.")) == ""


def test_finds_rules_by_name():
    assert find_rule("article") in CATALOGUE
    unknown = find_rule("unheard-of")
    assert unknown.name == "unheard-of" and "unheard-of" in unknown.title and unknown.url == ""


def test_measured_shares_of_enough_flags_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "MEASURED", tmp_path / "measured.json")
    monkeypatch.setattr(catalogue, "local_page", lambda: tmp_path / "README.md")
    try:
        catalogue.save_measured(
            {"article": MeasuredShare(0.5, 10), "a-an": MeasuredShare(0.9, 9)}, text="ten letters"
        )
        assert catalogue.measured_shares() == {"article": MeasuredShare(0.5, 10)}
        assert "measured on\nten letters\n" in (tmp_path / "README.md").read_text(encoding="utf8")
        assert "* Right: too few such flags to measure." in rules_page()
    finally:
        catalogue.measured_shares.cache_clear()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Its being late is fine.", True),
        ("its not having a roof makes it cold.", True),
        ("Its being so hard to open won't help us.", True),
        ("Its being built now.", False),
        ("Its being late is it?", False),
        ("Its being said that the road is closed.", False),
        ("Its roof is red.", False),
    ],
)
def test_gerunds_as_subjects(text, expected):
    assert begins_gerund_subject(text, 3) is expected
    assert begins_gerund_subject(f"We know. {text}", 12) is expected


def test_page_is_up_to_date():
    page = local_page().read_text(encoding="utf8")
    assert page == rules_page(), "run: python -m disambig.rules.catalogue"
    assert len(page.splitlines()) <= 150
    assert {line[3:] for line in page.splitlines() if line.startswith("## ")} == {r.name for r in CATALOGUE}


@pytest.mark.parametrize("table", ("confused", "forms", "number"))
def test_lists_related_words_once(table):
    path = Path(local_page()).with_name(f"english_{table}.txt")
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
    assert not {"it", "sense", "topic", "candidates", "rerank"} & set(rules)


def test_a_task_of_a_plugin_is_a_rule(monkeypatch):
    task = make_dataclass("Loan", [("name", str, "loan"), ("language", str, "en")])
    monkeypatch.setattr("disambig.registry.load_all", lambda kind: {"x.Loan.v1": task})
    assert "loan" in installed_rules()


def test_a_plugin_cannot_replace_a_shared_rule(monkeypatch, caplog):
    shadow = RuleSet((Rule("article", "Mine."), Rule("yours", "Yours.")), name_by_size)
    task = type("Shadow", (), {"rules": shadow, "name": "shadow"})
    monkeypatch.setattr("disambig.registry.load_all", lambda kind: {"x.Shadow.v1": task})
    rules = installed_rules()
    assert rules["article"] in CATALOGUE and rules["yours"].title == "Yours."
    assert list(rules) == sorted(rules)
    assert "[D022] the task x.Shadow.v1 describes the rule 'article' differently" in caplog.text


def test_names_of_default_rules():
    class Task:
        """First line.

        More.
        """

    for task, name in (
        ("My Task!", "my-task-"),
        ("3-grams", "grams"),
        ("-_9", "other"),
        ("x" * 99, "x" * 60),
    ):
        (rule,) = default_rules(task, Task, "confusion").rules
        assert (rule.name, rule.title, rule.concern) == (name, "First line.", "confusion")
    Task.__doc__ = None
    assert default_rules("mine", Task).rules[0].title == "The task 'mine' proposes other words."


def test_selects_rules_by_names_or_tasks():
    assert not RuleSelection() and RuleSelection().shows("a-an", ["article"])
    assert RuleSelection(only=frozenset(("a-an",))) and RuleSelection(ignored=frozenset(("a-an",)))
    only = RuleSelection(only=frozenset(("a-an", "form")))
    assert only.shows("a-an", ["spelling"]) and only.shows("agreement", ["spelling", "form"])
    assert not only.shows("article", ["article"])
    hidden = RuleSelection(ignored=frozenset(("article",)))
    assert hidden.shows("confused-words", ["spelling"]) and hidden.shows("a-an", ["article", "spelling"])
    assert not hidden.shows("a-an", ["article"]) and not hidden.shows("article", ["spelling"])
    both = RuleSelection(only=frozenset(("article",)), ignored=frozenset(("article",)))
    assert not both.shows("a-an", ["article", "spelling"])
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
    ours["keeps_its_contract"]()
    with pytest.raises(AssertionError, match="D414"):
        misnamed["keeps_its_contract"]()
