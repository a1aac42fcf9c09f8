"""Examples that were picked for their label teach, and say nothing of how frequent labels are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from toy_learners import Constant, MeanDifference
from toy_plugin import Marks, NearbyWords

from disambig.formats import Labelled
from disambig.text import Words
from disambig.training import train_labelled

WORDS = "late early old new green big warm dry tall slow".split()
COMMON = [Labelled(f"It is quite {word}.", 6, 11, "quite", word) for word in WORDS]
RARE = [Labelled(f"The quite {word} slept.", 4, 9, "quiet", f"rare {word}") for word in WORDS]


def trained(examples):
    parts = {
        "task": Marks(("quite/quiet",)),
        "tokenisation": Words(),
        "extractors": {"near": NearbyWords()},
        "learner": MeanDifference(),
        "baseline": Constant(),
    }
    return train_labelled(parts, examples, name="marks")


def picked(examples):
    return [replace(each, picked=True) for each in examples]


def test_they_are_learned_from():
    alone, more = trained([*COMMON, *RARE[:2]]), trained([*COMMON, *RARE[:2], *picked(RARE[2:])])
    assert not np.array_equal(alone.scorers[0].weights, more.scorers[0].weights)
    as_they_come = trained([*COMMON, *RARE])
    np.testing.assert_array_equal(as_they_come.scorers[0].weights, more.scorers[0].weights)


def test_probabilities_are_fitted_without_them():
    few, many = trained([*COMMON, *RARE[:2], *picked(RARE[2:])]), trained([*COMMON, *RARE])
    assert few.judge.bias[0, 1] < many.judge.bias[0, 1]
    said = " ".join(few.provenance["notes"])
    assert "12 labelled examples" in said and few.provenance["examples"]["labelled"] == 20


@pytest.mark.parametrize("examples", [RARE + COMMON, RARE[:1] + COMMON[:1]], ids=len)
def test_where_all_were_picked_all_count(examples):
    every, none = trained(picked(examples)), trained(examples)
    np.testing.assert_array_equal(every.judge.bias, none.judge.bias)
