"""Annotation of documents: pieces, batches, bad documents, totals; and the sources of models."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from fake_models import annotate_texts
from hypothesis import given, strategies as st

from disambig.data import Group
from disambig.errors import UserError
from disambig.formats import Document, count_words, records
from disambig.jobs import count_totals, totals_from_plain
from disambig.models import ModelSource, annotate_documents, batch_documents, cut_pieces, documents, with_sets
from disambig.rules import Correction, Rule, RuleSet


def document(text: str, name: str = "a") -> Document:
    return Document(name, text, name)


@given(text=st.text(st.sampled_from("ab. \n")), size=st.integers(1, 12), window=st.integers(0, 12))
def test_pieces_cover_a_text_and_respect_the_limit(text, size, window):
    cuts = cut_pieces(text, size=size, window=window)
    assert "".join(text[start:end] for start, end in cuts) == text
    assert [end for _, end in cuts[:-1]] == [start for start, _ in cuts[1:]]
    assert all(0 < end - start <= size + 2 for start, end in cuts) or not text


def test_pieces_end_at_paragraphs_or_lines():
    assert cut_pieces("aaa. b\n\nc\nd e f", size=11, window=9) == [(0, 8), (8, 15)]
    assert cut_pieces("a b\nc d e", size=6, window=6) == [(0, 4), (4, 9)]
    assert cut_pieces("x" * 9, size=4, window=2) == [(0, 4), (4, 8), (8, 9)]


def test_decisions_on_pieces_equal_those_on_the_whole(monkeypatch):
    text = "It was a quite place, during 1997\r\nto 2001. \U0001f600 In it!\n\n" * 30
    (whole,), _ = annotate_documents([document(text)], annotate_texts)
    monkeypatch.setattr(documents, "cut_pieces", lambda text: cut_pieces(text, size=200, window=100))
    monkeypatch.setattr(documents, "BATCH_CHARACTERS", 350)
    results, bad = annotate_documents([document("in"), document(text), document("")], annotate_texts)
    assert not bad
    assert list(records(results[1])) == list(records(whole))
    assert [len(list(records(result))) for result in results] == [1, 30 * 4, 0]
    for cut, full in zip(results[1].decisions, whole.decisions, strict=True):
        for field in dataclasses.fields(cut):
            one, other = getattr(cut, field.name), getattr(full, field.name)
            assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


def test_batches_hold_all_documents_in_order():
    documents = [document("x" * length) for length in (3, 3, 3, 20, 1)]
    assert [len(batch) for batch in batch_documents(documents, size=6)] == [2, 2, 1]
    assert [one for batch in batch_documents(documents, size=6) for one in batch] == documents


def test_one_bad_document_does_not_spoil_its_batch():
    good, bad = annotate_documents(
        [document("in", "a"), Document("b:2", "RAISE", "b", 2, "line"), document("of", "c")], annotate_texts
    )
    assert [result.document.id for result in good] == ["a", "c"]
    (error,) = [str(one.error) for one in bad]
    message = "[D313] b:2: could not be annotated: RuntimeError: the fake model was asked to fail"
    assert re.fullmatch(re.escape(message) + r" \(fake_models\.py:\d+, in annotate_texts\)", error)


def name_rule(correction: Correction) -> str:
    if correction.observed == "quite":
        raise KeyError("boom")
    return "any"


def test_rules_that_cannot_be_named_do_not_spoil_a_batch():
    def annotate(texts):
        rules = RuleSet((Rule("any", "Any."),), name_rule)
        return [replace(decisions, rules=rules) for decisions in annotate_texts(texts)]

    good, (bad,) = annotate_documents([document("during 1997"), document("a quite place", "b")], annotate)
    assert [result.document.text for result in good] == ["during 1997"] and good[0].decisions[0].flagged.any()
    assert re.match(r"\[D313\] b: could not be annotated: \[D414\].*boom", str(bad.error))


def test_totals_add_up_and_round_trip():
    results, _ = annotate_documents([document("a quite place in Rome"), document("?!")], annotate_texts)
    totals = count_totals(results)
    assert totals.plain() == {
        "documents": 2,
        "words": 5,
        "tasks": {"preposition": [1, 0], "spelling": [1, 1]},
    }
    assert totals_from_plain(totals.plain()) == totals
    totals.add(count_totals(results[:1]))
    assert totals.tasks["spelling"] == (2, 2)


def test_labels_are_counted_without_flags():
    (result,), _ = annotate_documents([document("a quite place in Rome")], annotate_texts)
    _, spelling = result.decisions
    none = np.full(len(spelling), -1, np.int32)
    labels = replace(result, decisions=(replace(spelling, observed=none, flagged=none > 0),))
    nothing = replace(result, decisions=(spelling.slice(0, 0),))
    totals = count_totals([labels, nothing, labels])
    assert totals.tasks == {"spelling": (2, None)}
    assert totals_from_plain(json.loads(json.dumps(totals.plain()))) == totals
    totals.add(count_totals([nothing, result, labels]))
    assert totals.tasks["spelling"] == (4, 1)


@pytest.mark.parametrize(
    ("text", "words"), [("", 0), (" \n", 0), ("?! -- ...", 0), ("a - b", 3), ("\u3042", 1)]
)
def test_word_counts(text, words):
    assert count_words(text) == words


@pytest.mark.parametrize(("name", "n_flags"), [("a.md", 1), ("a.tex.gz", 2), ("a.txt", 3)])
def test_skips_markup_and_keeps_offsets(name, n_flags):
    text = r"` a quite place ` and \ref{ a quite place } and a quite place"
    ((result,), _) = annotate_documents([document(text, name)], annotate_texts)
    flags = [record for record in records(result) if record["flagged"]]
    assert len(flags) == n_flags
    assert all(text[record["start"] : record["end"]] == "quite" for record in flags)
    ((line,), _) = annotate_documents([dataclasses.replace(result.document, kind="line")], annotate_texts)
    assert len([record for record in records(line) if record["flagged"]]) == 3


def model(name):
    judge = SimpleNamespace(flags_per_1000=0.5, limit=lambda rate=None: 0.5)
    task = SimpleNamespace(name=name.rpartition("/")[2])
    return SimpleNamespace(name="fake", version="1", task=task, judge=judge)


@pytest.fixture
def installed(monkeypatch, tmp_path):
    (tmp_path / "weights").write_text("1")
    models = {"preposition": tmp_path, "pack/preposition": tmp_path}
    monkeypatch.setattr("disambig.packs.available", lambda: models)
    monkeypatch.setattr("disambig.packs.default_tasks", lambda: tuple(n for n in models if "/" not in n))
    monkeypatch.setattr("disambig.models.sources.load", model)
    return models


def test_default_is_all_installed_models(installed):
    assert ModelSource().names() == ("preposition",)
    assert ModelSource(("a", "b")).names() == ("a", "b")
    installed.clear()
    with pytest.raises(UserError, match="D323"):
        ModelSource().names()


def test_description_depends_on_settings_and_contents_of_models(installed, tmp_path):
    first = ModelSource().describe()
    assert first == ModelSource().describe()
    assert first != ModelSource(flags_per_1000=1.0).describe()
    assert ModelSource(flags_per_1000={"preposition": 1.0}).describe()["flags_per_1000"] == {
        "preposition": 1.0
    }
    with pytest.raises(UserError, match=r"D950.*'spelling'.*available: preposition"):
        ModelSource(flags_per_1000={"spelling": 1.0}).describe()
    assert first != ModelSource(ignore=("word",)).describe()
    assert first != ModelSource(sets=(Group("a/b", ("a", "b")),)).describe()
    (tmp_path / "weights").write_text("2")
    assert first != ModelSource().describe()


def test_rejects_two_models_of_one_task(installed, tmp_path):
    installed["a"] = tmp_path
    for twice in (("mine/preposition", "a", "preposition"), ("preposition", "preposition", "a")):
        for work in (ModelSource(twice).load, ModelSource(twice).describe):
            with pytest.raises(UserError, match=rf"D333.*{twice[0]}.* and preposition .*'preposition'"):
                work()
    ModelSource(("a", "preposition")).load()


def test_passes_sets_to_the_models_that_take_them():
    sets = (Group("a/b", ("a", "b")),)
    plain = SimpleNamespace(name="p", task=SimpleNamespace())
    taking = SimpleNamespace(
        name="s", task=SimpleNamespace(with_groups=list), with_groups=lambda groups: ("with", groups)
    )
    assert with_sets([plain, taking], sets) == [plain, ("with", sets)]
    with pytest.raises(UserError, match="D322"):
        with_sets([plain], sets)
