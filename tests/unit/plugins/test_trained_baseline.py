"""A learner that needs training is no baseline."""

from __future__ import annotations

import pytest

from disambig.errors import UserError
from disambig.training import read_plan

CONFIG = """[model]
name = "my/words"
[task]
@disambig_tasks = "disambig.Candidates.v1"
candidates = ["bring", "take"]
[tokenisation]
@disambig_tokenisations = "disambig.words.v1"
[extractors]
[extractors.counts]
@disambig_extractors = "disambig.NgramCounts.v1"
counts = "disambig_en"
[learner]
@disambig_learners = "variance_svm.ConditionalLogit.v1"
[baseline]
@disambig_learners = "variance_svm.ConditionalLogit.v1"
"""


def test_a_learner_that_needs_training_is_refused_as_a_baseline(tmp_path):
    path = tmp_path / "my.cfg"
    path.write_text(CONFIG)
    with pytest.raises(UserError) as caught:
        read_plan(path)
    assert caught.value.code == "D005"
    assert "ConditionalLogit.v1 cannot be the [baseline]: name a learner" in str(caught.value)
