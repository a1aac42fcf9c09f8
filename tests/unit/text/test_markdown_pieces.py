from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from disambig.markup import IncrementalMarkdown, read_markup
from disambig.markup import markdown as pieces

ROOT = Path(__file__).parents[3]
LINES = [
    "Some words stand here.", "and go on", "# A heading", "- an item", "  more of it", "1. first",
    "    indented = code()", "```python", "```", "~~~", "> quoted", "> [!NOTE]", "> **Note:** a", "> more",
    "<!-- a comment", "it ends -->", "<!-- disambig: off -->", "<pre>", "</pre>", "$$", "x $y$ z",
    "| a | b |", "|---|---|", "[label]: https://example.org", "[label] and [other][label]", "[^1]: a note",
    "*bold*", "_em", "`code", "two ` ticks", "---", "+++", "title: x", "...", "===", "<script>", "</script >",
    "a\\*b", ":::", "\ufeff",
    "", "", "", "  ", "\t", "ex*am*ple", "{{ x }}", "~~gone~~",
]  # fmt: skip
texts = st.lists(st.sampled_from(LINES), max_size=14).map("\n".join)
ends = st.sampled_from(["\n", "\r\n"])


def whole(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    plain = read_markup("a.md", text)
    return plain.text, plain.comments


@given(st.lists(st.tuples(texts, ends), min_size=1, max_size=3))
@example([("<pre>\n\nA\n\nB", "\n"), ("<pre>\n\nA\n\n</pre\n\n>\nB", "\n")])
@example([("---\n\na: b\n\n---\n<!--\n\nA\n\n-->\n\nB", "\n")])
@example([("A [label]\n\n[label]: x", "\n"), ("A [label]\n\n[labels]: x", "\n")])
def test_parts_are_read_as_the_whole_is(versions):
    reader = IncrementalMarkdown()
    for text, end in versions:
        text = text.replace("\n", end)
        assert reader.read(text) == whole(text)


def test_the_documents_of_this_repository():
    for path in sorted(ROOT.glob("*/**/*.md"))[:40]:
        reader, text = IncrementalMarkdown(), path.read_text("utf8")
        assert reader.read(text) == whole(text)
        changed = text.replace(" the ", " teh ", 1)
        assert reader.read(changed) == whole(changed)


def test_only_what_changed_is_read_again(monkeypatch):
    read: list[str] = []
    original = pieces._read_segment
    monkeypatch.setattr(
        pieces, "_read_segment", lambda text, *rest: (read.append(text), original(text, *rest))[1]
    )
    reader = IncrementalMarkdown()
    reader.read("One.\n\n- two\n\n- three\n\nFour.\n")
    assert read == ["One.\n\n", "- two\n\n", "- three\n\n", "Four.\n"]
    read.clear()
    reader.read("One.\n\n- two\n\n- thirty-three\n\nFour.\n")
    assert read == ["- thirty-three\n\n"]


@pytest.mark.parametrize("opened", ["```", "<!--"])
def test_what_is_opened_changes_all_behind_it(opened):
    reader = IncrementalMarkdown()
    reader.read("One.\n\nTwo.\n\nThree.\n")
    assert "Three" not in reader.read(f"One.\n\n{opened}\n\nThree.\n")[0]
