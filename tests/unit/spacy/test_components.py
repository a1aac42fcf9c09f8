"""Components: batches, errors, saving, configs and factories."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import pytest
import spacy
from fake_spacy_models import preposition_model, spelling_model
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

import disambig
from disambig.errors import UserError
from disambig.spacy import core_components, factory
from disambig.spacy.component import Disambiguator

TEXTS = ["He went to wrong rooms.", "", "  ", "Nothing.", "In 1997, in\r\nwrong  places.", "Among us."]


def make_component(nlp, model=None, **settings):
    settings = {"name": "tested", "spans_key": "x", **settings}
    return Disambiguator(nlp, model or preposition_model(), **settings)


def shown(doc):
    return [(span.start, span.end, span.label_, span._.disambig) for span in doc.spans["x"]]


def test_predict_is_pure(nlp):
    docs = list(nlp.pipe(TEXTS))
    before = [doc.to_bytes() for doc in docs]
    decisions = make_component(nlp).predict(docs)
    assert len(decisions) == 4
    assert [doc.to_bytes() for doc in docs] == before


def test_batches_equal_single_documents(nlp):
    tested = make_component(nlp)
    single = [shown(tested(nlp(text))) for text in TEXTS]
    assert sum(map(len, single)) == 4
    for size in (1, 2, 100):
        assert [shown(doc) for doc in tested.pipe(nlp.pipe(TEXTS), batch_size=size)] == single


def test_a_bad_document_does_not_lose_its_batch(nlp):
    tested = make_component(nlp)
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
    tested = make_component(nlp)
    stream = tested.pipe(nlp.pipe(["to", "BAD", "in"]), batch_size=3)
    assert next(stream).spans["x"][0].label_ == "to"
    with pytest.raises(RuntimeError, match="a bad document"):
        next(stream)
    with pytest.raises(RuntimeError, match="a bad document"):
        tested(nlp("BAD"))


def test_long_documents_make_small_batches(nlp, monkeypatch):
    monkeypatch.setattr("disambig.spacy.component._MAX_TOKENS", 100)
    tested = make_component(nlp)
    sizes = []
    real = Disambiguator.predict
    monkeypatch.setattr(
        Disambiguator, "predict", lambda self, docs: sizes.append(len(docs)) or real(self, docs)
    )
    words = [60, 60, 1, 1, 1, 1, 500, 2]
    docs = list(tested.pipe((nlp("to " * n) for n in words), batch_size=3))
    assert [len(doc.spans["x"]) for doc in docs] == words
    assert sizes == [2, 3, 2, 1]


def test_errors_of_the_stream_are_raised(nlp):
    def stream():
        yield nlp("to")
        raise OSError("the disk is gone")

    tested = make_component(nlp)
    tested.set_error_handler(lambda *_: pytest.fail("not ours"))
    with pytest.raises(OSError, match="disk"):
        list(tested.pipe(stream()))


def test_the_handler_of_the_pipeline(fakes):
    nlp = spacy.blank("en")  # it keeps the handler
    nlp.add_pipe("disambig_preposition")
    seen = []
    nlp.set_error_handler(lambda name, proc, docs, error: seen.append((name, [doc.text for doc in docs])))
    assert [doc.text for doc in nlp.pipe(["to", "BAD", "in"])] == ["to", "in"]
    assert nlp("BAD").text == "BAD"
    assert seen == [("disambig_preposition", ["BAD"])] * 2


def test_another_language_is_refused():
    with pytest.raises(UserError, match=r"D500.*'tested'.*'en'.*de"):
        make_component(spacy.blank("de"))
    assert make_component(spacy.blank("de"), preposition_model(language="")).name == "tested"


GERMAN = "Das ist nicht to wrong und wird auch nicht besser."


@pytest.mark.filterwarnings("ignore:.*D348")
def test_paragraphs_in_another_language_are_left_alone(nlp):
    text = f"He went to wrong rooms.\n\n{GERMAN}"
    assert [span.start_char for span in make_component(nlp)(nlp(text)).spans["x"]] == [8]
    both = make_component(nlp, detect_language=False)(nlp(text)).spans["x"]
    assert [span.start_char for span in both] == [8, text.index("to wrong", 20)]


def test_spans_of_merged_tokens_have_no_record_of_other_words(nlp):
    doc = make_component(nlp)(nlp("He has often gone to wrong rooms in wrong houses of the town."))
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:3])
    with pytest.warns(UserWarning, match=r"D507.*doc\.spans\['x'\]"):
        records = [span._.disambig for span in list(doc.spans["x"])]
    assert records == [None, None]
    doc = make_component(nlp)(nlp("He has gone to wrong rooms."))
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[4:6])
    assert [span._.disambig["observed"] for span in doc.spans["x"]] == ["to"]


def test_a_pipeline_of_several_languages_is_accepted():
    several = spacy.blank("xx")
    doc = make_component(several, detect_language=True)(several("He went to wrong rooms."))
    assert [span.text for span in doc.spans["x"]] == ["to"]


def test_words_to_ignore_and_protected_ones(nlp):
    text = "He went to wrong rooms, in wrong `in wrong` ways."
    ignoring = make_component(nlp, ignore=["TO", "Among"])
    assert [span.text for span in ignoring(nlp(text)).spans["x"]] == ["in"]
    assert [span.text for span in make_component(nlp)(nlp(text)).spans["x"]] == ["to", "in"]
    assert [span.text for span in make_component(nlp, protect=False)(nlp(text)).spans["x"]] == [
        "to",
        "in",
        "in",
    ]
    model = spelling_model().with_groups([type(spelling_model().task.groups[0])("its/it's", ("its", "it's"))])
    assert not make_component(nlp, model, ignore=["It\u2019s"])(nlp("it's wrong, It\u2019s.")).spans["x"]


@pytest.mark.parametrize("entry", ["went to", "To  wrong", "to -> {new}"])
def test_phrases_and_corrections_to_ignore(nlp, entry):
    def flagged(ignore):
        doc = make_component(nlp, ignore=ignore)(nlp("He went to wrong rooms, in wrong ways."))
        return [(span.text, span._.disambig) for span in doc.spans["x"]]

    (first, record), *others = flagged([])
    assert (first, record["flagged"]) == ("to", True)
    (first, record), *same = flagged([entry.format(new=record["replacement"])])
    assert (first, record["flagged"], same) == ("to", False, others)
    assert flagged(["to -> quiet", "more to"]) == flagged([])


@pytest.mark.parametrize("ignore", ["to", [""], [" "], ["to*"]])
def test_invalid_words_to_ignore(nlp, ignore):
    with pytest.raises(UserError, match=r"D503.*list of words \(then\)"):
        make_component(nlp, ignore=ignore)


def test_rates(nlp):
    with pytest.raises(UserError, match="D401"):
        make_component(nlp, flags_per_1000=-1)
    flags = [
        make_component(nlp, flags_per_1000=rate)(nlp("to wrong")).spans["x"][0]._.disambig["flagged"]
        for rate in (None, 0)
    ]
    assert flags == [True, False]


def test_a_rate_of_a_model_without_flags_has_no_effect(nlp):
    with pytest.warns(UserWarning, match=r"D509.*'labels'.*raises no flags"):
        nlp.add_pipe("disambig_it", name="labels", config={"flags_per_1000": 1.0})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.add_pipe("disambig_it", name="others", config={"spans_key": "others"})


@pytest.mark.parametrize(
    ("factory_name", "config", "code"),
    [
        ("disambig_spelling", {"flags_per_1000": -1.0}, "D401"),
        ("disambig_spelling", {"sets": ["hop"]}, "D411"),
        ("disambig_proofread", {"writing": "hasty"}, "D953"),
        ("disambig_proofread", {"models": ["it"]}, "D644"),
    ],
)
def test_errors_of_settings_name_the_component(nlp, factory_name, config, code):
    with pytest.raises(UserError, match=code) as caught:
        nlp.add_pipe(factory_name, name="mine", config=config)
    assert caught.value.__notes__ == ["in the config of the component 'mine'"]
    assert "--" not in str(caught.value)


def test_a_missing_file_of_sets_names_the_component(nlp):
    nlp.add_pipe("disambig_spelling", name="mine", config={"sets": "hop/hope"})
    with pytest.raises(UserError, match="D300") as caught:
        nlp("They hop.")
    assert caught.value.__notes__ == ["`sets` of the component 'mine': a file, or a list of sets"]


def test_docs_as_input_and_twice(nlp, fakes):
    nlp.add_pipe("disambig_preposition")
    doc = Doc(
        nlp.vocab, words=["He", "went", "to", "wrong", "rooms"], spaces=[True, False, False, True, False]
    )
    assert nlp(doc) is doc
    assert doc.text == "He wenttowrong rooms" and not doc.spans["preposition"]
    doc = Doc(nlp.vocab, words=["went", " ", "to", "\n", "wrong"], spaces=[True, False, False, False, False])
    assert [span.start for span in nlp(nlp(doc)).spans["preposition"]] == [2]


def test_a_very_long_document():
    nlp = spacy.blank("en")
    nlp.max_length = 10_000_000
    doc = make_component(nlp)(nlp("He went to wrong rooms in town. " * 8_000))
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


def test_labels_are_known_before_the_first_document():
    nlp = spacy.blank("en")
    make_component(nlp)
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
        Example(nlp.make_doc("in"), nlp.make_doc("in")),  # without annotations there is no score
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


@pytest.mark.parametrize(
    ("name", "config"), [("disambig_preposition", {}), ("disambig", {"model": "preposition"})]
)
def test_loading_with_another_model_warns(nlp, fakes, tmp_path, name, config):
    nlp.add_pipe(name, config=config)
    nlp.to_disk(tmp_path / "saved")
    data = nlp.to_bytes()
    assert spacy.load(tmp_path / "saved")("to be").spans["preposition"][0].label_ == "to"
    fakes["preposition"] = preposition_model(version="0.0.2")
    with pytest.warns(UserWarning, match=r"saved with fake 0\.0\.1, but now uses fake 0\.0\.2"):
        spacy.load(tmp_path / "saved")
    again = spacy.blank("en")
    again.add_pipe(name, config=config)
    with pytest.warns(UserWarning, match=r"saved with fake 0\.0\.1"):
        again.from_bytes(data)


def test_a_directory_without_our_file_loads(nlp, fakes, tmp_path):
    nlp.add_pipe("disambig_preposition")
    nlp.to_disk(tmp_path / "saved")
    (tmp_path / "saved" / "disambig_preposition" / "model.json").unlink()
    assert spacy.load(tmp_path / "saved")("to").spans["preposition"]


def test_pickled(nlp):
    tested = make_component(nlp, ignore=["in"])
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


def test_generic_components_take_any_model(nlp, fakes):
    nlp.add_pipe("disambig", name="first", config={"model": "spelling"})
    nlp.add_pipe("disambig", name="second", config={"model": "preposition", "spans_key": "p"})
    doc = nlp("a quite wrong place to be")
    assert nlp.pipe_names == ["first", "second"]
    assert [(span.text, span.label_) for span in doc.spans["spelling"]] == [("quite", "quiet"), ("to", "to")]
    assert doc.spans["spelling"][0]._.disambig["flagged"]
    assert [(span.text, span.id_) for span in doc.spans["p"]] == [("to", "preposition")]


def lost_spans(nlp, factory, **options):
    """Add a component and return the warnings about replaced spans."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nlp.add_pipe(factory, **options)
    return [str(one.message) for one in caught if "[D508]" in str(one.message)]


def test_components_that_write_the_same_spans_are_named(nlp, fakes):
    assert not lost_spans(nlp, "disambig_spelling")
    (message,) = lost_spans(nlp, "disambig", name="second", config={"model": "spelling"})
    assert "'disambig_spelling' and 'second' write their spans under the key 'spelling', where" in message
    assert not lost_spans(nlp, "disambig", name="third", config={"model": "spelling", "spans_key": "p"})
    # other tasks may share a key
    assert not lost_spans(nlp, "disambig", name="fourth", config={"model": "preposition", "spans_key": "p"})
    doc = nlp("a quite wrong place to be")
    assert {span.label_ for span in doc.spans["p"]} == {"quiet", "to"}


@pytest.mark.parametrize("use", [lambda nlp: nlp("to be"), lambda nlp: list(nlp.pipe(["to be"]))])
@pytest.mark.parametrize("place", [{}, {"first": True}])
def test_spans_that_are_lost_to_a_component_that_was_added_before_are_named(place, use):
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_proofread", config={"spans_key": "p", "models": ["spelling"]})
    nlp.add_pipe("disambig_it", config={"spans_key": "p"}, **place)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        use(nlp), use(nlp)
    messages = [str(one.message) for one in caught if "[D508]" in str(one.message)]
    assert len(messages) == len(place)
    assert all("'disambig_it' and 'disambig_proofread' write their spans" in one for one in messages)


def test_spans_of_other_programs_that_are_replaced_are_named(nlp, fakes):
    ruler = nlp.add_pipe("span_ruler", config={"spans_key": "preposition"})
    ruler.add_patterns([{"label": "ROOMS", "pattern": "rooms", "id": "r"}])
    nlp.add_pipe("disambig_preposition")
    with pytest.warns(UserWarning, match=r"D522.*doc\.spans\['preposition'\]"):
        doc = nlp("He went to wrong rooms.")
    assert [span.id_ for span in doc.spans["preposition"]] == ["preposition"]
    with warnings.catch_warnings():  # its own spans, even without records
        warnings.simplefilter("error")
        binary = DocBin(docs=[doc])
        (again,) = binary.get_docs(nlp.vocab)
        nlp.get_pipe("disambig_preposition")(again)
    assert again.spans["preposition"][0]._.disambig


@pytest.mark.parametrize(
    "owner, attribute, factory",
    [("Span", "disambig", "disambig_preposition"), ("Token", "is_referential", "disambig_it")],
)
def test_an_extension_of_other_code_is_kept_and_refused(owner, attribute, factory):
    # in a process of its own, since extensions are shared by all pipelines of a process
    program = f"""if True:
        import spacy
        from spacy.tokens import Span, Token

        {owner}.set_extension({attribute!r}, default="theirs")
        nlp = spacy.blank("en")
        doc = nlp("Here.")
        assert getattr((doc[0:1] if {owner} is Span else doc[0])._, {attribute!r}) == "theirs"
        nlp.add_pipe({factory!r})
        """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    expected = f"[D521] component {factory!r}: {owner}._.{attribute}, where it gives its decisions, is"
    assert expected in done.stderr.splitlines()[-1]


def test_settings_of_the_generic_component(nlp, fakes):
    settings = {"flags_per_1000": 4, "ignore": ["In"], "protect": False}
    pipe = nlp.add_pipe("disambig", config={"model": "preposition", **settings})
    assert (pipe.flags_per_1000, pipe.ignore, pipe.protect) == (4.0, ("in",), False)
    assert pipe.spans_key == "preposition" and pipe.name == "disambig"
    assert set(nlp.config["components"]["disambig"]) == {"factory", *core_components.DEFAULTS}


def test_errors_show_where_paths_of_saved_pipelines_begin(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine = {"factory": "disambig", "model": "my_tone"}
    config = {"nlp": {"lang": "en", "pipeline": ["mine"]}, "components": {"mine": mine}}
    with pytest.raises(UserError, match=r"D404.*'my_tone'.*relative to the current directory") as caught:
        spacy.util.load_model_from_config(config, auto_fill=True)
    assert str(tmp_path) in str(caught.value) and "components.NAME.model" in str(caught.value)
    mine["model"] = str(tmp_path / "my_tone")
    with pytest.raises(UserError, match=r"D404.*'/.*my_tone'") as caught:
        spacy.util.load_model_from_config(config, auto_fill=True)
    assert "relative" not in str(caught.value)


def test_the_generic_component_refuses_another_language(fakes):
    with pytest.raises(UserError, match="D500"):
        spacy.blank("de").add_pipe("disambig", config={"model": "preposition"})


def group_names(pipe):
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


@pytest.mark.parametrize(
    ("name", "more", "weights"),
    [
        ("disambig", ["doc.cats"], {}),
        (
            "disambig_spelling",
            [],
            {"spans_spelling_f": 1.0, "spans_spelling_p": 0.0, "spans_spelling_r": 0.0},
        ),
    ],
)
def test_metadata_of_a_factory(name, more, weights):
    meta = Language.get_factory_meta(name)
    assert meta.requires == [] and not meta.retokenizes
    assert meta.assigns == ["doc.spans", "doc.user_data", "span._.disambig", *more]
    assert meta.default_score_weights == weights


def test_the_config_reaches_the_component(nlp, fakes):
    fakes["mine"] = fakes["preposition"]
    settings = {"model": "mine", "spans_key": "p", "flags_per_1000": 4, "ignore": ["In"], "protect": False}
    pipe = nlp.add_pipe("disambig_preposition", name="my prepositions", config=settings)
    assert (pipe.name, pipe.spans_key, pipe.ignore, pipe.protect) == ("my prepositions", "p", ("in",), False)
    assert pipe.flags_per_1000 == 4.0 and pipe.model is fakes["mine"]


def test_own_sets(nlp, fakes):
    before = group_names(nlp.add_pipe("disambig_spelling", name="plain"))
    sets = ["Lamp / damp", ["Row", "low"]]
    pipe = nlp.add_pipe("disambig_spelling", config={"sets": sets, "spans_key": "more"})
    assert group_names(pipe) == [*before, "lamp/damp", "row/low"]


@pytest.mark.parametrize("kind", ["disk", "bytes", "sourced"])
def test_a_file_of_sets_is_saved_in_the_pipeline(nlp, fakes, tmp_path, kind):
    path = tmp_path / "sets.txt"
    path.write_text("# mine\nlamp/damp\twet or bright\n")
    nlp.add_pipe("disambig_spelling", config={"sets": str(path)})
    assert nlp("a damp day").spans["spelling"][0].label_ == "damp"
    if kind == "bytes":
        data, config = nlp.to_bytes(), nlp.config
        path.unlink()
        loaded = spacy.util.load_model_from_config(config, auto_fill=True).from_bytes(data)
    else:
        saved = nlp
        if kind == "sourced":
            saved = spacy.blank("en")
            saved.add_pipe("disambig_spelling", source=nlp)
        saved.to_disk(tmp_path / "saved")
        path.unlink()
        loaded = spacy.load(tmp_path / "saved")
    assert group_names(loaded.get_pipe("disambig_spelling"))[-1] == "lamp/damp"
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


def test_the_message_for_a_missing_model_names_the_available_ones_of_its_task(nlp, monkeypatch):
    from disambig import packs

    monkeypatch.setattr(packs, "available", lambda: {"speling": "a", "en/preposition": "b"})
    with pytest.raises(UserError, match=r"D404.*'spelling'.*speling, en/preposition") as caught:
        nlp.add_pipe("disambig_spelling")
    assert 'config={"model": ...} takes a model directory or one of' in str(caught.value)
    monkeypatch.setattr(packs, "available", lambda: {"it": "a", "spelling": "b", "en/spelling": "b"})
    with pytest.raises(UserError, match=r"D404.*or one of spelling\n"):
        nlp.add_pipe("disambig_spelling", config={"model": "spelings"})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": ""}, "model is '', not a model directory or the name"),
        ({"model": 5}, "model is 5, not a text"),
        ({"spans_key": ""}, r"spans_key is '', not a key of doc\.spans"),
        ({"spans_key": None}, "spans_key is None, not a text"),
        ({"flags_per_1000": "many"}, "flags_per_1000 is 'many', not a number"),
        ({"ignore": "word"}, "ignore is 'word', not a list of texts"),
        ({"ignore": [1]}, r"ignore is \[1\], not a list"),
        ({"sets": 3}, "sets is 3, not a file or a list of sets"),
        ({"sets": [2]}, r"sets is \[2\], not a file or a list of sets"),
        ({"sets": [["hop", 1]]}, r"sets is \[\['hop', 1\]\], not a file or a list"),
        ({"protect": "yes"}, "protect is 'yes', not true or false"),
    ],
)
def test_a_setting_of_the_wrong_type_is_an_error(nlp, fakes, settings, message):
    with pytest.raises(UserError, match=f"^.D516. component 'mine': {message}"):
        nlp.add_pipe("disambig_spelling", name="mine", config=settings)


@pytest.mark.parametrize("name", ["disambig", "disambig_tagger", "disambig_topic"])
def test_a_model_that_is_not_a_text_is_an_error(nlp, name):
    with pytest.raises(UserError, match=f"D516.*component {name!r}: model is True, not a text"):
        nlp.add_pipe(name, config={"model": True})


@pytest.mark.parametrize(
    ("factory_name", "config", "message"),
    [
        ("disambig_preposition", {"model": "spelling"}, "D501.*'mine'.*'spelling'"),
        ("disambig", {}, r"D480.*'mine'.*config=\{'model': 'DIRECTORY'\}"),
    ],
)
def test_models_that_cannot_be_used(nlp, fakes, factory_name, config, message):
    with pytest.raises(UserError, match=message):
        nlp.add_pipe(factory_name, name="mine", config=config)


@pytest.mark.parametrize("config", [{"set": ["a/b"]}, {"flags": 1}])
def test_an_unknown_setting_is_refused_by_spacy(nlp, fakes, config):
    with pytest.raises(ValueError, match=rf"\b{next(iter(config))}\b"):
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
import disambig.spacy.core_components
print([name for name in heavy if name in sys.modules])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_spacy_is_not_loaded_by_the_core():
    code = "import sys, disambig, disambig.api, disambig.cli.main; print('spacy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_the_pipeline_requires_what_brings_the_component(fakes):
    nlp = spacy.blank("en")
    nlp.meta["requirements"] = ["other>=1.0"]
    for name in ("disambig_preposition", "disambig_spelling"):
        nlp.add_pipe(name)
    major, minor, _ = disambig.__version__.split(".")
    requirement = f"disambig>={disambig.__version__},<{major}.{int(minor) + 1}.0"
    assert nlp.meta["requirements"] == ["other>=1.0", requirement]


def test_blank_pipelines_know_the_components():
    nlp = spacy.blank("de")
    assert nlp.has_factory("disambig_preposition") and nlp.has_factory("disambig_spelling")
