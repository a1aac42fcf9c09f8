"""Weights that groups share go to disk and come back; others than fit every group are refused."""

from __future__ import annotations

import json
from hashlib import blake2b

import numpy as np
import pytest
from toy_texts import SENTENCES

from disambig.config import resolve
from disambig.errors import UserError
from disambig.models import load_model, save_model
from disambig.training import train


@pytest.fixture
def home(load_with, small_table, tmp_path):
    """A model of two groups, each with weights of its own beside the shared ones."""
    load_with(toys="toy_plugin")
    config = {
        "task": {"@disambig_tasks": "toys.Pairs.v1"},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {
            "ngrams": {"@disambig_extractors": "disambig.NgramCounts.v1", "counts": str(small_table)}
        },
        "learner": {"@disambig_learners": "variance_svm.ConditionalLogit.v1"},
        "baseline": {"@disambig_learners": "toys.Constant.v1"},
    }
    texts = {"train": SENTENCES * 3, "dev": SENTENCES}
    save_model(train(resolve(config), texts, name="small", config=config, min_examples=3), tmp_path / "model")
    return tmp_path / "model"


def put_shared(home, weights):
    """Replace the shared weights, and make model.json agree with the file again."""
    with np.load(home / "weights.npz") as archive:
        arrays = dict(archive)
    np.savez(home / "weights.npz", **arrays | {"shared.weights": weights})
    data = (home / "weights.npz").read_bytes()
    said = json.loads((home / "model.json").read_text())
    said["files"]["weights.npz"] = {"size": len(data), "blake2b": blake2b(data, digest_size=16).hexdigest()}
    (home / "model.json").write_text(json.dumps(said))


def test_they_are_looked_at_even_where_every_group_has_its_own(home):
    model = load_model(home)
    assert None not in model.scorers
    good = model.shared.weights
    for bad in (good[:-1], good[:, None], good[0], good * np.nan, good + 1e308):
        put_shared(home, bad)
        with pytest.raises(UserError) as caught:
            load_model(home)
        assert caught.value.code == "D405"
    put_shared(home, good)
    assert (load_model(home).shared.weights == good).all()
