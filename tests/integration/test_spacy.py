"""The components with real models, in the pipelines and processes that people run them in."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.cli import app as spacy_commands
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab
from typer.testing import CliRunner

import disambig.spacy
from disambig.errors import UserError
from disambig.models import annotate, load

sys.path.insert(0, str(Path(__file__).parent))

from tiny_models import save_tiny_models

TEXTS = [
    "We like a quite street, and the room is quiet at night.",
    "",
    "It was a quite place in the hills.\r\n\r\nThey maybe late.  He wants a peace of cake.",
    "Nothing to see.",
]
OWN = ["lamp/damp", "quiet/silent"]


@pytest.fixture(scope="session")
def tiny(small_table, tmp_path_factory):
    return save_tiny_models(tmp_path_factory.mktemp("tiny"), small_table)


@pytest.fixture
def nlp(tiny):
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_preposition", config={"model": tiny["preposition"]})
    nlp.add_pipe("disambig_spelling", config={"model": tiny["spelling"], "sets": OWN})
    return nlp


def shown(doc):
    return [
        (key, span.text, span.label_, span.id_, span._.disambig)
        for key in doc.spans
        for span in doc.spans[key]
    ]


def run(*command, **settings):
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def spacys(*command):
    """Run a command of spaCy's here."""
    done = CliRunner().invoke(spacy_commands, [*map(str, command)], catch_exceptions=False)
    assert done.exit_code == 0, done.output


def test_words_are_decided(nlp):
    doc = nlp(TEXTS[0])
    flagged = [span for span in doc.spans["spelling"] if span._.disambig["flagged"]]
    assert [(span.text, span.label_) for span in flagged] == [("quite", "quiet")]
    assert "at" in [span.text for span in doc.spans["preposition"]]


def test_components_decide_as_annotate_does(nlp, tiny):
    docs = list(nlp.pipe(TEXTS))
    for task in ("preposition", "spelling"):
        model = nlp.get_pipe(f"disambig_{task}").model
        (decisions,) = annotate(TEXTS, [model])
        for number, doc in enumerate(docs):
            own, kept = decisions.in_document(number), disambig.spacy.read_decisions(doc, task)
            assert [kept.record(i, doc.text) for i in range(len(kept))] == [
                own.record(i, doc.text) for i in range(len(own))
            ]


def test_own_sets_decide_at_once_beside_those_that_ship(nlp):
    spans = nlp("a quiet place, a damp night").spans["spelling"]
    assert [(span.text, span._.disambig["group"]) for span in spans if span.text == "damp"] == [
        ("damp", "lamp/damp")
    ]
    labels = {span.label_ for span in spans if span.text == "quiet"}
    assert labels == {"quiet"}
    groups = disambig.spacy.read_decisions(spans.doc, "spelling").table
    assert {"quiet/silent", "lamp/damp"} < {group.name for group in groups}


PROCESSES = """
import json, multiprocessing, sys
import spacy
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    nlp = spacy.load(sys.argv[2])
    texts = json.loads(sys.argv[3])
    for doc in nlp.pipe(texts, n_process=2, batch_size=1):
        spans = [(key, span) for key in doc.spans for span in doc.spans[key]]
        print([(key, s.text, s.label_, s.id_, s._.disambig["probability"]) for key, s in spans])
"""


# to fork is what `test_the_pack_in_two_processes` does
@pytest.mark.parametrize("method", [pytest.param("spawn", marks=pytest.mark.slow), "forkserver"])
def test_processes(nlp, method, tmp_path):
    nlp.to_disk(tmp_path / "saved")
    script = tmp_path / "script.py"
    script.write_text(PROCESSES)
    lines = run(script, method, tmp_path / "saved", json.dumps(TEXTS)).splitlines()
    assert lines == [
        str(
            [
                (key, text, label, id_, record["probability"])
                for key, text, label, id_, record in shown(nlp(text))
            ]
        )
        for text in TEXTS
    ]


def test_a_pipeline_saved_here_is_loaded_elsewhere(nlp, tmp_path):
    nlp.to_disk(tmp_path / "saved")
    code = f"import spacy; nlp = spacy.load({str(tmp_path / 'saved')!r}); doc = nlp({TEXTS[0]!r}); "
    code += "print([(s.text, s.label_, s._.disambig['margin']) for s in doc.spans['spelling']])"
    here = [(s.text, s.label_, s._.disambig["margin"]) for s in nlp(TEXTS[0]).spans["spelling"]]
    assert run("-c", code) == f"{here}\n"


def test_assembled_from_a_config(nlp, tmp_path):
    nlp.config.to_disk(tmp_path / "config.cfg")
    spacys("assemble", tmp_path / "config.cfg", tmp_path / "out")
    assert shown(spacy.load(tmp_path / "out")(TEXTS[2])) == shown(nlp(TEXTS[2]))


def test_evaluated_with_a_spans_key(nlp, tmp_path):
    nlp.to_disk(tmp_path / "saved")
    gold = nlp.make_doc("We like a quite street. They may be late.")
    right = [(3, 4, "quiet"), (7, 9, "may be")]
    gold.spans["spelling"] = [Span(gold, i, j, label=label) for i, j, label in right]
    DocBin(docs=[gold]).to_disk(tmp_path / "gold.spacy")
    output = tmp_path / "scores.json"
    spacys(
        *("evaluate", tmp_path / "saved", tmp_path / "gold.spacy"),
        *("--spans-key", "spelling", "--output", output),
    )
    scores = json.loads(output.read_text())
    assert scores["spans_spelling_r"] == 1.0
    assert scores["spans_spelling_per_type"]["may be"]["f"] == 1.0


def test_packaged(nlp, tmp_path):
    nlp.to_disk(tmp_path / "saved")
    (tmp_path / "dist").mkdir()
    run(
        *("-m", "spacy", "package", tmp_path / "saved", tmp_path / "dist"),
        *("--name", "checked", "--version", "0.0.1", "--build", "none"),
    )
    home = tmp_path / "dist" / "en_checked-0.0.1"
    shutil.copy(home / "meta.json", home / "en_checked")  # as its setup.py does
    code = f"import sys; sys.path.insert(0, {str(home)!r}); import en_checked; "
    code += f"print(en_checked.load()({TEXTS[0]!r}).spans['spelling'][0].label_)"
    assert f"disambig>={disambig.__version__}" in str(
        json.loads((home / "meta.json").read_text())["requirements"]
    )
    assert run("-c", code).strip() == nlp(TEXTS[0]).spans["spelling"][0].label_


def test_a_pipeline_with_a_missing_model_is_an_error(nlp, tiny, tmp_path):
    nlp.to_disk(tmp_path / "saved")
    gone = {"components.disambig_spelling.model": str(tmp_path / "nowhere")}
    with pytest.raises(UserError, match=r"D404.*nowhere"):
        spacy.load(tmp_path / "saved", config=gone)


def test_a_corpus_in_docbins(nlp, tmp_path):
    docs = list(nlp.pipe(TEXTS))
    DocBin(store_user_data=True, docs=docs).to_disk(tmp_path / "docs.spacy")
    back = list(DocBin().from_disk(tmp_path / "docs.spacy").get_docs(Vocab()))
    assert [shown(doc) for doc in back] == [shown(doc) for doc in docs]


def test_docs_that_spacy_cut_otherwise(nlp):
    text = "They may be late, it may be broken."
    words = Doc(nlp.vocab, words=["They", "may be", "late,", "it", "may", "be", "broken."])
    assert words.text == text + " "
    one, two = nlp(words).spans["spelling"], nlp(text).spans["spelling"]
    assert [(s.label_, s._.disambig["start"]) for s in one] == [
        (s.label_, s._.disambig["start"]) for s in two
    ]
    assert [s.text for s in one if s.label_ == "may be"] == ["may be", "may be"]


def test_other_components_do_not_mind(nlp):
    nlp.add_pipe("sentencizer", first=True)
    ruler = nlp.add_pipe("span_ruler", config={"spans_key": "mine"})
    ruler.add_patterns([{"label": "PLACE", "pattern": "place"}])
    doc = nlp(TEXTS[2])
    assert [span.label_ for span in doc.spans["mine"]] == ["PLACE"]
    assert shown(nlp.from_bytes(nlp.to_bytes())(TEXTS[2])) == shown(doc)


@pytest.fixture(scope="module")
def packed():
    """A pipeline with the models of the installed pack."""
    from disambig.packs import available

    if not {"preposition", "spelling"} <= set(available()):
        pytest.skip("no pack is installed")
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_preposition")
    nlp.add_pipe("disambig_spelling")
    return nlp


def test_the_pack_decides(packed):
    doc = packed("I worked in Russia during 1997 to 2001, and it was hard to find a quite place.")
    assert "quiet" in [span.label_ for span in doc.spans["spelling"] if span._.disambig["flagged"]]
    assert {"in", "during"} <= {span.text for span in doc.spans["preposition"]}
    assert packed.get_pipe("disambig_spelling").model is load("spelling")


def test_the_pack_in_a_saved_pipeline(packed, tmp_path):
    packed.to_disk(tmp_path / "saved")
    text = "She was quite sure that the weather would be fine."
    assert shown(spacy.load(tmp_path / "saved")(text)) == shown(packed(text))
    assert sum(path.stat().st_size for path in (tmp_path / "saved").glob("disambig_*/*")) < 10_000


def test_the_pack_in_two_processes(packed):
    texts = TEXTS * 4
    one, two = ([shown(doc) for doc in packed.pipe(texts, n_process=n, batch_size=4)] for n in (1, 2))
    assert one == two
