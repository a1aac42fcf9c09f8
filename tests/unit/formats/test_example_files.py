"""N-best lists, files of mistakes and clean paragraphs, and readers of labelled examples from plugins."""

from __future__ import annotations

import gzip
import json
import lzma
import sys
import types

import numpy as np
import pytest
from commands import here
from failing_checks import failures
from hypothesis import given, strategies as st
from model_configs import model_config
from toy_learners import MeanDifference

from disambig.api import hookimpl
from disambig.config import resolve
from disambig.data import Decisions
from disambig.errors import UserError
from disambig.formats import (
    Clean,
    ExampleSource,
    Fix,
    FlagReading,
    JsonLines,
    Labelled,
    MarkedTables,
    NoadMasc,
    Senseval,
    find_reader,
    format_lines,
    list_instances,
    paragraph_digest,
    parse_line,
    read_clean,
    read_fixes,
    read_flag_readings,
    read_labelled,
    read_nbest,
    to_candidate_lists,
)
from disambig.jobs import rerank
from disambig.testing import check_reader
from disambig.training import split_lists, train_lists

CONFIG = model_config(("disambig.Lists.v1", {"measure": "wer"}), {"source": "disambig.SourceFeatures.v1"})
TEXT = st.text(st.characters(codec="utf8", exclude_characters="\0"), max_size=8)
NUMBER = st.floats(-1e6, 1e6, allow_nan=False)
LISTS = st.lists(
    st.fixed_dictionaries(
        {"text": TEXT, "score": NUMBER}, optional={"features": st.dictionaries(TEXT, NUMBER, max_size=3)}
    ),
    min_size=1,
    max_size=5,
)


@given(LISTS, TEXT)
def test_every_field_is_read(candidates, reference):
    output = {"id": "a", "reference": reference, "candidates": candidates}
    actual = parse_line(json.dumps(output), "here:1")
    assert actual.candidates == tuple(item["text"] for item in candidates)
    assert actual.scores == tuple(item["score"] for item in candidates)
    assert actual.costs is None and actual.source == output
    assert actual.reference == reference
    lists = to_candidate_lists([actual])
    assert list(lists.texts) == list(actual.candidates)
    for row, item in enumerate(candidates):
        for name, value in item.get("features", {}).items():
            assert lists.features[[row]].toarray()[0, lists.feature_names.index(name)] == value
    assert list_instances(lists).observed.tolist() == [-1]  # nothing indicates the right candidate


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"candidates": []}', "at least one candidate"),
        ('{"candidates": [{"score": 1}]}', "candidate 1: not an object with a 'text'"),
        ('{"candidates": [{"text": "a", "score": true}]}', "not a finite number"),
        ('{"candidates": [{"text": "a", "score": 1e999}]}', "not a finite number"),
        ('{"candidates": [{"text": "a", "cost": -1}]}', "below zero"),
        ('{"candidates": [{"text": "a", "score": 1}, {"text": "b"}]}', "give it to all of them, or to none"),
        ('{"candidates": [{"text": "a", "features": {"x": "y"}}]}', "the feature 'x'"),
        ('{"candidates": [{"text": "a"}], "reference": 3}', "'reference' is not text"),
        ('{"candidates": [{"text": "\\ud800"}]}', "surrogate"),
        ([{"text": "a", "words": ["a"]}, {"text": "b"}], "1 of 2 candidates have 'words'"),
        ([{"text": "a", "words": ["a"], "tags": ["N"]}, {"text": "b", "words": ["b"]}], "have 'tags'"),
        ([{"text": "a", "words": "a"}], "candidate 1: 'words' is not a list of non-empty texts"),
        ([{"text": "a", "words": [""]}], "non-empty texts"),
        ([{"text": "a", "words": [None]}], "'words' is not a list of non-empty texts"),
        ([{"text": "a", "words": [1]}], "'words' is not a list of non-empty texts"),
        ([{"text": "a", "words": ["\ud800"]}], "surrogate"),
        ([{"text": "a", "words": ["a", "b"], "tags": ["N"]}], "1 'tags' for 2 'words'"),
        ([{"text": "a", "tags": ["N"]}], "1 'tags' for 0 'words'"),
        ([{"text": "a", "tags": "N", "words": ["a"]}], "'tags' is not a list of non-empty texts"),
    ],
)
def test_invalid_lists_are_errors(line, problem):
    with pytest.raises(UserError, match="D334") as caught:
        parse_line(line if isinstance(line, str) else json.dumps({"candidates": line}), "lists.jsonl:3")
    assert problem in str(caught.value).replace('"', "'") and "lists.jsonl:3" in str(caught.value)


def test_null_fields_and_lists_without_labels():
    line = '{"id": null, "reference": null, "candidates": [{"text": "a", "score": null}]}'
    actual = parse_line(line, "x:1", "x")
    assert (actual.id, actual.reference, actual.scores) == ("x", None, None)
    items = [parse_line('{"candidates": [{"text": "a"}, {"text": "b"}]}', f"x:{i}") for i in range(3)]
    with pytest.raises(UserError, match="D337"):
        train_lists(resolve(CONFIG), items, name="made")


def scored_lists(n=60, least=0):
    """Return lists whose right candidate has the lowest score of the source, and costs `least`."""
    wrong = {"score": 2.0, "cost": least + 2, "features": {"bad": 1}}
    right = {"score": 1.0, "cost": least, "features": {"good": 1}}
    return [
        {"id": str(i), "candidates": [{"text": f"{i} wrong", **wrong}, {"text": f"{i} right", **right}]}
        for i in range(n)
    ]


def write_lists(path, lists):
    path.write_text("".join(json.dumps(item) + "\n" for item in lists), encoding="utf8")
    return str(path)


@pytest.mark.parametrize("least", [0, 3])
def test_training_uses_the_cheapest_candidate(tmp_path, least):
    items = list(read_nbest(write_lists(tmp_path / "lists.jsonl", scored_lists(least=least))))
    learned, tested = split_lists(items)
    assert tested and not {item.document for item in learned} & {item.document for item in tested}
    parts = {**resolve(CONFIG), "learner": MeanDifference()}
    model = train_lists(parts, learned, name="made", min_examples=2)
    assert model.scorers[0] is not None
    without = [item for item in learned if min(item.costs) > 0]
    assert model.provenance["examples"]["without_right"] == len(without)
    account = {"what": "lists", "read": len(learned), "used": len(learned), "left_out": {}}
    assert model.provenance["examples"]["account"] == account
    out = []
    assert rerank(model, [str(tmp_path / "lists.jsonl")], out.append) == 60
    for line in b"".join(out).decode().splitlines():
        best, other = json.loads(line)["candidates"]
        assert best["text"].endswith("right") and (best["rank"], other["rank"]) == (1, 0)
        assert best["model_score"] > other["model_score"]
        parse_line(line, "written")  # the output can be read again


def test_a_broken_line_is_reported_and_skipped(tmp_path):
    path = tmp_path / "lists.jsonl"
    lines = [json.dumps(item) for item in scored_lists(3)]
    path.write_text("\n".join([lines[0], "{broken", *lines[1:]]) + "\n", encoding="utf8")
    model = train_lists(resolve(CONFIG), list(read_nbest(str(path), bad=lambda error: None)), name="made")
    notes, out = [], []
    assert rerank(model, [str(path)], out.append, bad=notes.append) == 3
    assert [error.code for error in notes] == ["D334"]
    with pytest.raises(UserError, match="D334"):
        rerank(model, [str(path)], out.append)


def test_keys_that_utf8_cannot_encode_are_written_again(tmp_path):
    path = tmp_path / "lists.jsonl"
    lists = [item | {"id": "\ud800"} for item in scored_lists(3)]
    path.write_text("".join(json.dumps(item) + "\n" for item in lists), encoding="utf8")
    model = train_lists(resolve(CONFIG), list(read_nbest(str(path))), name="made")
    out = []
    assert rerank(model, [str(path)], out.append) == 3
    assert [json.loads(line)["id"] for line in b"".join(out).splitlines()] == ["\ud800"] * 3


def test_observed_is_the_cheapest(tmp_path):
    items = list(read_nbest(write_lists(tmp_path / "lists.jsonl", scored_lists(2, least=1))))
    instances = list_instances(to_candidate_lists(items))
    assert instances.observed.tolist() == [1, 1]
    (group,) = resolve(CONFIG)["task"].groups
    assert instances.costs(group).tolist() == [2.0, 0.0, 2.0, 0.0]
    assert np.isnan(instances.without_labels().lists.costs).all()


WORD = st.text(st.characters(codec="utf8", exclude_characters="\0"), min_size=1, max_size=4)
CANDIDATES = st.lists(
    st.lists(st.tuples(WORD, st.sampled_from(["N", "V"])), max_size=4), min_size=1, max_size=4
)


def list_with_words(candidates, tags=True):
    kept = [{"text": "".join(w for w, _ in c), "words": [w for w, _ in c]} for c in candidates]
    if tags:
        kept = [{**item, "tags": [t for _, t in c]} for item, c in zip(kept, candidates, strict=True)]
    return {"candidates": kept}


@given(CANDIDATES, st.booleans())
def test_words_and_tags_are_read(candidates, tags):
    actual = parse_line(json.dumps(list_with_words(candidates, tags)), "here:1")
    assert actual.words == tuple(tuple(w for w, _ in c) for c in candidates)
    assert actual.tags == (tuple(tuple(t for _, t in c) for c in candidates) if tags else None)
    words = to_candidate_lists([actual]).words
    for row, item in enumerate(candidates):
        assert words.candidate_words(row) == tuple(w for w, _ in item)
        assert words.candidate_tags(row) == (tuple(t for _, t in item) if tags else ())


def test_lists_of_words_are_written_again_and_others_tokenised():
    plain = parse_line('{"candidates": [{"text": "a  b"}]}', "x:1")
    full = parse_line(json.dumps(list_with_words([[("b", "N"), ("c", "V")]])), "x:2")
    words = to_candidate_lists([plain, full]).words
    assert [words.candidate_words(row) for row in (0, 1)] == [("a", "b"), ("b", "c")]
    assert words.tags is None  # one of them has none
    assert to_candidate_lists([plain]).words is None
    item = parse_line(json.dumps(list_with_words([[("a", "N")], [("b", "V")]])), "x:1")
    one, none = np.zeros(1, np.int32), np.zeros(1, bool)
    decisions = Decisions(
        "rerank", "m", (), one, one, one, one, one, one + 1, np.array([0, 2]), np.array([0, 1], np.float32),
        one.astype(np.float32), one.astype(np.float32), none, one, one,
    )  # fmt: skip
    (line,) = format_lines([item], decisions)
    best, other = json.loads(line)["candidates"]
    assert (best["words"], best["tags"], other["words"]) == (["b"], ["V"], ["a"])
    assert parse_line(line, "y:1").words == (("b",), ("a",))


ROW = {"before": "We rely in it.", "start": 8, "end": 10, "old": "in", "new": "on"}
DIGEST = paragraph_digest("All is well.")
READING = {"paragraph": DIGEST, "start": 4, "end": 6, "new": "are", "label": "wrong"}
MISTAKE = {**READING, "label": "mistake", "right": True}
GOOD = {read_fixes: ROW, read_clean: {"text": "All is well."}, read_flag_readings: READING}


def write_rows(tmp_path, *rows, name="fixes.jsonl"):
    path = tmp_path / name
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_bytes(lzma.compress(text.encode()) if name.endswith(".xz") else text.encode())
    return path


def test_every_field_of_a_mistake_is_read_or_has_a_default(tmp_path):
    about = {"class": "preposition", "sub": "pref", "kind": "replace", "tier": 2, "repo": "a/b", "id": "x1"}
    path = write_rows(tmp_path, {**ROW, **about, "year": 2019}, "", name="fixes.jsonl.xz")
    where = f"{path}, line 1"
    assert read_fixes(path) == [
        Fix("We rely in it.", 8, 10, "in", "on", "preposition", "pref", "replace", 2, "a/b", where, "x1")
    ]
    missing = {**ROW, "before": "We rely it.", "end": 8, "old": "", "repo": None}
    extra = {**ROW, "before": "We saw in it.", "start": 7, "end": 9, "new": ""}
    one, other, third = read_fixes(write_rows(tmp_path, ROW, missing, extra))
    assert (one.category, one.sub, one.kind, one.tier, one.repo) == ("other", "", "replace", 1, one.before)
    assert (other.kind, other.repo, third.kind) == ("insert", "We rely it.", "delete")


def test_files_without_anything_of_a_tier_or_at_all(tmp_path):
    path = write_rows(tmp_path, ROW, {**ROW, "tier": 2})
    assert [fix.tier for fix in read_fixes(path)] == [1, 2]
    assert [fix.tier for fix in read_fixes(path, tier=1)] == [1]
    with pytest.raises(UserError, match=r"D346.*contains no mistake of tier 1"):
        read_fixes(write_rows(tmp_path, {**ROW, "tier": 2}), tier=1)
    for read in (read_fixes, read_clean, read_flag_readings):
        with pytest.raises(UserError, match="D346"):
            read(write_rows(tmp_path, "", ""))
        with pytest.raises(UserError, match="D300"):
            read(tmp_path / "none.jsonl")


def test_clean_paragraphs_and_readings_of_flags(tmp_path):
    path = write_rows(tmp_path, {"text": "All is well.", "repo": "a/b"}, {"text": "Here too."})
    assert read_clean(path) == [
        Clean("All is well.", "a/b", f"{path}, line 1"),
        Clean("Here too.", "Here too.", f"{path}, line 2"),
    ]
    path = write_rows(tmp_path, READING, MISTAKE)
    about = DIGEST, 4, 6, "are"
    assert read_flag_readings(path) == [
        FlagReading(*about, "wrong", False, f"{path}, line 1"),
        FlagReading(*about, "mistake", True, f"{path}, line 2"),
    ]


@pytest.mark.parametrize(
    ("read", "row", "problem"),
    [
        (read_fixes, "{", "not JSON"),
        (read_fixes, "[]", "not a JSON object"),
        (read_fixes, {**ROW, "before": 3}, "'before' is not valid text"),
        (read_fixes, {**ROW, "new": None}, "'new' is missing"),
        (read_fixes, {**ROW, "new": "\ud800"}, "'new' is not valid text"),
        (read_fixes, {**ROW, "class": 3}, "'class' is not valid text"),
        (read_fixes, {**ROW, "start": True}, "must be whole numbers"),
        (read_fixes, {**ROW, "end": 99}, "8 to 99 is not a range in 14 characters"),
        (read_fixes, {**ROW, "start": 7}, "the text at 7 to 10 is ' in', not 'in'"),
        (read_fixes, {**ROW, "new": " in "}, "are the same: 'in'"),
        (read_fixes, {**ROW, "kind": "insert"}, "the kind is insert, but changing 'in' to 'on' is replace"),
        (read_fixes, {**ROW, "kind": "swap"}, "the kind is 'swap'"),
        (read_fixes, {**ROW, "tier": 3}, "the tier is 3, not 1 or 2"),
        (read_fixes, {**ROW, "tier": "1"}, "the tier is '1'"),
        (read_clean, ROW, "'text' is missing"),
        (read_clean, {"text": 3}, "'text' is not valid text"),
        (read_clean, {"text": "a", "repo": 3}, "'repo' is not valid text"),
        (read_flag_readings, {"text": "All is well."}, "'paragraph' is missing"),
        (read_flag_readings, {**READING, "label": None}, "'label' is missing"),
        (
            read_flag_readings,
            {**READING, "paragraph": "All is well."},
            "not a SHA-256 of 64 hexadecimal digits",
        ),
        (read_flag_readings, {**READING, "start": "4"}, "must be whole numbers"),
        (read_flag_readings, {**READING, "end": 3}, "4 to 3 is not a range of characters"),
        (read_flag_readings, {**READING, "new": 1}, "'new' is not valid text"),
        (read_flag_readings, {**READING, "end": 4, "new": " "}, "nothing is replaced or inserted"),
        (
            read_flag_readings,
            {**READING, "label": "bad"},
            "the label is 'bad', not one of mistake, taste, wrong",
        ),
        (read_flag_readings, {**READING, "label": ["wrong"]}, "the label is ['wrong']"),
        (read_flag_readings, {**MISTAKE, "right": 1}, '"right" is 1, not true or false'),
        (read_flag_readings, {**READING, "right": True}, '"right" is true, but the label is wrong'),
    ],
)
def test_names_an_invalid_line(tmp_path, read, row, problem):
    path = write_rows(tmp_path, GOOD[read], row)
    with pytest.raises(UserError) as caught:
        read(path)
    assert caught.value.code == "D345"
    assert f"{path}, line 2: " in str(caught.value) and problem in str(caught.value)


@pytest.mark.parametrize("read", GOOD)
def test_names_all_invalid_lines(tmp_path, read):
    path = write_rows(tmp_path, "{", GOOD[read], "[]", {"some": "thing"})
    with pytest.raises(UserError, match=r"line 1: not JSON .*; 2 more lines are invalid: 3, 4; a "):
        read(path)


LEXELT = """<corpus lang="en"><lexelt item="bank.n">
<instance id="bank.n.1"><answer instance="bank.n.1" senseid="shore"/>
<context>The <head>bank</head> of the river.</context></instance></lexelt></corpus>"""
WORDS = """<SimpleWsdDoc name="written/jokes/a.txt">
<word text="A" break_level="NO_BREAK"/>
<word text="bank" lemma="bank" pos="NOUN" sense="m1.001" break_level="SPACE_BREAK"/></SimpleWsdDoc>"""
FILES = {
    "a.jsonl": ('{"text": "It rains.", "start": 0, "end": 2, "label": "empty"}\n', JsonLines),
    "a.tsv": ("[[It]] rains.\tempty\n", MarkedTables),
    "b.csv": ("text,label\nIt rains.,weather\n", MarkedTables),
    "a.xml": (LEXELT, Senseval),
    "b.xml": (WORDS, NoadMasc),
}


@pytest.fixture
def files(tmp_path):
    for name, (content, _) in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf8")
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_readers_of_the_core_keep_their_contract(files, name):
    reader = find_reader(ExampleSource(str(files / name)))
    assert type(reader) is FILES[name][1]
    for check in check_reader(reader, files / name):
        check()


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"text": "It rains.", "label": 1}, '"label" is 1, not a string'),
        ({"text": "It rains.", "labels": ["a"]}, '"label" is missing'),
        (
            {"text": "It rains.", "start": 0, "end": 2, "label": ["a", "b"]},
            '"label" is ["a", "b"], not a string',
        ),
        ({"text": "It rains.", "start": 0, "end": 2, "sense": "a"}, '"label" is missing'),
        ({"text": "It rains.", "start": "0", "end": 2, "label": "a"}, '"start" and "end" as whole numbers'),
    ],
)
def test_labels_and_places_of_other_types_are_named(tmp_path, entry, problem):
    (tmp_path / "a.jsonl").write_text(json.dumps(entry) + "\n", encoding="utf8")
    with pytest.raises(UserError, match=r"D460.*a.jsonl, line 1") as caught:
        read_labelled(tmp_path / "a.jsonl")
    assert problem in str(caught.value)


LABELLED_CONFIG = """
[model]
name = "my/words"

[task]
@disambig_tasks = "disambig.Candidates.v1"
candidates = ["quite", "quiet"]

[tokenisation]
@disambig_tokenisations = "disambig.words.v1"

[extractors]

[extractors.words]
@disambig_extractors = "disambig.ContextWindow.v1"

[learner]
@disambig_learners = "disambig.NoPreference.v1"

[baseline]
@disambig_learners = "disambig.NoPreference.v1"
"""


class Stars:
    """A reader of lines such as ``empty: *It* rains.``, which begin with the label."""

    suffixes = (".stars", ".special.jsonl")
    elements = ("stars",)

    def read(self, source):
        for number, line in enumerate(source.text.splitlines(), 1):
            label, colon, marked = line.removeprefix("<stars>").partition(": ")
            before, _, rest = marked.partition("*")
            inside, star, after = rest.partition("*")
            where = f"{source.path}, line {number}"
            if not colon or not star:
                source.broken(where, "no label and no place between stars")
                continue
            text = before + inside + after
            yield Labelled(text, len(before), len(before) + len(inside), label, text, where)


@pytest.fixture
def register_reader(load_with, monkeypatch):
    """Return a function that loads a plugin with one reader."""

    def load(reader):
        name = reader.__name__
        module = types.ModuleType(f"{name.lower()}_plugin")

        @hookimpl
        def disambig_register_readers(register):
            register(f"{name.lower()}.{name}.v1", reader)

        module.disambig_register_readers = disambig_register_readers
        monkeypatch.setitem(sys.modules, module.__name__, module)
        assert not [report for report in load_with(**{name.lower(): module.__name__}) if report.error]

    return load


@pytest.fixture
def stars(register_reader):
    register_reader(Stars)


def test_readers_of_plugins_are_found_by_suffix_and_first_element(stars, tmp_path):
    data = b"empty: *It* rains.\nbroken\nfull: *It* is red.\n"
    for name in ("a.stars", "a.stars.gz", "a.special.jsonl"):
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        notes = []
        actual = read_labelled(tmp_path / name, tell=notes.append)
        assert [(item.text, item.label) for item in actual] == [
            ("It rains.", "empty"),
            ("It is red.", "full"),
        ]
        assert len(notes) == 1 and "line 2" in notes[0]
        with pytest.raises(UserError, match=r"D488.*line 2"):
            read_labelled(tmp_path / name, strict=True)
    (tmp_path / "a.xml").write_text("<stars>empty: *It* rains.\n")
    assert [item.label for item in read_labelled(tmp_path / "a.xml")] == ["empty"]
    for check in check_reader(Stars(), tmp_path / "a.stars.gz"):
        check()
    (tmp_path / "a.xml").write_text("<html></html>")
    with pytest.raises(UserError, match=r"D491.*<html>.*<SimpleWsdDoc>, <corpus>, <lexelt>, <stars>"):
        read_labelled(tmp_path / "a.xml")


def test_readers_of_plugins_do_not_read_files_of_the_core(register_reader, files):
    class Greedy(Stars):
        suffixes = (".jsonl",)
        elements = ("corpus",)

    register_reader(Greedy)
    assert isinstance(find_reader(ExampleSource(str(files / "a.jsonl"))), JsonLines)
    assert isinstance(find_reader(ExampleSource(str(files / "a.xml"))), Senseval)


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ([Labelled("short", 0, 99, "a", "a", "a.odd:7")], "a.odd:7: an example is from 0 to 99 in 5 char"),
        ([{"text": "a"}], "a.odd: it returned a dict"),
        ([Labelled("short", 0, 5, 3, "a")], "a.odd: label of an example is an int, not a text"),
        ([Labelled(b"short", 0, 5, "a", "a")], "a.odd: text of an example is a bytes, not a text"),
        ([Labelled("short", 0, 5, "a", None)], "a.odd: document of an example is None, not a text"),
        (None, "read returned None for .*a.odd; expected"),
    ],
)
def test_a_reader_that_returns_other_objects_is_reported(register_reader, tmp_path, examples, message):
    class Odd:
        suffixes = (".odd",)

        def read(self, source):
            return examples and iter(examples)

    register_reader(Odd)
    (tmp_path / "a.odd").write_text("x")
    with pytest.raises(UserError, match=rf"D414.*the reader odd.Odd.v1 of the plugin odd: .*{message}"):
        read_labelled(tmp_path / "a.odd")


class Sloppy(Stars):
    """A reader with faults: no suffixes, no line numbers, and other exceptions for damaged files."""

    suffixes = ("stars",)

    def read(self, source):
        for item in super().read(source):
            yield Labelled(item.text, 5, 99, item.label, "", "")
        json.loads(source.text[-1])


def test_the_checks_find_a_broken_reader(tmp_path):
    path = tmp_path / "a.stars"
    path.write_text("empty: *It* rains.1")
    assert set(failures(check_reader(Sloppy(), path))) == {
        "declares_which_files_it_reads",
        "places_are_inside_their_texts",
        "names_document_and_line",
        "damaged_files_raise_user_errors",
    }


def test_a_reader_from_outside_works_in_train_and_evaluate(stars, tmp_path):
    lines = [f"quiet: The {place} was *quiet* today." for place in ("room", "house", "park", "road")]
    lines += [f"quite: It was *quite* {how} today." for how in ("warm", "cold", "dark", "late")]
    (tmp_path / "a.stars").write_text("\n".join(lines))
    (tmp_path / "words.cfg").write_text(LABELLED_CONFIG)
    for command in (
        "train words.cfg --labelled a.stars --output model",
        "evaluate model --labelled a.stars --json",
    ):
        assert here(*command.split(), folder=tmp_path).returncode == 0
