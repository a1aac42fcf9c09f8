"""The component for any model: named by the model, keyed by its task, saved and read like the others."""

from __future__ import annotations

import subprocess
import sys

import pytest
import spacy
from fake_spacy_models import preposition_model, spelling_model
from spacy.language import Language

from disambig.errors import UserError
from disambig.spacy import component, core_components


@pytest.fixture
def models(monkeypatch):
    found = {"mine/to": preposition_model(name="to"), "mine/sets": spelling_model(name="sets")}
    monkeypatch.setattr(component, "load", found.__getitem__)
    return found


def test_it_takes_any_model_and_the_key_of_its_task(nlp, models):
    nlp.add_pipe("disambig", config={"model": "mine/sets"})
    doc = nlp("a quite wrong place to be")
    assert [(span.text, span.label_) for span in doc.spans["spelling"]] == [("quite", "quiet"), ("to", "to")]
    assert doc.spans["spelling"][0]._.disambig["flagged"]


def test_several_beside_each_other(nlp, models):
    nlp.add_pipe("disambig", name="first", config={"model": "mine/sets"})
    nlp.add_pipe("disambig", name="second", config={"model": "mine/to", "spans_key": "p"})
    doc = nlp("to be")
    assert nlp.pipe_names == ["first", "second"]
    assert doc.spans["spelling"][0]._.disambig["candidates"] != doc.spans["p"][0]._.disambig["candidates"]


def test_the_settings_are_those_of_the_others(nlp, models):
    settings = {"flags_per_1000": 4, "ignore": ["In"], "protect": False}
    pipe = nlp.add_pipe("disambig", config={"model": "mine/to", **settings})
    assert (pipe.flags_per_1000, pipe.ignore, pipe.protect) == (4.0, ("in",), False)
    assert pipe.spans_key == "preposition" and pipe.name == "disambig"
    assert set(nlp.config["components"]["disambig"]) == {"factory", *core_components.DEFAULTS}


def test_without_a_model_it_says_how_to_name_one(nlp, models):
    with pytest.raises(UserError, match=r"D480.*'mine'.*config=\{'model': 'DIRECTORY'\}"):
        nlp.add_pipe("disambig", name="mine")


def test_a_missing_model_is_named(nlp):
    with pytest.raises(UserError, match=r"D404.*'no such model'"):
        nlp.add_pipe("disambig", config={"model": "no such model"})


def test_another_language_is_refused(models):
    with pytest.raises(UserError, match="D500"):
        spacy.blank("de").add_pipe("disambig", config={"model": "mine/to"})


def test_a_pipeline_is_saved_and_read(nlp, models, tmp_path):
    nlp.add_pipe("disambig", config={"model": "mine/to"})
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert again("to be").spans["preposition"][0].label_ == "to"
    blank = spacy.blank("en")
    blank.add_pipe("disambig", config={"model": "mine/to"})
    blank.from_bytes(nlp.to_bytes())
    models["mine/to"] = preposition_model(name="to", version="2.0")
    with pytest.warns(UserWarning, match=r"saved with to 0\.0\.1.* decides with to 2\.0"):
        spacy.load(tmp_path / "pipeline")


def test_it_says_what_it_sets():
    meta = Language.get_factory_meta("disambig")
    assert meta.requires == []
    assert meta.assigns == ["doc.spans", "doc.user_data", "span._.disambig", "doc.cats"]


def test_declaring_it_loads_nothing_heavy():
    code = """import sys, disambig.spacy.core_components
print([name for name in ("numba", "scipy", "sklearn") if name in sys.modules])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
