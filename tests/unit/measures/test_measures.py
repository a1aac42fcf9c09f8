"""Each measure: answers worked out by hand, scikit-learn's, and the suite for those who write measures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig import registry
from disambig.config import resolve
from disambig.data import CandidateLists
from disambig.errors import UserError
from disambig.metrics import (
    AUC,
    F1,
    Accuracy,
    ErrorRate,
    ExactMatch,
    FirstCandidate,
    MacroF1,
    MeanCost,
    Oracle,
    Outcomes,
    list_measure_named,
    measure_named,
    short_names,
    text_costs,
)
from disambig.tasks import Lists
from disambig.testing import check_measure, outcomes

# gold 0 0 1 1 2, chosen 0 1 1 - 2: three of five are right
SENSES = Outcomes.from_group(("a", "b", "c"), [0, 0, 1, 1, 2], [0, 1, 1, -1, 2])
NBEST = replace(
    CandidateLists.from_texts([["the cat", "a cat"], ["sat", "sad", "sit"], ["here"]]),
    costs=np.array([4, 0, 1, 0, 2, 1], np.float32),
)
LISTS = Outcomes.from_lists(NBEST, chosen=[0, 2, 0], references=["a cat", "sad", "there"])

KNOWN = [
    (Accuracy(), SENSES, 3 / 5),
    (Accuracy(), LISTS, 0.0),
    (MeanCost(), SENSES, 2 / 5),
    (MeanCost(), LISTS, (4 + 2 + 1) / 3),
    (F1("a"), SENSES, 2 * 1 / (1 + 2)),
    (F1("b"), SENSES, 2 * 1 / (2 + 2)),
    (MacroF1(), SENSES, (2 / 3 + 1 / 2 + 1) / 3),
    (ErrorRate(), LISTS, (3 + 2 + 1) / (5 + 3 + 5)),
    (ErrorRate("words"), LISTS, (1 + 1 + 1) / (2 + 1 + 1)),
    (ExactMatch(), LISTS, 0.0),
    (ExactMatch(), LISTS.with_chosen(np.array([1, -1, 0])), 1 / 3),
    (Oracle(), LISTS, 2 / 3),
    (Oracle(MeanCost()), LISTS, 1 / 3),
    (Oracle(ErrorRate()), LISTS, 1 / 13),
    (FirstCandidate(ErrorRate()), LISTS, (3 + 1 + 1) / 13),
    (FirstCandidate(), SENSES, 2 / 5),
    (FirstCandidate(MeanCost()), replace(LISTS, ranks=np.array([1, 0, 2, 0, 1, 0])), 1 / 3),
]


@pytest.mark.parametrize(("measure", "given", "answer"), KNOWN, ids=lambda each: getattr(each, "name", ""))
def test_known_answers(measure, given, answer):
    assert measure.value(given) == pytest.approx(answer, rel=1e-12)


MADE = [*(measure for measure, given, _ in KNOWN if given is SENSES), F1("to"), AUC("to"), AUC()]
MADE += [ErrorRate(), ErrorRate("words"), ExactMatch(), Oracle(ErrorRate("words")), FirstCandidate(F1("to"))]
MADE = [measure for measure in MADE if measure not in (F1("a"), F1("b"))]


@pytest.mark.parametrize("measure", MADE, ids=lambda measure: measure.name)
def test_measures_keep_their_contract(measure):
    for check in check_measure(measure, answers=[(g, v) for m, g, v in KNOWN if m == measure]):
        check()


class Turned(Accuracy):
    """Says that less is better, depends on the first instance, and adds up to something else."""

    more_is_better = False
    unit = ""

    def value(self, outcomes):
        return super().value(outcomes) + (float(outcomes.scores[0]) / 100 if len(outcomes) else 0.0)


def test_a_broken_measure_is_found_out():
    failed = {}
    for check in check_measure(Turned(), answers=[(SENSES, 0.1)]):
        try:
            check()
        except AssertionError as problem:
            failed[check.name] = str(problem)
    assert set(failed) == {
        "says_what_it_is",
        "gives_the_known_answers",
        "is_better_where_all_is_right",
        "looks_at_no_order",
        "is_resampled_as_it_is_worked_out",
    }
    assert "is more_is_better reversed?" in failed["is_better_where_all_is_right"]


labels = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(-3, 3)), min_size=1, max_size=40
)


@given(labels)
def test_auc_and_f1_are_those_of_scikit_learn(seen):
    from sklearn.metrics import f1_score, roc_auc_score

    gold, chosen, score = np.array(seen).T
    given = Outcomes.from_group(("no", "yes"), gold, chosen, scores=np.stack([0 * score, score], axis=1))
    if 0 < gold.sum() < len(gold):
        expected = roc_auc_score(gold, score)
        assert AUC("yes").value(given) == pytest.approx(expected)
        assert AUC().value(given) == pytest.approx(expected)
        assert AUC("no").value(given) == pytest.approx(expected)
    else:
        assert np.isnan(AUC("yes").value(given))
    if gold.any() or chosen.any():
        assert F1("yes").value(given) == pytest.approx(f1_score(gold, chosen, zero_division=0))
    else:
        assert np.isnan(F1("yes").value(given))


def test_auc_leaves_out_instances_without_its_candidate():
    lists = CandidateLists.from_texts([["to", "from"], ["too", "two"], ["to"], ["from", "to"]])
    given = Outcomes.from_lists(
        lists, scores=[2.0, 1.0, 9.0, 0.0, 9.0, 0.0, 0.5], references=["to", "two", "to", "from"]
    )
    assert AUC("to").value(given) == 1.0
    assert np.isnan(AUC("of").value(given))


def test_of_several_right_ones_any_will_do():
    right = [[True, True, False], [True, True, False]]
    given = Outcomes.from_group(("a", "b", "c"), [0, 0], [1, 2], right=right)
    assert Accuracy().value(given) == 0.5
    assert given.gold_ids.tolist() == [1, 0]  # what was chosen, if right, else the first named
    assert F1("b").value(given) == 1.0


def test_parts_are_joined_and_taken():
    parts = [outcomes(5, seed=1), outcomes(7, seed=2)]
    both = Outcomes.joined(parts)
    assert len(both) == 12
    for measure in (Accuracy(), MeanCost(), ErrorRate(), AUC("to"), MacroF1()):
        again = measure.value(Outcomes.joined([both.take(np.arange(5)), both.take(np.arange(5, 12))]))
        assert measure.value(both) == pytest.approx(again)
        assert measure.value(both.take(np.arange(5))) == pytest.approx(measure.value(parts[0]), nan_ok=True)
    assert Outcomes.joined([SENSES, LISTS]).references is None


def test_costs_of_texts():
    assert text_costs(ErrorRate(), ["to", "two", ""], ["too", "two", "a"]).tolist() == [1, 0, 1]
    assert text_costs(ExactMatch(), ["to", "two"], ["too", "two"]).tolist() == [1, 0]
    assert text_costs(ErrorRate(), ["a"], ["b"]).dtype == np.float32
    with pytest.raises(UserError, match=r"D430.*accuracy"):
        text_costs(Accuracy(), ["a"], ["b"])


def test_texts_without_references_are_refused():
    for measure in (ErrorRate(), ExactMatch(), Oracle(ErrorRate())):
        with pytest.raises(UserError, match="D433"):
            measure.value(SENSES)


def test_names():
    assert measure_named("cer") == ErrorRate()
    assert measure_named("wer") == ErrorRate("words")
    assert measure_named("f1:to") == F1("to")
    assert measure_named("f1:") == F1("")
    assert measure_named("oracle:cer") == Oracle(ErrorRate())
    assert measure_named("disambig.MacroF1.v1") == MacroF1()
    for name in short_names():
        filled = name.replace("CANDIDATE", "a").replace("MEASURE", "accuracy")
        assert measure_named(filled).name
    with pytest.raises(UserError, match=r"D431.*'acuracy'; available: accuracy"):
        measure_named("acuracy")
    with pytest.raises(UserError, match=r"D435.*candidate"):
        measure_named("disambig.F1.v1")
    with pytest.raises(UserError, match="D434"):
        measure_named("oracle:auc")
    with pytest.raises(UserError, match=r"D432.*'lines'"):
        ErrorRate("lines")


def test_measures_are_made_by_configs():
    said = {"@disambig_measures": "disambig.ErrorRate.v1", "by": "words"}
    assert resolve({"m": {"@disambig_measures": "disambig.Oracle.v1", "measure": said}})["m"] == Oracle(
        ErrorRate("words")
    )
    assert {name for name in registry.load_all("measures") if name.startswith("disambig.")} >= {
        "disambig.Accuracy.v1"
    }


def test_measures_that_say_nothing_of_lists_are_refused_for_them():
    assert (
        list_measure_named("oracle:cer") == Oracle(ErrorRate()) and list_measure_named("cost") == MeanCost()
    )
    for name in ("auc", "auc:to", "f1:to", "macro_f1", "disambig.MacroF1.v1", "oracle:macro_f1"):
        with pytest.raises(UserError, match=r"D437.*; available: accuracy, cer, cost, exact, wer"):
            list_measure_named(name)
    with pytest.raises(UserError, match=r"D437.*AUC does not apply to lists"):
        Lists(measure="auc")
