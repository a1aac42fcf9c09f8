"""What the patterns of "it" say, as attributes."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm.pronoun_it import KINDS, SCALE, It, ItPatterns, NormalisedWords, matched_kinds

from disambig.data import Group
from disambig.errors import UserError
from disambig.features import transform_checked


def places(*texts):
    view = NormalisedWords()(texts)
    return view, It().instances(view)


def test_each_place_has_the_kinds_that_hold_in_its_sentence():
    view, instances = places(
        "We left it open. It was raining, and it's clear that it got wet.",
        "",
        "Then he put it on the shelf. Towards noon it stopped raining.",
    )
    found = [
        [kind for kind, holds in zip(KINDS, row, strict=True) if holds]
        for row in matched_kinds(view, instances)
    ]
    assert found == [[], ["weather"], ["clause"], [], ["thing"], ["weather"]]


def test_a_pattern_speaks_for_one_label_as_much_as_against_the_other():
    view, instances = places("It was raining.", "It was red.")
    features = transform_checked(ItPatterns(), view, instances, It.groups[0])
    values = features.batch.values
    assert values.shape == (2, 2, len(KINDS))
    assert values[0, 1, KINDS.index("weather")] == SCALE and not values[1].any()
    assert np.array_equal(values[:, 0], -values[:, 1])
    assert not features.found.any() and not features.asked.any()


def test_without_any_place_there_is_nothing():
    view, instances = places("Nothing of the kind.")
    assert transform_checked(ItPatterns(), view, instances, It.groups[0]).batch.values.shape == (
        0,
        2,
        len(KINDS),
    )


def test_two_labels_are_wanted():
    view, instances = places("It was red.")
    with pytest.raises(UserError, match="D455"):
        transform_checked(ItPatterns(), view, instances, Group("three", ("a", "b", "c")))
