"""Sentences whose tags are known in part: read, filled in, learned from."""

from __future__ import annotations

import io
import tarfile

import numpy as np
import pytest
from disambig_random_subspace.experiments import CRAFT, NOAD, craft_partly, noad_partly
from disambig_random_subspace.tagger import fill_in_tags, predict_tags, token_views, train_tagger

from disambig.errors import UserError

SENTENCES = [
    ("the dog barks".split(), "DT NN VBZ".split()),
    ("a cat sleeps".split(), "DT NN VBZ".split()),
    ("dogs bark".split(), "NNS VBP".split()),
    ("the walks end".split(), "DT NNS VBP".split()),
    ("she walks".split(), "PRP VBZ".split()),
] * 3


def archive(path, members):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:xz") as out:
        for name, text in members.items():
            data = text.encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))


@pytest.fixture(scope="module")
def model():
    return train_tagger(SENTENCES, SENTENCES, name="toy")


def test_what_is_known_binds_the_tagger(model):
    words = "the walks end".split()
    free, bound, strange = fill_in_tags(
        model, [(words, [(), (), ()]), (words, [(), ("NN", "VBZ"), ()]), (words, [("XX",), (), ()])]
    )
    assert free == strange == (words, "DT NNS VBP".split())
    assert bound[1][1] in ("NN", "VBZ") and bound[1][0] == "DT"


def test_further_sentences_bring_words(model):
    more = [("the ferret sings".split(), "DT NN VBZ".split())] * 3
    known = train_tagger(SENTENCES, SENTENCES, name="toy", more=more)
    assert len(known.extractors[0].keys) > len(model.extractors[0].keys)
    assert known.provenance["groups"]["tag"]["more"] == 9
    seldom = train_tagger(SENTENCES, SENTENCES, name="toy", more=more, seldom=4)
    assert len(seldom.extractors[0].keys) == len(model.extractors[0].keys)


def test_plain_text_is_tagged_as_the_model_does_it(model, tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text("The dog barks. A cat sleeps.\n\nDogs bark.\n" * 3, encoding="utf8")
    views = list(token_views(path, 1_000))
    for view in views:
        np.testing.assert_array_equal(predict_tags(model, view), model.choose(view)[1])
    assert len(list(token_views(path, 0))) == 0 and sum(map(len, views)) > 30


def test_senses_say_parts_of_speech(tmp_path):
    word = '<word text="{}" break_level="{}"/>'
    sense = '<word text="{}" lemma="{}" pos="{}" sense="/d/{}" break_level="{}"/>'
    lines = [
        '<SimpleWsdDoc name="/a.txt">',
        word.format("a.txt", "NO_BREAK"),
        word.format("We", "PARAGRAPH_BREAK"),
        sense.format("run", "run", "VERB", "s1", "SPACE_BREAK"),
        sense.format("races", "race", "NOUN", "s2", "LINE_BREAK"),
        word.format("No", "SENTENCE_BREAK"),
        "</SimpleWsdDoc>",
    ]
    archive(tmp_path / NOAD, {"masc/a.xml": "\n".join(lines)})
    ((words, may),) = noad_partly(tmp_path)
    assert words == ["We", "run", "races"]
    assert not may[0] and "VBP" in may[1] and "NN" not in may[1] and "NNS" in may[2]


def test_trees_say_tags_but_for_conventions(tmp_path):
    tree = "( (S (NP (DT The) (NN wnt-gene)) (VP (VBZ acts) (NP (-NONE- *T*)))  (: ;)) )\n((NP (NN Note)))"
    archive(tmp_path / CRAFT, {"penn/1.tree": tree, "penn/readme": "no"})
    ((words, may),) = craft_partly(tmp_path)
    assert words == ["The", "wnt-gene", "acts", ";"]
    assert [tuple(each) for each in may] == [("DT",), ("NN", "NNP"), ("VBZ",), ()]
    archive(tmp_path / CRAFT, {"penn/1.txt": "no"})
    with pytest.raises(UserError, match="D732"):
        list(craft_partly(tmp_path))
