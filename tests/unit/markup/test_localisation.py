"""Strings of programs: Android, .NET, XLIFF, Apple, Java properties, JSON and YAML."""

# ruff: noqa: E501  (a text of the table is one string)

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
from commands import here
from hypothesis import given, settings, strategies as st
from offsets import read_with_offsets
from processor_time import reads_in_linear_time

from disambig.markup import BREAK, OPAQUE, begins_like_document, read_markup

ANDROID = """<?xml version="1.0"?>
<!-- the note -->
<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
  <string name="of" translatable="false">of the app</string>
  <string name="a">It\\'s <xliff:g id="of" example="of">%1$s</xliff:g> of <b>it</b> &amp; more.</string>
  <string name="b">One line.\\n\\n
        An <i>other</i> one \\u00e9 of\\nit.</string>
  <string name="c">"It's &lt;b&gt;so&lt;/b&gt;"</string>
  <string name="d"><![CDATA[You <b>could</b> read.]]></string>
  <plurals name="e"><item quantity="one">%d item is.</item></plurals>
  <style name="f"><item name="of">of the style</item></style>
  <array name="g"><item>of the array</item></array>
  <string-array name="h"><item>First one.</item><item>@string/of_it</item></string-array>
</resources>
"""
RESX = """<root>
  <resheader name="a"><value>of it</value></resheader>
  <data name="of" xml:space="preserve">
    <value>It&apos;s {0} &amp; more of\nit.</value>
    <comment>For them.</comment>
  </data>
  <data name="b" type="System.Drawing.Size"><value>of it</value></data>
  <data name="&gt;&gt;c.Name"><value>of it</value></data>
</root>
"""
XLIFF = """<xliff><file source-language="en-US" target-language="de" original="of">
<trans-unit id="of"><source>It is <g id="1">so</g> <x id="2"/> now.</source><target>of it</target>
<alt-trans><source>of it</source></alt-trans><note>A note.</note></trans-unit>
<trans-unit translate="no"><source>of it</source></trans-unit></file></xliff>
"""
QT = """<?xml version="1.0"?>
<!DOCTYPE TS><TS version="2.1" language="de_DE" sourcelanguage="en">
<context><name>of it</name><message numerus="yes"><location filename="of.cpp" line="1"/>
<source>It&apos;s %n of &amp;it.</source><comment>of it</comment><extracomment>A note.</extracomment>
<translation>of it</translation></message></context></TS>
"""
APPLE = """/* For the window. */
"of it" = "The \\"end\\" of %1$@.\\nNew line"; // it is here
key = "It is %lld of %#@files@.";
"""
PROPERTIES = """# Of the form.
a.of = It''s {0} of \\
   it.
b: It's so\\u00e9 so.
c=Cancel
d Now or then
"""
SETTINGS = "port=80\npath=/of/it\nlevel=INFO\nclass=org.of.It\nhelp=A text of four words\nshort=of it\n"
JSON = json.dumps(
    {
        "of it": "Save",
        "b": {"c": "It is {{name}} of it.", "d": 'The "end" <link>of it</link> <x/> now.'},
        "e": "You have {n, plural, =0 {none} =1 {the one} one {# thing of {owner}} other {# things}} now.",
    },
    indent=1,
)
ARB = '{"@@locale": "of en", "a": "It is {b}.", "@a": {"description": "A note.", "type": "of", "placeholders": {"b": {"example": "of"}}}}'
CATALOG = json.dumps(
    {"sourceLanguage": "en", "strings": {"of it": {"comment": "A note.", "localizations": {
        "de": {"stringUnit": {"state": "of", "value": "of it"}}, "en": {"stringUnit": {"value": "It is."}}}}}}
)  # fmt: skip
PACKAGE = '{"name": "of", "version": "1.0", "private": true, "description": "It is so."}'
RAILS = '# it\nen-GB:\n  a: It is %{name} of it.\n  b:\n    c: \'So it is.\'\n    d: "Is \\"it\\" so?"\n'


def legible(path, text):
    """Return the plain text: ``|`` between texts, ``#`` for hidden words."""
    plain = read_markup(path, text).text
    assert len(plain) == len(text)
    plain = re.sub(f"{OPAQUE}+|[\ue000\ue001]+", "#", plain).replace("\x1f", " ")
    parts = [
        re.sub(r'" | "', '"', " ".join(part.split()).replace('" ', '"'))
        for part in re.split(f"{BREAK}|\n\\s*\n", plain)
    ]
    return "|".join(part for part in parts if part)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("strings.xml", ANDROID,
         "It's # of it & more.|One line.|An other one # of it.|It's so|You could read.|# item is.|First one."),
        ("a.resx", RESX, "It's # & more of it.|For them."),
        ("a.xliff", XLIFF, "It is so # now.|A note."),
        ("a.XLF", XLIFF.replace('"de"', '"en"'), "It is so # now.|of it|A note."),
        ("a.ts", QT, "It's # of it.|A note."),
        ("a.strings", APPLE, 'For the window.|The"end"of #. New line|it is here|It is # of #.'),
        ("a.properties", PROPERTIES, "Of the form.|It's # of it.|It's # so.|Cancel|Now or then"),
        ("b.properties", SETTINGS, "A text of four words"),
        ("en.json", JSON, 'Save|It is # of it.|The"end"of it # now.|You have #|#|the one|# thing of #|# things|# #.'),
        ("a.arb", ARB, "It is #.|A note."),
        ("a.xcstrings", CATALOG, "A note.|It is."),
        ("package.json", PACKAGE, "It is so."),
        ("en.yml", RAILS, 'it|It is # of it.|So it is.|Is"it"so?'),
    ],
)  # fmt: skip
def test_strings_of_programs(path, text, expected, line_end):
    assert legible(path, text.replace("\n", line_end)) == expected


@pytest.mark.parametrize(
    ("text", "is_text"),
    [
        (JSON, True), (PACKAGE, True), (ARB, True), ("{}", False), ("", False), ('{"a": 1, "b": "of it"}', False),
        ('["of it", "to them"]', False), ('{"a": "b-c", "d": "x", "e": "/of it/"}', False), ("[" * 9_000, False),
    ],
)  # fmt: skip
def test_json_is_read_if_it_has_texts(text, is_text, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(text)
    assert begins_like_document(str(path)) == is_text
    assert not begins_like_document(str(path), is_named=False)
    assert bool(read_markup("a.json", text).problem) != is_text


def test_strings_in_folders_are_checked_only_if_named(tmp_path):
    (tmp_path / "strings.xml").write_text(
        "<resources><string name='a'>It is the the end.</string></resources>"
    )
    (tmp_path / "a.md").write_text("All is well.\n")
    assert here("check", folder=tmp_path).returncode == 0
    done = here("check", "strings.xml", folder=tmp_path)
    assert "strings.xml:1:39: the" in done.stdout


FIXED = {
    "strings.xml": (
        "<resources><string name='a'>Don\\'t loose it, its a mess.</string>\n<string name='b'>\"Its a mess.\"</string>\n"
        "<string name='c'>The dog lost it\\'s bone.</string></resources>",
        "<resources><string name='a'>Don\\'t lose it, it\\'s a mess.</string>\n<string name='b'>\"It's a mess.\"</string>\n"
        "<string name='c'>The dog lost its bone.</string></resources>",
    ),
    "a.resx": (
        "<root><data name='a'><value>The dog lost it&apos;s bone &amp; its a mess.</value></data></root>",
        "<root><data name='a'><value>The dog lost its bone &amp; it's a mess.</value></data></root>",
    ),
    "a.properties": (
        "a=The {0} lost it''s bone, its a mess.\nb=Its a mess, \\\n  the the end.\n",
        "a=The {0} lost its bone, it''s a mess.\nb=It's a mess, \\\n  the end.\n",
    ),
    "a.strings": ('"the the" = "Its the the \\"end\\".\\n";\n', '"the the" = "It\'s the \\"end\\".\\n";\n'),
    "en.yml": ("en:\n  a: 'Its the the end.'\n  b: 'The dog lost it''s bone.'\n", "en:\n  a: 'It''s the end.'\n  b: 'The dog lost its bone.'\n"),
    "en.json": ('{"a": "Its the the \\"end\\".", "b": "Cancel it"}', '{"a": "It\'s the \\"end\\".", "b": "Cancel it"}'),
}  # fmt: skip


def test_corrections_are_written_as_the_format_does(tmp_path):
    for name, (text, _) in FIXED.items():
        (tmp_path / name).write_text(text, newline="")
    done = here("check", "--fix", "--no-backup", *FIXED, folder=tmp_path)
    assert done.returncode == 1, done.stderr
    for name, (_, expected) in FIXED.items():
        fixed = (tmp_path / name).read_bytes().decode()
        assert fixed == expected
        if name.endswith(("xml", "resx")):
            ElementTree.fromstring(fixed)
    assert here("check", *FIXED, folder=tmp_path).returncode == 0


PIECES = [
    *"aA .\n\r\t'\"\\&<>{}[]:,=;#/!%",
    "\r\n", "<resources>", "<string name='a'>", "</string>", "<item>", "</item>", "<data name='a'>", "<value>", "</value>",
    "<source>", "</source>", "<style>", "<!--", "-->", "<![CDATA[", "]]>", "&apos;", "&amp;", "\\'", "\\u00e9", "\\n", "\\\n",
    '"a": "', '"a" = "', "a=", "{0}", "''", "{n, plural, one {", "}}", "<xliff:g>", "</xliff:g>", "<x/>", "it\\'s", "a a",
    "//", "/*", "*/", "en:\n", "@a", "localizations",
]  # fmt: skip
FRAMES = {
    "a.xml": "<resources><string name='a'>{}</string></resources>",
    "a.resx": "<root><data name='a'><value>{}</value></data></root>",
    "a.xliff": "<xliff><source>{}</source></xliff>",
    "a.strings": '"a" = "{}";',
    "a.ts": "<TS><source>{}</source></TS>",
    "a.properties": "a={}",
    "a.json": '{"a": "It is so.", "b": "It is {}"}',
    "a.arb": '{"a": "{}"}',
    "a.yml": "en:\n  a: {}",
}


@given(
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.sampled_from(sorted(FRAMES)),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_offsets_are_those_of_the_file(text, path, in_frame):
    text = FRAMES[path].replace("{}", text) if in_frame else text
    plain = read_with_offsets(path, text, decodes=True)
    for start, end, _ in plain.apostrophes:
        assert 0 <= start <= end <= len(text)
    for word in plain.shortened:
        assert 0 <= word.start < word.painted_end <= word.end <= len(text)
        assert plain.text[word.start] in "'\u2019"


MARKS = ["a", " ", "\\", '"', "'", "{", "<x>", "\\\n", "\n", "{n, plural, one {", "%(", "$t(", "{{"]
XML = [
    "}", "<", "<!--", "<string>", "<string>a</string>", "<item", "<style>", "<value>", "<source>", "&", "&a;", "it\\'s ", "<xliff:g>", "<ph",
    "<data name='", "&lt;a&gt;",
]  # fmt: skip
LINES = ["\\'", "\\n", "a=b\n", "a = ", "/*", "//", '\\"']
MARKS_OF_FORMATS = {
    **{path: XML for path in ("a.xml", "a.resx", "a.xliff", "a.ts")},
    **{path: LINES for path in ("a.strings", "a.properties")},
    **{path: ['"a": "b", ', '{"a": ', "[", '\\"', "a=b\n"] for path in ("a.json", "a.arb")},
    "a.yml": ["en:\n", "a: b\n", "[", "\\'"],
}


@pytest.mark.parametrize(
    ("path", "mark"), [(path, mark) for path in sorted(FRAMES) for mark in MARKS + MARKS_OF_FORMATS[path]]
)
def test_many_marks_take_linear_time(path, mark):
    assert reads_in_linear_time(path, mark, 12_000)
    assert reads_in_linear_time(path, mark, 12_000, FRAMES[path])
