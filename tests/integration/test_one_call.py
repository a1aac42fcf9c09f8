"""`disambig.check` and `disambig.correct`: what the command finds and corrects, from Python in one call."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

from commands import here
from tiny_models import save_second_look

import disambig
from disambig.errors import UserError
from disambig.rules import CATALOGUE

TEXT = """It depends of the weather, and its hard to find a quite place.

She have an cat; I went to the the shop. They should of come, then they would of seen it.
"""
GERMAN = "Das ist ein deutscher Absatz, der nicht auf Englisch geschrieben ist und nicht gelesen wird."


@pytest.fixture
def model(small_table, tmp_path):
    return save_second_look(tmp_path, small_table)


def test_flags_and_corrections_are_those_of_the_command(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    done = json.loads(here("check", "a.txt", "--format", "json", folder=tmp_path).stdout)
    flags = disambig.check(TEXT)
    assert len(flags) >= 5
    assert [(each.start, each.end, each.task, round(each.probability, 4)) for each in flags] == [
        (each["start"], each["end"], each["task"], round(each["probability"], 4)) for each in done["flags"]
    ]
    assert disambig.correct(TEXT) == here("check", "-", "--fix", given=TEXT, folder=tmp_path).stdout
    assert disambig.correct(disambig.correct(TEXT)) == disambig.correct(TEXT)


def test_corrections_that_are_mostly_wrong_are_left_with_the_reason(tmp_path):
    text = "He gave to me to a book, and it depends of the weather.\n"
    sure, unsure = (
        [flag for flag in disambig.check(text) if (flag.trust.share < 0.5) == low] for low in (0, 1)
    )
    assert len(sure) == 1 and len(unsure) == 1
    fixed = here("check", "-", "--fix", given=text, folder=tmp_path)
    assert fixed.stdout == disambig.correct(text) == text.replace("depends of", "depends on")
    assert "right), left: most such corrections are wrong\n" in fixed.stderr
    shown = here("check", "-", "--diff", given=text, folder=tmp_path)
    assert ": 1 flag not in the diff: 1:9 to (most such corrections are wrong)" in shown.stderr
    for options, arguments in (
        (("--writing", "learner"), {"writing": "learner"}),
        (("--trust", "0.01"), None),
    ):
        fixed = here("check", "-", "--fix", *options, given=text, folder=tmp_path)
        assert "left" not in fixed.stderr and "gave to me to" not in fixed.stdout, options
        if arguments is not None:
            assert disambig.correct(text, **arguments) == fixed.stdout


def test_records_of_flags_are_short():
    flags = disambig.check("It depends of the weather.")
    assert repr(flags[0]).startswith("<Flag 1:12 'of' -> 'on', wrong-preposition, ")
    assert len(repr(flags)) < 80
    (decisions,) = disambig.api.annotate([TEXT], [disambig.api.load_model("preposition")])
    shown = repr(decisions)
    assert shown.startswith("<Decisions 'preposition' of disambig_en/preposition ") and "\n" not in shown
    assert shown.endswith(f": {len(decisions)} decisions, {decisions.flagged.sum()} flags>")
    assert repr(decisions.slice(0, 0)).endswith(": 0 decisions, 0 flags>")


def test_every_argument_has_its_effect(model):
    text = "We like a quite street. He wants a peace of cake."
    assert disambig.check(text, models=model) == []
    found = disambig.check(text, models=[model], writing="learner")
    assert [each.observed for each in found] == ["quite", "peace"]
    fixed = disambig.correct(text, models=[Path(model)], writing="learner", ignore=["Peace"])
    assert fixed == "We like a quiet street. He wants a peace of cake."
    assert disambig.check(text, models=model, writing="learner", flags_per_1000={"spelling": 0}) == []
    assert disambig.check(text, models=model, writing="learner", flags_per_1000=0) == []
    with pytest.warns(UserWarning, match="D348"):
        assert disambig.check(GERMAN, models=model) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        disambig.check(GERMAN, models=model, detect_language=False)


def test_a_model_that_is_saved_again_is_loaded_again(model):
    text = "We like a quite street. He wants a peace of cake."
    assert disambig.check(text, models=model, writing="learner") != []
    shutil.rmtree(model)
    shutil.copytree(Path(model).with_name("preposition"), model)
    with pytest.warns(UserWarning, match="D954"):
        disambig.check(text, models=model, writing="learner")


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"writing": "lerner"}, "D953"),
        ({"models": "prepositoin"}, "D404"),
        ({"flags_per_1000": -1}, "D401"),
        ({"flags_per_1000": {"spelling": 1}, "models": "preposition"}, "D950"),
        ({"models": "it"}, "D644"),
        ({"rules": ["agreemant"]}, "D519"),
        ({"ignore_rules": "agreemant"}, "D519"),
    ],
)
def test_errors_have_codes(settings, code):
    for call in (disambig.check, disambig.correct):
        with pytest.raises(UserError, match=code):
            call("It depends of the weather.", **settings)
    with pytest.raises(TypeError, match="text must be a str, not bytes"):
        disambig.check(b"It depends")


def test_the_name_says_which_markup_the_text_has(tmp_path):
    text = "Use the `the` option. It depends of it.\n\n    It depends of it.\n"
    for name in ("notes.md", tmp_path / "notes.md"):
        assert [flag.line for flag in disambig.check(text, name=name)] == [1]
        assert disambig.correct(text, name=name) == text.replace("of", "on", 1)


def test_rules_select_flags():
    text = "It depends of the weather. They was late."
    assert [flag.rule for flag in disambig.check(text)] == ["wrong-preposition", "agreement"]
    assert [flag.rule for flag in disambig.check(text, rules=["agreement"])] == ["agreement"]
    assert [flag.rule for flag in disambig.check(text, ignore_rules="agreement")] == ["wrong-preposition"]
    assert disambig.correct(text, rules="agreement") == "It depends of the weather. They were late."


def test_texts_without_words_and_invalid_comments():
    assert disambig.check("") == [] and disambig.correct("\n\n") == "\n\n"
    with pytest.warns(UserWarning, match="D641"):
        disambig.check("It rains. <!-- disambig: ignor this -->")


def test_nothing_is_imported_before_the_first_use():
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "import disambig\n"
        "print([name for name in sys.modules if name not in before and name != 'disambig'])\n"
        "print({'check', 'correct', '__version__'} <= set(dir(disambig)), hasattr(disambig, 'chek'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["[]", "True False"], done.stderr


@pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.name)
def test_the_models_flag_the_examples_of_each_rule(rule):
    for wrong, _ in rule.examples:
        assert rule.name in [flag.rule for flag in disambig.check(wrong)], wrong
