"""A blank pipeline, and fake models where the factories look for installed ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def nlp():
    import spacy

    return spacy.blank("en")


@pytest.fixture
def fakes(monkeypatch):
    """Models by name, as `disambig.spacy.component` loads them."""
    from fake_spacy_models import preposition_model, spelling_model

    from disambig.spacy import component

    models = {"preposition": preposition_model(), "spelling": spelling_model()}
    monkeypatch.setattr(component, "load", models.__getitem__)
    return models
