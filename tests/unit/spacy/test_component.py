"""The component as spaCy uses it: pure predictions, batches, bad documents, saving and loading."""

from __future__ import annotations

import pickle

import pytest
import spacy
from fake_spacy_models import preposition_model, spelling_model
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from disambig.errors import UserError
from disambig.spacy.component import Disambiguator

TEXTS = ["He went to wrong rooms.", "", "  ", "Nothing.", "In 1997, in\r\nwrong  places.", "Among us."]


def component(nlp, model=None, **settings):
    settings = {"name": "tested", "spans_key": "x", **settings}
    return Disambiguator(nlp, model or preposition_model(), **settings)


def shown(doc):
    return [(span.start, span.end, span.label_, span._.disambig) for span in doc.spans["x"]]


def test_predict_is_pure(nlp):
    docs = list(nlp.pipe(TEXTS))
    before = [doc.to_bytes() for doc in docs]
    decisions = component(nlp).predict(docs)
    assert len(decisions) == 4
    assert [doc.to_bytes() for doc in docs] == before


def test_one_by_one_and_in_batches_alike(nlp):
    tested = component(nlp)
    single = [shown(tested(nlp(text))) for text in TEXTS]
    assert sum(map(len, single)) == 4
    for size in (1, 2, 100):
        assert [shown(doc) for doc in tested.pipe(nlp.pipe(TEXTS), batch_size=size)] == single


def test_a_bad_document_does_not_lose_its_batch(nlp):
    tested = component(nlp)
    failures = []
    tested.set_error_handler(lambda name, proc, docs, error: failures.append((name, proc, docs, error)))
    texts = ["to wrong", "BAD", "in wrong", "BAD too"]
    docs = list(tested.pipe(nlp.pipe(texts), batch_size=4))
    assert [doc.text for doc in docs] == ["to wrong", "in wrong"]
    assert [doc.spans["x"][0].label_ for doc in docs] == ["from", "to"]
    assert [(name, proc, [doc.text for doc in bad]) for name, proc, bad, _ in failures] == [
        ("tested", tested, ["BAD"]),
        ("tested", tested, ["BAD too"]),
    ]
    assert all(isinstance(error, RuntimeError) for *_, error in failures)


def test_without_a_handler_the_good_documents_before_come_first(nlp):
    tested = component(nlp)
    stream = tested.pipe(nlp.pipe(["to", "BAD", "in"]), batch_size=3)
    assert next(stream).spans["x"][0].label_ == "to"
    with pytest.raises(RuntimeError, match="a bad document"):
        next(stream)
    with pytest.raises(RuntimeError, match="a bad document"):
        tested(nlp("BAD"))


def test_long_documents_make_small_batches(nlp, monkeypatch):
    monkeypatch.setattr("disambig.spacy.component._MOST_TOKENS", 100)
    tested = component(nlp)
    sizes = []
    real = Disambiguator.predict
    monkeypatch.setattr(
        Disambiguator, "predict", lambda self, docs: sizes.append(len(docs)) or real(self, docs)
    )
    words = [60, 60, 1, 1, 1, 1, 500, 2]
    docs = list(tested.pipe((nlp("to " * n) for n in words), batch_size=3))
    assert [len(doc.spans["x"]) for doc in docs] == words
    assert sizes == [2, 3, 2, 1]


def test_what_goes_wrong_elsewhere_is_no_bad_document(nlp):
    def stream():
        yield nlp("to")
        raise OSError("the disk is gone")

    tested = component(nlp)
    tested.set_error_handler(lambda *_: pytest.fail("not ours"))
    with pytest.raises(OSError, match="disk"):
        list(tested.pipe(stream()))


def test_the_handler_of_the_pipeline(nlp, fakes):
    nlp.add_pipe("disambig_preposition")
    seen = []
    nlp.set_error_handler(lambda name, proc, docs, error: seen.append((name, [doc.text for doc in docs])))
    assert [doc.text for doc in nlp.pipe(["to", "BAD", "in"])] == ["to", "in"]
    assert nlp("BAD").text == "BAD"
    assert seen == [("disambig_preposition", ["BAD"])] * 2


def test_another_language_is_refused():
    with pytest.raises(UserError, match=r"D500.*'tested'.*'en'.*de"):
        component(spacy.blank("de"))
    assert component(spacy.blank("de"), preposition_model(language="")).name == "tested"


GERMAN = "Das ist nicht to wrong und wird auch nicht besser."


@pytest.mark.filterwarnings("ignore:.*D348")
def test_paragraphs_in_another_language_are_left_alone(nlp):
    text = f"He went to wrong rooms.\n\n{GERMAN}"
    assert [span.start_char for span in component(nlp)(nlp(text)).spans["x"]] == [8]
    both = component(nlp, detect_language=False)(nlp(text)).spans["x"]
    assert [span.start_char for span in both] == [8, text.index("to wrong", 20)]


def test_spans_of_merged_tokens_have_no_record_of_other_words(nlp):
    doc = component(nlp)(nlp("He has often gone to wrong rooms in wrong houses of the town."))
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:3])
    with pytest.warns(UserWarning, match="D507"):
        records = [span._.disambig for span in list(doc.spans["x"])]
    assert records == [None, None]
    doc = component(nlp)(nlp("He has gone to wrong rooms."))
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[4:6])
    assert [span._.disambig["observed"] for span in doc.spans["x"]] == ["to"]


def test_a_pipeline_of_several_languages_is_accepted():
    several = spacy.blank("xx")
    doc = component(several, detect_language=True)(several("He went to wrong rooms."))
    assert [span.text for span in doc.spans["x"]] == ["to"]


def test_words_to_ignore_and_protected_ones(nlp):
    text = "He went to wrong rooms, in wrong `in wrong` ways."
    ignoring = component(nlp, ignore=["TO", "Among"])
    assert [span.text for span in ignoring(nlp(text)).spans["x"]] == ["in"]
    assert [span.text for span in component(nlp)(nlp(text)).spans["x"]] == ["to", "in"]
    assert [span.text for span in component(nlp, protect=False)(nlp(text)).spans["x"]] == ["to", "in", "in"]
    model = spelling_model().with_groups([type(spelling_model().task.groups[0])("its/it's", ("its", "it's"))])
    assert not component(nlp, model, ignore=["It\u2019s"])(nlp("it's wrong, It\u2019s.")).spans["x"]


@pytest.mark.parametrize("ignore", ["to", ["such as"], [""], [" "]])
def test_what_cannot_be_ignored(nlp, ignore):
    with pytest.raises(UserError, match=r"D503.*list of single words"):
        component(nlp, ignore=ignore)


def test_rates(nlp):
    with pytest.raises(UserError, match="D401"):
        component(nlp, flags_per_1000=-1)
    flags = [
        component(nlp, flags_per_1000=rate)(nlp("to wrong")).spans["x"][0]._.disambig["flagged"]
        for rate in (None, 0)
    ]
    assert flags == [True, False]


def test_docs_as_input_and_twice(nlp, fakes):
    nlp.add_pipe("disambig_preposition")
    doc = Doc(
        nlp.vocab, words=["He", "went", "to", "wrong", "rooms"], spaces=[True, False, False, True, False]
    )
    assert nlp(doc) is doc
    assert doc.text == "He wenttowrong rooms" and not doc.spans["preposition"]
    doc = Doc(nlp.vocab, words=["went", " ", "to", "\n", "wrong"], spaces=[True, False, False, False, False])
    assert [span.start for span in nlp(nlp(doc)).spans["preposition"]] == [2]


def test_a_very_long_document(nlp):
    nlp.max_length = 10_000_000
    doc = component(nlp)(nlp("He went to wrong rooms in town. " * 8_000))
    spans = doc.spans["x"]
    assert len(spans) == 16_000
    assert spans[15_998]._.disambig["start"] == 32 * 7_999 + 8
    assert (spans[15_998].label_, spans[15_999].label_) == ("from", "in")


def test_memory_zone(nlp, fakes):
    nlp.add_pipe("disambig_preposition")
    for _ in range(3):
        with nlp.memory_zone():
            assert [doc.spans["preposition"][0].label_ for doc in nlp.pipe(["to wrong", "in"])] == [
                "from",
                "in",
            ]


def test_labels_are_known_before_the_first_document(nlp):
    component(nlp)
    for text in ("among", "preposition"):
        assert text in nlp.vocab.strings


def gold(nlp, text, *labels):
    doc = nlp.make_doc(text)
    doc.spans["preposition"] = [Span(doc, i, i + 1, label=label) for i, label in labels]
    return Example(nlp.make_doc(text), doc)


def test_scores_as_evaluate_asks_for_them(nlp, fakes):
    nlp.add_pipe("disambig_preposition")
    examples = [
        gold(nlp, "He went to wrong rooms", (2, "from")),
        gold(nlp, "in rooms among us", (0, "to"), (2, "among")),
        Example(nlp.make_doc("in"), nlp.make_doc("in")),  # not annotated: not scored
    ]
    scores = nlp.evaluate(examples)
    for figure in "prf":
        assert scores[f"spans_preposition_{figure}"] == pytest.approx(2 / 3)
    assert scores["spans_preposition_per_type"]["from"]["f"] == 1.0


@pytest.mark.parametrize("way", ["disk", "bytes"])
def test_a_saved_pipeline(nlp, fakes, way, tmp_path):
    nlp.add_pipe("disambig_preposition", config={"flags_per_1000": 0, "ignore": ["in"], "spans_key": "p"})
    nlp.add_pipe("disambig_spelling", config={"sets": ["rooms/booms", ["lamp", "damp"]]})
    text = "He went to wrong rooms in wrong towns"
    docs = [nlp(text)]
    if way == "disk":
        nlp.to_disk(tmp_path / "saved")
        docs.append(spacy.load(tmp_path / "saved")(text))
        changed = {"components.disambig_preposition.flags_per_1000": 2.0}
        assert spacy.load(tmp_path / "saved", config=changed)(text).spans["p"][0]._.disambig["flagged"]
    else:
        again = spacy.blank("en")
        for name in nlp.pipe_names:
            again.add_pipe(
                name, config={k: v for k, v in nlp.get_pipe_config(name).items() if k != "factory"}
            )
        docs.append(again.from_bytes(nlp.to_bytes())(text))
    kept = [DocBin(store_user_data=True, docs=[doc]).to_bytes() for doc in docs]
    assert kept[0] == kept[1]
    assert [span.text for span in docs[1].spans["spelling"]] == ["to", "rooms"]
    assert [span._.disambig["flagged"] for span in docs[1].spans["p"]] == [False]


def test_a_pipeline_saved_with_another_model_says_so(nlp, fakes, tmp_path):
    nlp.add_pipe("disambig_preposition")
    nlp.to_disk(tmp_path / "saved")
    data = nlp.to_bytes()
    fakes["preposition"] = preposition_model(version="0.0.2")
    with pytest.warns(UserWarning, match=r"saved with fake 0\.0\.1.*fake 0\.0\.2 now"):
        spacy.load(tmp_path / "saved")
    with pytest.warns(UserWarning, match=r"saved with fake 0\.0\.1"):
        again = spacy.blank("en")
        again.add_pipe("disambig_preposition")
        again.from_bytes(data)


def test_a_directory_without_our_file_loads(nlp, fakes, tmp_path):
    nlp.add_pipe("disambig_preposition")
    nlp.to_disk(tmp_path / "saved")
    (tmp_path / "saved" / "disambig_preposition" / "model.json").unlink()
    assert spacy.load(tmp_path / "saved")("to").spans["preposition"]


def test_pickled(nlp):
    tested = component(nlp, ignore=["in"])
    again = pickle.loads(pickle.dumps(tested))
    assert shown(again(nlp("to wrong, in wrong"))) == shown(tested(nlp("to wrong, in wrong")))


def test_sourced_from_another_pipeline(nlp, fakes):
    nlp.add_pipe("disambig_preposition")
    other = spacy.blank("en")
    other.add_pipe("disambig_preposition", source=nlp, name="mine")
    assert other("to wrong").spans["preposition"][0].label_ == "from"


def test_two_processes(nlp, fakes):
    nlp.add_pipe("disambig_preposition")
    nlp.add_pipe("disambig_spelling")
    texts = TEXTS * 5
    both = [[list(nlp.pipe(texts, n_process=n, batch_size=4))] for n in (1, 2)]
    one, two = ([DocBin(store_user_data=True, docs=docs).to_bytes() for docs in run] for run in both)
    assert one == two
