"""The tagger can be trained by packed exponentiated gradient: its config names another learner, no more."""

from __future__ import annotations

import pytest
import spacy
from disambig_random_subspace.tagger import train_tagger
from spacy.tokens import Doc

from disambig.models import load_model, save_model

SENTENCES = [
    ("the dog barks".split(), "DT NN VBZ".split()),
    ("a cat sleeps".split(), "DT NN VBZ".split()),
    ("dogs bark".split(), "NNS VBP".split()),
    ("cats sleep".split(), "NNS VBP".split()),
    ("the cat barks".split(), "DT NN VBZ".split()),
    ("I like the dogs".split(), "PRP VBP DT NNS".split()),
    ("a dog likes cats".split(), "DT NN VBZ NNS".split()),
] * 2
LEARNER = {
    "@disambig_learners": "exponentiated_gradient.EG.v1",
    "C": 1.0,
    "decoder": {"@disambig_decoders": "disambig.Chain.v1"},
}


@pytest.fixture(scope="module", params=["cost", "log"])
def trained(request):
    return train_tagger(SENTENCES, SENTENCES, name="my/tagger", learner={**LEARNER, "loss": request.param})


def test_it_has_learned_and_says_how_well(trained):
    view = trained.tokenisation.of_sentences(words for words, _ in SENTENCES)
    names = trained.task.groups[0].candidates
    assert [names[i] for i in trained.choose(view)[1]] == [tag for _, tags in SENTENCES for tag in tags]
    report = trained.provenance["groups"]["tag"]
    assert report["C"] == 1.0 and report["gold_missing"] == 0
    assert report["gap"] < report["path"]["gap"][0]


def test_saved_and_used_by_the_component(trained, tmp_path):
    save_model(trained, tmp_path / "tagger")
    config = (tmp_path / "tagger" / "config.cfg").read_text(encoding="utf8")
    assert "exponentiated_gradient.EG.v1" in config and "disambig.Chain.v1" in config
    assert load_model(tmp_path / "tagger").name == "my/tagger"
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_tagger", config={"model": str(tmp_path / "tagger")})
    (doc,) = nlp.pipe([Doc(nlp.vocab, words=["a", "dog", "sleeps"])])
    assert [token.tag_ for token in doc] == ["DT", "NN", "VBZ"]


def test_small_weights_can_be_left_out():
    """What makes a tagger small works on these weights, too."""
    model = train_tagger(SENTENCES, SENTENCES, name="my/tagger", learner=LEARNER, least=0.05)
    whole = train_tagger(SENTENCES, SENTENCES, name="my/tagger", learner=LEARNER)
    view = model.tokenisation.of_sentences(words for words, _ in SENTENCES)
    assert (model.choose(view)[1] == whole.choose(view)[1]).all()
    assert sum(a.size for a in model.scorers[0].state().values()) < sum(
        a.size for a in whole.scorers[0].state().values()
    )
