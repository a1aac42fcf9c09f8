"""A small model of articles, whole: trained, saved, moved, read, asked for texts and in spaCy."""

from __future__ import annotations

import shutil

import pytest
import spacy
from toy_cloze import articles

from disambig.config import resolve
from disambig.counts import build_table
from disambig.errors import UserError
from disambig.models import annotate, load_model, save_model
from disambig.text import Words
from disambig.training import train

WHO = "She He Anna Paul We They Maria Tom Ida Jon".split()
TEXTS = [
    f"{who} {verb} an apple. {who} {verb} a pear, and it was an old house. {who} likes rain."
    for who in WHO
    for verb in ("ate", "saw", "likes")
] * 4
WRONG = "We know that she ate a apple. And he saw pear then."
SILENT = [
    "He said \N{LEFT DOUBLE QUOTATION MARK}she ate a apple\N{RIGHT DOUBLE QUOTATION MARK} then.",
    "He wrote `she ate a apple` then.",
    "We know, see <code>she ate a apple</code> here.",
    "She saw Apple there.",
    "It is at a/apple/b and www.a-apple.org here.",
    "SHE ATE A APPLE.",
    "She ate an apple and a pear.",
]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with all that the model reads, and the model in it."""
    home = tmp_path_factory.mktemp("articles")
    articles().save(home / "parts" / "words")
    build_table(home / "parts" / "few.counts", TEXTS, Words())
    words, counts = str(home / "parts" / "words"), str(home / "parts" / "few.counts")
    config = {
        "task": {
            "@disambig_tasks": "real_words.Article.v1",
            "words": words,
            "least": -99.0,
            "least_missing": -99.0,
        },
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {
            "counts": {"@disambig_extractors": "disambig.ContextProbabilities.v1", "counts": counts},
            "words": {"@disambig_extractors": "disambig.WordsInContext.v1", "words": words},
        },
        "learner": {"@disambig_learners": "variance_svm.ConditionalLogit.v1"},
        "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
    }
    texts = {"train": TEXTS, "dev": TEXTS[::3]}
    model = train(resolve(config), texts, name="tiny/article", config=config, min_examples=2)
    save_model(model, home / "model")
    return home


def flags(model, texts):
    """Of each text what stands there and what is meant instead."""
    (decisions,) = annotate(texts, [model], flags_per_1000=1000.0)
    found = []
    for i in range(len(decisions)):
        if decisions.flagged[i]:
            record = decisions.record(i, texts[int(decisions.documents[i])])
            found.append((record["observed"], record["chosen"]))
    return found


def test_what_was_trained_is_saved_and_decides(home):
    assert flags(load_model(home / "model"), [WRONG]) == [("a", "an"), ("", "a")]


def test_a_model_is_moved_with_what_it_reads(home, tmp_path, monkeypatch):
    shutil.copytree(home, tmp_path / "elsewhere")
    said = (tmp_path / "elsewhere" / "model" / "config.cfg").read_text()
    assert str(home) not in said and said.count("../parts/words") == 2
    shutil.rmtree(tmp_path / "elsewhere" / "parts" / "words")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"D990.*parts/words"):
        flags(load_model(tmp_path / "elsewhere" / "model"), [WRONG])
    articles().save(tmp_path / "elsewhere" / "parts" / "words")
    assert flags(load_model(tmp_path / "elsewhere" / "model"), [WRONG]) == [("a", "an"), ("", "a")]


@pytest.mark.parametrize("text", SILENT)
def test_what_is_protected_or_right_has_no_flag(home, text):
    assert flags(load_model(home / "model"), [text]) == []


def pipeline(home, **settings):
    nlp = spacy.blank("en")
    nlp.add_pipe(
        "disambig_articles", config={"model": str(home / "model"), "flags_per_1000": 1000, **settings}
    )
    return nlp


def flagged(doc, key="article"):
    return [(span.text, span.label_) for span in doc.spans[key] if span._.disambig["flagged"]]


def test_the_component_decides_as_annotate_does(home, tmp_path):
    nlp = pipeline(home)
    doc = nlp(WRONG)
    assert [label for _, label in flagged(doc)] == ["an", "a"]
    assert flagged(doc)[0] == ("a", "an")
    kept = doc.spans["article"][0]._.disambig
    assert kept["observed"] == "a" and {word for word, _ in kept["candidates"]} == {"a", "an", "the", ""}
    for text in SILENT:
        assert flagged(nlp(text)) == []
    batch = list(nlp.pipe([WRONG, "", SILENT[-1], WRONG]))
    assert [flagged(each) for each in batch] == [flagged(doc), [], [], flagged(doc)]
    nlp.to_disk(tmp_path / "pipeline")
    assert flagged(spacy.load(tmp_path / "pipeline")(WRONG)) == flagged(doc)


def test_protection_and_ignored_words(home):
    assert flagged(pipeline(home, protect=False)(SILENT[0])) == [("a", "an")]
    assert flagged(pipeline(home, ignore=["a"])(WRONG))[:1] != [("a", "an")]
    assert flagged(pipeline(home, spans_key="mine")(WRONG), "mine")[0] == ("a", "an")


@pytest.mark.parametrize(
    ("factory", "key"),
    [("disambig_doubled", "doubled"), ("disambig_forms", "form"), ("disambig_slips", "slip")],
)
def test_each_component_refuses_models_of_other_tasks(home, factory, key):
    nlp = spacy.blank("en")
    with pytest.raises(UserError, match=f"D50.*{key}"):
        nlp.add_pipe(factory, config={"model": str(home / "model")})
    with pytest.raises(UserError, match="D500"):
        spacy.blank("de").add_pipe("disambig_articles", config={"model": str(home / "model")})
