"""Keys, answers and sense maps: round trips, both forms of map, lines that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.formats import read_answers, read_key, read_sensemap

NAMES = st.text("abc%:.19", min_size=1, max_size=6).filter(lambda name: "!!" not in name)


def written(folder, text):
    path = folder / "key"
    path.write_text(text, encoding="utf8")
    return path


def test_senses_weights_and_comments(tmp_path):
    path = written(
        tmp_path, "art art.1 P art%1:04:00::\n\nart art.2 a/50 b/25 !! not sure c\nart art.3 a b c d\n"
    )
    assert read_key(path) == {
        "art.1": ("P", "art%1:04:00::"),
        "art.2": ("a", "b"),
        "art.3": ("a", "b", "c", "d"),
    }
    assert read_answers(path) == {
        "art.1": {"P": 0.5, "art%1:04:00::": 0.5},
        "art.2": {"a": 0.5, "b": 0.25},
        "art.3": dict.fromkeys("abcd", 0.25),
    }


@given(st.dictionaries(NAMES, st.lists(NAMES, min_size=1, max_size=4, unique=True), max_size=5))
def test_a_key_comes_back(tmp_path_factory, key):
    lines = [f"word {instance} {' '.join(senses)}" for instance, senses in key.items()]
    path = written(tmp_path_factory.mktemp("key"), "\n".join(lines))
    assert read_key(path) == {instance: tuple(senses) for instance, senses in key.items()}


@pytest.mark.parametrize(
    "line",
    ["art art.1", "art art.1 a/x", "art art.1 a/-1", "art art.1 a/101", "art art.1 /1", "art art.1 a/0 b/0"],
)
def test_a_line_that_is_no_answer_is_named(tmp_path, line):
    with pytest.raises(UserError, match=r"D492.*line 2"):
        read_key(written(tmp_path, f"art art.9 a\n{line}\n"))


def test_an_instance_twice(tmp_path):
    with pytest.raises(UserError, match=r"D492.*line 2.*twice"):
        read_key(written(tmp_path, "art art.9 a\nart art.9 b\n"))


def test_a_map_of_senseval_2_names_what_is_above_however_far(tmp_path):
    path = written(tmp_path, "a\nb 3 a\nc 2 b\nd 3 a\nd 2 e\nf 2 g 3 a\n")
    assert read_sensemap(path) == {
        "a": {"a"},
        "b": {"b", "a"},
        "c": {"c", "b", "a"},
        "d": {"d", "a", "e"},
        "e": {"e"},
        "f": {"f", "g", "a"},
        "g": {"g", "a"},
    }


def test_a_map_of_senseval_3_is_lines_of_groups(tmp_path):
    path = written(tmp_path, "1913001 1913002 1913003\nargument%1:10:02:: argument%1:10:00::\nalone\n")
    assert read_sensemap(path) == {
        "1913001": {"1913001"},
        "1913002": {"1913002", "1913001"},
        "1913003": {"1913003", "1913001"},
        "argument%1:10:02::": {"argument%1:10:02::"},
        "argument%1:10:00::": {"argument%1:10:00::", "argument%1:10:02::"},
        "alone": {"alone"},
    }


@given(st.lists(st.lists(st.sampled_from("ab12"), min_size=1, max_size=6).map(" ".join), max_size=6))
def test_rings_in_a_map_end(tmp_path_factory, lines):
    found = read_sensemap(written(tmp_path_factory.mktemp("map"), "\n".join(lines)))
    assert all(sense in groups for sense, groups in found.items())


@pytest.mark.parametrize(
    ("line", "weights"),
    [
        ("a/99 b/1", {"a": 0.99, "b": 0.01}),
        ("a/1 b/99", {"a": 0.01, "b": 0.99}),
        ("a/1 b/0", {"a": 1.0}),
        ("a/0 b/40 c/40", {"b": 0.4, "c": 0.4}),
        ("a/1 b/1", {"a": 0.5, "b": 0.5}),
        ("a/0.4 b/0.2", {"a": 0.4, "b": 0.2}),
    ],
)
def test_the_weights_of_a_line_have_one_scale(tmp_path, line, weights):
    path = written(tmp_path, f"art art.1 {line}")
    assert read_answers(path)["art.1"] == pytest.approx(weights)
    assert read_key(path)["art.1"] == tuple(weights)
