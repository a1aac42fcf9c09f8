"""Configs in, objects out; errors name the file and the place."""

from __future__ import annotations

import pytest

from disambig.config import read_config, resolve, write_config
from disambig.counts import open_table
from disambig.errors import UserError
from disambig.text import Words
from disambig.training import read_plan


def test_round_trip(tmp_path):
    config = {
        "task": {"@disambig_tasks": "toys.Pairs.v1", "pairs": ["a/b", "it's/its"]},
        "learner": {"@disambig_learners": "toys.Perceptron.v1"},
        "numbers": {"C": 1e-05, "n": 3, "free": None, "yes": True},
    }
    write_config(config, tmp_path / "x.cfg")
    assert read_config(tmp_path / "x.cfg") == config


def test_overrides_by_dotted_names(tmp_path):
    (tmp_path / "x.cfg").write_text("[learner]\nC = 1.0\n")
    assert read_config(tmp_path / "x.cfg", {"learner.C": 0.5}) == {"learner": {"C": 0.5}}


@pytest.mark.parametrize("content", [None, b"\xff\xfe[a]", b"[a", b"a = 1", b"[a]\nx = ${b.c}\n"])
def test_what_is_no_config(tmp_path, content):
    path = tmp_path / "x.cfg"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        read_config(path)
    assert caught.value.code == "D005"
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nested_objects_are_built_first(load_with):
    load_with(toys="toy_plugin")
    built = resolve({"a": {"b": {"@disambig_tokenisations": "disambig.words.v1"}, "n": 1}})
    assert isinstance(built["a"]["b"], Words)
    assert built["a"]["n"] == 1


@pytest.mark.parametrize(
    ("section", "code", "seen"),
    [
        ({"@disambig_tasks": "toys.Pears.v1"}, "D001", "toys.Pairs.v1"),
        ({"@disambig_taks": "toys.Pairs.v1"}, "D001", "@disambig_tasks"),
        ({"@disambig_tasks": "toys.Pairs.v1", "pears": 1}, "D005", "pears"),
        ({"@disambig_tasks": "toys.Pairs.v1", "pairs": 7}, "D005", "pairs"),
        ({"deep": {"@disambig_learners": "nothing.v1"}}, "D001", "nothing.v1"),
    ],
)
def test_what_cannot_be_built(load_with, section, code, seen):
    load_with(toys="toy_plugin")
    with pytest.raises(UserError) as caught:
        resolve({"task": section})
    assert caught.value.code == code
    assert seen in str(caught.value)
    assert "\n" not in str(caught.value)


TRAINING = """[model]
name = "my/words"
[task]
@disambig_tasks = "disambig.Candidates.v1"
candidates = ["bring", "take"]
[tokenisation]
@disambig_tokenisations = "disambig.words.v1"
[extractors]
[extractors.counts]
@disambig_extractors = "disambig.NgramCounts.v1"
counts = "disambig_en"
[learner]
@disambig_learners = "disambig.NoPreference.v1"
[baseline]
@disambig_learners = "disambig.NoPreference.v1"
"""


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        (
            "counts = ",
            "count = ",
            "D005",
            "[extractors.counts] disambig.NgramCounts.v1 has no setting 'count'",
        ),
        (
            'counts = "disambig_en"',
            "",
            "D005",
            "[extractors.counts] disambig.NgramCounts.v1 needs the setting",
        ),
        ('["bring", "take"]', "['bring', 'take']", "D663", "candidates is the text"),
        ('["bring", "take"]', '"bring"', "D663", "candidates is the text 'bring', not a list"),
        (
            "candidates =",
            "language = 5\ncandidates =",
            "D005",
            "language in [task] is 5: give a text in double",
        ),
        ("[learner]", "[learn]", "D005", "unknown section [learn]; known sections: learner"),
        ("[learner]", "[learner", "D005", "line 12: '[learner' is neither a [section] nor"),
        ("[learner]", "[task]", "D005", "line 12: the section [task] occurs twice"),
        (
            "candidates =",
            "name = 'x'\nname = 'y'\ncandidates =",
            "D005",
            "line 6: name is set twice in [task]",
        ),
        ("[model]", "hello\n[model]", "D005", "line 1: 'hello' is not in a section"),
        (
            '"my/words"',
            "${task.nam}",
            "D005",
            "name in [model] refers to ${task.nam}, and this config sets no",
        ),
        (
            "@disambig_learners",
            "disambig_learners",
            "D661",
            "[learner]: it names none, but it must name an entry",
        ),
        (
            "@disambig_extractors",
            "@disambig_learners",
            "D661",
            "[extractors.counts]: it has @disambig_learners",
        ),
        (
            "[extractors]\n[extractors.counts]",
            "[extractors]",
            "D662",
            "it is one itself; give each extractor",
        ),
    ],
)
def test_what_is_wrong_with_a_config_is_said_in_its_own_terms(tmp_path, old, new, code, said):
    path = tmp_path / "my.cfg"
    assert old in TRAINING
    path.write_text(TRAINING.replace(old, new, 1 if "learners" in old else -1))
    with pytest.raises(UserError) as caught:
        read_plan(path)
    assert caught.value.code == code and said in str(caught.value)
    for word in ("class '", "at root", "factory", "<string>", "\n"):
        assert word not in str(caught.value)
    if code != "D663":
        assert str(path) in str(caught.value)


def test_a_config_without_a_baseline_is_told_what_to_name(tmp_path):
    path = tmp_path / "my.cfg"
    path.write_text(TRAINING[: TRAINING.index("[baseline]")])
    with pytest.raises(UserError) as caught:
        read_plan(path)
    assert caught.value.code == "D005"
    assert "section [baseline] is missing: name a learner that needs no training" in str(caught.value)


def test_no_extractor_and_no_file(tmp_path):
    path = tmp_path / "my.cfg"
    with pytest.raises(UserError, match=r"D005.*no such file"):
        read_plan(path)
    section = TRAINING[TRAINING.index("[extractors.counts]") : TRAINING.index("[learner]")]
    path.write_text(TRAINING.replace(section, ""))
    with pytest.raises(UserError, match=r"D662.*\[extractors\]: it names none"):
        read_plan(path)


def test_counts_must_be_a_table(tmp_path):
    for counts in (5, "", ["a"]):
        with pytest.raises(UserError, match="D660"):
            open_table(counts)


def test_single_quotes_are_warned_of_with_the_file(tmp_path):
    (tmp_path / "my.cfg").write_text("[model]\nname = 'x'\n")
    with pytest.warns(UserWarning, match=r"my\.cfg: .*single-quoted"):
        assert read_config(tmp_path / "my.cfg") == {"model": {"name": "'x'"}}
