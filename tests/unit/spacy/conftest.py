"""A blank pipeline, and fake models in place of the installed ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def blank_english():
    """Return one pipeline for all tests, since creating one takes longer than most tests."""
    import spacy

    return spacy.blank("en")


@pytest.fixture
def nlp(blank_english):
    """Return a blank pipeline; components that a test adds are removed afterwards."""
    assert not blank_english.component_names
    yield blank_english
    for name in blank_english.component_names:
        blank_english.remove_pipe(name)


@pytest.fixture
def fakes(monkeypatch):
    """Fake models by name, which `disambig.spacy.component` loads."""
    from fake_spacy_models import preposition_model, spelling_model

    from disambig.spacy import component

    models = {"preposition": preposition_model(), "spelling": spelling_model()}
    monkeypatch.setattr(component, "load", models.__getitem__)
    return models
