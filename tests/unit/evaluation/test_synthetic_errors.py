"""Synthetic errors: substituted words, and texts that are rewritten."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from toy_components import toy_components
from toy_learners import MeanDifference

from disambig.counts import build_table
from disambig.data import CandidateFinder, CandidateLists, Group, Instances
from disambig.evaluation import evaluate, rewrite, substitute
from disambig.features import NgramCounts
from disambig.models import NoPreference
from disambig.tasks import OwnCandidates
from disambig.text import Words, hash_word
from disambig.training import train

GROUPS = (
    Group("toward/towards/to", ("toward", "towards", "to"), (("toward", "towards"),)),
    Group("maybe/may be", ("maybe", "may be")),
    Group("quiet/quite", ("quiet", "quite")),
)
TEXTS = ["We went toward the quiet lake, maybe to rest, towards a quite distant shore."] * 30


def substitute_words(share: float):
    view = Words()(TEXTS)
    instances = CandidateFinder.from_groups(GROUPS).find(view)
    return view, instances, substitute(view, instances, GROUPS, share=share, rng=np.random.default_rng(7))


def test_changes_selected_words_only() -> None:
    view, instances, rewrite_texts = substitute_words(0.3)
    changed = np.flatnonzero(rewrite_texts.view.hashes != view.hashes)
    assert set(changed) == set(instances.positions[rewrite_texts.rows])
    assert 0 < len(changed) < len(instances)
    assert rewrite_texts.view.texts is view.texts
    again = substitute_words(0.3)[2]
    assert (again.rows == rewrite_texts.rows).all() and (again.substituted == rewrite_texts.substituted).all()


def test_replacements_are_candidates_of_as_many_words_but_not_variants() -> None:
    _, instances, rewrite_texts = substitute_words(1.0)
    for row, swapped in zip(rewrite_texts.rows, rewrite_texts.substituted, strict=True):
        group = GROUPS[instances.groups[row]]
        assert not group.same(int(instances.observed[row]), int(swapped))
        word = hash_word(group.candidates[swapped])
        assert rewrite_texts.view.hashes[instances.positions[row]] == np.uint64(word)
    assert not (instances.groups[rewrite_texts.rows] == 1).any()


def places(texts, lists):
    """Return a view and the places of some words in it; ``(word, after)`` is empty, before `after`."""
    view = Words()(texts)
    spans = zip(view.document_indices(np.arange(len(view))), view.starts, view.ends, strict=True)
    words = [view.texts[document][start:end] for document, start, end in spans]
    at = [(i, word, lists[word]) for i, word in enumerate(words) if word in lists]
    lengths = np.array([int(own[0] != "") for _, _, own in at], np.int32)
    observed = np.array([own.index(word) if own[0] else 0 for _, word, own in at])
    own = CandidateLists.from_texts([own for _, _, own in at])
    positions = np.array([i for i, _, _ in at], np.int64)
    return view, Instances(positions, lengths, np.zeros(len(at), np.int32), observed, own)


def rewrite_texts(texts, lists, share=1.0, seed=0):
    view, instances = places(texts, lists)
    return instances, rewrite(view, instances, Words(), share=share, rng=np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("text", "lists", "expected", "begins"),
    [
        ("The cat sat.", {"cat": ("cat", "house cat")}, "The house cat sat.", "house cat sat"),
        ("Go home.", {"Go": ("Go", "went")}, "Went home.", "Went"),
        ("I saw the cat.", {"the": ("the", "")}, "I saw cat.", "cat."),
        ("I saw cat.", {"cat": ("", "the")}, "I saw the cat.", "the cat."),
        ("GO HOME NOW", {"HOME": ("HOME", "house")}, "GO HOUSE NOW", "HOUSE"),
    ],
)
def test_rewritten_text(text, lists, expected, begins):
    _, result = rewrite_texts([text], lists)
    assert result.view.texts == (expected,)
    assert expected[result.starts[0] :].startswith(begins)


def test_moves_later_places():
    texts = ["a cat and a dog", "no such words", "a dog"]
    lists = {"cat": ("cat", "kitten"), "dog": ("dog", "hound"), "a": ("a", "")}
    instances, result = rewrite_texts(texts, lists)
    assert result.view.texts == ("kitten and hound", "no such words", "hound")
    columns = (result.documents, result.starts, result.rows, result.substituted)
    for document, start, row, swapped in zip(*columns, strict=True):
        candidate = instances.own.instance_candidates(row)[swapped]
        assert result.view.texts[document][start:].startswith(candidate or ("kitten", "hound"))
    assert result.documents.tolist() == [0, 0, 0, 0, 2, 2]


def test_keeps_texts_without_a_replacement():
    assert rewrite_texts(["so it is."], {"is": ("is", ""), "so": ("so",)})[1].view.texts == ("so it is.",)
    view, instances = places(["a cat"], {"a": ("a", "the")})
    nothing = replace(instances, observed=np.array([-1]))
    result = rewrite(view, nothing, Words(), share=1.0, rng=np.random.default_rng(0))
    assert result.view.texts == ("a cat",) and not len(result.rows)


def test_replaces_a_share_within_the_lists():
    lists = {"one": ("one", "two", "three"), "red": ("blue", "red")}
    instances, result = rewrite_texts(["one red one red"] * 50, lists, share=0.3)
    assert 20 < len(result.rows) < 100
    assert (result.substituted != instances.observed[result.rows]).all()
    actual = set(re.findall(r"\w+", " ".join(result.view.texts)))
    assert actual == {"one", "two", "three", "blue", "red"}
    again = rewrite_texts(["one red one red"] * 50, lists, share=0.3)[1]
    assert again.view.texts == result.view.texts


def test_finds_the_same_errors_among_thousands_of_groups(tmp_path):
    texts = [f"i form no {k} . they come from it {k} ." for k in range(60)]
    counts = NgramCounts(counts=build_table(tmp_path / "forms.counts", texts, Words()))
    components = toy_components(
        OwnCandidates(sets=["form/from", "i/they"]),
        baseline=NoPreference(),
        extractors={"counts": counts},
        learner=MeanDifference(),
    )
    model = train(components, {"train": texts[:40], "dev": texts[40:]}, name="forms", min_examples=2)
    letters = [f"{a}{b}{c}" for a, b, c in product("bcdfghjklmnpqrst", repeat=3)]
    others = [f"q{word}/z{word}" for word in letters[:4095]]
    many = replace(model, task=OwnCandidates(sets=["form/from", *others, "i/they"]))
    expected, result = (evaluate(m, texts, rates=(1000.0,))["rates"]["1000"] for m in (model, many))
    assert expected["groups"]["form/from"] == result["groups"]["form/from"] == 1.0
