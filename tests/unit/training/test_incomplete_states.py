"""A component that does not save all that it needs is named when it is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from toy_learners import Constant, MeanDifference
from toy_plugin import Marks, NearbyWords

from disambig.errors import UserError
from disambig.formats import Labelled
from disambig.models import LinearScorer
from disambig.text import Words
from disambig.training import train_labelled
from disambig.types import Fitted

WORDS = "late early old new green big warm dry tall slow".split()
EXAMPLES = [
    *(Labelled(f"It is quite {word}.", 6, 11, "quite", word) for word in WORDS),
    *(Labelled(f"The quite {word} slept.", 4, 9, "quiet", f"rare {word}") for word in WORDS),
]


@dataclass(frozen=True)
class Forgetful(MeanDifference):
    """Saves nothing of its scorer."""

    def fit(self, batch, *, dev=None, rng=None):
        return Fitted(NoState(super().fit(batch).scorer.weights))


@dataclass(frozen=True)
class NoState(LinearScorer):
    def state(self):
        return {"other": np.zeros(1)}


@dataclass(frozen=True)
class Defaulting(Forgetful):
    """A learner that restores a scorer with other weights than those that were saved."""

    columns: int = 0

    def from_state(self, arrays):
        return LinearScorer(np.zeros(self.columns))


@dataclass(frozen=True)
class Growing(NearbyWords):
    """An extractor with a column of what it was fitted to, which it does not save."""

    seen: int = 0

    def fit(self, view, instances, groups):
        return replace(self, seen=len(instances))

    def state(self):
        return {}

    def from_state(self, arrays):
        if not self.seen:
            raise KeyError("seen")
        return self


def trained(extractor, learner):
    parts = {
        "task": Marks(("quite/quiet",)),
        "tokenisation": Words(),
        "extractors": {"near": extractor},
        "learner": learner,
        "baseline": Constant(),
    }
    return train_labelled(parts, EXAMPLES, name="marks")


@pytest.mark.parametrize(
    ("extractor", "learner", "said"),
    [
        (
            NearbyWords(),
            Forgetful(),
            "the scorer NoState of the learner Forgetful: from_state needs 'weights'",
        ),
        (NearbyWords(), Defaulting(columns=9), "restoring it raised ValueError('9 weights for"),
        (NearbyWords(), Defaulting(columns=32), "scores differ after from_state; state returned other"),
        (
            Growing(),
            MeanDifference(),
            "the extractor Growing: from_state needs 'seen', but state returned no array",
        ),
    ],
)
def test_it_is_named_in_training(extractor, learner, said):
    with pytest.raises(UserError) as caught:
        trained(extractor, learner)
    assert caught.value.code == "D414"
    assert said in str(caught.value) and "add what is missing to state()" in str(caught.value)
