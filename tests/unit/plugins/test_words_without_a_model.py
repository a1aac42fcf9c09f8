"""Words of which no model was learned: left alone, unless one asks for their most frequent sense."""

from __future__ import annotations

from dataclasses import replace

import pytest
from disambig_kernel_rls.senses import SenseTask

from disambig.config import resolve
from disambig.errors import UserError
from disambig.formats import Labelled
from disambig.training import train_labelled

WORDS = [["bank.n", {"bank": 8, "banks": 2}, ["money", "shore"], []]]


def with_a_rare_word():
    """Return examples of a word to learn, and a few of one whose most frequent sense alone is known."""
    money = [f"The bank lends money {i} ." for i in range(15)]
    shore = [f"We fished from the bank of river {i} ." for i in range(15)]
    found = [Labelled(t, t.index("bank"), t.index("bank") + 4, "money", t, "", "bank.n") for t in money]
    found += [Labelled(t, t.index("bank"), t.index("bank") + 4, "shore", t, "", "bank.n") for t in shore]
    oars = [f"Oar number {i} broke ." for i in range(6)]
    found += [Labelled(t, 0, 3, "part" if i == 5 else "tool", t, "", "oar.n") for i, t in enumerate(oars)]
    return found


def test_words_without_a_model_are_left_alone_unless_one_asks_for_their_most_frequent_sense():
    examples = with_a_rare_word()
    config = resolve(
        {
            "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
            "extractors": {"words": {"@disambig_extractors": "disambig.Tfidf.v1", "around": 10}},
            "learner": {"@disambig_learners": "kernel_rls.RLSCComb.v1", "regularisation": "auto"},
            "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
        }
    )
    task = SenseTask(least=3, learned=20)
    task = replace(task, **task.learn_settings(examples))
    assert list(task.rest) == ["oar.n"] and [group.learned for group in task.groups] == [True, False]
    model = train_labelled({"task": task, "judge": None, **config}, examples, name="senses")
    assert model.scorers[0] is not None and model.scorers[1] is None
    text = "An oar lay on the bank of the river ."
    plain = model.decide(model.tokenisation([text]))
    assert [plain.table[g].name for g in plain.groups] == ["bank.n"] and plain.asked.all()
    more = model.with_fallback().decide(model.tokenisation([text]))
    oar, bank = (more.record(i, text) for i in range(2))
    assert oar["chosen"] == "tool" and oar["asked"] == oar["found"] == 0 and 0.5 < oar["probability"] < 0.95
    assert bank["asked"] > 0 and bank["chosen"] == plain.record(0, text)["chosen"]
    with pytest.raises(UserError, match="D478"):
        replace(model, task=SenseTask(words=WORDS)).with_fallback()
