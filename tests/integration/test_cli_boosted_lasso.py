"""The boosted lasso from the shell: train on n-best lists, look at the model, evaluate on other lists."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from commands import here

CONFIG = """
[model]
name = "my/rerank"

[task]
@disambig_tasks = "disambig.Lists.v1"
name = "rerank"
measure = "wer"

[extractors]

[extractors.source]
@disambig_extractors = "disambig.SourceFeatures.v1"
rank = false

[extractors.text]
@disambig_extractors = "disambig.TextNgrams.v1"
unit = "words"
order = 2
least = 2

[learner]
@disambig_learners = "boosted_lasso.{learner}.v1"
"""
RIGHT = ["the", "quiet", "house", "by", "their", "lake"]
WRONG = {"quiet": "quite", "their": "there", "by": "buy"}


def write_lists(path, n, seed):
    """Write lists whose source prefers wrong words half the time."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        words = [RIGHT[i] for i in np.sort(rng.choice(len(RIGHT), 4, replace=False))]
        texts = {" ".join(words)}
        for word in words:
            if word in WRONG:
                texts.add(" ".join(WRONG[word] if other == word else other for other in words))
        candidates = [{"text": text, "score": float(rng.normal())} for text in sorted(texts)]
        lines.append(json.dumps({"candidates": candidates, "reference": " ".join(words)}))
    path.write_text("\n".join(lines) + "\n", encoding="utf8")


@pytest.mark.parametrize("learner", ["BLasso", "Boosting", "AveragedPerceptron", "PairwiseL2"])
def test_lists_are_learned_from_and_decided(tmp_path, learner):
    write_lists(tmp_path / "train.jsonl", 120, 0)
    write_lists(tmp_path / "new.jsonl", 60, 1)
    (tmp_path / "my.cfg").write_text(CONFIG.format(learner=learner), encoding="utf8")
    done = here("train", "my.cfg", "--lists", "train.jsonl", "--output", "model", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert any(line.startswith("  the model's choice: ") for line in lines), done.stderr
    assert lines[-1] == "(lists held out before training)"
    done = here("evaluate", "model", "--lists", "new.jsonl", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    chosen, first = (
        float(re.search(rf"{of}: (0\.\d+)", done.stdout)[1]) for of in ("choice", "first candidate")
    )
    assert chosen < 0.5 * first
    reports = (tmp_path / "model" / "model.json").read_text(encoding="utf8")
    assert ('"steps_back"' in reports) == (learner in ("BLasso", "Boosting"))
