"""The senses that ship: a distribution of its own, the component behind a tagger, the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import pytest
import spacy
from commands import here, process
from spacy.tokens import DocBin

from disambig.errors import UserError
from disambig.models import load
from disambig.packs import default_tasks, pack, packs

SOURCE = Path(__file__).parents[2] / "corpora" / "disambig_en_sense"
TEXT = (
    "He put the money in the bank. The court heard his case in the fall, and she called it a mistake. Zyx! "
    "The state of the economy is bad; we had to run to catch the bus."
)


@pytest.fixture
def nlp(sense_pack):
    pipeline = spacy.blank("en")
    pipeline.add_pipe("disambig_tagger")
    pipeline.add_pipe("disambig_sense")
    return pipeline


def test_without_the_pack_the_component_names_it():
    if "disambig_en_sense" in packs():
        pytest.skip("the pack is installed here")
    with pytest.raises(UserError, match=r"D506.*disambig_en_sense"):
        spacy.blank("en").add_pipe("disambig_sense")


def test_without_the_pack_the_model_names_it_as_well():
    if "disambig_en_sense" in packs():
        pytest.skip("the pack is installed here")
    for name in ("sense", "disambig_en_sense/sense"):
        with pytest.raises(UserError, match=r"D404.*install the pack disambig_en_sense, or give"):
            load(name)
    for name in ("senses", "other/sense", "spelling/", "tagger"):
        with pytest.raises(UserError, match=r"D404.*: give a model directory"):
            load(name)


def test_senses_of_a_text(nlp):
    doc = nlp(TEXT)
    spans = {span.text: span for span in doc.spans["sense"]}
    assert {"put", "bank", "court"} <= spans.keys()
    assert not {"Zyx", "the", "."} & spans.keys()
    inventory = {name: (senses, glosses) for name, _, senses, glosses in load("sense").task.words}
    for span in spans.values():
        record = span._.disambig
        senses, glosses = inventory[record["group"]]
        assert span.label_ == record["chosen"] == record["candidates"][0][0]
        assert span.label_ in senses and span.kb_id_ == record["gloss"] == glosses[senses.index(span.label_)]
        assert record["margin"] >= load("sense").judge.least_margin
        assert 1 / len(senses) <= record["probability"] < 1 or len(senses) == 1
    assert spans["court"].kb_id_.startswith("court%1:")


def test_parts_of_speech_tell_words_apart(nlp):
    doc = nlp("They work hard. Their work was hard.")
    groups = [span._.disambig["group"] for span in doc.spans["sense"] if span.text == "work"]
    assert groups in (["work.v", "work.n"], ["work.v"], ["work.n"])
    nlp.get_pipe("disambig_sense").model = load("sense").with_least_margin(0.0)
    doc = nlp("They work hard. Their work was hard.")
    assert [s._.disambig["group"] for s in doc.spans["sense"] if s.text == "work"] == ["work.v", "work.n"]


def test_what_a_doc_gets_does_not_depend_on_its_batch(nlp):
    tagger, senses = nlp.get_pipe("disambig_tagger"), nlp.get_pipe("disambig_sense")

    def docs():
        half = tagger(nlp.make_doc(TEXT))
        for token in half[10:]:
            token.tag_ = ""
        return [tagger(nlp.make_doc(TEXT)), nlp.make_doc(TEXT), half]

    def shown(doc):
        return [(span.start, span._.disambig) for span in doc.spans["sense"]]

    with pytest.warns(UserWarning, match="no tags here"):
        alone = [shown(senses(doc)) for doc in docs()]
    with pytest.warns(UserWarning, match="no tags here"):
        together = [shown(doc) for doc in senses.pipe(docs(), batch_size=3)]
    assert all(alone) and together == alone


def test_a_larger_least_margin_says_less(sense_pack):
    counts = []
    for least in (0.0, 1.0, 50.0):
        nlp = spacy.blank("en")
        nlp.add_pipe("disambig_tagger")
        nlp.add_pipe("disambig_sense", config={"least_margin": least})
        counts.append(len(nlp(TEXT).spans["sense"]))
    assert counts[0] > counts[1] > 0 and counts[2] <= counts[1]
    with pytest.raises(UserError, match="D477"):
        spacy.blank("en").add_pipe("disambig_sense", config={"least_margin": -1.0})


def test_without_tags_there_is_one_warning_and_an_answer(sense_pack):
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_sense", config={"least_margin": 0.0})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        doc = nlp(TEXT)
    said = [str(warning.message) for warning in caught if "no tags here" in str(warning.message)]
    assert len(said) == 1 and "disambig_tagger" in said[0]
    assert "court" in {span.text for span in doc.spans["sense"]}


def test_spacy_knows_that_it_reads_tags(nlp):
    assert nlp.analyze_pipes()["problems"]["disambig_sense"] == []
    alone = spacy.blank("en")
    alone.add_pipe("disambig_sense")
    assert alone.analyze_pipes()["problems"]["disambig_sense"] == ["token.tag"]


def test_other_languages_are_refused(sense_pack):
    with pytest.raises(UserError, match="D500"):
        spacy.blank("de").add_pipe("disambig_sense")


def test_annotations_survive(nlp, tmp_path):
    doc = nlp(TEXT)
    (again,) = DocBin(store_user_data=True, docs=[doc]).get_docs(spacy.blank("en").vocab)

    def seen(doc):
        return [(s.text, s.label_, s.kb_id_, s._.disambig["probability"]) for s in doc.spans["sense"]]

    assert seen(again) == seen(doc)
    nlp.to_disk(tmp_path / "pipeline")
    assert seen(spacy.load(tmp_path / "pipeline")(TEXT)) == seen(doc)
    texts = [TEXT, "", "A bank.", TEXT]
    assert [seen(d) for d in nlp.pipe(texts)] == [seen(nlp(text)) for text in texts]


def test_the_command_line_takes_it_where_it_is_named(sense_pack, tmp_path):
    assert "sense" not in default_tasks()
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf8")

    said = json.loads(process("annotate", "a.txt", "--model", "sense", folder=tmp_path).stdout)
    decided = {each["observed"]: each for each in said["decisions"]}
    assert decided["court"]["gloss"].startswith("court%1:") and said["flags"] == 0
    assert decided["court"]["replacement"] == "court"
    shown = here("explain", "--model", "sense", "The court heard the case.").stdout
    assert "features occurred in training" in shown and "gloss" in shown
    assert "(near)" in shown and "(local)" in shown  # which extractor a feature is of


@pytest.mark.slow
def test_it_is_built_and_found_as_a_distribution_of_its_own(tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w"]
    subprocess.run([*command, str(tmp_path), str(SOURCE)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("disambig_en_sense-*.whl")
    assert wheel.stat().st_size <= 15e6
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert "disambig_en_sense/models/sense/weights.npz" in names
    assert not [
        name for name in names if name.endswith((".py", ".toml", ".cfg")) and "config.cfg" not in name
    ]
    asked = "from disambig.packs import pack; from disambig.models.storage import load; "
    asked += "print(pack('disambig_en_sense').home, load('sense').name)"
    paths = [str(tmp_path / "site"), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    done = subprocess.run(
        [sys.executable, "-c", asked],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(tmp_path / "site" / "disambig_en_sense"), "disambig_en_sense/sense"]


def test_the_pack_says_what_it_is(sense_pack):
    known = pack("disambig_en_sense")
    assert known.counts is None and known.by_name == ("sense",)
    model = load("sense")
    assert len(model.task.groups) >= 500
    assert all(len(group.glosses) in (0, len(group.candidates)) for group in model.task.groups)
    card = (SOURCE / "README.md").read_text(encoding="utf8")
    learned = sum(group.learned for group in model.task.groups)
    assert "CC BY 4.0" in card and f"for {learned:,} words" in card
    assert f"{len(model.task.groups) - learned:,} more words" in card


def test_words_without_a_model_get_their_most_frequent_sense_on_request(sense_pack):
    text = "He put the money in the bank, a bowl of soup on the counter, and a knife beside the bread."

    def spans(**config):
        nlp = spacy.blank("en")
        nlp.add_pipe("disambig_tagger")
        nlp.add_pipe("disambig_sense", config={"least_margin": 0.0, **config})
        doc = nlp(text)
        return {span.text: span._.disambig for span in doc.spans["sense"]}

    plain, more = spans(), spans(fallback=True)
    assert plain and all(record["asked"] for record in plain.values())
    assert plain.items() <= more.items()
    added = [more[word] for word in more.keys() - plain.keys()]
    assert added and all(record["asked"] == record["found"] == 0 for record in added)
    assert all(0 < record["probability"] < 1 for record in added)
