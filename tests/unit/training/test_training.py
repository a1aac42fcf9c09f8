"""Splits by document, examples, substitutions, and training with its refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_texts import SENTENCES

from disambig.config import resolve
from disambig.decision import substitutes
from disambig.errors import UserError
from disambig.text import Words
from disambig.training import HASH_FOLDS, PARTS, TextExamples, document_fold, split, train


@given(st.lists(st.text(max_size=20), max_size=40))
def test_each_document_goes_to_one_part_and_always_the_same(texts):
    parts = split(texts)
    assert sorted(text for part in parts.values() for text in part) == sorted(texts)
    for name, part in parts.items():
        assert all(document_fold(text) in PARTS[name] for text in part)
    assert split(texts) == parts
    assert split(reversed(texts))["train"] == parts["train"][::-1]


def test_parts_cover_all_folds_in_their_shares():
    assert sorted(fold for folds in PARTS.values() for fold in folds) == list(range(HASH_FOLDS))
    parts = split(f"document {number}" for number in range(5000))
    assert [round(len(part) / 5000, 1) for part in parts.values()] == [0.6, 0.2, 0.2]
    assert document_fold("a text") == document_fold("\n a text  \n")


@given(st.integers(0, 50), st.integers(1, 5), st.integers(0, 10**6))
def test_substitutes_are_other_candidates_and_no_variants(n, k, seed):
    rng = np.random.default_rng(seed)
    same = np.eye(k, dtype=bool)
    if k > 2:
        same[0, 1] = same[1, 0] = True
    truth = rng.integers(k, size=n).astype(np.int32)
    swapped, rows = substitutes(same[truth], rng)
    assert len(swapped) == n and (swapped[np.setdiff1d(np.arange(n), rows)] == -1).all()
    assert not same[truth[rows], swapped[rows]].any()
    assert len(rows) == (n if k > 1 else 0)


def test_substitutes_are_evenly_spread():
    same = np.eye(4, dtype=bool)
    swapped, _ = substitutes(same[np.zeros(9000, np.int32)], np.random.default_rng(0))
    assert np.bincount(swapped, minlength=4)[1:] == pytest.approx([3000] * 3, rel=0.06)
    assert (swapped != 0).all()


def test_examples_are_sampled_once_and_in_order(load_with):
    load_with(toys="toy_plugin")
    from toy_plugin import Pairs

    view = Words()(SENTENCES)
    examples = TextExamples.from_view(view, Pairs().instances(view))
    assert examples.n_words == sum(len(Words().words(text)) - 2 * text.count(". ") - 2 for text in SENTENCES)
    every = examples.rows(0)
    assert len(every) == 5
    few = examples.rows(0, most=3, rng=np.random.default_rng(0))
    assert len(few) == 3
    assert set(few) <= set(every)
    assert (np.diff(few) > 0).all()


def parts(load_with):
    load_with(toys="toy_plugin")
    return resolve(
        {
            "task": {"@disambig_tasks": "toys.Pairs.v1"},
            "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
            "extractors": {"near": {"@disambig_extractors": "toys.NearbyWords.v1"}},
            "learner": {"@disambig_learners": "toys.Perceptron.v1"},
            "baseline": {"@disambig_learners": "toys.Constant.v1"},
        }
    )


@pytest.mark.parametrize("empty", ["train", "dev"])
def test_text_without_a_single_instance_is_refused(load_with, empty):
    texts = {"train": SENTENCES, "dev": SENTENCES} | {empty: ["Nothing here."]}
    with pytest.raises(UserError) as caught:
        train(parts(load_with), texts, name="toys")
    assert caught.value.code == "D412"
    aim = "to learn from" if empty == "train" else "to tune on"
    assert f"none of the documents kept {aim} contains a candidate" in str(caught.value)


def test_equal_documents_are_named_where_a_part_has_none(load_with):
    """Fifty equal lines are in one part, and the others have none; each line has a candidate all the same."""
    same = ["It was quite good."] * 50
    with pytest.raises(
        UserError, match="only 1 of 50 documents is different, and equal documents are never split"
    ):
        train(parts(load_with), split(same), name="toys")
    with pytest.raises(UserError, match="only 2 of 51 documents are different"):
        train(parts(load_with), {"train": [*same, "Nothing here."], "dev": []}, name="toys")
    with pytest.raises(UserError, match=r"to tune on .*; 1 document in all: add more"):
        train(parts(load_with), {"train": same[:1], "dev": []}, name="toys")
    with pytest.raises(UserError, match="none has a candidate of the task pairs"):
        train(parts(load_with), {"train": ["No."] * 50, "dev": ["No."]}, name="toys")


def test_training_is_repeatable_and_says_where_it_is(load_with):
    built, told = parts(load_with), []

    def progress(*step):
        told.append(step)

    def model(seed):
        texts = {"train": SENTENCES * 4, "dev": SENTENCES}
        settings = {"max_examples": 8, "min_examples": 2, "seed": seed}
        return train(built, texts, name="toys", progress=progress, **settings)

    first, second = model(1), model(1)
    for one, two in zip(first.scorers, second.scorers, strict=True):
        assert np.array_equal(one.weights, two.weights)
    assert np.array_equal(first.judge.calibration.groups, second.judge.calibration.groups)
    assert np.array_equal(first.judge.operating.thresholds, second.judge.operating.thresholds)
    assert first.provenance == second.provenance
    assert {stage for stage, _, _ in told} >= {"learning", "calibrating", "setting thresholds"}
    assert all(0 <= done <= total for _, done, total in told)


def test_protected_words_are_not_tuned_on(load_with):
    texts = {"train": SENTENCES, "dev": ["Run `make it quite good` now."]}
    assert train(parts(load_with), texts | {"dev": ["It is quite good."]}, name="t", min_examples=2)
    with pytest.raises(UserError) as caught:
        train(parts(load_with), texts, name="t", min_examples=2)
    assert caught.value.code == "D412"


def test_protected_words_are_learned_from_but_not_decided(load_with):
    """A name in quotes says how words are used; it is not the model's to correct."""
    load_with(toys="toy_plugin")
    from toy_plugin import Pairs

    from disambig.text import view_of_texts

    view = view_of_texts(["Run `make it quite good` now. It is quite good."], Words(), protected=True)
    assert len(Pairs().instances(view)) >= 1
    model = train(parts(load_with), {"train": SENTENCES * 4, "dev": SENTENCES}, name="t", min_examples=2)
    decided = model.decide(view)
    assert [view.texts[0][a:b] for a, b in zip(decided.starts, decided.ends, strict=True)] == ["quite"]
    assert decided.starts[0] == view.texts[0].rindex("quite")


def test_a_task_is_learned_from_its_examples_and_judged_where_it_decides(load_with):
    load_with(toys="toy_plugin")
    from toy_plugin import Pairs

    class FirstHalf(Pairs):
        """Decides in the first half of each text alone, and learns from all of it."""

        def instances(self, view):
            found = super().instances(view)
            document = view.document_indices(found.positions)
            middle = (view.documents[document] + view.documents[document + 1]) // 2
            return found.take(found.positions < middle)

        def examples(self, view):
            return super().instances(view)

    texts = dict.fromkeys(("train", "dev"), [" ".join(SENTENCES)] * 3)
    seen = {}
    for name, task in (("all", Pairs()), ("half", FirstHalf())):
        model = train({**parts(load_with), "task": task}, texts, name="t", min_examples=1)
        seen[name] = [report["examples"] for report in model.provenance["groups"].values()]
        seen[f"{name} decided"] = len(model.decide(Words()(texts["dev"])))
    assert seen["all"] == seen["half"]
    assert 0 < seen["half decided"] < seen["all decided"]
