"""Settings, patterns, baselines and JSON from anyone: a value or one coded error, in bounded time."""

from __future__ import annotations

import json
import math
import time

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from pathspec import GitIgnoreSpec

from disambig.checking import Baseline, read_baseline
from disambig.configuration import GitIgnorePatterns, nearest_settings
from disambig.errors import UserError
from disambig.files import parse_json

KEYS = [
    "models", "exclude", "ignore", "ignore_files", "extend_ignore", "flags_per_1000", "baseline", "tasks",
    "overrides", "files", "max_flags_per_1000", "precision", "version", "flags", "count",
    "fingerprint", "\x00",
]  # fmt: skip

NUMBERS = st.one_of(st.integers(), st.sampled_from([10**30, -(10**400), 2**63, 0, -1]), st.floats())
PATHS = st.sampled_from(["/dev/zero", "**" * 9])
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=8), PATHS)

VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)

DEEP = "[" * 100_000
ONCE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


def is_finite(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, list):
        return all(map(is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


@given(st.one_of(VALUES.map(lambda value: json.dumps(value).encode()), st.binary(max_size=60)))
@example(DEEP.encode())
@example(b'{"a": ' * 50_000)
@example(b"9" * 50_000)
@example(b"1e999")
@example(b'{"a": NaN}')
@example(b'{"a": 1, "a": 2}')
@example(b'"\\ud800"')
def test_json_is_a_finite_value_or_a_value_error(data):
    for unique_keys in (False, True):
        try:
            value = parse_json(data, unique_keys=unique_keys)
        except ValueError:
            continue
        assert is_finite(value)
        assert not unique_keys or data != b'{"a": 1, "a": 2}'


@given(data=st.one_of(VALUES.map(lambda value: json.dumps(value).encode()), st.binary(max_size=60)))
@example(data=DEEP.encode())
@example(data=b'{"version": 1e999}')
@example(data=b'{"version": 1, "version": 1, "flags": {}}')
@ONCE
def test_a_baseline_is_read_or_refused(tmp_path, data):
    path = tmp_path / "baseline.json"
    path.write_bytes(data)
    try:
        assert isinstance(read_baseline(str(path)), Baseline)
    except UserError as problem:
        assert "\n" not in str(problem)


def as_toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {as_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return '""' if value is None else json.dumps(value)


def table(values: dict[str, object]) -> str:
    return "".join(f"{json.dumps(key)} = {as_toml(value)}\n" for key, value in values.items())


@given(
    text=st.one_of(
        st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4).map(table), st.text(max_size=40)
    )
)
@example(text="ignore = " + DEEP)
@example(text="a = " + "{b = " * 50_000)
@example(text="max_flags_per_1000 = " + "9" * 50_000)
@example(text="max_flags_per_1000 = nan")
@example(text='ignore = ["a"]\nignore = ["b"]')
@example(text="a." * 5_000 + "b = 1")
@ONCE
def test_settings_are_read_or_refused(tmp_path, text):
    for name, content in (("disambig.toml", text), ("pyproject.toml", "[tool.disambig]\n" + text)):
        path = tmp_path / name
        path.write_bytes(content.encode("utf8", "surrogatepass"))
        try:
            nearest_settings(str(tmp_path), {})
        except UserError as problem:
            assert "\n" not in str(problem)
        path.unlink()


SEGMENTS = st.sampled_from(
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

NAMES = st.sampled_from(["a", "b", "ab", "aab", "x.md", "bx", "c", "*", "]"])


@st.composite
def any_patterns(draw: st.DrawFn) -> str:
    negated, rooted, folder = (draw(st.sampled_from(("", "", some))) for some in ("!", "/", "/"))
    return negated + rooted + "/".join(draw(st.lists(SEGMENTS, min_size=1, max_size=4))) + folder


@settings(max_examples=max(200, settings.default.max_examples), deadline=None)
@given(st.lists(any_patterns(), min_size=1, max_size=4), st.lists(NAMES, min_size=1, max_size=5))
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
