"""The packs: models that ship, senses, tags, and measured precision."""

from __future__ import annotations

import json
import lzma
import os
import shutil
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import spacy
from commands import exit_status, here, process
from disambig_random_subspace.tagger import train_tagger
from spacy.tokens import Doc, DocBin
from toy_texts import TAGGED

import disambig
from disambig.checking import ModelChecker
from disambig.data import confusion_set, record_edit
from disambig.errors import UserError
from disambig.evaluation import MistakeTrial, evaluate, mistake_figures
from disambig.formats import read_clean, read_fixes
from disambig.models import (
    PRECISION_FILE,
    Model,
    annotate,
    is_corrector,
    load,
    load_model,
    read_precision,
    save_model,
)
from disambig.packs import default_tasks, model_folder, pack, packs
from disambig.spacy.core_components import Proofreader
from disambig.text import SpacyTokens, hash_word
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
        output = json.loads(
            (pack("disambig_en").home / "models" / model.task.name / "model.json").read_text()
        )
        names = [one if isinstance(one, str) else one["name"] for one in output["groups"]]
        assert [group.name for group in model.task.groups] == names
    assert all("/".join(group.candidates) == group.name for group in models[1].task.groups)


def test_clean_texts_get_hardly_any_flags(models: list[Model]) -> None:
    """Edited texts, written for this test, with many confusable words: harder than the calibration data."""
    texts = [path.read_text(encoding="utf8") for path in sorted(TEXTS.glob("clean-*.txt"))]
    words = sum(len(text.split()) for text in texts)
    result = flags(texts, models)
    assert words > 4000
    assert len(result) <= 2 * words / 1000, [(flag["observed"], flag["replacement"]) for flag in result]


def test_planted_errors_are_found(models: list[Model]) -> None:
    """Errors of people, in sentences written for this test: half are found at 1.5 false flags."""
    texts = [sentence for sentence, *_ in PLANTED]
    flagged = flags(texts, models, flags_per_1000=1.5)
    result = {(flag["document"], str(flag["observed"]).lower()) for flag in flagged}
    hits = [(number, wrong.lower()) in result for number, (_, wrong, _, _) in enumerate(PLANTED)]
    assert sum(hits) / len(hits) >= 0.5


def test_readme_example(models: list[Model]) -> None:
    text = "It depends of the weather, and it was hard to find a quite place."
    result = {flag["observed"]: flag["replacement"] for flag in flags([text], models)}
    assert result == {"of": "on", "quite": "quiet"}


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
    result = [decided.record(index, texts[0]) for index in range(len(decided))]
    mine = [(record["observed"], record["chosen"]) for record in result if record["group"] == "fell/felt"]
    assert mine == [("felt", "felt"), ("fell", "fell")]


def test_protected_text_is_not_changed(models: list[Model]) -> None:
    text = 'She said "a quite place" and wrote `a quite place` at https://example.org/quite/place once more.'
    assert not flags([text], models)


@pytest.mark.data
@pytest.mark.parametrize(("task", "least", "result"), [("preposition", 0.68, 0.55), ("spelling", 0.96, 0.6)])
@pytest.mark.slow
def test_accuracy_on_text_that_was_held_out(task: str, least: float, result: float) -> None:
    """The card's figures come out again, within noise, on the domains that are quick to read.

    Fewer randomly replaced words are found than with a rule for these: this rule looks for real mistakes.
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
    assert figures["rates"]["1"]["errors_found"] >= result


@pytest.mark.data
@pytest.mark.parametrize(  # an eighth says nearly as much as all
    "part",
    [slice(3, None, 8), pytest.param(slice(None), marks=pytest.mark.slow)],
    ids=["eighth", "all"],
)
def test_mistakes_that_people_made(models: list[Model], part: slice) -> None:
    """Correct flags by class at the default rates, on the development part (not used for training)."""
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    folder = Path(data) / "labelled" / "fixes"
    mistakes = read_fixes(folder / "dev.jsonl.xz", tier=1)[part]
    clean = read_clean(folder / "clean.dev.jsonl.xz")[part]
    checker = ModelChecker(tuple(models))
    result = mistake_figures(MistakeTrial.from_checker(checker, mistakes, clean), checker.limits())
    right = {
        name: {kind: at["right"] for kind, at in of["kinds"].items()}
        for name, of in result["classes"].items()
    }
    assert right["confusion"]["replace"] >= 0.84
    assert right["preposition"]["insert"] >= 0.2
    assert right["article"]["replace"] >= 0.85
    assert right["agreement"]["replace"] >= 0.17
    assert right["doubled"]["delete"] >= 0.8
    assert result["all"]["right"] >= 0.35
    assert result["clean"]["per_1000"] <= 1.1


def test_it_labels_in_a_pipeline() -> None:
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
    """Expletives in the test part of EWT: better than the unsupervised threshold and than chance."""
    from disambig.evaluation import evaluate_labelled

    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    from disambig_variance_svm.pronoun_it import read_ewt

    at = evaluate_labelled(load("disambig_en/it"), read_ewt(Path(data), "test"))["groups"]["it"]
    assert at["n"] > 190 and at["auc"] > 0.88 and at["candidates"]["non-referential"]["f1"] > 0.5


def right_in(name: str) -> tuple[list[bool], list[str]]:
    """Return for each sentence of a file whether "it" is decided correctly, and the kind of "it"."""
    lines = [line.split("\t") for line in (TEXTS / name).read_text(encoding="utf8").splitlines()]
    texts = [marked.replace("[[", "").replace("]]", "") for _, _, marked in lines]
    decided = annotate(texts, [load("disambig_en/it")])[0]
    assert (decided.probabilities >= 0.5).all()  # the label is the more probable one
    result = {
        (record["document"], record["start"]): record["chosen"]
        for index in range(len(decided))
        for record in [
            decided.record(index, texts[decided.documents[index]])
            | {"document": int(decided.documents[index])}
        ]
    }
    right = [
        result.get((number, marked.index("[["))) == label for number, (_, label, marked) in enumerate(lines)
    ]
    return right, [kind for kind, _, _ in lines]


def test_it_in_plain_sentences() -> None:
    """Weather, dates, clefts, clauses, phrases, things and facts; the card gives the share of right ones."""
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
def test_names_of_code_are_not_evidence(text):
    assert disambig.check(text, name="notes.md", writing="draft") == []


def test_mistakes_beside_code_are_found():
    for text, correction in (("The `args` is use by it.", "used"), ("Pass `the` the the `name`.", "")):
        assert [flag.replacement for flag in disambig.check(text, name="notes.md")] == [correction]


def test_a_verb_behind_the_name_of_the_project_may_be_singular(tmp_path):
    text = "beets has many plugins.\n\nThe beets lets you tag it.\n\nIf many plugins is there, it runs.\n"
    (tmp_path / ".git").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(text)
    flags = [line.partition(" (")[0] for line in here("check", "docs", folder=tmp_path).stdout.splitlines()]
    assert flags == ["docs/a.md:1:7: has -> have", "docs/a.md:3:11: lets -> let", "docs/a.md:5:17: is -> are"]
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "beets"\n')
    (line,) = here("check", "docs", folder=tmp_path).stdout.splitlines()
    assert line.startswith("docs/a.md:5:17: is -> are")
    here("check", "--fix", "--no-backup", "docs", folder=tmp_path)
    assert (tmp_path / "docs" / "a.md").read_text() == text.replace("plugins is", "plugins are")


def test_words_of_a_set_that_no_table_has_counted_are_named(tmp_path):
    (tmp_path / "a.txt").write_text("We hop for it.\n")
    (tmp_path / "sets").write_text("hop/hope\nzorble/hopf qvarz\nlog in/login\n")
    for command in (["check", "--task", "spelling"], ["annotate", "--task", "spelling", "--only-flags"]):
        done = here(*command, "--sets", "sets", "a.txt", folder=tmp_path)
        (note,) = [line for line in done.stderr.splitlines() if "D955" in line]
        assert (
            "confusion set zorble/hopf qvarz" in note
            and "'zorble', 'qvarz' do not occur, or too rarely" in note
        )


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("You will loose you're turn.", [("loose", "lose"), ("you're", "your")]),
        (  # with more mistakes around, "you're turn" is first taken for "you're turning"
            "You will loose you're turn. It depends of the weather, and there is a item for there list.",
            [("loose", "lose"), ("you're", "your"), ("of", "on"), ("a", "an"), ("there", "their")],
        ),
        ("She is better then you're sister.", [("then", "than"), ("you're", "your")]),
        ("They asks for more.", [("asks", "ask")]),  # nothing is wrong with "They ask"
    ],
)
def test_of_two_neighbours_both_are_flagged_if_both_are_wrong(models, text, flags):
    assert [(flag.observed, flag.replacement) for flag in disambig.check(text)] == flags
    nlp = spacy.blank("en")
    correctors = [model for model in models if is_corrector(model)]
    spans = Proofreader(nlp, correctors, name="p")(nlp.make_doc(text)).spans["proofread"]
    records = [span._.disambig for span in spans]
    assert [(record["observed"], record["replacement"]) for record in records] == flags


@pytest.mark.parametrize(
    "text",
    [
        "It is important that the new project work to ensure that nothing is lost.",
        "It is recommended that the property name have a prefix.",
        "We suggest that each user create a new key.",
        "I insist that he leave now.",
        "The policy requires that every member sign the form.",
        "The tool requires that the zone be signed, or that the option be set to on.",
        "The doctor insisted that he stay in bed and that he drink more water.",
        "The reply would not be signed, unless a similar directive were in the other file.",
    ],
)
def test_a_subjunctive_needs_no_ending(text):
    assert disambig.check(text, writing="draft") == []


@pytest.mark.parametrize(
    ("comment", "wrong"),
    [
        ("Events that occur while the user drags it. Pools enable you to share it.", None),
        ("The event that occur while the user drags it is lost.", "occur"),
    ],
)
def test_the_first_word_of_a_comment_may_be_a_plural(comment, wrong):
    assert [flag.observed for flag in disambig.check(f"// {comment}\n", name="a.ts")] == [wrong] * bool(wrong)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Resource Requirements describes the hardware that you need.", None),
        ("Configurations and Zone Files is intended as a guide for newer users.", None),
        ("Security Considerations was written by another team.", None),
        ("Note that Bricks uses this attribute, and that Inputs provides others.", None),
        ("Note that the bricks uses this attribute.", "uses"),
        ("The right-hand side result from all the table lookups is ignored.", None),
        ("The result of the searches are ignored.", "are"),
        ("The name of the servers have changed.", "have"),
    ],
)
def test_verbs_agree_with_titles_and_the_first_noun_of_the_subject(text, wrong):
    flags = [flag.observed for flag in disambig.check(text, writing="draft")]
    assert flags == ([wrong] if wrong else [])


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
def test_columns_are_computed_once(task):
    from disambig.features import union

    model = load(f"disambig_en/{task}")
    misses = []
    for name in ("Rome", "Lisbon", "Paris", "York"):
        text = f"It was clear that they lived in {name} and it was quiet: they accepted the affect."
        annotate([text], [model])
        misses.append(union._columns_of_blocks.cache_info().misses)
        misses.append(union._columns_of_lists.cache_info().misses)
    assert misses[-4:-2] == misses[-2:]


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
    with pytest.raises(UserError, match=r"D404.*'topic': it is a config, from which `disambig train` makes"):
        load("topic")
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


def test_parts_of_speech_distinguish_words(nlp):
    doc = nlp("They work hard. Their work was hard.")
    groups = [span._.disambig["group"] for span in doc.spans["sense"] if span.text == "work"]
    assert groups in (["work.v", "work.n"], ["work.v"], ["work.n"])
    nlp.get_pipe("disambig_sense").model = load("sense").with_least_margin(0.0)
    doc = nlp("They work hard. Their work was hard.")
    assert [s._.disambig["group"] for s in doc.spans["sense"] if s.text == "work"] == ["work.v", "work.n"]


def test_annotations_do_not_depend_on_the_batch(nlp):
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


def test_a_larger_least_margin_gives_fewer_labels(sense_pack):
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
    output = [str(warning.message) for warning in caught if "no tags here" in str(warning.message)]
    assert len(output) == 1 and "disambig_tagger" in output[0]
    assert "court" in {span.text for span in doc.spans["sense"]}


def test_spacy_knows_that_it_reads_tags(nlp):
    assert nlp.analyze_pipes()["problems"]["disambig_sense"] == []
    alone = spacy.blank("en")
    alone.add_pipe("disambig_sense")
    assert alone.analyze_pipes()["problems"]["disambig_sense"] == ["token.tag"]


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


def test_the_command_line_accepts_it_if_named(sense_pack, tmp_path):
    assert "sense" not in default_tasks()
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf8")

    output = json.loads(here("annotate", "a.txt", "--model", "sense", folder=tmp_path).stdout)
    decided = {item["observed"]: item for item in output["decisions"]}
    assert decided["court"]["gloss"].startswith("court%1:") and output["flags"] == 0
    assert decided["court"]["replacement"] == "court"
    shown = here("explain", "--model", "sense", "The court heard the case.").stdout
    assert "features occurred in training" in shown and "gloss" in shown
    assert "(near)" in shown and "(local)" in shown  # which extractor a feature is of


BUILT = {  # megabytes of the wheel, files in it, a command, its input and what it prints
    "disambig_en_sense": (15, ["models/sense/weights.npz"], "annotate - --model sense", TEXT, '"bank.n"'),
    "disambig_en_parser": (5, ["models/parser/grammar.npz"], "parse", "Go!", "(TOP (S (VP (VB Go)) (. !)))"),
    "disambig_ja": (25, ["models/converter/lexicon.npz", "NOTICE"], "convert", "ねこ", "猫"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT)
def test_packs_are_built_and_found_as_distributions(tmp_path, name):
    megabytes, files, command, given, printed = BUILT[name]
    wheels = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w"]
    subprocess.run([*wheels, str(tmp_path), str(ROOT / "corpora" / name)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob(f"{name}-*.whl")
    assert wheel.stat().st_size <= megabytes * 1e6
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert {f"{name}/{file}" for file in files} <= set(names)
    sources = (".py", ".toml", ".cfg")
    assert not [file for file in names if file.endswith(sources) and "config.cfg" not in file]
    paths = [str(tmp_path / "site"), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = process(*command.split(), "-q", folder=tmp_path, given=given, env=environment)
    assert done.returncode == 0 and printed in done.stdout, done.stderr


def test_the_pack_describes_itself(sense_pack):
    shipped_pack = pack("disambig_en_sense")
    assert shipped_pack.counts is None and shipped_pack.by_name == ("sense",)
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


TRUSTED_TEXT = """The weather was better then we had hoped. I went to the the shop, and its late.

She have an cat. It depends of the weather, and the results shows that it is quite.
"""

CORRECTING = ("article", "doubled", "form", "preposition", "slip", "spelling")
AGAIN = "measure them again: python corpora/disambig_en/build.py DATA --trust"


@pytest.fixture
def home(tmp_path):
    (tmp_path / "note.md").write_text(TRUSTED_TEXT)
    return tmp_path


def trusted_flags(home, *options):
    done = here("check", "note.md", "--format", "json", *options, folder=home)
    return json.loads(done.stdout)["flags"], done


@pytest.mark.parametrize("task", CORRECTING)
def test_each_model_was_measured_as_it_is(task):
    trust = read_precision(model_folder(task))
    assert trust is not None, AGAIN
    assert trust.task == task
    assert sum((trust.points[0].right, trust.points[0].wrong, trust.points[0].false)) > 50


def test_flags_say_how_often_such_ones_were_right(home):
    result, _ = trusted_flags(home)
    assert len(result) >= 3
    assert all(0 < item["trust"]["low"] <= item["trust"]["share"] < 1 for item in result)


def test_a_precision_threshold_selects_flags_without_a_rate(home):
    before, _ = trusted_flags(home)
    shown, done = trusted_flags(home, "--trust", "4/5")
    assert {item["task"] for item in shown} & {"doubled", "slip", "spelling", "article"}
    assert all(item["trust"]["share"] >= 0.8 for item in shown)
    assert {item["start"] for item in before if item["trust"]["share"] >= 0.8} <= {
        item["start"] for item in shown
    }
    assert "D86" not in done.stderr
    more, _ = trusted_flags(home, "--trust", "1 in 3")
    assert {item["start"] for item in shown} <= {item["start"] for item in more}
    done = here("check", "note.md", "--trust", "1", folder=home)
    assert done.returncode == 2 and "[D864] no flags are right in 100% of cases" in done.stderr


def test_settings_and_options_are_one_choice(home):
    (home / "disambig.toml").write_text('trust = "4 in 5"\n')
    assert trusted_flags(home)[0] == trusted_flags(home, "--trust", "80 %")[0]
    done = here("check", "--show-settings", "note.md", "--flags-per-1000", "2", folder=home)
    assert "# trust: " in done.stdout and "flags_per_1000 = 2.0  # command line" in done.stdout
    (home / "disambig.toml").write_text("trust = 0.5\nflags_per_1000 = 0.0\n")
    assert trusted_flags(home)[0] == []  # both hold


def test_a_model_without_measured_precision_shows_no_flags_but_a_note(home):
    unmeasured = home / "own"
    shutil.copytree(model_folder("doubled"), unmeasured, ignore=shutil.ignore_patterns(PRECISION_FILE))
    result, _ = trusted_flags(home, "--model", "own")
    assert result and result[0]["trust"] is None
    done = here("check", "note.md", "--model", "own", "--trust", "4/5", folder=home)
    assert done.returncode == 2 and "[D861]" in done.stderr
    both, done = trusted_flags(home, "--model", "own", "--task", "article", "--trust", "1/3")
    assert {item["task"] for item in both} <= {"article"}
    assert "[D863] disambig_en/doubled was not measured" in done.stderr


def test_evidence_is_likely_words_and_counted_ngrams(home):
    result, _ = trusted_flags(home, "--evidence", "--task", "spelling")
    (flag,) = [item for item in result if item["observed"] == "then"]
    candidates = flag["evidence"]["candidates"]
    assert candidates[0]["word"] == "than"
    assert "then" not in {item["word"] for item in candidates}
    assert sum(item["probability"] for item in candidates) == pytest.approx(flag["probability"], abs=1e-3)
    counts = {(item["word"], item["ngram"]): item["count"] for item in flag["evidence"]["counts"]}
    assert {word for word, _ in counts} == {"then", "than"}
    assert counts["than", "better than"] > counts["then", "better then"]
    assert "evidence" not in trusted_flags(home, "--task", "spelling")[0][0]


def test_evidence_is_that_of_the_place_also_below_markup_and_code(home):
    (home / "a.py").write_text(
        "x = 1\n" * 2000 + "# The weather was better then we had hoped.\n" + "y = 2\n" * 2000
    )
    done = here("check", "a.py", "--format", "sarif", "--evidence", folder=home)
    (run,) = json.loads(done.stdout)["runs"]
    (result,) = run["results"]
    assert result["properties"]["evidence"]["candidates"][0]["word"] == "than"
    assert result["properties"]["evidence"]["counts"]


@pytest.mark.parametrize("options", [[], ["--format", "github"], ["--diff"], ["--write-baseline", "b.json"]])
def test_evidence_goes_with_reports_for_programs(home, options):
    done = here("check", "note.md", "--evidence", *options, folder=home)
    assert (
        done.returncode == 2 and "--evidence can only be used with --format json, jsonl, sarif" in done.stderr
    )


TAGGED_TEXT = "I worked in Russia during 1997 to 2001, and it was hard to find a quite place. They sleep!"


def test_it_works_beside_the_other_components():
    nlp = spacy.blank("en")
    for name in ("disambig_tagger", "disambig_preposition", "disambig_spelling", "disambig_it"):
        nlp.add_pipe(name)
    doc = nlp(TAGGED_TEXT)
    tags = {token.text: (token.tag_, token.pos_) for token in doc}
    assert tags["worked"] == ("VBD", "VERB") and tags["Russia"] == ("NNP", "PROPN")
    assert (
        tags["was"] == ("VBD", "AUX") and tags["They"] == ("PRP", "PRON") and tags["sleep"] == ("VBP", "VERB")
    )
    alone = spacy.blank("en")
    for name in ("disambig_preposition", "disambig_spelling", "disambig_it"):
        alone.add_pipe(name)
    for key, spans in alone(TAGGED_TEXT).spans.items():
        assert [(s.start, s.label_) for s in doc.spans[key]] == [(s.start, s.label_) for s in spans]


def test_dashes_and_semicolons_have_the_tag_of_the_penn_treebank():
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_tagger")
    doc = nlp("We left; they stayed -- and it rained, so the well-known man \u2014 our uncle \u2014 slept.")
    tags = [(token.text, token.tag_) for token in doc]
    assert {tag for word, tag in tags if word in {";", "--", "\u2014"}} == {":"}
    assert (",", ",") in tags and ("-", "HYPH") in tags


def test_it_runs_only_where_it_is_named():
    assert "tag" not in default_tasks() and {"it", "preposition", "spelling"} <= set(default_tasks())
    assert pack("disambig_en_tagger").counts is None


def test_the_command_line_accepts_it(tmp_path):
    (tmp_path / "a.txt").write_text("They sleep.", encoding="utf8")
    (tmp_path / "b.txt").write_text(" \n ", encoding="utf8")
    done = here("annotate", "a.txt", "b.txt", "--model", "tag", folder=tmp_path)
    first, second = map(json.loads, done.stdout.splitlines())
    assert [item["chosen"] for item in first["decisions"]] == ["PRP", "VBP", "."]
    assert second["decisions"] == [] and first["flags"] == 0
    explained = here("explain", "--model", "tag", "They sleep.")
    assert "PRP, with probability" in explained.stdout and "features occurred in training" in explained.stdout


def test_the_pack_is_small():
    home = pack("disambig_en_tagger").home
    assert sum(path.stat().st_size for path in home.rglob("*") if path.is_file()) < 6e6


@pytest.mark.data
@pytest.mark.skipif("DISAMBIG_DATA" not in os.environ, reason="needs DISAMBIG_DATA")
def test_the_card_shows_its_accuracy():
    from disambig_random_subspace.experiments import ewt, with_penn_colons

    from disambig.experiments import EWT_GENRES

    nlp = spacy.blank("en")
    tagger = nlp.add_pipe("disambig_tagger")
    message = json.loads((pack("disambig_en_tagger").home / "figures.json").read_text(encoding="utf8"))[
        "test"
    ]
    for genre in EWT_GENRES:
        sentences = with_penn_colons(ewt(Path(os.environ["DISAMBIG_DATA"]), [genre], ["test"]))
        docs = list(tagger.pipe(Doc(nlp.vocab, words=words) for words, _ in sentences))
        right = sum(
            token.tag_ == tag
            for doc, (_, tags) in zip(docs, sentences, strict=True)
            for token, tag in zip(doc, tags, strict=True)
        )
        # sentences are split at stops here, but as in the treebank in the card
        assert right / message[genre]["n"] == pytest.approx(message[genre]["accuracy"], abs=0.003)


def test_plain_texts_get_the_tags_that_the_component_gives_docs():
    tokens = SpacyTokens(layers=["tag"])
    text = "The banks were closed. He RUNS to  the river's mouth!\n\nNo. 5 mark"
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_tagger")
    of_text, of_docs = tokens([text]), tokens.of_docs([nlp(text)])
    np.testing.assert_array_equal(of_text.layers["tag"], of_docs.layers["tag"])
    words = of_text.ends > of_text.starts
    assert (of_text.layers["tag"][words] != 0).all()
    assert not of_text.layers["tag"][~words].any()
    assert hash_word("NNS") in of_text.layers["tag"][[2]]


LEARNER = {
    "@disambig_learners": "exponentiated_gradient.EG.v1",
    "C": 1.0,
    "decoder": {"@disambig_decoders": "disambig.Chain.v1"},
}


@pytest.fixture(scope="module", params=["cost", "log"])
def trained(request):
    return train_tagger(TAGGED, TAGGED, name="my/tagger", learner={**LEARNER, "loss": request.param})


def test_the_pack_is_as_good_as_its_card_says(trained):
    view = trained.tokenisation.of_sentences(words for words, _ in TAGGED)
    names = trained.task.groups[0].candidates
    assert [names[i] for i in trained.choose(view)[1]] == [tag for _, tags in TAGGED for tag in tags]
    report = trained.provenance["groups"]["tag"]
    assert report["C"] == 1.0 and report["gold_missing"] == 0
    assert report["gap"] < report["path"]["gap"][0]


def test_saved_and_used_by_the_component(trained, tmp_path):
    save_model(trained, tmp_path / "tagger")
    config = (tmp_path / "tagger" / "config.cfg").read_text(encoding="utf8")
    assert "exponentiated_gradient.EG.v1" in config and "disambig.Chain.v1" in config
    assert load_model(tmp_path / "tagger").name == "my/tagger"
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_tagger", config={"model": str(tmp_path / "tagger")})
    (doc,) = nlp.pipe([Doc(nlp.vocab, words=["a", "dog", "sleeps"])])
    assert [token.tag_ for token in doc] == ["DT", "NN", "VBZ"]


def test_a_note_says_that_the_name_of_a_file_is_taken_as_a_text(tmp_path):
    (tmp_path / "notes.md").write_text("It is to late.")
    named = here("explain", "notes.md", "--task", "it", folder=tmp_path)
    assert named.returncode == 0 and "[D352] 'notes.md' is treated as text" in named.stderr
    assert "to read the file: disambig explain - < notes.md\n" in named.stderr
    for arguments in (("notes.md", "--quiet"), ("It is to late.",), ("other.md",)):
        assert "D352" not in here("explain", *arguments, "--task", "it", folder=tmp_path).stderr


def test_a_command_without_standard_streams_ends_with_an_error(tmp_path, monkeypatch, capsys):
    (tmp_path / "notes.txt").write_text("It is to late.")
    assert here("annotate", "notes.txt", "--task", "it", "-o", "job", folder=tmp_path).returncode == 0
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", None)
    assert exit_status("explain", "-") == 2
    assert "[D307]" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdout", None)
    commands = [
        ("explain", "It is."),
        ("job", "merge", "job"),
        ("plugins",),
        ("plugins", "--json"),
        ("rules",),
    ]
    commands += [("rules", "word-form", "--json"), ("--version",), ("--help",), ("schema",)]
    commands += [
        ("evaluate", "no-such-model", "--text", "notes.txt"),
        ("counts", "query", "disambig_en", "the"),
    ]
    for arguments in commands:
        assert exit_status(*arguments) == 2, arguments
        assert "[D309] cannot write standard output: it is closed" in capsys.readouterr().err
    assert exit_status("lsp") == 2
    assert "[D893]" in capsys.readouterr().err


def test_explain_and_check_agree_on_what_is_flagged():
    text = "They asks for help, because the users likely does not want to wait for it.\n\nIt depends of us."
    explained = [line.strip() for line in here("explain", text).stdout.splitlines()]
    verdicts = [number for number, line in enumerate(explained) if line.startswith("flagged")]
    raised = {explained[i - 1] for i in verdicts if explained[i].startswith("flagged:")}
    checked = {
        (flag.observed, flag.replacement or "(no word)", str(flag.start)) for flag in disambig.check(text)
    }
    assert {
        (line.split("[")[1].split("]")[0], line.rsplit(" -> ", 1)[1], line.split("-")[0]) for line in raised
    } == checked
    remarks = [explained[i + 1] for i in verdicts if explained[i].startswith("flagged by this task:")]
    assert len(remarks) == len(verdicts) - len(raised) > 0
    surer = '"asks" -> "ask" and "does" -> "do"'
    assert f"check drops this flag: with the surer {surer} corrected, nothing is wrong here" in remarks
    assert "check raises this flag once, for the task slip, which is more certain" in remarks


def test_no_task_flags_a_phrase_that_is_right():
    text = "Due to an historical oversight, nobody knows that the drug may effect a cure."
    spelling, slip = (load(f"disambig_en/{task}") for task in ("spelling", "slip"))
    (alone,) = annotate([text], [spelling])
    flagged = np.flatnonzero(alone.flagged).tolist()
    assert [text[alone.starts[i] : alone.ends[i]] for i in flagged] == ["an", "effect"]
    assert not any(item.flagged.any() for item in annotate([text], [spelling, slip]))
    assert disambig.check(text) == []
    explained = here("explain", text, "--task", "spelling", "--task", "slip").stdout
    assert explained.count("not flagged: a task knows that these words are right here") == 2
