"""The parts of a training: which there must be, what follows from them, and how they are changed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest
from toy_components import toy_components
from toy_learners import Constant
from toy_plugin import Marks

from disambig.decision import Corrections, Mistakes
from disambig.errors import UserError
from disambig.models import NoPreference
from disambig.training import ResolvedConfig, train, train_labelled
from disambig.types import Decides


def without(name):
    return {part: made for part, made in toy_components().items() if part != name}


@pytest.mark.parametrize("name", ["task", "tokenisation", "extractors", "learner", "baseline"])
def test_a_part_is_missing(name):
    with pytest.raises(TypeError, match=rf"missing 1 required positional argument: '{name}'"):
        ResolvedConfig.from_parts(without(name))
    with pytest.raises(TypeError, match=name):
        train(without(name), {"train": [], "dev": []}, name="t")


def test_a_part_is_unknown():
    parts = {**toy_components(), "lerner": Constant()}
    with pytest.raises(TypeError, match="unexpected keyword argument 'lerner'"):
        ResolvedConfig.from_parts(parts)
    with pytest.raises(TypeError, match="lerner"):
        train_labelled(parts, [], name="t")


def test_sections_that_describe_no_part_are_ignored():
    parts = {**toy_components(), "model": {"name": "x"}, "training": {"seed": 3}}
    made = ResolvedConfig.from_parts(parts)
    assert made.task is parts["task"] and made.judge is None
    assert ResolvedConfig.from_parts(made) is made


def test_traits_are_asked_once():
    asked = []

    class Asked(Marks):
        @property
        def decides(self):
            asked.append(1)
            return Decides("tokens", "labels")

    made = ResolvedConfig.from_parts({**toy_components(), "task": Asked(("quite/quiet",))})
    assert [made.decides.between for _ in range(3)] == ["labels"] * 3
    assert len(asked) == 2  # `get_trait` looks whether there is one, and then takes it


def test_changed_parts_have_their_own_traits():
    made = ResolvedConfig.from_parts({**toy_components(), "baseline": NoPreference()})
    assert made.decides.between == "words" and not made.has_baseline
    other = replace(made, task=Marks(("quite/quiet",)), baseline=Constant())
    assert other.decides.between == "labels" and other.has_baseline
    assert made.decides.between == "words" and not made.has_baseline
    with pytest.raises(FrozenInstanceError):
        made.learner = Constant()


def test_decision_rule_takes_the_settings_that_it_has():
    made = ResolvedConfig.from_parts(toy_components())
    rule = made.decision_rule({"flags_per_1000": 2.0, "least_margin": 0.5, "seed": 3})
    assert isinstance(rule, Corrections) and rule.flags_per_1000 == 2.0
    assert made.decision_rule({"flags_per_1000": None}).flags_per_1000 == Corrections().flags_per_1000
    with pytest.raises(UserError, match="D422"):
        replace(made, task=Marks(("quite/quiet",)), judge=Corrections()).decision_rule({})


def test_error_rule_unless_there_is_a_rule():
    made = ResolvedConfig.from_parts(toy_components())
    with_rule, config = made.with_error_rule({"learner": 1})
    assert isinstance(with_rule.judge, Mistakes) and made.judge is None
    assert config == {"learner": 1, "judge": {"@disambig_judges": "disambig.Mistakes.v1"}}
    assert with_rule.with_error_rule({}) == (with_rule, {})
    with pytest.raises(UserError, match="D429"):
        replace(made, judge=Corrections()).with_error_rule({})
    with pytest.raises(UserError, match="D427"):
        replace(made, task=Marks(("quite/quiet",))).with_error_rule({})
