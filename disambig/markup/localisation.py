r"""Read files with the texts of programs: Android, .NET, XLIFF, Qt, Apple, Java properties and JSON.

Each string is a text of its own, and is read by `read_message`: placeholders (``%1$s``, ``{name}``,
``<xliff:g>``) become `OPAQUE`, tags and marks of access keys are invisible, and each text of a choice by
number (ICU) ends its sentences. An escape counts as its character; a word with an escaped apostrophe
(``it\'s``, ``it&apos;s``) is read as the word, and a correction writes an apostrophe as the format does.
Names, contexts, languages other than English, strings that are not translated and settings are left out.

Values of Java properties and strings in JSON are texts if most of the file's are texts of a program.
Otherwise, values of properties of four words and more are texts, and of JSON the fields ``description`` and
``summary``, as in YAML. The running time is linear in the length of the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from disambig.markup._attributes import is_text
from disambig.markup.canvas import OPAQUE, Canvas, Span, iterate_between, search, strip_span
from disambig.markup.code import YAML_FIELDS, read_code
from disambig.markup.markdown import read_markdown
from disambig.markup.translations import EscapedText, read_message, unescape_json

_INDENTATION = re.compile(r"(?<=\n)[ \t]+")
_SOFT = "\u200b"
"""Stands for indentation that is not shown, which Markdown would take for code."""


@dataclass(frozen=True, slots=True)
class _XmlStrings:
    """Where strings are in a vocabulary of XML."""

    texts: frozenset[str]  # elements that contain a string
    skipped: re.Pattern[str]  # matches the start tags of elements that are left out with everything in them
    escape: re.Pattern[str] = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|\w{1,31});|<!\[CDATA\[|\]\]>")
    is_android: bool = False  # whether backslashes are escapes, and white space is collapsed
    # attributes with the language of elements by their names; those of other languages are left out
    languages: tuple[tuple[str, re.Pattern[str]], ...] = ()


_ANDROID = _XmlStrings(
    frozenset(("string", "item")),
    re.compile(
        r"<(?:style|declare-styleable|integer-array|array|attr|public|color|dimen|drawable|eat-comment)\b"
        r"|<(?:string|plurals|string-array)\b[^<>]*\btranslatable\s*=\s*[\"']false|<item\b[^<>]*\b(?:name|type)="
    ),
    re.compile(
        r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|\w{1,31});|<!\[CDATA\[|\]\]>|\\u[\da-fA-F]{4}|\\.|[\r\n\t]",
        re.DOTALL,
    ),
    is_android=True,
)
_RESX = _XmlStrings(
    frozenset(("value", "comment")),
    re.compile(
        r"<(?:resheader|metadata|assembly)\b|<data\b[^<>]*\b(?:type|mimetype)\s*=|<data\b[^<>]*\bname\s*=\s*[\"'](?:&gt;|\$)"
    ),
)
_XLIFF = _XmlStrings(
    frozenset(("source", "target", "note")),
    re.compile(r"<(?:alt-trans|header|mda:metadata|bin-unit|trans-unit\b[^<>]*\btranslate\s*=\s*[\"']no)\b"),
    languages=(
        ("source", re.compile(r"\b(?:source-language|srcLang)\s*=\s*[\"']([^\"'<>]*)")),
        ("target", re.compile(r"\b(?:target-language|trgLang)\s*=\s*[\"']([^\"'<>]*)")),
    ),
)
_QT = _XmlStrings(
    frozenset(("source", "translation", "extracomment", "translatorcomment")),
    re.compile(r"<(?:oldsource|oldcomment)\b|<translation\b[^<>]*\btype\s*=\s*[\"'](?:vanished|obsolete)"),
    languages=(("translation", re.compile(r"\A<TS\b[^<>]*\slanguage\s*=\s*[\"']([^\"'<>]*)")),),
)
_XML_MARK = re.compile(r"<!--|<(?P<name>[A-Za-z][\w:.-]*)[^<>]*>")
_ENGLISH = re.compile(r"(?:en|eng)(?![A-Za-z])|base\Z", re.IGNORECASE)
_RESOURCE = re.compile(r"[@?](?:[\w.]+[:/])+[\w.]+\Z")
"""A reference to another resource of Android."""


def read_android(text: str, suffix: str = ".xml") -> Canvas:
    """Paint over everything in a resource file of Android but its strings."""
    return _read_xml_strings(text, _ANDROID)


def read_resx(text: str, suffix: str = ".resx") -> Canvas:
    """Paint over everything in a resource file of .NET but its strings and their comments."""
    return _read_xml_strings(text, _RESX)


def read_xliff(text: str, suffix: str = ".xliff") -> Canvas:
    """Paint over everything in an XLIFF file but its English strings and notes."""
    return _read_xml_strings(text, _XLIFF)


def read_qt(text: str) -> Canvas:
    """Paint over everything in a translation file of Qt but its English strings and notes."""
    return _read_xml_strings(text, _QT)


def _read_xml_strings(text: str, kind: _XmlStrings) -> Canvas:
    canvas = Canvas(text)
    canvas.fill(0, len(text))
    languages: dict[str, str] = {}
    missing: set[str] = set()
    at = 0
    while match := _XML_MARK.search(text, at):
        at, name = match.end(), match["name"]
        if not name:
            end = search(text, "-->", at, missing)
            at = end.end() if end else len(text)
            canvas.comments.append((match.start(), at))
            continue
        for element, attribute in kind.languages:
            if language := attribute.search(match[0]):
                languages[element] = language[1]
        if match[0].endswith("/>"):
            continue
        is_skipped = kind.skipped.match(match[0]) is not None
        if not is_skipped and name not in kind.texts:
            continue
        if end := search(text, f"</{re.escape(name)}", at, missing):
            if not is_skipped and _ENGLISH.match(languages.get(name) or "en"):
                _write_xml_string(canvas, text, at, end.start(), kind)
            at = end.start()
    canvas.finish()
    return canvas


def _write_xml_string(canvas: Canvas, text: str, start: int, end: int, kind: _XmlStrings) -> None:
    start, end = strip_span(text, start, end)
    read, apostrophe = read_message, "'"
    if kind.is_android:
        read, apostrophe = _read_collapsed, r"\'"
        if text.startswith('"', start) and text.endswith('"', start + 1, end):
            start, end, apostrophe = start + 1, end - 1, "'"
        if _RESOURCE.match(text, start, end):
            return
    if start < end:
        EscapedText(text, [(start, end)], kind.escape, _unescape_xml).write(canvas, read)
        canvas.apostrophes.append((start, end, apostrophe))


def _read_collapsed(content: str) -> Canvas:
    """Return the text of a message in which indentation has no meaning."""
    canvas = read_message(_INDENTATION.sub(lambda gap: _SOFT * len(gap[0]), content))
    for gap in _INDENTATION.finditer(content):
        canvas.fill(*gap.span())
    return canvas


_BACKSLASH = {"n": "\n", "t": " ", "r": " "}


def _unescape_xml(escape: str) -> str:
    if escape[0] == "&":
        character = html.unescape(escape)
        return character if len(character) == 1 else OPAQUE
    if escape[0] != "\\":
        return " "  # a line end, or a mark of CDATA
    is_code = len(escape) > len(r"\n")
    return unescape_json(escape) if is_code else _BACKSLASH.get(escape[1], escape[1])


# A key, a separator (`=`, `:` or a blank), and a value, which a backslash continues in the next line.
_PROPERTY = re.compile(
    r"^[ \t\f]*(?![#!\s])(?:[^\s=:\\]|\\.)+[ \t\f]*(?:[=:][ \t\f]*|(?<=[ \t\f]))(?=\S)"
    r"(?P<value>(?:[^\\\r\n]|\\(?:\r\n|[\s\S]))+)",
    re.MULTILINE,
)
_LONGEST_START = 2_000
"""Number of characters of a value that show whether it is text."""
_CONTINUED = re.compile(r"\\(?:\r\n|\r|\n)[ \t\f]*")
_ARGUMENT = re.compile(r"\{\d{1,2}[,}]")
_PROPERTY_ESCAPE = re.compile(r"\\u[\da-fA-F]{4}|\\.")
_FORMAT_ESCAPE = re.compile(r"\\u[\da-fA-F]{4}|\\.|''")


def read_properties(text: str, suffix: str = ".properties") -> Canvas:
    """Paint over everything in Java properties but its comments, and values that are text.

    In a value with arguments (``{0}``), an apostrophe is written twice.
    """
    canvas = read_code(text, suffix)
    spans = [match.span("value") for match in _PROPERTY.finditer(text)]
    is_catalogue = has_messages([text[slice(*span)] for span in spans])
    for start, end in spans:
        if not (is_catalogue or is_text(text[start : min(end, start + _LONGEST_START)])):
            continue
        has_arguments = _ARGUMENT.search(text, start, end) is not None
        line_ends = [match.span() for match in _CONTINUED.finditer(text, start, end)]
        lines = list(iterate_between(start, end, line_ends))
        escape = _FORMAT_ESCAPE if has_arguments else _PROPERTY_ESCAPE
        EscapedText(text, lines, escape, _unescape_character).write(canvas, read_message)
        canvas.apostrophes.append((start, end, "''" if has_arguments else "'"))
    return canvas


def _unescape_character(escape: str) -> str:
    """Return the character of an escape in which a backslash before any mark stands for the mark."""
    if escape == "''":
        return "'"
    return unescape_json(escape) if escape[1] in "untrf" else escape[1]


# Comments are matched so that marks in them are skipped; an unclosed one or an unclosed string ends the text.
_APPLE_MARK = re.compile(
    r'/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|//[^\r\n]*|"(?P<string>(?:[^"\\]|\\(?:[\s\S]|\Z))*)(?:"|\Z)|[=;]|[^\s"/=;]+|/'
)


def read_apple_strings(text: str, suffix: str = ".strings") -> Canvas:
    """Paint over everything in a file of Apple's strings but its values and comments."""
    canvas = read_code(text, suffix)
    is_value = False
    for match in _APPLE_MARK.finditer(text):
        if is_value and match["string"] and match.end() > match.end("string"):
            EscapedText(text, [match.span("string")], unescape=_unescape_character).write(
                canvas, read_message
            )
        is_value = match[0] == "="
    return canvas


# As above, with the brackets of JSON and all other values.
_JSON_MARK = re.compile(
    r'//[^\r\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|[{}\[\],:]|"(?P<string>(?:[^"\\]|\\(?:[\s\S]|\Z))*)(?:"|\Z)'
    r'|[^\s{}\[\],:"/]+|/'
)
_LABEL = re.compile(r"[A-Z][a-z]+\W*\Z")
_TWO_WORDS = re.compile(r"(?<![\w./'-])[A-Za-z']+,? [A-Za-z']+(?![\w/-])")
_SHARE_OF_MESSAGES, _SHARE_OF_STRINGS = 0.6, 0.9
_MIN_LONGER = 2
_BEGINNING = 8_000


def has_messages(values: Sequence[str]) -> bool:
    """Return True if most of some values are texts of a program: several words, or one with a capital."""
    n_longer = sum(1 for value in values if _TWO_WORDS.search(value))
    n_messages = n_longer + sum(1 for value in values if _LABEL.match(value))
    return n_longer >= _MIN_LONGER and n_messages >= _SHARE_OF_MESSAGES * len(values)


@dataclass(frozen=True, slots=True)
class _JsonValue:
    """A value in JSON that is not an object or an array."""

    key: str  # the last key that leads to it
    string: Span | None  # without the quotes; None for other values
    is_left_out: bool = False  # whether it belongs to a description of placeholders, or to another language


def _json_values(text: str) -> Iterator[_JsonValue]:
    """Yield the values of a text in JSON, also if it is invalid."""
    # for each open object or array: whether it is an object, its key, and whether it is left out
    frames: list[tuple[bool, str, bool]] = []
    key, is_key, is_left_out, is_about = "", False, False, False
    for match in _JSON_MARK.finditer(text):
        mark = match[0]
        if mark in "{[":
            outer = frames[-1][1] if frames else ""
            here = (
                is_left_out or key == "placeholders" or (outer == "localizations" and not _ENGLISH.match(key))
            )
            frames.append((mark == "{", key, is_left_out))
            is_left_out, is_key = here, mark == "{"
        elif mark in "}]":
            _, key, is_left_out = frames.pop() if frames else (False, "", False)
            is_key = False
        elif mark == ",":
            is_key = bool(frames) and frames[-1][0]
        elif mark == ":":
            is_key = False
        elif mark.startswith(("//", "/*")):
            continue
        elif match["string"] is None:
            if not is_key:
                yield _JsonValue(key, None)
        elif is_key:
            key = match["string"]
        elif match.end() > match.end("string"):
            is_about = bool(frames) and frames[-1][1].startswith("@")  # of a message in ARB
            left_out = is_left_out or key.startswith("@@") or (is_about and key != "description")
            yield _JsonValue(key, match.span("string"), left_out)


def json_kind(text: str) -> str:
    """Return what is text in JSON: ``"messages"``, all strings; ``"fields"``; or "" for nothing.

    Strings are texts if most of the values at the beginning are, and hardly any is a number.

    `text` is the document, or its beginning.
    """
    text = text[:_BEGINNING]
    values = [value for value in _json_values(text) if not value.is_left_out]
    strings = [text[slice(*value.string)] for value in values if value.string]
    is_object = text.lstrip("\ufeff \t\r\n").startswith("{")
    if is_object and len(strings) >= _SHARE_OF_STRINGS * len(values) and has_messages(strings):
        return "messages"
    is_described = any(value.string and value.key.lower() in YAML_FIELDS for value in values)
    return "fields" if is_described else ""


def read_json(text: str, suffix: str = ".json", yaml_fields: Collection[str] = YAML_FIELDS) -> Canvas:
    """Paint over everything in JSON but the texts of a program, or fields that are text.

    `yaml_fields`: names of fields whose values are prose, in lower case.
    """
    canvas = Canvas(text)
    canvas.fill(0, len(text))
    kind = "messages" if suffix in (".arb", ".xcstrings") else json_kind(text)
    if not kind and YAML_FIELDS.issuperset(yaml_fields):
        canvas.problem = "it has neither strings of a program nor a field such as `description`"
        return canvas
    fields: Collection[str] = ("value", "comment") if suffix == ".xcstrings" else yaml_fields
    is_field = "*" if kind == "messages" and suffix != ".xcstrings" else ""
    read: Callable[[str], Canvas] = read_message if kind == "messages" else read_markdown
    for value in _json_values(text):
        is_wanted = is_field or "*" in fields or value.key.lower() in fields
        if value.string and is_wanted and not value.is_left_out and value.string[0] < value.string[1]:
            EscapedText(text, [value.string]).write(canvas, read)
    canvas.comments += [
        match.span() for match in _JSON_MARK.finditer(text) if match[0].startswith(("//", "/*"))
    ]
    return canvas
