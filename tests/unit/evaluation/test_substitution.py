"""Made errors: where, what, and what is left as it was."""

from __future__ import annotations

import numpy as np

from disambig.data import CandidateFinder, Group
from disambig.evaluation import substitute
from disambig.text import Words, hash_word

GROUPS = (
    Group("toward/towards/to", ("toward", "towards", "to"), (("toward", "towards"),)),
    Group("maybe/may be", ("maybe", "may be")),
    Group("quiet/quite", ("quiet", "quite")),
)
TEXTS = ["We went toward the quiet lake, maybe to rest, towards a quite distant shore."] * 30


def substituted(share: float, seed: int = 0):
    view = Words()(TEXTS)
    instances = CandidateFinder.from_groups(GROUPS).find(view)
    return view, instances, substitute(view, instances, GROUPS, share=share, rng=np.random.default_rng(seed))


def test_only_the_chosen_words_change() -> None:
    view, instances, errors = substituted(0.3)
    changed = np.flatnonzero(errors.view.hashes != view.hashes)
    assert set(changed) == set(instances.positions[errors.rows])
    assert 0 < len(changed) < len(instances)
    assert errors.view.texts is view.texts


def test_what_stands_there_is_another_candidate_and_no_variant() -> None:
    _, instances, errors = substituted(1.0)
    for row, swapped in zip(errors.rows, errors.swapped, strict=True):
        group = GROUPS[instances.groups[row]]
        assert not group.same(int(instances.observed[row]), int(swapped))
        word = hash_word(group.candidates[swapped])
        assert errors.view.hashes[instances.positions[row]] == np.uint64(word)


def test_candidates_of_another_length_are_never_exchanged() -> None:
    _, instances, errors = substituted(1.0)
    assert not (instances.groups[errors.rows] == 1).any()


def test_a_seed_gives_the_same_errors() -> None:
    first, second = substituted(0.3, 7)[2], substituted(0.3, 7)[2]
    assert (first.rows == second.rows).all() and (first.swapped == second.swapped).all()
