"""The tagger that ships: beside the other components, on the command line, its size and accuracy."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import spacy
from commands import here
from spacy.tokens import Doc

from disambig.packs import default_tasks, pack
from disambig.text import SpacyTokens, hash_word

TEXT = "I worked in Russia during 1997 to 2001, and it was hard to find a quite place. They sleep!"


def test_it_works_beside_the_other_components():
    nlp = spacy.blank("en")
    for name in ("disambig_tagger", "disambig_preposition", "disambig_spelling", "disambig_it"):
        nlp.add_pipe(name)
    doc = nlp(TEXT)
    tags = {token.text: (token.tag_, token.pos_) for token in doc}
    assert tags["worked"] == ("VBD", "VERB") and tags["Russia"] == ("NNP", "PROPN")
    assert (
        tags["was"] == ("VBD", "AUX") and tags["They"] == ("PRP", "PRON") and tags["sleep"] == ("VBP", "VERB")
    )
    alone = spacy.blank("en")
    for name in ("disambig_preposition", "disambig_spelling", "disambig_it"):
        alone.add_pipe(name)
    for key, spans in alone(TEXT).spans.items():
        assert [(s.start, s.label_) for s in doc.spans[key]] == [(s.start, s.label_) for s in spans]


def test_dashes_and_semicolons_have_the_tag_of_the_penn_treebank():
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_tagger")
    doc = nlp("We left; they stayed -- and it rained, so the well-known man \u2014 our uncle \u2014 slept.")
    tags = [(token.text, token.tag_) for token in doc]
    assert {tag for word, tag in tags if word in {";", "--", "\u2014"}} == {":"}
    assert (",", ",") in tags and ("-", "HYPH") in tags


def test_it_runs_only_where_it_is_named():
    assert "tag" not in default_tasks() and {"it", "preposition", "spelling"} <= set(default_tasks())
    assert pack("disambig_en_tagger").counts is None


def test_the_command_line_takes_it(tmp_path):
    (tmp_path / "a.txt").write_text("They sleep.", encoding="utf8")
    (tmp_path / "b.txt").write_text(" \n ", encoding="utf8")
    done = here("annotate", "a.txt", "b.txt", "--model", "tag", folder=tmp_path)
    first, second = map(json.loads, done.stdout.splitlines())
    assert [each["chosen"] for each in first["decisions"]] == ["PRP", "VBP", "."]
    assert second["decisions"] == [] and first["flags"] == 0
    explained = here("explain", "--model", "tag", "They sleep.")
    assert "PRP, with probability" in explained.stdout and "features occurred in training" in explained.stdout


def test_it_is_small():
    home = pack("disambig_en_tagger").home
    assert sum(path.stat().st_size for path in home.rglob("*") if path.is_file()) < 6e6


@pytest.mark.data
@pytest.mark.skipif("DISAMBIG_DATA" not in os.environ, reason="needs DISAMBIG_DATA")
def test_the_card_tells_its_accuracy():
    from disambig_random_subspace.experiments import GENRES, ewt, with_penn_colons

    nlp = spacy.blank("en")
    tagger = nlp.add_pipe("disambig_tagger")
    told = json.loads((pack("disambig_en_tagger").home / "figures.json").read_text(encoding="utf8"))["test"]
    for genre in GENRES:
        sentences = with_penn_colons(ewt(Path(os.environ["DISAMBIG_DATA"]), [genre], ["test"]))
        docs = list(tagger.pipe(Doc(nlp.vocab, words=words) for words, _ in sentences))
        right = sum(
            token.tag_ == tag
            for doc, (_, tags) in zip(docs, sentences, strict=True)
            for token, tag in zip(doc, tags, strict=True)
        )
        # sentences are cut at stops here, and as the treebank does in the card
        assert right / told[genre]["n"] == pytest.approx(told[genre]["accuracy"], abs=0.003)


def test_plain_texts_get_the_tags_that_the_component_gives_docs():
    tokens = SpacyTokens(layers=["tag"])
    text = "The banks were closed. He RUNS to  the river's mouth!\n\nNo. 5 mark"
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_tagger")
    of_text, of_docs = tokens([text]), tokens.of_docs([nlp(text)])
    np.testing.assert_array_equal(of_text.layers["tag"], of_docs.layers["tag"])
    words = of_text.ends > of_text.starts
    assert (of_text.layers["tag"][words] != 0).all()
    assert not of_text.layers["tag"][~words].any()
    assert hash_word("NNS") in of_text.layers["tag"][[2]]
