"""Errors made in texts themselves: what is put where, and where it stands then."""

from __future__ import annotations

import re

import numpy as np
import pytest

from disambig.data import CandidateLists, Instances
from disambig.evaluation import rewrite
from disambig.text import Words


def places(texts, lists):
    """Return a view and the places of some words in it; ``(word, after)`` is empty, before `after`."""
    view = Words()(texts)
    words = [
        view.texts[d][s:e]
        for d, s, e in zip(view.document_indices(np.arange(len(view))), view.starts, view.ends, strict=True)
    ]
    at = [(i, word, own) for i, word in enumerate(words) for key, own in lists.items() if word == key]
    n = len(at)
    empty = [own[0] == "" for _, _, own in at]
    return view, Instances(
        np.array([i for i, _, _ in at], np.int64),
        np.array([0 if none else 1 for none in empty], np.int32),
        np.zeros(n, np.int32),
        np.array([0 if none else own.index(word) for none, (_, word, own) in zip(empty, at, strict=True)]),
        CandidateLists.from_texts([own for _, _, own in at]),
    )


def errors(texts, lists, share=1.0, seed=0):
    view, instances = places(texts, lists)
    return instances, rewrite(view, instances, Words(), share=share, rng=np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("text", "lists", "made", "begins"),
    [
        ("The cat sat.", {"cat": ("cat", "house cat")}, "The house cat sat.", "house cat sat"),
        ("Go home.", {"Go": ("Go", "went")}, "Went home.", "Went"),
        ("I saw the cat.", {"the": ("the", "")}, "I saw cat.", "cat."),
        ("I saw cat.", {"cat": ("", "the")}, "I saw the cat.", "the cat."),
        ("GO HOME NOW", {"HOME": ("HOME", "house")}, "GO HOUSE NOW", "HOUSE"),
    ],
)
def test_what_stands_there_then(text, lists, made, begins):
    _, found = errors([text], lists)
    assert found.view.texts == (made,)
    assert made[found.starts[0] :].startswith(begins)


def test_later_places_of_a_text_move():
    texts = ["a cat and a dog", "no such words", "a dog"]
    lists = {"cat": ("cat", "kitten"), "dog": ("dog", "hound"), "a": ("a", "")}
    instances, found = errors(texts, lists)
    assert found.view.texts == ("kitten and hound", "no such words", "hound")
    for document, start, row, swapped in zip(
        found.documents, found.starts, found.rows, found.swapped, strict=True
    ):
        candidate = instances.own.instance_candidates(row)[swapped]
        assert found.view.texts[document][start:].startswith(candidate or ("kitten", "hound"))
    assert found.documents.tolist() == [0, 0, 0, 0, 2, 2]


def test_where_no_other_candidate_can_be_put_the_text_stays():
    assert errors(["so it is."], {"is": ("is", ""), "so": ("so",)})[1].view.texts == ("so it is.",)
    view, instances = places(["a cat"], {"a": ("a", "the")})
    nothing = Instances(
        instances.positions, instances.lengths, instances.groups, np.array([-1]), instances.own
    )
    found = rewrite(view, nothing, Words(), share=1.0, rng=np.random.default_rng(0))
    assert found.view.texts == ("a cat",) and not len(found.rows)


def test_a_share_is_replaced_by_others_of_their_own_lists():
    lists = {"one": ("one", "two", "three"), "red": ("blue", "red")}
    instances, found = errors(["one red one red"] * 50, lists, share=0.3)
    assert 20 < len(found.rows) < 100
    assert (found.swapped != instances.observed[found.rows]).all()
    seen = set(re.findall(r"\w+", " ".join(found.view.texts)))
    assert seen == {"one", "two", "three", "blue", "red"}
    again = errors(["one red one red"] * 50, lists, share=0.3)[1]
    assert again.view.texts == found.view.texts
