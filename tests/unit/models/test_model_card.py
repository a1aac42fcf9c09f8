"""Model cards: their contents with and without figures, for words, labels and lists."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from model_files import toy_config
from toy_components import toy_components
from toy_plugin import NearbyWords, Pairs

from disambig.data import Group
from disambig.decision import BestOfList, Labels
from disambig.evaluation import (
    add_assessment,
    assess_model,
    assess_on_texts,
    assessment_line,
    no_gain_notes,
)
from disambig.formats import Labelled
from disambig.models import card, load_model, save_model
from disambig.tasks import Lists
from disambig.text import Words
from disambig.training import ResolvedConfig, TrainingPlan, train, train_labelled
from disambig.types import Decides, decides

PLACES = "house street room garden village valley harbour library chapel forest".split()
TEXTS = [
    sentence.format(place, number)
    for number in range(3)
    for place in PLACES
    for sentence in ("The {} is quite old, says number {}.", "We like a quiet {} with number {}.")
]
TEST_TEXTS = [
    "The tower is quite old.",
    "We like a quiet tower, a quiet one.",
    "It is quite quiet.",
    "Nothing.",
]
CONFIG = toy_config("toys.Pairs.v1")
COMPONENTS = toy_components(extractors={"features": NearbyWords()})
FLAT_LABELS = Labels(np.ones(2), np.zeros((2, 2)), np.zeros((2, 2)))


class LabelledPairs(Pairs):
    """The pairs as labels: each place gets one of the words, whichever is observed."""

    decides = Decides(between="labels")


@pytest.fixture(scope="module")
def model():
    texts = {"train": TEXTS, "dev": TEXTS[:20]}
    return train(COMPONENTS, texts, name="my/pairs", min_examples=2, config=CONFIG)


@pytest.fixture(scope="module")
def assessed(model):
    return replace(model, provenance=model.provenance | {"test": assess_on_texts(model, TEST_TEXTS)})


def test_figures_on_test_texts(model):
    result = assess_on_texts(model, TEST_TEXTS)
    assert (result["n"], result["documents"]) == (5, 4)
    figures = result["systems"]["model"]["quite/quiet"]
    assert figures["n"] == 5 and figures["candidates"]["quiet"]["n"] == 3
    assert result["systems"]["majority"]["quite/quiet"]["accuracy"] == 0.6
    wrong = sum(error["n"] for error in figures["confusions"])
    assert wrong == round(5 * (1 - figures["accuracy"]))
    assert set(result["rates"]) == {"0.5"}
    assert assess_on_texts(model, ["Nothing."]) == {}


def test_observed_words_do_not_leak_into_the_answers(model):
    """The same places with the other word get the same labels: each is right exactly once."""
    other = ["The tower is quiet old.", "We like a quite tower, a quite one."]
    both = [assess_on_texts(model, texts)["systems"]["model"] for texts in (TEST_TEXTS[:2], other)]
    assert sum(round(3 * figures["quite/quiet"]["accuracy"]) for figures in both) == 3


def test_card_with_and_without_figures(assessed, model):
    text = card(assessed, "pairs-model")
    for expected in (
        "# my/pairs 0.1.0",
        "* *quite* / *quiet*",
        'config={"model": "pairs-model"}',
        'doc.spans["pairs"]',
        "Raw text, whose words are taken as correct: 60 examples.",
        "Groups learned: 1 of 2; the others use the unsupervised baseline.",
        "5 examples in 4 documents (",
        "| quite/quiet | 5 |",
        "at most 0.5 of 1,000 correct words",
        "Tested on 5 examples only",
        "quite/quiet (60)",
    ):
        assert expected in text, expected
    head, rule, *rows = (line for line in text.splitlines() if line.startswith("|"))
    assert rule.count("|") == head.count("|") == rows[0].count("|")
    text = card(model, "m")
    assert "No figures are stored" in text and "Tested on" not in text


def test_card_of_labels_and_of_lists(model):
    labelled = {"labelled": 1200, "documents": 30, "train_words": 9}
    notes = {"examples": labelled, "notes": ["two examples\nare few"]}
    built = replace(model, task=LabelledPairs(), judge=FLAT_LABELS, provenance=notes)
    text = card(built, "m")
    assert "Assigns labels" in text and "1,200 labelled examples in 30 documents" in text
    assert "It flags nothing" in text and "* two examples are few." in text and "may be flagged" not in text
    built = replace(model, task=Lists(), judge=BestOfList(), scorers=(None,), provenance={})
    text = card(built, "m")
    assert "Finds the best candidate of each list. Task `rerank`" in text
    counts = {"lists": 1200, "without_right": 300, "documents": 30}
    text = card(replace(built, provenance={"examples": counts}), "m")
    assert "1,200 lists of candidates in 30 documents; in 300 of them no candidate is right." in text
    assert "its candidates are labels" not in text


def test_card_of_labels_decided_together(model):
    """Examples are counted by sentences, and no snippet labels every word with a span."""

    @dataclass(frozen=True)
    class Together(Pairs):
        decides = Decides(between="labels", together=True)

    labelled = {"labelled": 1200, "documents": 30, "train_words": 9}
    text = card(replace(model, task=Together(), judge=FLAT_LABELS, provenance={"examples": labelled}), "m")
    assert "1,200 labelled examples in 30 sentences." in text
    assert "add_pipe" not in text and "On the command line: `disambig annotate FILE --model m`." in text


def test_card_warns_of_few_examples():
    places = [(text, text.index("qui")) for text in TEXTS[:10]]
    labelled = [Labelled(text, at, at + 5, text[at : at + 5], text) for text, at in places]
    model = train_labelled(COMPONENTS, labelled, name="ten", min_examples=2, config=CONFIG)
    result = assess_model(model, COMPONENTS, labelled=labelled, min_examples=2)
    assert result["n"] == 10 and result["how"] == "5-fold cross-validation over documents"
    text = card(replace(model, provenance=model.provenance | {"test": result}), "ten")
    assert "10 labelled examples are few" in text and "Tested on 10 examples only" in text
    assert assessment_line(result).startswith("accuracy ") and "on 10 examples" in assessment_line(result)
    alone = train_labelled(COMPONENTS, labelled[:1], name="one", config=CONFIG)
    assert assess_model(alone, COMPONENTS, labelled=labelled[:1]) == {} and assessment_line({}) == ""


NOT_BETTER = "on the held-out examples the model is not better than always taking the most frequent candidate"


def test_card_says_if_the_most_frequent_candidate_is_as_good(model):
    plan = TrainingPlan(ResolvedConfig.from_parts(COMPONENTS), {}, {}, CONFIG, "my/pairs", "0.1.0")
    texts = {"texts": [*TEST_TEXTS, *TEXTS[:20]]}
    untrained = replace(model, scorers=(None,) * len(model.scorers))
    tested = add_assessment(untrained, plan, texts)
    (note,) = (note for note in tested.provenance["notes"] if note.startswith(NOT_BETTER))
    limits = card(tested, "m").partition("## Limits")[2]
    assert f"* {note}." in limits and "of the most frequent candidate 5" in note
    better = add_assessment(model, plan, texts)
    assert NOT_BETTER not in card(better, "m") and better.provenance["test"]["n"] == 25
    assert not no_gain_notes(replace(untrained, task=Rare()), tested.provenance["test"])


class Rare(Pairs):
    """A task with a measure of a single candidate, for which accuracy is not informative."""

    metric = ("f1", "quiet")


@pytest.mark.parametrize(
    ("value", "first", "more_is_better", "noted"),
    [
        (0.2, 0.1, False, 1),
        (0.1, 0.1, False, 1),
        (0.1, 0.2, False, 0),
        (0.2, 0.1, True, 0),
        (0.1, 0.2, True, 1),
    ],
)
def test_notes_of_lists_compare_with_the_first_candidate(model, value, first, more_is_better, noted):
    test = {
        "better": {},
        "measure": {"name": "cer", "more_is_better": more_is_better},
        "systems": {"model": {"value": value}, "first": {"value": first}},
    }
    notes = no_gain_notes(model, test)
    assert len(notes) == noted and all("taking the first candidate (cer 0." in note for note in notes)


def test_card_shortens_long_lists_of_groups(model):
    names = tuple(f"word{i}/term{i}" for i in range(50))
    many = replace(model, task=Pairs(names), scorers=(None,) * 50)
    text = card(many, "m")
    assert "50 groups of candidates; the first are:" in text
    assert "* *word4* / *term4*\n" in text and "word5" not in text
    all_of_them = card(replace(many, task=Pairs(names[:20]), scorers=(None,) * 20), "m")
    assert "* *word19* / *term19*\n" in all_of_them and "groups of candidates" not in all_of_them


def test_card_names_the_words_of_labels(model):
    @dataclass(frozen=True)
    class Named(Pairs):
        @property
        def groups(self):
            return (Group("bank.n", ("river", "finance")), Group("old/new", ("old", "new")))

    text = card(replace(model, task=Named(), scorers=(None, None)), "m")
    assert "* bank.n: *river* / *finance*\n* *old* / *new*\n" in text
    alone = card(replace(model, task=Named(), scorers=(None,)), "m")
    assert "* *river* / *finance*\n" in alone


def test_snippet_names_the_component_of_the_task(model, monkeypatch):
    installed = {"disambig_sense"}
    monkeypatch.setattr("disambig.models.model_card.entry_points", lambda group, name: installed & {name})

    @dataclass(frozen=True)
    class Senses(LabelledPairs):
        name: str = "sense"

        @property
        def groups(self):
            return tuple(replace(group, glosses=("a", "b")) for group in Pairs().groups)

    @dataclass(frozen=True)
    class Tagged(Words):
        layers: tuple[str, ...] = ("tag",)

    built = replace(model, task=Senses(), judge=FLAT_LABELS, tokenisation=Tagged())
    text = card(built, "m")
    sense = text.index('add_pipe("disambig_sense", config={"model":')
    assert text.index('add_pipe("disambig_tagger")') < sense
    assert "span.label_, span.kb_id_, " in text
    # no component has the name of this task
    plain = card(replace(model, task=LabelledPairs(), judge=FLAT_LABELS), "m")
    assert 'add_pipe("disambig", config=' in plain and "tagger" not in plain and "kb_id_" not in plain
    # a task that decides between words has no labels
    words = replace(built, task=Pairs(name="sense"), judge=model.judge)
    assert 'add_pipe("disambig", config=' in card(words, "m")


def test_saved_models_have_a_card_and_load_without_it(load_with, assessed, tmp_path):
    load_with(toys="toy_plugin")
    save_model(assessed, tmp_path / "mine")
    path = tmp_path / "mine" / "README.md"
    assert path.read_text(encoding="utf8") == card(assessed, "mine")
    path.unlink()
    assert load_model(tmp_path / "mine").name == "my/pairs"
    assert decides(assessed.task).between == "words"


def test_snippet_runs(load_with, assessed, tmp_path, monkeypatch, capsys):
    load_with(toys="toy_plugin")
    import disambig.spacy.core_components  # noqa: F401

    monkeypatch.chdir(tmp_path)
    save_model(assessed, tmp_path / "mine")
    code = (tmp_path / "mine" / "README.md").read_text().split("```python\n")[1].split("```")[0]
    exec(code.replace("Your text.", "The tower is quite old."), {})
    assert "quite -> quite" in capsys.readouterr().out


def test_keeps_candidate_probabilities_and_reports_their_calibration(load_with, model, assessed, tmp_path):
    load_with(toys="toy_plugin")
    save_model(assessed, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert (again.judge.calibration.scales == model.judge.calibration.scales).all()
    assert (again.judge.calibration.certainty == model.judge.calibration.certainty).all()
    view = Words()(TEST_TEXTS)
    decided = again.decide(view)
    probabilities = again.candidate_probabilities(decided)
    sums = np.add.reduceat(probabilities, decided.offsets[:-1])
    assert sums == pytest.approx(np.ones(len(decided)))
    assert "expected calibration error" in card(assessed, "model")
    older_one = replace(model.judge.calibration, scales=None, certainty=None)
    without = replace(model, judge=replace(model.judge, calibration=older_one))
    assert without.candidate_probabilities(decided) is None
    save_model(without, tmp_path / "older")  # older models have no scales
    older = load_model(tmp_path / "older")
    assert older.judge.calibration.scales is None and older.candidate_probabilities(decided) is None
    figures = {"test": assess_on_texts(without, TEST_TEXTS)}
    text = card(replace(without, provenance=without.provenance | figures), "model")
    assert "expected calibration error" not in text
