"""N-best lists: reading, errors, reranking, and the words of candidates."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from toy_learners import MeanDifference

from disambig.config import resolve
from disambig.data import Decisions
from disambig.errors import UserError
from disambig.formats import format_lines, list_instances, parse_line, read_nbest, to_candidate_lists
from disambig.jobs import rerank
from disambig.training import split_lists, train_lists

CONFIG = {
    "task": {"@disambig_tasks": "disambig.Lists.v1", "measure": "wer"},
    "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
    "extractors": {"source": {"@disambig_extractors": "disambig.SourceFeatures.v1"}},
    "learner": {"@disambig_learners": "disambig.NoPreference.v1"},
    "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
}
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
    assert np.isnan(instances.without_labels().own.costs).all()


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
