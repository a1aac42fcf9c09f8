"""The component with all models that correct words: config, budget of flags, saving and scoring."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
import spacy
from overlapping import DOUBLED, FLAGS, FORM, TEXT, ToyJudge, ToyModel
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from disambig.errors import UserError
from disambig.packs import available
from disambig.spacy import component, core_components as proofreading
from disambig.spacy.core_components import Proofreader

TEXTS = [TEXT, "", "I saw a owl.", "  ", "Nothing."]
LABELS = replace(ToyModel.of("it", ("it", "it", "that", 0.9)), judge=object())
GERMAN = replace(ToyModel.of("der", ("der", "der", "die", 0.9)), language="de")


@pytest.fixture
def installed(monkeypatch):
    """Installed fake models by name."""
    models = {"doubled": DOUBLED, "form": FORM, "it": LABELS, "der": GERMAN}
    monkeypatch.setattr(component, "load", models.__getitem__)
    monkeypatch.setattr(proofreading, "default_tasks", lambda: tuple(sorted(models)))
    return models


def shown(doc, key="proofread"):
    return [(s.start, s.end, s.label_, s.id_, s._.disambig) for s in doc.spans[key]]


def test_the_config_is_complete(nlp, installed):
    nlp.add_pipe("disambig_proofread")
    assert nlp.config["components"]["disambig_proofread"] == {
        "factory": "disambig_proofread",
        "models": [],
        "flags_per_1000": None,
        "ignore": [],
        "protect": True,
        "detect_language": True,
        "writing": None,
        "spans_key": "proofread",
    }
    meta = Language.get_factory_meta("disambig_proofread")
    assert meta.assigns == ["doc.spans", "doc.user_data", "span._.disambig"] and not meta.requires


def test_the_default_models(nlp, installed):
    pipe = nlp.add_pipe("disambig_proofread")
    assert [model.task.name for model in pipe.models] == ["doubled", "form"]
    german = spacy.blank("de").add_pipe("disambig_proofread")
    assert [model.task.name for model in german.models] == ["der"]
    with pytest.raises(UserError, match=r"D952.*'disambig_proofread'.*'es'"):
        spacy.blank("es").add_pipe("disambig_proofread")


@pytest.mark.skipif("spelling" not in available(), reason="needs the English pack")
def test_the_message_for_an_unknown_model_names_those_that_correct_words(nlp):
    with pytest.raises(UserError, match=r"D404.*or one of spelling, (?!.*\b(it|tag)\b)"):
        nlp.add_pipe("disambig_proofread", config={"models": ["speling"]})


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"models": ["der"]}, "D500"),
        ({"models": ["it"]}, "D644"),
        ({"models": ["form", "form"]}, "D333"),
        ({"models": "form"}, "D516.*models is 'form', not a list"),
        ({"flags_per_1000": -1}, "D401"),
        ({"flags_per_1000": {"form": -1}}, "D401"),
        ({"flags_per_1000": {"it": 1}}, r"D950.*'it'.*available: doubled, form"),
        ({"flags_per_1000": {"form": "many"}}, "D516.*a number or a table"),
        ({"flags_per_1000": "many"}, "D516.*a number or a table"),
        ({"ignore": ["such*"]}, "D503"),
        ({"spans_key": None}, "D516"),
        ({"spans_key": ""}, "D516"),
    ],
)
def test_what_is_refused(nlp, installed, settings, code):
    with pytest.raises(UserError, match=code):
        nlp.add_pipe("disambig_proofread", config=settings)


def test_no_other_component_may_have_its_key(nlp, installed):
    nlp.add_pipe("disambig", config={"model": "form", "spans_key": "proofread"})
    replaces = (
        r"D508.*'disambig' and 'disambig_proofread' .* key 'proofread', .* replaces those of the earlier one:"
    )
    with pytest.warns(UserWarning, match=replaces):
        nlp.add_pipe("disambig_proofread")


def test_spans_of_other_programs_that_it_replaces_are_named(nlp, installed):
    nlp.add_pipe("disambig_proofread")
    doc = nlp.make_doc(TEXT)
    doc.spans["proofread"] = [doc[0:1]]
    with pytest.warns(UserWarning, match=r"D522.*doc\.spans\['proofread'\]"):
        nlp(doc)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (again,) = DocBin(docs=[doc]).get_docs(nlp.vocab)  # without records
        assert shown(nlp(again))


def test_the_spans_of_other_tasks_are_lost_before_it_and_kept_after_it(nlp, installed):
    shares = {"model": "doubled", "spans_key": "proofread"}
    nlp.add_pipe("disambig_proofread", config={"models": ["form"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.add_pipe("disambig", config=shares)
    assert {span.id_ for span in nlp(TEXT).spans["proofread"]} == {"form", "doubled"}
    first = spacy.blank("en")
    first.add_pipe("disambig", config=shares)
    with pytest.warns(UserWarning, match=r"D508.*components 'disambig' and 'disambig_proofread' write"):
        first.add_pipe("disambig_proofread", config={"models": ["form"]})
    assert {span.id_ for span in first(TEXT).spans["proofread"]} == {"form"}


def test_a_later_component_with_one_of_its_tasks_replaces_the_spans_of_that_task(nlp, installed):
    nlp.add_pipe("disambig_proofread")
    replaces = (
        "'disambig_proofread' and 'disambig' write .* replaces those of the earlier one for the task 'form':"
    )
    with pytest.warns(UserWarning, match=f"D508.*{replaces}"):
        nlp.add_pipe("disambig", config={"model": "form", "spans_key": "proofread"})


def test_spans_are_flags_alone_with_their_alternatives(nlp, installed):
    nlp.add_pipe("disambig_proofread")
    doc = nlp(TEXT)
    result = [
        (span.id_, span._.disambig["observed"], span._.disambig["replacement"])
        for span in doc.spans["proofread"]
    ]
    assert result == [(task, old, new) for task, old, new, _ in FLAGS]
    assert [span.label_ for span in doc.spans["proofread"]] == [new.strip() for _, _, new, _ in FLAGS]
    first = doc.spans["proofread"][0]._.disambig["alternatives"]
    assert [(other["task"], other["replacement"]) for other in first] == [("form", "an")]


@pytest.mark.parametrize("reloaded", [False, True])
def test_two_neighbouring_mistakes_are_both_flagged(nlp, reloaded):
    verbs = ToyModel.of("verb", (r"\b(loose)", "loose", "lose", 0.9))
    words = ToyModel.of(
        "word", (r"(you're) t", "you're", "your", 0.8), (r"\b(loose)", "loose", "loosen", 0.7)
    )
    doc = Proofreader(nlp, [verbs, words], name="p")(nlp.make_doc("You loose you're turn"))
    if reloaded:
        doc = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    records = [span._.disambig for span in doc.spans["proofread"]]
    texts = [(r["replacement"], [other["replacement"] for other in r["alternatives"]]) for r in records]
    assert texts == [("lose", ["loosen"]), ("your", [])] and all(r["flagged"] for r in records)


def test_rates_are_shared_or_one_a_task(nlp):
    class Gaining(ToyJudge):
        def gains(self):
            return np.array([1.0]), np.array([0.1])

    def rates(flags_per_1000, *models):
        return Proofreader(nlp, models, name="x", flags_per_1000=flags_per_1000).rates

    gaining = replace(FORM, judge=Gaining())
    assert rates(1.0, gaining, replace(DOUBLED, judge=Gaining())) == {"form": 1.0, "doubled": 0.0}
    assert rates(1.0, gaining, DOUBLED) == {"form": 0.5, "doubled": 0.5}
    assert rates(0.7, FORM) == {"form": 0.7}
    assert rates({"form": 0}, FORM, DOUBLED) == {"form": 0.0}
    none = Proofreader(nlp, [FORM, DOUBLED], name="x", flags_per_1000={"form": 0})
    assert {span.id_ for span in none(nlp(TEXT)).spans["proofread"]} == {"doubled"}


def test_the_words_are_cut_once_for_all_models(nlp, monkeypatch):
    cut = []
    real = proofreading.view_of_docs
    monkeypatch.setattr(
        proofreading, "view_of_docs", lambda docs, *a, **k: cut.append(len(docs)) or real(docs, *a, **k)
    )
    list(Proofreader(nlp, [FORM, DOUBLED], name="x").pipe(nlp.pipe(TEXTS)))
    assert cut == [len(TEXTS)]


def test_protection_reaches_the_models(nlp):
    seen = []

    class Looking(ToyModel):
        def decide(self, view, *, flags_per_1000=None):
            seen.append(
                view.layers["protected"].astype(bool).tolist()[1:-1] if "protected" in view.layers else []
            )
            return super().decide(view, flags_per_1000=flags_per_1000)

    looking = Looking(FORM.rules, FORM.task)
    Proofreader(nlp, [looking], name="x", ignore=["RAIN"])(nlp("old `owl` rain"))
    Proofreader(nlp, [looking], name="x", protect=False)(nlp("old `owl` rain"))
    assert seen[0][0] is False and seen[0][-1] is True and sum(seen[0]) > 1
    assert not any(seen[1])


def test_predict_is_pure_and_batches_do_not_matter(nlp):
    tested = Proofreader(nlp, [FORM, DOUBLED], name="x")
    docs = list(nlp.pipe(TEXTS))
    before = [doc.to_bytes() for doc in docs]
    tested.predict(docs)
    assert [doc.to_bytes() for doc in docs] == before
    single = [shown(tested(nlp(text))) for text in TEXTS]
    assert list(map(len, single)) == [len(FLAGS), 0, 1, 0, 0]
    for size in (1, 2, 100):
        assert [shown(doc) for doc in tested.pipe(nlp.pipe(TEXTS), batch_size=size)] == single
    assert shown(tested(tested(nlp(TEXT)))) == single[0]


@pytest.mark.parametrize("how", ["disk", "bytes"])
@pytest.mark.parametrize("rate", [None, 2.0, {"form": 0}])
def test_saved_and_loaded(nlp, installed, tmp_path, how, rate):
    nlp.add_pipe("disambig_proofread", config={"flags_per_1000": rate, "spans_key": "p"})
    if how == "disk":
        nlp.to_disk(tmp_path / "saved")
        again = spacy.load(tmp_path / "saved")
    else:
        again = spacy.blank("en")
        config = {k: v for k, v in nlp.get_pipe_config("disambig_proofread").items() if k != "factory"}
        again.add_pipe("disambig_proofread", config=config)
        again.from_bytes(nlp.to_bytes())
    assert again.get_pipe("disambig_proofread").rates == nlp.get_pipe("disambig_proofread").rates
    docs = nlp(TEXT), again(TEXT)
    assert shown(docs[0], "p") == shown(docs[1], "p") and docs[0].spans["p"]
    kept = [DocBin(store_user_data=True, docs=[doc]).to_bytes() for doc in docs]
    assert kept[0] == kept[1]


def test_loading_with_other_models_warns(nlp, installed, tmp_path):
    nlp.add_pipe("disambig_proofread")
    nlp.to_disk(tmp_path / "saved")
    installed["form"] = replace(FORM, version="2")
    with pytest.warns(UserWarning, match="saved with toy 1, toy 1, but now uses toy 1, toy 2"):
        spacy.load(tmp_path / "saved")


def test_beside_a_component_of_one_of_its_tasks(nlp, installed):
    from disambig.spacy.component import Disambiguator

    alone = shown(Proofreader(nlp, [FORM, DOUBLED], name="x")(nlp(TEXT)))
    every = Proofreader(nlp, [FORM, DOUBLED], name="x"), Disambiguator(nlp, FORM, name="f", spans_key="form")
    for order in (every, every[::-1]):
        doc = nlp(TEXT)
        for pipe in order:
            doc = pipe(doc)
        assert [s[:3] + s[4:] for s in shown(doc)] == [s[:3] + s[4:] for s in alone]
        assert all(span._.disambig["flagged"] for span in doc.spans["form"])  # it has no other task


def test_two_processes_and_pickling(nlp, installed):
    pipe = nlp.add_pipe("disambig_proofread")
    assert shown(pickle.loads(pickle.dumps(pipe))(nlp.make_doc(TEXT))) == shown(nlp(TEXT))
    texts = TEXTS * 4
    one, two = ([shown(doc) for doc in nlp.pipe(texts, n_process=n, batch_size=3)] for n in (1, 2))
    assert one == two and sum(map(len, one)) == 4 * (len(FLAGS) + 1)


def test_scores(nlp, installed):
    nlp.add_pipe("disambig_proofread")
    gold = nlp("I saw a owl.")
    scores = nlp.evaluate([Example(nlp.make_doc("I saw a owl."), gold)])
    assert scores["spans_proofread_f"] == 1.0
