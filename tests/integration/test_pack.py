"""The English pack on real text: what a user sees on the first afternoon."""

from __future__ import annotations

import json
import lzma
import os
from pathlib import Path

import pytest

import disambig
from disambig.checking import ModelChecker
from disambig.data import confusion_set, record_edit
from disambig.evaluation import MistakeTrial, evaluate, mistake_figures
from disambig.formats import read_clean, read_fixes
from disambig.models import Model, annotate, load
from disambig.packs import pack
from disambig.training import split

ROOT = Path(__file__).parents[2]
TEXTS = ROOT / "tests" / "texts"
TASKS = ("preposition", "spelling", "article", "form", "slip", "doubled")
PLANTED = [
    line.split("\t") for line in (TEXTS / "planted.tsv").read_text(encoding="utf8").splitlines() if line
]


@pytest.fixture(scope="module")
def models() -> list[Model]:
    return [load(f"disambig_en/{task}") for task in TASKS]


def flags(
    texts: list[str], models: list[Model], *, flags_per_1000: float | None = None
) -> list[dict[str, object]]:
    return [
        decisions.record(index, texts[decisions.documents[index]])
        | {"document": int(decisions.documents[index])}
        for decisions in annotate(texts, models, flags_per_1000=flags_per_1000)
        for index in range(len(decisions))
        if decisions.flagged[index]
    ]


def test_the_pack_is_whole_and_small() -> None:
    from disambig.counts import CountTable

    installed = pack("disambig_en")
    CountTable.open(installed.counts).verify()
    home = installed.home
    sizes = [path.stat().st_size for path in home.rglob("*") if path.suffix not in (".py", ".pyc")]
    assert sum(sizes) <= 90e6


def test_the_models_decide_between_the_groups_that_they_name(models: list[Model]) -> None:
    for model in models:
        said = json.loads((pack("disambig_en").home / "models" / model.task.name / "model.json").read_text())
        names = [one if isinstance(one, str) else one["name"] for one in said["groups"]]
        assert [group.name for group in model.task.groups] == names
    assert all("/".join(group.candidates) == group.name for group in models[1].task.groups)


def test_clean_texts_get_next_to_no_flags(models: list[Model]) -> None:
    """Edited texts written for this, full of confusable words: harder than what the rate is set on."""
    texts = [path.read_text(encoding="utf8") for path in sorted(TEXTS.glob("clean-*.txt"))]
    words = sum(len(text.split()) for text in texts)
    found = flags(texts, models)
    assert words > 4000
    assert len(found) <= 2 * words / 1000, [(flag["observed"], flag["replacement"]) for flag in found]


def test_planted_errors_are_found(models: list[Model]) -> None:
    """Errors that people make, in sentences written for this: half of them at one and a half false flags."""
    texts = [sentence for sentence, *_ in PLANTED]
    flagged = flags(texts, models, flags_per_1000=1.5)
    found = {(flag["document"], str(flag["observed"]).lower()) for flag in flagged}
    hits = [(number, wrong.lower()) in found for number, (_, wrong, _, _) in enumerate(PLANTED)]
    assert sum(hits) / len(hits) >= 0.5


def test_readme_example(models: list[Model]) -> None:
    text = "It depends of the weather, and it was hard to find a quite place."
    found = {flag["observed"]: flag["replacement"] for flag in flags([text], models)}
    assert found == {"of": "on", "quite": "quiet"}


@pytest.mark.parametrize(
    ("text", "observed", "corrected"),
    [
        ("We are able do it now.", "", "We are able to do it now."),
        ("A large number people came.", "", "A large number of people came."),
        ("She asked to him a question.", "to", "She asked him a question."),
        ("She is interested on music.", "on", "She is interested in music."),
    ],
)
def test_prepositions_wrong_missing_and_one_too_many(
    models: list[Model], text: str, observed: str, corrected: str
) -> None:
    (decided,) = annotate([text], models[:1], flags_per_1000=0.4)
    (flag,) = [decided.record(index, text) for index in range(len(decided)) if decided.flagged[index]]
    assert flag["observed"] == observed
    edit = record_edit(flag, text)
    assert text[: edit["start"]] + edit["replacement"] + text[edit["end"] :] == corrected


@pytest.mark.parametrize(
    ("sets", "added"),
    [
        (["lamp/damp", "row/low"], ["lamp/damp", "row/low"]),
        (["quiet/quite", "quite/quiet", "quite/quit"], ["quite/quit"]),  # known already, in another order
        (["lamp/damp", "damp/lamp", "lamp/damp"], ["lamp/damp"]),
    ],
)
def test_own_sets_are_added_once(models: list[Model], sets: list[str], added: list[str]) -> None:
    before = models[1].task.groups
    groups = models[1].with_groups([confusion_set(one) for one in sets]).task.groups
    assert [group.name for group in groups[len(before) :]] == added


def test_own_sets_are_decided_without_training(models: list[Model]) -> None:
    model = models[1].with_groups([confusion_set("fell/felt")])
    texts = ["He felt tired of the noise and fell down the stairs."]
    decided = annotate(texts, [model])[0]
    found = [decided.record(index, texts[0]) for index in range(len(decided))]
    mine = [(record["observed"], record["chosen"]) for record in found if record["group"] == "fell/felt"]
    assert mine == [("felt", "felt"), ("fell", "fell")]


def test_what_is_left_alone(models: list[Model]) -> None:
    text = 'She said "a quite place" and wrote `a quite place` at https://example.org/quite/place once more.'
    assert not flags([text], models)


@pytest.mark.data
@pytest.mark.parametrize(("task", "least", "found"), [("preposition", 0.68, 0.55), ("spelling", 0.96, 0.6)])
@pytest.mark.slow
def test_accuracy_on_text_that_was_held_out(task: str, least: float, found: float) -> None:
    """The card's figures come out again, within noise, on the domains that are quick to read.

    Of words swapped at random fewer are found than by a judge of such words: it looks for people's mistakes.
    """
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    texts: list[str] = []
    for domain in ("textbooks", "health", "technical"):
        with lzma.open(Path(data) / "english" / f"{domain}.heldout.txt.xz", "rt", encoding="utf8") as lines:
            texts.extend(lines)
    figures = evaluate(load(f"disambig_en/{task}"), split(texts)["test"], rates=(1.0,))
    assert figures["accuracy"] >= least
    assert figures["rates"]["1"]["false_flags_per_1000"] <= 2.0
    assert figures["rates"]["1"]["errors_found"] >= found


@pytest.mark.data
def test_mistakes_that_people_made(models: list[Model]) -> None:
    """On the development part, of which nothing was learned: right by class, at the default rates."""
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    folder = Path(data) / "labelled" / "fixes"
    mistakes = read_fixes(folder / "dev.jsonl.xz", tier=1)
    clean = read_clean(folder / "clean.dev.jsonl.xz")
    checker = ModelChecker(tuple(models))
    found = mistake_figures(MistakeTrial.from_checker(checker, mistakes, clean), checker.limits())
    right = {
        name: {kind: at["right"] for kind, at in of["kinds"].items()} for name, of in found["classes"].items()
    }
    assert right["confusion"]["replace"] >= 0.84
    assert right["preposition"]["insert"] >= 0.2
    assert right["article"]["replace"] >= 0.85
    assert right["agreement"]["replace"] >= 0.17
    assert right["doubled"]["delete"] >= 0.8
    assert found["all"]["right"] >= 0.35
    assert found["clean"]["per_1000"] <= 0.9


def test_it_is_labelled_in_a_pipeline() -> None:
    import spacy

    nlp = spacy.blank("en")
    for name in ("disambig_preposition", "disambig_spelling", "disambig_it"):
        nlp.add_pipe(name)
    doc = nlp("It is important to rest. She found a coin; it was old. It's hard to see.")
    assert [span.label_ for span in doc.spans["it"]] == ["non-referential", "referential", "non-referential"]
    values = [token._.is_referential for token in doc]
    assert [value for value in values if value is not None] == [False, True, False]
    assert not any(span._.disambig["flagged"] for span in doc.spans["it"])


@pytest.mark.data
def test_it_is_decided_on_text_it_was_not_trained_on() -> None:
    """The expletives of EWT's test part: better than the unsupervised threshold and than chance."""
    from disambig.evaluation import evaluate_labelled

    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    from disambig_variance_svm.pronoun_it import read_ewt

    at = evaluate_labelled(load("disambig_en/it"), read_ewt(Path(data), "test"))["groups"]["it"]
    assert at["n"] > 190 and at["auc"] > 0.88 and at["candidates"]["non-referential"]["f1"] > 0.5


def right_in(name: str) -> tuple[list[bool], list[str]]:
    """Tell of each sentence of a file whether the "it" is decided right, and what kind it is."""
    lines = [line.split("\t") for line in (TEXTS / name).read_text(encoding="utf8").splitlines()]
    texts = [marked.replace("[[", "").replace("]]", "") for _, _, marked in lines]
    decided = annotate(texts, [load("disambig_en/it")])[0]
    assert (decided.probabilities >= 0.5).all()  # what is said is what is more probable than not
    found = {
        (record["document"], record["start"]): record["chosen"]
        for index in range(len(decided))
        for record in [
            decided.record(index, texts[decided.documents[index]])
            | {"document": int(decided.documents[index])}
        ]
    }
    right = [
        found.get((number, marked.index("[["))) == label for number, (_, label, marked) in enumerate(lines)
    ]
    return right, [kind for kind, _, _ in lines]


def test_it_in_plain_sentences() -> None:
    """Weather, dates, clefts, clauses, phrases, things and facts; the card says how many are right."""
    right, kinds = right_in("it.tsv")
    assert len(right) == 100 and sum(right) >= 93
    card = (Path(__file__).parents[2] / "corpora" / "disambig_en" / "README.md").read_text(encoding="utf8")
    assert f"({sum(right)} of 100 simple sentences of ours are right" in card
    assert all(hit for hit, kind in zip(right, kinds, strict=True) if kind in ("thing", "fact", "cleft"))


def test_it_in_sentences_that_features_and_patterns_were_chosen_by() -> None:
    """More of the same kinds, and things with the words of the weather ("same"): 0.72 before."""
    right, kinds = right_in("it_chosen.tsv")
    assert sum(right) >= 0.86 * len(right)
    same = [hit for hit, kind in zip(right, kinds, strict=True) if kind in ("same", "thing")]
    assert sum(same) >= 0.93 * len(same)


@pytest.mark.parametrize(
    "text",
    [
        "The optional `args` are passed to the callback.",
        "If no `BASE_DIRS` are specified, the project is searched.",
        "If no BASE_DIRS are specified, the project is searched.",
        "Server.connections has been removed.",
        "If it is `NaN`, `Infinity`, or `-Infinity`, an `Error` will be thrown.",
        "If any of the checks fail, an `Error` will be thrown.",
        "* `signal` {AbortSignal} An {AbortSignal} that closes the watcher.",
    ],
)
def test_a_name_of_code_is_no_evidence_for_a_mistake(text):
    assert disambig.check(text, name="notes.md", writing="draft") == []


def test_mistakes_beside_code_are_found():
    for text, correction in (("The `args` is use by it.", "used"), ("Pass `the` the the `name`.", "")):
        assert [flag.replacement for flag in disambig.check(text, name="notes.md")] == [correction]


@pytest.mark.parametrize(
    "text",
    [
        "It is important that the new project work to ensure that nothing is lost.",
        "It is recommended that the property name have a prefix.",
        "We suggest that each user create a new key.",
        "I insist that he leave now.",
        "The policy requires that every member sign the form.",
    ],
)
def test_a_subjunctive_needs_no_ending(text):
    assert disambig.check(text, writing="draft") == []


def test_other_verbs_need_one():
    text = "It is important to say that each user have a name, and the program start."
    assert {flag.observed for flag in disambig.check(text, writing="learner")} >= {"have"}


@pytest.mark.parametrize(
    ("name", "n", "least"),
    [
        ("it_forms.tsv", 119, 0.95),  # 0.78 before the patterns and features were extended for these kinds
        ("it_forms_fresh.tsv", 60, 0.9),  # written afterwards
    ],
)
def test_it_in_questions_objects_and_clauses_without_that(name: str, n: int, least: float) -> None:
    """Also weather with adverbs, contractions, fixed phrases, and things with the same words."""
    right, _ = right_in(name)
    assert len(right) == n and sum(right) >= least * n


@pytest.mark.parametrize("task", [*TASKS, "it"])
def test_what_columns_mean_is_computed_once_and_not_for_each_text(task):
    from disambig.features import union

    model = load(f"disambig_en/{task}")
    misses = []
    for name in ("Rome", "Lisbon", "Paris", "York"):
        text = f"It was clear that they lived in {name} and it was quiet: they accepted the affect."
        annotate([text], [model])
        misses.append(union._columns_of_blocks.cache_info().misses)
        misses.append(union._columns_of_lists.cache_info().misses)
    assert misses[-4:-2] == misses[-2:]
