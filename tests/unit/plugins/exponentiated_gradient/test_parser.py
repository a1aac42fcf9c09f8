"""The parser: its sentences and grammars, its folder, and the component disambig_parser."""

from __future__ import annotations

import json
import pickle
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import spacy
from damaged_folders import change_array, change_header, common_damages
from disambig_exponentiated_gradient import load_parser
from disambig_exponentiated_gradient.grammar import TreebankGrammar, WordDomains
from disambig_exponentiated_gradient.parser import (
    FILE,
    ParagraphReader,
    Parser,
    SentenceCutter,
    as_in_treebank,
    ends_sentence,
    grammar_digest,
    read_parser,
    read_sentences,
    save_parser,
)
from disambig_exponentiated_gradient.treebank import (
    Tree,
    format_one_line,
    list_constituents,
    read_raw_trees,
    read_trees,
)
from examples import fewer_examples
from hypothesis import given, strategies as st
from made_trees import MANY, TEXT, parser, plain_trees
from processor_time import grows_linearly
from spacy.tokens import Doc, DocBin

from disambig import doctor, registry
from disambig.api.packs import load_standalone, standalone_card
from disambig.errors import UserError
from disambig.files import HEADER, digest_arrays
from disambig.packs import read_pack
from disambig.testing import check_standalone


@pytest.fixture
def folder(tmp_path):
    save_parser(parser(), tmp_path / "my", details={"trees": 24})
    return tmp_path / "my"


def test_what_is_read_parses_as_what_was_written(folder):
    again = load_parser(folder)
    assert again.parse(TEXT) == parser().parse(TEXT)
    assert grammar_digest(again) == grammar_digest(parser())
    assert json.loads((folder / HEADER).read_text())["about"] == {"trees": 24}
    for trees in again.nbest(TEXT, 5):
        scores = [score for _, score in trees]
        assert scores == sorted(scores, reverse=True) and len({tree for tree, _ in trees}) == len(trees)
    change_array(folder / FILE, "binary", lambda array: array + 100_000)
    change_header(folder, digest=digest_arrays(dict(np.load(folder / FILE))))
    with pytest.raises(UserError, match="D635"):
        read_parser(folder)


BROKEN = {
    **common_damages(FILE),
    "a threshold that is none": lambda folder: change_header(folder, threshold=2.0),
    "another number": lambda folder: change_array(folder / FILE, "binary", lambda array: array + 1),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_parser_is_one_line(folder, what):
    BROKEN[what](folder)
    with pytest.raises(UserError) as caught:
        read_parser(folder)
    assert caught.value.code == "D900" and "\n" not in str(caught.value)


def test_names_of_nothing(tmp_path, monkeypatch):
    for brought, wanted in (((), "install the pack disambig_en_parser .*"), (("disambig_en_parser",), "")):
        packs = {name: SimpleNamespace(name=name, folders={"parser": tmp_path}) for name in brought}
        monkeypatch.setattr("disambig.packs.packs", lambda packs=packs: packs)
        message = rf"D901.*'nothing_en', neither a folder nor a pack: {wanted}name a f"
        with pytest.raises(UserError, match=message):
            load_parser("nothing_en")
    monkeypatch.undo()
    (tmp_path / "trees.mrg").touch()
    with pytest.raises(UserError, match=r"D943.*is a file, but a parser is a folder: .*train-parser"):
        load_parser(tmp_path / "trees.mrg")
    for without in (tmp_path, "disambig_en"):  # a folder, and a pack
        with pytest.raises(UserError, match="D902"):
            load_parser(without)


def test_arguments_that_cannot_be():
    for k in (0, 1001, True, 2.0):
        with pytest.raises(UserError, match="D903"):
            parser().nbest(TEXT, k)
    with pytest.raises(UserError, match="D904"):
        parser().sentences("A dog.")


def test_a_parser_is_loaded_without_naming_its_class(folder):
    again = load_standalone(folder)
    assert type(again) is type(parser()) and again.language == "en"
    described = parser().describe()
    assert repr(parser()) == f"<{described}>"  # the grammar has millions of characters
    assert again.describe() == described == f"parser of constituents: {described.split()[3]} rules"
    again.save(folder.parent / "copy")
    assert grammar_digest(load_standalone(folder.parent / "copy")) == grammar_digest(parser())
    card = standalone_card(again, "my", use="disambig parse --model my", training=["learned from 24 trees"])
    assert card.startswith("# my\n\nParser of constituents") and "* learned from 24 trees" in card
    change_header(folder, format="disambig.treebank_parsers.v1")
    with pytest.raises(UserError, match=r"D917.*'disambig.treebank_parsers.v1'; .*treebank_parser.v1"):
        load_standalone(folder)
    with pytest.raises(UserError, match=r"D404.*'disambig_en_dependencis/x'.*disambig_en_dependencies/"):
        load_standalone("disambig_en_dependencis/x")


@pytest.mark.parametrize("damage", [False, True])
def test_the_doctor_reads_the_parser_of_a_pack(tmp_path, monkeypatch, damage):
    home = tmp_path / "toy_trees"
    save_parser(parser(), home / "parser")
    manifest = {"name": "toy_trees", "version": "1", "language": "en", "models": {}}
    (home / "pack.json").write_text(json.dumps({**manifest, "folders": {"parser": "parser"}}))
    if damage:
        BROKEN["cut short"](home / "parser")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(doctor, "entry_points", lambda group: [SimpleNamespace(value="toy_trees", dist=None)])
    if not damage:
        monkeypatch.setattr("disambig.models.sources.packs", lambda: {"toy_trees": read_pack(home)})
        for name in ("toy_trees", "toy_trees/parser"):
            assert load_standalone(name).describe() == parser().describe()
    _, model = doctor.check_packs(doctor.CheckedPacks())
    assert model.status == (doctor.PROBLEM if damage else doctor.OK)
    assert ("D900" if damage else f"toy_trees/parser, language en: {parser().describe()}") in model.what


def test_classes_of_models_that_lack_something_are_named(monkeypatch):
    methods = dict.fromkeys(("load", "save", "describe"), lambda self: None)
    for content, problem in (
        *(({"formats": formats}, "formats are") for formats in (None, "x/1", (), ("",))),
        ({"formats": ("toy.v1",), **methods}, "no method 'records'"),
    ):
        module = SimpleNamespace(Model=type("Model", (), content))
        monkeypatch.setitem(sys.modules, "toy_models", module)
        with pytest.raises(UserError, match=rf"D007.*toy.Model.v1.*{problem}"):
            registry.Entry("models", "toy.Model.v1", "toy", "toy_models:Model").load()


def test_a_format_belongs_to_the_first_class_that_reads_it(folder, monkeypatch, caplog):
    other = type("Other", (), {"formats": type(parser()).formats})
    classes = registry.load_all("models")
    monkeypatch.setattr(registry, "load_all", lambda kind: {**classes, "toy.Other.v1": other})
    assert type(load_standalone(folder)) is type(parser())
    assert "D918" in caplog.text and "toy.Other.v1" in caplog.text


def test_contract_of_standalone_models():
    for check in check_standalone(parser(), [TEXT, "A dog ran."]):
        check()


QUOTED = 'The cat (a "wild" one) can\'t sleep. It\u2019s  well-known!\n\nA title'


@pytest.mark.parametrize("cuts", [True, False])
def test_words_and_offsets_are_those_of_the_treebank(cuts):
    (cut_sentence,) = SentenceCutter({"``", "''"}, cuts_hyphens=cuts)([QUOTED])
    hyphens = ["well", "-", "known"] if cuts else ["well-known"]
    assert [list(sentence.words) for sentence in cut_sentence] == [
        "The cat -LRB- a `` wild '' one -RRB- ca n't sleep .".split(),
        ["It", "'s", *hyphens, "!"],
        ["A", "title"],
    ]
    assert cut_sentence[1].source_words == ["It", "\u2019s", *hyphens, "!"]
    assert cut_sentence[0].source_text == 'The cat (a "wild" one) can\'t sleep.'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a 3-4-5 b", ["a", "3-4-5", "b"]),
        ("a state-of-the-art b", ["a", "state-of-the-art", "b"]),
        ("one - two", ["one", "-", "two"]),
        ("-x y-", None),
        ("- -", ["-", "-"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_hyphens_are_put_together_within_words_alone(text, words):
    sentences = SentenceCutter(set(), cuts_hyphens=False)([text])[0]
    seen = [word for sentence in sentences for word in sentence.source_words]
    assert seen == words if words is not None else "".join(seen) == text.replace(" ", "")


def test_of_several_ways_the_one_that_the_treebank_has():
    quoted = ["\u201c", "a", "\u201d", "[", "\u2014", "1/2"]
    vocabulary = {"``", "''", "-LSB-", "--", "1\\/2"}
    assert as_in_treebank(quoted, vocabulary) == ["``", "a", "''", "-LSB-", "--", "1\\/2"]
    assert as_in_treebank(quoted, {"\u201c", "["}) == quoted
    assert as_in_treebank(['"', "a", '"', '"'], set()) == ["``", "a", "''", "``"]


@given(st.lists(st.text(min_size=1, max_size=6), max_size=6))
def test_any_words_can_be_in_brackets(words):
    spelt = as_in_treebank(words, set())
    assert len(spelt) == len(words)
    if words:
        tree = Tree("TOP", tuple(Tree("NN", (), word) for word in spelt))
        (again,) = read_raw_trees(format_one_line(tree))
        assert again.words() == spelt


@given(st.text(max_size=60))
def test_words_stand_in_their_text_in_order(text):
    for sentence in SentenceCutter(set(), cuts_hyphens=False)([text])[0]:
        at = 0
        for start, end in zip(sentence.starts, sentence.ends, strict=True):
            assert at <= start < end <= len(text)
            at = end


@pytest.mark.parametrize(
    ("line", "language", "ends"),
    [
        ("It is so.", "en", True),
        ('He said "no."', "en", True),
        ("as Mr.", "en", False),
        ("of the", "en", False),
        ("What?", "en", True),
        ("at 5 p.m.", "en", False),
        ("Brot usw.", "de", False),
        ("Brot usw.", "en", True),
    ],
)
def test_where_a_sentence_ends(line, language, ends):
    assert ends_sentence(line, language) is ends


def test_sentences_and_paragraphs_over_lines():
    # The language of the parser says where one ends, and a line may be one
    ((sentence,),) = SentenceCutter(set())(["One. Two."], whole=True)
    assert sentence.words == ("One", ".", "Two", ".")
    german = Parser(TreebankGrammar.from_trees(plain_trees()), language="de")
    blocks = [[("a:1", "Er kauft Brot usw.")], [("a:2", "und geht.")]]
    first, *_ = read_sentences(german, blocks, "text")
    assert not [sentence.source_text for _, sentence in first], "the line does not end a sentence"
    texts = {"a:1": "One two", "a:2": "three.", "a:3": "Four", "a:4": "", "a:5": "Five", "b:1": "Six"}
    lines = list(texts.items())
    gather = ParagraphReader()
    assert list(gather.take(lines[:1])) == []
    assert list(gather.take(lines[1:])) == [("a:1", "One two\nthree."), ("a:3", "Four"), ("a:5", "Five")]
    assert list(gather.rest()) == [("b:1", "Six")]
    assert list(gather.rest()) == []
    assert list(ParagraphReader(at_once=True).take(lines[:2])) == lines[:2]


OTHER_DOMAIN = """
(TOP (S (NP (NN Ice)) (VP (VBZ melts)) (. .)))
(TOP (HEADING (NN Ice)))
(TOP (S (NP (DT The) (NN ice)) (VP (VBZ melts) (PP (IN in) (NP (NN water)))) (. .)))
"""


@pytest.fixture(scope="module")
def both():
    return Parser(parser().grammar, second=TreebankGrammar.from_trees(list(read_trees(OTHER_DOMAIN * 120))))


def test_each_sentence_has_the_grammar_of_its_words(both):
    assert [both.domain(words.split()) for words in ("a cat slept", "ice melts", "Ice")] == [0, 1, 1]
    assert both.domain(["zork", "blick"]) == both.domain([]) == 0
    first, second = both.parse("The cat saw the dog. Ice melts in water.")
    assert first == parser().parse("The cat saw the dog.")[0]
    expected = "(TOP (S (NP (NN Ice)) (VP (VBZ melts) (PP (IN in) (NP (NN water)))) (. .)))"
    assert format_one_line(second) == expected
    assert both.parse_words([["Ice"], ["It", "slept", "."]])[0].children[0].label == "HEADING"
    (tagged,) = both.parses([both.cutter.from_words(["Ice", "melts", "."], ["NN", "VBZ", "."])])
    assert (tagged.kind, tagged.best.tags()) == ("parsed", ["NN", "VBZ", "."])
    assert both.nbest(TEXT, 3) == parser().nbest(TEXT, 3)
    assert "melts" in both.cutter.known_words and "slept" in both.cutter.known_words
    assert len(list(read_trees(MANY))) == 1200
    lexicon = parser().grammar.lexicon
    assert WordDomains.from_lexicons([lexicon]).scores == {}
    same = WordDomains.from_lexicons([lexicon, lexicon])
    assert same.choose(["cat", "dog"]) == 0
    assert same.choose(["cat"]) == 0


def test_both_are_stored(both, tmp_path):
    save_parser(both, tmp_path / "both")
    again = read_parser(tmp_path / "both")
    text = f"{TEXT} Ice melts."
    assert again.parse(text) == both.parse(text)
    assert grammar_digest(again) == grammar_digest(both) != grammar_digest(parser())
    header = json.loads((tmp_path / "both" / HEADER).read_text())
    assert header["format"] == "disambig.treebank_parser.v2"
    save_parser(parser(), tmp_path / "one")
    (tmp_path / "both" / FILE).write_bytes((tmp_path / "one" / FILE).read_bytes())
    with pytest.raises(UserError, match="D900"):
        read_parser(tmp_path / "both")


SPACED = "  The cat saw the dog \n with a bell.\n\n She can't see it.  "


@pytest.fixture(scope="module")
def saved_parser(tmp_path_factory):
    home = tmp_path_factory.mktemp("parser")
    save_parser(parser(), home)
    return str(home)


@pytest.fixture(scope="module")
def nlp(saved_parser):
    made = spacy.blank("en")
    made.add_pipe("disambig_parser", config={"model": saved_parser})
    return made


def rows(doc, key="constituents"):
    return [(span.start, span.end, span.label_, span.id_) for span in doc.spans[key]]


def test_constituents_and_their_parents(nlp):
    doc = nlp(TEXT)
    group = doc.spans["constituents"]
    sentences = ["The cat saw the dog with a bell.", "She can't see it (well)."]
    assert [sent.text for sent in doc.sents] == sentences
    assert [span.text for span in group if not span.id_] == sentences
    for number, span in enumerate(group):
        if span.id_:
            above = group[int(span.id_)]
            assert int(span.id_) < number and above.start <= span.start and span.end <= above.end
    trees = parser().parse(TEXT)
    assert [span.label_ for span in group] == [row.label for tree in trees for row in list_constituents(tree)]
    for sent, tree in zip(doc.sents, trees, strict=True):
        assert next(read_trees(sent._.parse_string)) == tree


def test_names_as_benepar_has_them(nlp):
    doc = nlp(SPACED)
    first, second = doc.sents
    assert first._.parse_string == (
        "(S (NP (DT The) (NN cat)) "
        "(VP (VBD saw) (NP (DT the) (NN dog)) (PP (IN with) (NP (DT a) (NN bell)))) (. .))"
    )
    assert first._.labels == ("S",) and first._.parent is None
    children = [" ".join(span.text.split()) for span in first._.children]
    assert children == ["The cat", "saw the dog with a bell", "."]
    labels = [span._.labels for span in first._.constituents]
    assert labels == [(label,) for label in ("S", "NP", "VP", "NP", "PP", "NP")]
    cat = next(token for token in doc if token.text == "cat")
    assert (cat._.labels, cat._.parse_string, cat._.parent.text) == ((), "(NN cat)", "The cat")
    assert [span._.parse_string for span in cat._.parent._.children] == ["(DT The)", "(NN cat)"]
    she = next(token for token in doc if token.text == "She")
    assert (she._.labels, she._.parse_string) == (("NP",), "(NP (PRP She))")
    assert she._.parent._.parse_string == second._.parse_string
    assert doc[0:1]._.parse_string == "" and doc[0:1]._.labels == ()
    with pytest.raises(UserError, match="D907"):
        doc[2:4]._.parse_string  # noqa: B018
    with pytest.raises(UserError, match="D908"):
        spacy.blank("en")("x")[0:1]._.labels  # noqa: B018


def test_parents_of_constituents_and_words(nlp):
    doc = nlp("The cat saw the dog with a bell. She can't see it.")
    for span in [*doc.spans["constituents"], *(doc[i : i + 1] for i in range(len(doc)))]:
        place = span.start, span.end
        around = [
            (other.end - other.start, other.start, other.end)
            for other in doc.spans["constituents"]
            if other.start <= span.start and span.end <= other.end and (other.start, other.end) != place
        ]
        parent = span._.parent
        assert (parent and (parent.start, parent.end)) == (min(around)[1:] if around else None)


def test_time_is_linear_in_the_length_of_a_doc(nlp):
    def parse(n_sentences):
        doc = nlp(Doc(nlp.vocab, words=["She", "sees", "it", "."] * n_sentences))
        return [span._.parent for span in doc.spans["constituents"]]

    assert grows_linearly(parse, 3_000)


@pytest.mark.parametrize("asked_before", [False, True])
def test_merged_or_split_tokens_have_no_constituents_until_the_doc_is_parsed_again(nlp, asked_before):
    merged, split = nlp(SPACED), nlp(SPACED)
    cat = next(token for token in split if token.text == "cat")
    for doc in (merged, split) * asked_before:
        assert all(sentence._.parse_string for sentence in doc.sents)
    with merged.retokenize() as changes:
        changes.merge(merged[cat.i : cat.i + 2])
    with split.retokenize() as changes:
        changes.split(cat, ["c", "at"], heads=[cat, cat])
    for doc in (merged, split):
        for sentence in doc.sents:
            with pytest.raises(UserError, match=r"D908.*merge or split"):
                sentence._.parse_string  # noqa: B018
        assert all(sentence._.parse_string for sentence in nlp(doc).sents)


def test_attributes_of_constituents_can_be_pickled(nlp):
    # spaCy sends them to its processes where these are not forked
    getter = pickle.loads(pickle.dumps(spacy.tokens.Token.get_extension("labels")))[2]
    she = next(token for token in nlp(SPACED) if token.text == "She")
    assert getter(she) == ("NP",)


def test_threads_do_not_mix_up_their_docs(nlp):
    """The constituents of another Doc are read after each line of the plugin, as another thread might do."""
    doc, other = nlp(TEXT), nlp("The cat saw a dog.")

    def labels(doc):
        return [span._.labels for span in doc.spans["constituents"]]

    def trace(frame, event, _):
        if "disambig_exponentiated_gradient" in frame.f_code.co_filename:
            interrupted.append(labels(other))  # Python does not trace what a trace function calls
        return trace

    wanted, interrupted, before = labels(doc), [], sys.gettrace()
    wanted_of_other = labels(other)
    sys.settrace(trace)
    try:
        read = labels(doc)
    finally:
        sys.settrace(before)
    assert read == wanted
    assert len(interrupted) > 10 and all(labels == wanted_of_other for labels in interrupted)


def test_tags_and_sentences_are_written_where_there_are_none(nlp, saved_parser):
    doc = nlp("The cat saw a dog.")
    assert [token.tag_ for token in doc] == ["DT", "NN", "VBD", "DT", "NN", "."]
    assert nlp.analyze_pipes()["summary"]["disambig_parser"]["assigns"]
    other = spacy.blank("en")
    other.add_pipe("disambig_tagger")
    other.add_pipe("sentencizer", config={"punct_chars": ["!"]})
    other.add_pipe("disambig_parser", config={"model": saved_parser, "tags": True, "spans_key": "mine"})
    doc = other("The zebra slept. It slept! The cat saw it.")
    assert len(list(doc.sents)) == 2 == sum(not span.id_ for span in doc.spans["mine"])
    assert [token.tag_ for token in doc[:3]] == ["DT", "NN", "VBD"]
    assert "constituents" not in doc.spans and doc[0]._.parent is not None


def test_many_docs_at_once_are_as_one_by_one(nlp):
    texts = [TEXT, "", " \n ", SPACED, "x" * 10_000, "word " * 400, "((("]
    texts += ["\u79c1\u306f\u3002", "a\x00b \u202e."]
    for one, doc in zip(texts, nlp.pipe(texts, batch_size=4), strict=True):
        assert rows(doc) == rows(nlp(one)) and doc.text == one
        for sent in doc.sents:
            if sent.text.strip():
                assert sent._.parse_string.startswith("(")
    docs = list(nlp.pipe([TEXT] * 4, n_process=2, batch_size=2))
    assert [rows(doc) for doc in docs] == [rows(nlp(TEXT))] * 4


def test_all_is_kept_on_the_disk(nlp, tmp_path):
    doc = nlp(SPACED)
    nlp.to_disk(tmp_path / "pipe")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = spacy.load(tmp_path / "pipe")
    (kept,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(again.vocab)
    also = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    for copy in (kept, also, again(SPACED)):
        assert rows(copy) == rows(doc)
        assert [s._.parse_string for s in copy.sents] == [s._.parse_string for s in doc.sents]


def test_loading_with_another_parser_warns(nlp, tmp_path):
    data = nlp.get_pipe("disambig_parser").to_bytes()
    save_parser(Parser(TreebankGrammar.from_trees(list(read_trees("(S (NN x) (NN y))")))), tmp_path)
    other = spacy.blank("en").add_pipe("disambig_parser", config={"model": str(tmp_path)})
    with pytest.warns(UserWarning, match="another model"):
        other.from_bytes(data)


def test_where_there_is_no_parse_there_is_one_span(saved_parser):
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_parser", config={"model": saved_parser, "max_length": 3})
    doc = nlp("The cat saw the dog. It slept.")
    assert rows(doc)[0] == (0, 6, "TOP", "")
    assert next(doc.sents)._.parse_string.startswith("(TOP (DT The) (NN cat)")


def test_pipelines_for_several_languages(saved_parser):
    nlp = spacy.blank("xx")
    nlp.add_pipe("disambig_parser", config={"model": saved_parser})
    assert rows(nlp("The cat saw the dog.")) and next(nlp("The cat slept.").sents)._.parse_string


@pytest.mark.parametrize(
    ("config", "code", "language"),
    [
        ({"model": "nothing_en"}, "D901", "en"),
        ({"max_length": 0}, "D903", "en"),
        ({"max_length": "x"}, "D516", "en"),
        ({"tags": 1}, "D516", "en"),
        ({"spans_key": None}, "D516", "en"),
        ({}, "D500", "de"),
    ],
)
def test_settings_that_cannot_be(saved_parser, config, code, language):
    with pytest.raises(UserError, match=code):
        spacy.blank(language).add_pipe("disambig_parser", config={"model": saved_parser} | config)


@fewer_examples
@given(st.text(st.sampled_from('The cat saw it. \n(\u2019s"-!'), max_size=60))
def test_every_word_is_in_one_sentence(nlp, text):
    doc = nlp(text)
    sentences = [span for span in doc.spans["constituents"] if not span.id_]
    covered = [i for span in sentences for i in range(span.start, span.end)]
    assert len(set(covered)) == len(covered)
    assert {token.i for token in doc if not token.is_space} <= set(covered)
