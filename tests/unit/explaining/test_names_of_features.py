"""Explanations name features in words, whether or not the model keeps their names."""

from __future__ import annotations

import numpy as np
import pytest
from toy_learners import Constant, MeanDifference
from toy_plugin import Marks

from disambig.explain import accounts, explain_decision, with_names
from disambig.features import ContextWindow, Subsequences, Tfidf
from disambig.formats import Labelled
from disambig.models import Model
from disambig.text import Words
from disambig.training import train_labelled

TEXTS = [(f"It was quite {word} .", "quite") for word in ("late", "old", "cold")]
TEXTS += [(f"The quite {word} slept .", "quiet") for word in ("girl", "dog", "man")]
EXAMPLES = [
    Labelled(text, text.index("quite"), text.index("quite") + 5, label, text) for text, label in TEXTS
]
TRIED = "It was quite old ."
WORDS = {"it", "was", "old", "."}


def model(*extractors) -> Model:
    parts = {
        "task": Marks(("quite/quiet",)),
        "tokenisation": Words(),
        "extractors": {str(i): each for i, each in enumerate(extractors)},
        "learner": MeanDifference(),
        "baseline": Constant(),
    }
    return train_labelled(parts, EXAMPLES, name="marks")


def reasons(model):
    view = Words()([TRIED])
    return explain_decision(with_names(model, view), view, 0)


def test_a_window_without_names_is_explained_as_one_with_names():
    bare, named = ContextWindow(window=1, named=False), ContextWindow(window=1, named=True)
    found, expected = reasons(model(bare)), reasons(model(named))
    assert found == expected and {"word-1=was", "word+1=old"} <= {each.evidence for each in found}
    known = bare.fit(*_material()).with_names(*_material(1)).seen
    assert sum(map(bool, known.names)) < len(known) == len(known.names)


def _material(n=6):
    view = Words()([text for text, _ in TEXTS[:n]])
    task = Marks(("quite/quiet",))
    return (view, task.instances(view), task.groups)[: 3 if n > 1 else 2]


@pytest.mark.parametrize("settings", [{"named": False}, {"bits": 12}, {"bits": 12, "sublinear_tf": True}])
def test_words_without_names_are_explained_by_themselves(settings):
    shown = {each.evidence for each in reasons(model(Tfidf(around=3, min_documents=1, **settings)))}
    assert shown >= {"was", "old"} and shown <= {*WORDS, "It", "quite", "bias"}


def test_names_that_are_kept_stay():
    for extractor in (ContextWindow(named=True), Tfidf(min_documents=1)):
        fitted = extractor.fit(*_material())
        assert fitted.with_names(*_material(1)) is fitted


def test_the_account_has_the_names_of_two_extractors_joined():
    joined = model(ContextWindow(window=1), Tfidf(around=3, min_documents=1, named=False, name="words"))
    (account,) = accounts(TRIED, joined)
    shown = " ".join(" ".join(map(str, row)) for table in account.tables for row in table.rows)
    assert "word-1=was (local)" in shown and "old (words)" in shown


def test_what_has_no_name_says_so():
    nameless = model(Subsequences(window=2))
    assert {each.evidence.split()[0] for each in reasons(nameless)} == {"feature"}
    assert all("it has no name" in each.evidence for each in reasons(nameless))
    view = Words()([TRIED])
    np.testing.assert_equal(explain_decision(nameless, view, 0), reasons(nameless))
