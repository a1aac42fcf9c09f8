"""What a learner leaves open is chosen on folds, before it learns from all examples."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm.learners import KSVM, OneVersusAll, VarianceSVM

from disambig.config import resolve
from disambig.formats import Labelled
from disambig.training import train_labelled
from disambig.types import HasOpenSettings

LEARNERS = (KSVM, OneVersusAll, VarianceSVM)


@pytest.mark.parametrize("learner", LEARNERS)
def test_c_is_that_of_the_middle_fit(learner):
    assert isinstance(learner(), HasOpenSettings)
    assert learner().with_tuned([{"C": 10.0}, {"C": 0.1}, {"C": 1.0}]).C == 1.0
    assert learner(C=0.5).with_tuned([{"C": 10.0}]).C == 0.5  # what is said stays
    assert learner().with_tuned([{"C": 10.0}, {}]).C is None
    assert learner().with_tuned([]).C is None


def test_a_model_of_labels_learns_with_it(load_with):
    load_with(toys="toy_plugin")
    words = "bank money loan river water shore".split()
    labelled = [
        Labelled(text, 0, len(text), label, text, f"made, line {i}")
        for i in range(40)
        for label, own in (("money", words[:3]), ("river", words[3:]))
        for text in [f"{own[i % 3]} {own[(i + 1) % 3]} number {i}"]
    ]
    config = {
        "task": {"@disambig_tasks": "random_subspace.Topic.v1", "labels": ["money", "river"]},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {"words": {"@disambig_extractors": "disambig.Tfidf.v1"}},
        "learner": {"@disambig_learners": "variance_svm.KSVM.v1"},
        "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
    }
    parts = resolve(config)
    seen = []

    class Watched:
        """Passes on, and keeps the reports of folds."""

        needs_training, takes = True, parts["learner"].takes

        def fit(self, batch, **about):
            return parts["learner"].fit(batch, **about)

        def from_state(self, arrays):
            return parts["learner"].from_state(arrays)

        def with_tuned(self, reports):
            seen.extend(report["C"] for report in reports)
            return parts["learner"].with_tuned(reports)

    model = train_labelled({**parts, "learner": Watched()}, labelled, name="topics")
    (report,) = model.provenance["groups"].values()
    assert len(seen) == 5
    assert report["C"] == pytest.approx(np.median(seen))
