"""Classes of words by their tags and capitals in tagged plain text."""

from __future__ import annotations

import numpy as np
import pytest

from disambig.errors import UserError
from disambig.features import learn_usage
from disambig.text import SpacyTokens, hash_words

NAMES, THINGS = ["Anna", "Berlin", "Chile", "Doris"], ["apple", "brick", "chair", "door"]


def tagged(texts):
    """Tag names 0, things 1, all else 2."""
    view = SpacyTokens()(texts)
    words = np.flatnonzero(view.ends > view.starts)
    kinds = {**dict.fromkeys(hash_words([n.lower() for n in NAMES]).tolist(), 0)}
    kinds |= dict.fromkeys(hash_words(THINGS).tolist(), 1)
    return view, np.array([kinds.get(h, 2) for h in view.hashes[words].tolist()])


def test_words_of_the_same_tags_and_capitals_come_together():
    texts = [f"She gave {name} the {thing}." for name in NAMES for thing in THINGS] * 2
    texts += [f"{thing.title()} Of {name}" for name in NAMES for thing in THINGS]  # headings say nothing
    found = learn_usage([tagged(texts)], 3, sizes=(3,))
    names, things = (found.lookup(hash_words([w.lower() for w in some])) for some in (NAMES, THINGS))
    assert (names == names[0]).all() and (things == things[0]).all()
    assert names[0, 0] != things[0, 0] and names[0, 1] != things[0, 1]


def test_a_capital_at_the_begin_of_a_sentence_is_not_counted():
    texts = ["Door after door shut. The door was open.", "Door to door they went."] * 4
    texts += ["He saw Anna and Anna saw him."] * 4
    found = learn_usage([tagged(texts)], 3, sizes=(2,))
    door, anna = found.lookup(hash_words(["door", "anna"]))[:, -1].tolist()
    assert (door, anna) == (2, 8)  # never, and nearly always; one more, since 0 is an unknown word


def test_words_in_capitals_are_a_class_of_their_own():
    texts = ["We asked NASA and the man from NASA then left."] * 8
    assert learn_usage([tagged(texts)], 3, sizes=(2,)).lookup(hash_words(["nasa"]))[0, -1] == 9


def test_too_few_words_are_said():
    with pytest.raises(UserError, match="D458"):
        learn_usage([], 3, sizes=(2,))
    with pytest.raises(UserError, match=r"D458.*0 different words"):
        learn_usage([tagged(["One two."])], 3, sizes=(2,))
