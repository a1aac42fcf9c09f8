"""Translation files: strings and comments for translators are text, nothing else is."""

# ruff: noqa: E501  (a text is one string)

from __future__ import annotations

import re

import pytest
from commands import here
from hypothesis import given, strategies as st
from processor_time import grows_linearly

from disambig.markup import BREAK, OPAQUE, read_markup

TEXT = r"""# XX a header
msgid ""
msgstr ""
"Project: XX\n"
"Language: en_GB\n"

# It is a comment of
# one translator.
#. Extracted words
#: XX.c:3
#, XX-format
#| msgid "XX"
msgctxt "XX"
msgid "It is a %s file, \"quoted\" caf\u00e9.\n\nNew par"
"agraph here.\n"
"More of it"
msgid_plural "Two files of _Open Sa_ve &amp; it&#39;s {name}"
msgstr[0] ""
msgstr[1] "It is that"

#~ msgid "XX"
#~ msgstr "XX"
"""
EXPECTED = (
    'It is a comment of one translator. | Extracted words | It is a # file, "quoted" #. | New # # here. More of it'
    " | Two files of Open # # it's # | It is that"
)


def read_prose(text: str) -> str:
    """Return the prose, with `#` for hidden words and `|` between texts."""
    plain = read_markup("a.po", text).text
    assert len(plain) == len(text)
    plain = re.sub(f"{OPAQUE}+", "#", plain).replace("\x1f", " ").replace('" ', '"')
    parts = [" ".join(part.split()) for part in plain.split(BREAK)]
    return " | ".join(part for part in parts if part)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_strings_and_comments_are_text(line_end):
    assert read_prose(TEXT.replace("\n", line_end)).replace('quoted"#', 'quoted" #') == EXPECTED
    assert read_markup("a.POT", TEXT).text == read_markup("a.po", TEXT).text


def test_strings_in_another_language_are_left_out():
    assert "that" not in read_prose(TEXT.replace("en_GB", "de"))
    assert read_prose(TEXT.replace("en_GB", "de_AT")) == read_prose(TEXT).removesuffix(" | It is that")


PIECES = [
    'msgid "',
    'msgstr "',
    '"\n',
    '"a',
    "a_",
    "&",
    "%",
    "{a",
    "\\",
    "\\n",
    "# a\n",
    "#. a",
    "#~",
    "\n",
    "\r\n",
    '""',
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_can_be_read(text):
    plain = read_markup("a.po", text)
    assert len(plain.text) == len(text)
    for old, new in zip(text, plain.text, strict=True):
        assert old in "\r\n" or new not in "\r\n"
    assert all(0 <= start <= end <= len(text) for start, end in plain.comments)


@pytest.mark.parametrize("piece", ["a", "a_", "{", "%(", "\\n", 'a"\n"', "# a\n", 'msgid "a"\n'])
def test_time_grows_with_the_length_alone(piece):
    frame = 'msgid "x"\nmsgstr "{}"\n'
    assert grows_linearly(
        lambda size: read_markup("a.po", frame.replace("{}", piece * (size // len(piece)))), 25_000
    )


def test_corrections(tmp_path):
    text = (
        'msgid ""\nmsgstr "Language: en\\n"\n\n#. It is the the end.\nmsgid "That is the the \\"end\\".\\n"\n"It depends "\n'
        '"of %s."\nmsgstr ""\n\n# disambig: ignore-next-line\nmsgid "It is the the end."\nmsgstr ""\n'
    )
    (tmp_path / "a.po").write_text(text, newline="")
    done = here("check", "--fix", "--no-backup", "a.po", folder=tmp_path)
    assert "D960" not in done.stderr
    expected = text.replace("is the the", "is the", 2).replace("of %s", "on %s")
    assert (tmp_path / "a.po").read_bytes().decode() == expected


def test_names_of_variables_are_placeholders():
    plain = read_markup(
        "a.po", '#. Set a $user_name before it.\nmsgid "Use $HOME or 5 $ here"\nmsgstr ""\n'
    ).text
    assert "user_name" not in plain and "HOME" not in plain
    assert "5 $ here" in plain
