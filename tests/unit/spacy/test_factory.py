"""What a plugin's factory gives spaCy: a config with defaults, truthful metadata, clear refusals."""

from __future__ import annotations

import subprocess
import sys

import pytest
import spacy
from spacy.language import Language

import disambig
from disambig.errors import UserError
from disambig.spacy import factory


def names(pipe):
    return [group.name for group in pipe.model.task.groups]


def test_the_config_is_complete(nlp, fakes):
    nlp.add_pipe("disambig_preposition")
    nlp.add_pipe("disambig_spelling")
    common = {"model": None, "flags_per_1000": None, "ignore": [], "protect": True, "detect_language": True}
    common |= {"writing": None}
    assert nlp.config["components"]["disambig_preposition"] == {
        "factory": "disambig_preposition",
        "spans_key": "preposition",
        **common,
    }
    assert nlp.config["components"]["disambig_spelling"] == {
        "factory": "disambig_spelling",
        "spans_key": "spelling",
        "sets": [],
        **common,
    }


def test_what_a_component_says_of_itself():
    meta = Language.get_factory_meta("disambig_spelling")
    assert meta.requires == [] and meta.assigns == ["doc.spans", "doc.user_data", "span._.disambig"]
    assert not meta.retokenizes
    assert meta.default_score_weights == {
        "spans_spelling_f": 1.0,
        "spans_spelling_p": 0.0,
        "spans_spelling_r": 0.0,
    }


def test_the_config_reaches_the_component(nlp, fakes):
    fakes["mine"] = fakes["preposition"]
    settings = {"model": "mine", "spans_key": "p", "flags_per_1000": 4, "ignore": ["In"], "protect": False}
    pipe = nlp.add_pipe("disambig_preposition", name="my prepositions", config=settings)
    assert (pipe.name, pipe.spans_key, pipe.ignore, pipe.protect) == ("my prepositions", "p", ("in",), False)
    assert pipe.flags_per_1000 == 4.0 and pipe.model is fakes["mine"]


@pytest.mark.parametrize(
    ("sets", "added"),
    [
        (["lamp/damp", ["Row", "low"]], ["lamp/damp", "row/low"]),
        (["Lamp / damp"], ["lamp/damp"]),
    ],
)
def test_own_sets(nlp, fakes, sets, added, tmp_path):
    before = names(nlp.add_pipe("disambig_spelling", name="plain"))
    assert names(nlp.add_pipe("disambig_spelling", config={"sets": sets})) == before + added


def test_own_sets_in_a_file(nlp, fakes, tmp_path):
    path = tmp_path / "sets.txt"
    path.write_text("# mine\nlamp/damp\twet or bright\n")
    pipe = nlp.add_pipe("disambig_spelling", config={"sets": str(path)})
    assert names(pipe)[-1] == "lamp/damp"
    assert nlp("a damp day").spans["spelling"][0].label_ == "damp"


@pytest.mark.parametrize("kind", ["disk", "bytes"])
def test_a_file_of_sets_is_saved_in_the_pipeline(nlp, fakes, tmp_path, kind):
    path = tmp_path / "sets.txt"
    path.write_text("lamp/damp\n")
    nlp.add_pipe("disambig_spelling", config={"sets": str(path)})
    if kind == "disk":
        nlp.to_disk(tmp_path / "saved")
        path.unlink()
        loaded = spacy.load(tmp_path / "saved")
    else:
        data, config = nlp.to_bytes(), nlp.config
        path.unlink()
        loaded = spacy.util.load_model_from_config(config).from_bytes(data)
    assert names(loaded.get_pipe("disambig_spelling"))[-1] == "lamp/damp"
    assert loaded("a damp day").spans["spelling"][0].label_ == "damp"


def test_a_missing_file_of_sets_is_an_error_when_the_component_is_used(nlp, fakes, tmp_path):
    nlp.add_pipe("disambig_spelling", config={"sets": str(tmp_path / "sets.txt")})
    for use in (lambda: nlp("a damp day"), lambda: list(nlp.pipe(["a damp day"])), nlp.to_bytes):
        with pytest.raises(UserError, match="D300"):
            use()
    with pytest.raises(UserError, match="D300"):
        nlp.to_disk(tmp_path / "saved")
    unread = spacy.util.load_model_from_config(nlp.config)
    with pytest.raises(UserError, match="D300"):
        unread("a damp day")


def test_a_malformed_file_of_sets_is_an_error_at_once(nlp, fakes, tmp_path):
    path = tmp_path / "sets.txt"
    path.write_text("lamp\n")
    with pytest.raises(UserError, match="D410"):
        nlp.add_pipe("disambig_spelling", config={"sets": str(path)})


def test_sets_survive_another_pipeline(nlp, fakes, tmp_path):
    path = tmp_path / "sets.txt"
    path.write_text("lamp/damp\n")
    nlp.add_pipe("disambig_spelling", config={"sets": str(path)})
    other = spacy.blank("en")
    other.add_pipe("disambig_spelling", source=nlp)
    other.to_disk(tmp_path / "saved")
    path.unlink()
    loaded = spacy.load(tmp_path / "saved")
    assert loaded("a damp day").spans["spelling"][0].label_ == "damp"


def test_a_model_of_another_task_is_refused(nlp, fakes):
    with pytest.raises(UserError, match=r"D501.*'disambig_preposition'.*'spelling'"):
        nlp.add_pipe("disambig_preposition", config={"model": "spelling"})


def test_a_missing_model_names_those_there_are(nlp, monkeypatch):
    from disambig import packs

    monkeypatch.setattr(packs, "available", lambda: {"speling": "a", "en/preposition": "b"})
    with pytest.raises(UserError, match=r"D404.*'spelling'.*speling, en/preposition") as caught:
        nlp.add_pipe("disambig_spelling")
    assert 'config={"model": ...} takes a model directory or one of' in str(caught.value)


@pytest.mark.parametrize(
    "config", [{"ignore": "to"}, {"flags_per_1000": "many"}, {"sets": 3}, {"set": ["a/b"]}, {"model": 3}]
)
def test_a_config_of_the_wrong_kind_is_refused_by_spacy(nlp, fakes, config):
    with pytest.raises(ValueError, match=next(iter(config))):
        nlp.add_pipe("disambig_spelling", config=config)


def test_a_plugin_declares_a_component(nlp, fakes):
    fakes["sense"] = fakes["spelling"]
    factory.component_factory("test_component_of_a_plugin", task="spelling", spans_key="mine")
    pipe = nlp.add_pipe("test_component_of_a_plugin")
    assert pipe.spans_key == "mine"
    assert "sets" not in nlp.config["components"]["test_component_of_a_plugin"]


def test_loading_spacy_loads_nothing_heavy_of_ours():
    code = """import sys, spacy
heavy = "numba", "scipy", "sklearn", "disambig_variance_svm.prepositions.usage"
spacy.blank("en")
assert "disambig.spacy.factory" in sys.modules, "the entry points are not installed"
print([name for name in heavy if name in sys.modules])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_spacy_is_not_loaded_by_the_core():
    code = "import sys, disambig, disambig.api, disambig.cli.main; print('spacy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_the_pipeline_requires_what_brings_the_component(nlp, fakes):
    nlp.meta["requirements"] = ["other>=1.0"]
    for name in ("disambig_preposition", "disambig_spelling"):
        nlp.add_pipe(name)
    major, minor, _ = disambig.__version__.split(".")
    own = f"disambig>={disambig.__version__},<{major}.{int(minor) + 1}.0"
    assert nlp.meta["requirements"] == ["other>=1.0", own]


def test_blank_pipelines_know_the_components():
    nlp = spacy.blank("de")
    assert nlp.has_factory("disambig_preposition") and nlp.has_factory("disambig_spelling")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"flags_per_1000": "many"}, "flags_per_1000 is 'many', not a number"),
        ({"ignore": "word"}, "ignore is 'word', not a list of texts"),
        ({"ignore": [1]}, r"ignore is \[1\], not a list"),
        ({"sets": 3}, "sets is 3, not a file or a list of sets"),
        ({"model": 5}, "model is 5, not a text"),
        ({"spans_key": None}, "spans_key is None, not a text"),
        ({"protect": "yes"}, "protect is 'yes', not true or false"),
    ],
)
def test_a_setting_of_another_kind_is_said_in_a_line(nlp, fakes, settings, said):
    with pytest.raises(UserError, match=f"^.D516. component 'disambig_spelling': {said}"):
        nlp.add_pipe("disambig_spelling", config=settings)
    for name in ("disambig", "disambig_tagger", "disambig_topic"):
        with pytest.raises(UserError, match=f"D516.*component {name!r}: model is True, not a text"):
            nlp.add_pipe(name, config={"model": True})


def test_an_unknown_setting_is_refused(nlp, fakes):
    with pytest.raises(ValueError, match="unexpected argument: 'flags'"):
        nlp.add_pipe("disambig_spelling", config={"flags": 1})
