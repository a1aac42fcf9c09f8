"""N-best lists: what is read, what is refused, and that what is written can be read again."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_learners import MeanDifference

from disambig.config import resolve
from disambig.errors import UserError
from disambig.formats import list_instances, parse_line, read_nbest, to_candidate_lists
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
def test_all_that_is_said_is_read(candidates, reference):
    said = {"id": "a", "reference": reference, "candidates": candidates}
    found = parse_line(json.dumps(said), "here:1")
    assert found.candidates == tuple(each["text"] for each in candidates)
    assert found.scores == tuple(each["score"] for each in candidates)
    assert found.costs is None and found.source == said
    assert found.reference == reference
    lists = to_candidate_lists([found])
    assert list(lists.texts) == list(found.candidates)
    for row, each in enumerate(candidates):
        for name, value in each.get("features", {}).items():
            assert lists.features[[row]].toarray()[0, lists.feature_names.index(name)] == value
    assert list_instances(lists).observed.tolist() == [-1]  # nothing says what is right


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"candidates": []}', "at least one candidate"),
        ('{"candidates": [{"score": 1}]}', 'candidate 1: not an object with a "text"'),
        ('{"candidates": [{"text": "a", "score": true}]}', "not a finite number"),
        ('{"candidates": [{"text": "a", "score": 1e999}]}', "not a finite number"),
        ('{"candidates": [{"text": "a", "cost": -1}]}', "below zero"),
        ('{"candidates": [{"text": "a", "score": 1}, {"text": "b"}]}', "give it to all of them, or to none"),
        ('{"candidates": [{"text": "a", "features": {"x": "y"}}]}', "the feature 'x'"),
        ('{"candidates": [{"text": "a"}], "reference": 3}', "'reference' is not text"),
        ('{"candidates": [{"text": "\\ud800"}]}', "surrogate"),
    ],
)
def test_what_is_no_list_is_said(line, problem):
    with pytest.raises(UserError, match="D334") as caught:
        parse_line(line, "lists.jsonl:3")
    assert problem in str(caught.value) and "lists.jsonl:3" in str(caught.value)


def test_null_is_left_out():
    found = parse_line(
        '{"id": null, "reference": null, "candidates": [{"text": "a", "score": null}]}', "x:1", "x"
    )
    assert (found.id, found.reference, found.scores) == ("x", None, None)


def made(n=60, least=0):
    """Lists whose right candidate is that of the lowest score of the source, and costs `least`."""
    return [
        {
            "id": str(i),
            "candidates": [
                {"text": f"{i} wrong", "score": 2.0, "cost": least + 2, "features": {"bad": 1}},
                {"text": f"{i} right", "score": 1.0, "cost": least, "features": {"good": 1}},
            ],
        }
        for i in range(n)
    ]


def written(path, lists):
    path.write_text("".join(json.dumps(each) + "\n" for each in lists), encoding="utf8")
    return str(path)


@pytest.mark.parametrize("least", [0, 3])
def test_lists_are_learned_from_whatever_the_cheapest_costs(tmp_path, least):
    items = list(read_nbest(written(tmp_path / "lists.jsonl", made(least=least))))
    learned, tested = split_lists(items)
    assert tested and not {item.document for item in learned} & {item.document for item in tested}
    model = train_lists(
        {**resolve(CONFIG), "learner": MeanDifference()}, learned, name="made", min_examples=2
    )
    assert model.scorers[0] is not None
    without = [item for item in learned if min(item.costs) > 0]
    assert model.provenance["examples"]["without_right"] == len(without)
    assert model.provenance["examples"]["account"] == {
        "what": "lists",
        "read": len(learned),
        "used": len(learned),
        "left_out": {},
    }
    out = []
    assert rerank(model, [str(tmp_path / "lists.jsonl")], out.append) == 60
    for line in b"".join(out).decode().splitlines():
        best, other = json.loads(line)["candidates"]
        assert best["text"].endswith("right") and (best["rank"], other["rank"]) == (1, 0)
        assert best["model_score"] > other["model_score"]
        parse_line(line, "written")  # what is written can be read


def test_a_broken_line_is_told_of_and_the_rest_goes_on(tmp_path):
    path = tmp_path / "lists.jsonl"
    lines = [json.dumps(each) for each in made(3)]
    path.write_text("\n".join([lines[0], "{broken", *lines[1:]]) + "\n", encoding="utf8")
    model = train_lists(resolve(CONFIG), list(read_nbest(str(path), bad=lambda error: None)), name="made")
    told, out = [], []
    assert rerank(model, [str(path)], out.append, bad=told.append) == 3
    assert [error.code for error in told] == ["D334"]
    with pytest.raises(UserError, match="D334"):
        rerank(model, [str(path)], out.append)


def test_nothing_to_learn_is_said():
    items = [parse_line('{"candidates": [{"text": "a"}, {"text": "b"}]}', f"x:{i}") for i in range(3)]
    with pytest.raises(UserError, match="D337"):
        train_lists(resolve(CONFIG), items, name="made")


def test_observed_is_the_cheapest(tmp_path):
    items = list(read_nbest(written(tmp_path / "lists.jsonl", made(2, least=1))))
    instances = list_instances(to_candidate_lists(items))
    assert instances.observed.tolist() == [1, 1]
    (group,) = resolve(CONFIG)["task"].groups
    assert instances.costs(group).tolist() == [2.0, 0.0, 2.0, 0.0]
    assert np.isnan(instances.without_labels().own.costs).all()
