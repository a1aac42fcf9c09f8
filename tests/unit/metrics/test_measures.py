"""Each measure: values by hand, values of scikit-learn, and the checks for plugin authors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from examples import fewer_examples
from hypothesis import given, strategies as st

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
GROUP_OUTCOMES = Outcomes.from_group(("a", "b", "c"), [0, 0, 1, 1, 2], [0, 1, 1, -1, 2])
NBEST = replace(
    CandidateLists.from_texts([["the cat", "a cat"], ["sat", "sad", "sit"], ["here"]]),
    costs=np.array([4, 0, 1, 0, 2, 1], np.float32),
)
LIST_OUTCOMES = Outcomes.from_lists(NBEST, chosen=[0, 2, 0], references=["a cat", "sad", "there"])

KNOWN = [
    (Accuracy(), GROUP_OUTCOMES, 3 / 5),
    (Accuracy(), LIST_OUTCOMES, 0.0),
    (MeanCost(), GROUP_OUTCOMES, 2 / 5),
    (MeanCost(), LIST_OUTCOMES, (4 + 2 + 1) / 3),
    (F1("a"), GROUP_OUTCOMES, 2 * 1 / (1 + 2)),
    (F1("b"), GROUP_OUTCOMES, 2 * 1 / (2 + 2)),
    (MacroF1(), GROUP_OUTCOMES, (2 / 3 + 1 / 2 + 1) / 3),
    (ErrorRate(), LIST_OUTCOMES, (3 + 2 + 1) / (5 + 3 + 5)),
    (ErrorRate("words"), LIST_OUTCOMES, (1 + 1 + 1) / (2 + 1 + 1)),
    (ExactMatch(), LIST_OUTCOMES, 0.0),
    (ExactMatch(), LIST_OUTCOMES.with_chosen(np.array([1, -1, 0])), 1 / 3),
    (ExactMatch(), replace(LIST_OUTCOMES, references=["the cat", "sad", "there"]), 1 / 3),
    (Oracle(), LIST_OUTCOMES, 2 / 3),
    (Oracle(MeanCost()), LIST_OUTCOMES, 1 / 3),
    (Oracle(ErrorRate()), LIST_OUTCOMES, 1 / 13),
    (FirstCandidate(ErrorRate()), LIST_OUTCOMES, (3 + 1 + 1) / 13),
    (FirstCandidate(), GROUP_OUTCOMES, 2 / 5),
    (FirstCandidate(MeanCost()), replace(LIST_OUTCOMES, ranks=np.array([1, 0, 2, 0, 1, 0])), 1 / 3),
]


@pytest.mark.parametrize(("measure", "given", "answer"), KNOWN, ids=lambda value: getattr(value, "name", ""))
def test_known_answers(measure, given, answer):
    assert measure.value(given) == pytest.approx(answer, rel=1e-12)


MEASURES = [*(measure for measure, given, _ in KNOWN if given is GROUP_OUTCOMES), F1("to"), AUC("to"), AUC()]
MEASURES += [
    ErrorRate(),
    ErrorRate("words"),
    ExactMatch(),
    Oracle(ErrorRate("words")),
    FirstCandidate(F1("to")),
]
MEASURES = [measure for measure in MEASURES if measure not in (F1("a"), F1("b"))]


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_measures_keep_the_contract(measure):
    for check in check_measure(measure, answers=[(g, v) for m, g, v in KNOWN if m == measure]):
        check()


class BrokenAccuracy(Accuracy):
    """An accuracy with faults: wrong direction, dependence on the order, and wrong sums."""

    more_is_better = False
    unit = ""

    def value(self, outcomes):
        return super().value(outcomes) + (float(outcomes.scores[0]) / 100 if len(outcomes) else 0.0)


def test_suite_reports_a_broken_measure():
    failed = {}
    for check in check_measure(BrokenAccuracy(), answers=[(GROUP_OUTCOMES, 0.1)]):
        try:
            check()
        except AssertionError as problem:
            failed[check.name] = str(problem)
    assert set(failed) == {
        "describes_itself",
        "returns_known_values",
        "is_best_if_everything_is_right",
        "does_not_depend_on_order",
        "value_of_sums_equals_value",
    }
    assert "is more_is_better reversed?" in failed["is_best_if_everything_is_right"]


label_rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(-3, 3)), min_size=1, max_size=40
)


@fewer_examples
@given(label_rows)
def test_auc_and_f1_agree_with_scikit_learn(rows):
    from sklearn.metrics import f1_score, roc_auc_score

    gold, chosen, score = np.array(rows).T
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


def test_any_of_several_right_candidates_counts():
    right = [[True, True, False], [True, True, False]]
    given = Outcomes.from_group(("a", "b", "c"), [0, 0], [1, 2], right=right)
    assert Accuracy().value(given) == 0.5
    assert given.gold_ids.tolist() == [1, 0]  # the chosen candidate if it is right, else the first one
    assert F1("b").value(given) == 1.0


def test_joins_and_slices_outcomes():
    parts = [outcomes(5, seed=1), outcomes(7, seed=2)]
    both = Outcomes.joined(parts)
    assert len(both) == 12
    for measure in (Accuracy(), MeanCost(), ErrorRate(), AUC("to"), MacroF1()):
        again = measure.value(Outcomes.joined([both.take(np.arange(5)), both.take(np.arange(5, 12))]))
        assert measure.value(both) == pytest.approx(again)
        assert measure.value(both.take(np.arange(5))) == pytest.approx(measure.value(parts[0]), nan_ok=True)
    assert Outcomes.joined([GROUP_OUTCOMES, LIST_OUTCOMES]).references is None


def test_costs_of_texts():
    assert text_costs(ErrorRate(), ["to", "two", ""], ["too", "two", "a"]).tolist() == [1, 0, 1]
    assert text_costs(ExactMatch(), ["to", "two"], ["too", "two"]).tolist() == [1, 0]
    assert text_costs(ErrorRate(), ["a"], ["b"]).dtype == np.float32
    with pytest.raises(UserError, match=r"D430.*accuracy"):
        text_costs(Accuracy(), ["a"], ["b"])


def test_text_measures_need_references():
    for measure in (ErrorRate(), ExactMatch(), Oracle(ErrorRate())):
        with pytest.raises(UserError, match="D433"):
            measure.value(GROUP_OUTCOMES)


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


def test_measures_from_configs():
    inner = {"@disambig_measures": "disambig.ErrorRate.v1", "by": "words"}
    config = {"@disambig_measures": "disambig.Oracle.v1", "measure": inner}
    assert resolve({"m": config})["m"] == Oracle(ErrorRate("words"))


def test_lists_reject_measures_of_fixed_groups():
    assert list_measure_named("oracle:cer") == Oracle(ErrorRate())
    assert list_measure_named("cost") == MeanCost()
    for name in ("auc", "auc:to", "f1:to", "macro_f1", "disambig.MacroF1.v1", "oracle:macro_f1"):
        with pytest.raises(UserError, match=r"D437.*; available: accuracy, cer, cost, exact, wer"):
            list_measure_named(name)
    with pytest.raises(UserError, match=r"D437.*AUC does not apply to lists"):
        Lists(measure="auc")
