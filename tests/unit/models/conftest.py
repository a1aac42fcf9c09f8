"""A small model, trained and saved, for tests of models on disk."""

from __future__ import annotations

import shutil

import pytest
from model_files import toy_config
from toy_texts import SENTENCES

from disambig.config import resolve
from disambig.models import save_model
from disambig.training import train


@pytest.fixture(scope="module")
def saved(tmp_path_factory, small_table):
    """A directory with the count table of the model, shared by the tests of a module."""
    home = tmp_path_factory.mktemp("models")
    shutil.copy(small_table, home / "small.counts")
    return home


@pytest.fixture(scope="module")
def trained():
    """A list that contains the model as soon as a test has trained it."""
    return []


@pytest.fixture
def model(load_with, saved, trained):
    load_with(toys="toy_plugin")
    if not trained:
        trained.append(small_model(saved))
    return trained[0]


def small_model(saved):
    counts = {"@disambig_extractors": "disambig.NgramCounts.v1", "counts": str(saved / "small.counts")}
    config = toy_config("toys.Pairs.v1", counts)
    texts = {"train": SENTENCES * 3, "dev": SENTENCES}
    return train(resolve(config), texts, name="small", version="1.2.3", config=config, min_examples=3)


@pytest.fixture
def home(model, tmp_path):
    save_model(model, tmp_path / "model")
    return tmp_path / "model"
