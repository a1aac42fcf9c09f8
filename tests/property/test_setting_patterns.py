"""Patterns of settings match what pathspec matches, and take no longer for many stars."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from disambig.configuration import GitIgnorePatterns

_SEGMENTS = st.sampled_from(
    [
        "a",
        "b",
        "*",
        "**",
        "a*",
        "*b",
        "?",
        "a?b",
        "*a*",
        "[ab]",
        "[!b]",
        "[]a]",
        "[a-c]x",
        "*.md",
        "a**b",
        "\\*",
    ]
)
_NAMES = st.sampled_from(["a", "b", "ab", "aab", "x.md", "bx", "c", "*", "]"])


@st.composite
def _patterns(draw: st.DrawFn) -> str:
    negated, rooted, folder = (draw(st.sampled_from(("", "", some))) for some in ("!", "/", "/"))
    return negated + rooted + "/".join(draw(st.lists(_SEGMENTS, min_size=1, max_size=4))) + folder


@settings(max_examples=max(200, settings.default.max_examples), deadline=None)
@given(st.lists(_patterns(), min_size=1, max_size=4), st.lists(_NAMES, min_size=1, max_size=5))
def test_patterns_match_as_those_of_gitignore(patterns, names):
    path = "/".join(names)
    if "[!b]" in "".join(patterns) and "/" in path:
        return  # in pathspec such a set matches a slash, in git it does not
    assert GitIgnorePatterns(patterns).match(path) == GitIgnoreSpec.from_lines(patterns).match_file(path)


@settings(max_examples=max(100, settings.default.max_examples), deadline=None)
@given(st.text("ab*?[]!\\/#^- &|~", max_size=12), st.text("ab/]", min_size=1, max_size=12))
def test_any_line_is_a_pattern_or_refused(line, path):
    try:
        assert GitIgnorePatterns([line]).match(path) in (True, False)
    except ValueError as problem:
        assert str(problem)


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*b", "a*" * 200 + "b", "?*" * 200 + "b", "**/a/" * 60 + "b"])
@pytest.mark.parametrize("path", ["a" * 4_000, "/".join("a" * 2_000)])
def test_a_pattern_takes_no_longer_for_many_stars(pattern, path):
    begin = time.process_time()
    assert not GitIgnorePatterns([pattern]).match(path)
    assert time.process_time() - begin < 1
