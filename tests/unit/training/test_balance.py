"""Many empty places: the sample to learn from, and decisions at the true rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_learners import MeanDifference
from toy_ways import OwnLists

from disambig.counts import build_table
from disambig.data import Columns, DenseBlocks, Group
from disambig.features import NgramCounts, ngram_columns
from disambig.models import LinearScorer, NoPreference, annotate
from disambig.tasks import OwnCandidates
from disambig.text import Words
from disambig.training import balanced_sample, bias_column, restore_bias, train
from disambig.types import Fitted

GROUP = Group("a/the/-", ("a", "the", ""))


@given(st.lists(st.sampled_from([0, 1, 2, 2, 2, 2]), max_size=80), st.integers(1, 60), st.integers(0, 2**32))
def test_empty_places_are_no_more_than_the_others(observed, most, seed):
    rows, seen = np.arange(len(observed)) * 3, np.array(observed, np.int32)
    sample = balanced_sample(rows, seen, GROUP, most=most, rng=np.random.default_rng(seed))
    assert len(sample) <= max(most, 1) and len(set(sample.tolist())) == len(sample)
    assert (np.diff(sample) > 0).all()
    empties = int((seen[sample // 3] == 2).sum())
    others = len(sample) - empties
    assert empties <= max(others, 1)
    words = observed.count(0) + observed.count(1)
    assert others == words or others >= most // 2


def test_the_bias_of_no_word():
    columns = ngram_columns(GROUP)
    assert str(columns.names[bias_column(columns, GROUP)]) == ": bias"
    assert bias_column(ngram_columns(Group("a/the", ("a", "the"))), Group("a/the", ("a", "the"))) is None
    assert bias_column(Columns(np.arange(3), np.zeros(3, int), ("all",)), GROUP) is None


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_no_other_constant_is_right_more_often(seed, n):
    rng = np.random.default_rng(seed)
    scores, gold = rng.integers(-3, 4, (n, 3)).astype(float), rng.choice(3, n, p=[0.1, 0.1, 0.8])
    scorer, shift = restore_bias(LinearScorer(np.zeros(4)), 2, scores, gold.astype(np.int32), GROUP)
    assert scorer.weights.tolist() == [0, 0, shift, 0]

    def right(added):
        return int(((scores + np.array([0, 0, added])).argmax(axis=1) == gold).sum())

    assert right(shift) >= max(right(other) for other in np.arange(-8, 8, 0.25) + 0.125)


@dataclass(frozen=True)
class Sum:
    """Weigh every n-gram alike."""

    needs_training: bool = True

    def fit(self, batch: DenseBlocks, *, dev=None, rng=None):
        return Fitted(LinearScorer(np.ones(len(batch.columns))), {"n": len(batch.values)})

    def from_state(self, arrays):
        return LinearScorer.from_state(arrays)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    texts = [
        f"{who} saw the {what} near here. We like {what}s very much. {who} had a very old {what} then."
        for who in "She He Anna Paul".split()
        for what in "house dog garden boat train".split()
    ]
    path = build_table(tmp_path_factory.mktemp("counts") / "t.counts", texts, Words())
    parts = {
        "task": OwnCandidates(candidates=["a", "the", ""], name="article", language="en"),
        "tokenisation": Words(),
        "extractors": {"counts": NgramCounts(counts=path)},
        "learner": Sum(),
        "baseline": Sum(),
    }
    return train(parts, {"train": texts, "dev": texts}, name="articles", min_examples=2, flags_per_1000=5)


def test_training_takes_a_sample_and_restores_the_rate(model):
    report = model.provenance["groups"]["a/the/-"]
    assert report["n"] == report["examples"] == 80  # 40 words, and as many empty places
    view = Words()(["We like boats very much. He saw the boat near here."])
    decided = model.decide(view)
    assert (decided.chosen == decided.observed).mean() > 0.9


def test_words_are_put_in_and_taken_out(model):
    text = "He saw boat near here. We like the boats very much. She had a very old train then."
    (decisions,) = annotate([text], [model], flags_per_1000=50)
    records = [decisions.record(i, text) for i in np.flatnonzero(decisions.flagged)]
    assert [(r["start"], r["end"], r["observed"], r["replacement"]) for r in records] == [
        (7, 7, "", "the "),
        (31, 34, "the", ""),
    ]
    assert [text[s:e] for s, e in zip(decisions.starts, decisions.ends, strict=True)] == ["", "the", "a"]


@pytest.mark.parametrize("most", [40, 20_000])
def test_lists_of_each_places_own_need_no_balance(tmp_path, most):
    """Few words among many empty places: what all candidates share is learned from either."""
    rng = np.random.default_rng(0)
    words, what = "so on we all know very well that they said it".split(), "house dog boat train".split()
    places = [("saw the", ""), ("had a", ""), ("liked", "s")]

    def text():
        (before, after), rest = places[rng.integers(3)], " ".join(rng.choice(words, 30))
        return f"She {before} {rng.choice(what)}{after} {rest}."

    texts = [text() for _ in range(300)]
    path = build_table(tmp_path / "t.counts", texts, Words())
    task = OwnLists(("a", "the", ""), name="article")
    parts = {
        "task": task,
        "tokenisation": Words(),
        "extractors": {"counts": NgramCounts(counts=path)},
        "learner": MeanDifference(),
        "baseline": NoPreference(),
    }
    model = train(
        parts, {"train": texts[:200], "dev": texts[200:]}, name="x", min_examples=2, max_examples=most
    )
    assert model.provenance["groups"]["way"]["examples"] == min(
        most, len(task.instances(Words()(texts[:200])))
    )
    text = "She saw dog so on. She liked the trains so on. She had a boat so on."
    (decisions,) = annotate([text], [model], flags_per_1000=12)
    records = [decisions.record(i, text) for i in np.flatnonzero(decisions.flagged)]
    assert [(r["start"], r["observed"], r["replacement"]) for r in records] == [
        (8, "", "the "),
        (29, "the", ""),
    ]


def test_in_spacy_an_empty_place_is_the_word_after_it(model, tmp_path):
    import spacy
    from spacy.tokens import Doc

    from disambig.spacy.component import Disambiguator

    nlp = spacy.blank("en")
    component = Disambiguator(nlp, model, name="x", spans_key="article", flags_per_1000=50)
    doc = component(nlp("He saw boat near here. We like the boats very much."))
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    for one in (doc, again):
        first, second = one.spans["article"]
        assert (first.text, first.label_, second.text, second.label_) == ("boat", "the", "the", "")
        record = first._.disambig
        assert (record["start"], record["end"], record["replacement"]) == (7, 7, "the ")
        assert second._.disambig["chosen"] == "" and second._.disambig["flagged"]


def test_the_corrected_text(model):
    from disambig.formats import AnnotatedDocument, Document, corrected_text, records

    text = "He saw boat near here. We like the boats very much."
    decisions = annotate([text], [model], flags_per_1000=50)
    result = AnnotatedDocument(Document(id="x", path="x", text=text), decisions)
    assert corrected_text(result) == "He saw the boat near here. We like boats very much."
    assert [r["replacement"] for r in records(result)] == ["the ", ""]
