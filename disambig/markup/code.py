"""Read code: only the prose in comments and docstrings remains.

Pygments or `_comments` finds the comments. In Python, a string directly after an assignment in a module or
class is a docstring too: it documents the attribute. Consecutive line comments form one block of lines
without their marks. Everything in a block that is not prose is painted over (code that was commented out,
tags and examples of documentation tools, parameter names and types in docstrings of NumPy and Google style
and reStructuredText), and the rest is read as Markdown. Code with syntax errors may give other comments, but
never an error.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from disambig.markup._comments import SYNTAXES, scan_comments
from disambig.markup._components import find_elements, mask_elements, write_elements, write_template
from disambig.markup._fields import find_yaml_text
from disambig.markup.canvas import BLANK, BREAK, OPAQUE, Canvas, iterate_lines, match_end
from disambig.markup.markdown import read_markdown
from disambig.markup.pod import read_pod
from disambig.markup.reading import FORMATS
from disambig.markup.translations import EscapedText, read_message

LANGUAGES = {suffix: entry.lexer for entry in FORMATS if entry.lexer for suffix in entry.suffixes}
"""Pygments lexer, or language of `_comments`, for each file suffix."""
YAML, PERL, VUE = "YAML", "Perl", "Vue"
_JSX = (".jsx", ".tsx", ".js")
"""Suffixes of code with elements of JSX."""
_SINGLE, _MULTILINE = "Comment.Single", "Comment.Multiline"
_DOCUMENTS = "Literal.String.Doc"
_STRING = "Literal.String"
_OBJECTIVE_C = re.compile(
    r"^[ \t]*(?:@(?:interface|implementation|import|protocol|property|class|end)\b"
    r"|#[ \t]*(?:import|include|define|pragma|if(?:n?def)?)\b|//|/\*)",
    re.MULTILINE,
)
"""A line of Objective-C, whose files have the suffix of those of MATLAB."""
_LINE_ENDS = re.compile("\r\n?")
_LONG_GAP = re.compile(r"(\s{64})(\s{64,})(\s{64})")
"""Lexers try their patterns at every line, and some run across all blank lines after it: quadratic time."""
_LONG_LINE = re.compile("[^\r\n]{2000,}")
"""Lines that nobody wrote by hand, as in minified code."""
_UNPAIRED_TAG = re.compile(r"(?<![/\\])</(?=[A-Za-z>])|(?<![*/(,=:\[!&|?;])/>")
"""Characters in tags of elements that are not closed; Pygments would take them for a regular expression."""
# A backslash before a line end joins lines in C, also between the two characters of a mark.
_OPENED = re.compile(r"/(?:\\\n)?\*")
_CLOSED = re.compile(r"\*(?:\\\n)?/")
_SEARCHING_LEXERS = ("JavascriptLexer", "TypeScriptLexer", "GoLexer")
"""Lexers that search the whole text for the end of each comment: quadratic time if there is none."""
_BEFORE_HASH = " \t\n;|&()"  # before a comment in a shell; after other characters "#" belongs to a word
_DOCSTRING_PREFIX = re.compile("[rRuU]?")  # bytes and f-strings are not docstrings
Token = tuple[int, str, str]
"""Offset, kind and text of a token."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its marks, a docstring with its quotes, or a description without its quotes."""

    start: int
    end: int
    docstring: bool = False  # true for a docstring, which is a string
    is_line: bool | None = None  # whether it ends with its line; None if its marks show that


def without_long_lines(text: str) -> str:
    """Replace lines of 2,000 characters and more by blanks, since they are not read."""
    return _LONG_LINE.sub(lambda match: " " * len(match[0]), text)


def find_comments(text: str, suffix: str) -> list[Comment]:
    """Return the comments and docstrings of `text`, in text order.

    `text`: the result of `without_long_lines`.
    `suffix`: one of `LANGUAGES`.
    """
    read = _LINE_ENDS.sub(lambda match: "\n".rjust(len(match[0])), text)  # the length is kept
    if read.startswith("\ufeff"):
        read = " " + read[1:]
    # From here on, `read` changes but keeps its length, so that offsets of comments are those of the file.
    if suffix in _JSX:
        read = _UNPAIRED_TAG.sub("  ", mask_elements(read, find_elements(read)))
    name = LANGUAGES[suffix]
    if name == "MATLAB" and _OBJECTIVE_C.search(read):
        name = "C++"
    if name == YAML:
        spans, _ = find_yaml_text(read, 0, len(read), ())
        return [Comment(start, start + len(read[start:end].rstrip()), is_line=True) for start, end in spans]
    if name in SYNTAXES:
        return [
            Comment(start, start + len(read[start:end].rstrip()), is_line=is_line)
            for start, end, is_line in scan_comments(read, name)
        ]
    if name in _SEARCHING_LEXERS:
        last = max((match.end() for match in _CLOSED.finditer(read)), default=0)
        # after the last closing mark, "/*" opens nothing: "/+" keeps the lexer from searching for an end
        read = read[:last] + _OPENED.sub(lambda match: f"{match[0][:-1]}+", read[last:])
    read, places = _with_short_gaps(read + "\n")  # lexers look for the line end after a comment
    tokens = _tokens(name, read)
    comments = list(_iterate_python_comments(tokens) if name == "PythonLexer" else _iterate_comments(tokens))
    if name == "BashLexer":
        comments = [
            comment for comment in comments if comment.start == 0 or read[comment.start - 1] in _BEFORE_HASH
        ]
    if name == "RustLexer":
        attributes = list(_rust_attributes(read, comments))
        comments = sorted([*comments, *attributes], key=lambda comment: comment.start)
    ends = [comment.start + len(read[comment.start : comment.end].rstrip()) for comment in comments]
    return [
        Comment(places(comment.start), places(end - 1) + 1, comment.docstring, comment.is_line)
        for comment, end in zip(comments, ends, strict=True)
    ]


# `#[doc = "text"]`, also with a raw string.
_RUST_DOC = re.compile(
    r'#!?\[doc\s{0,9}=\s{0,9}(?:r(?P<hashes>#{0,8})"(?P<raw>(?:[^"]|"(?!(?P=hashes)\s{0,9}\])){1,2000})"(?P=hashes)'
    r'|"(?P<words>(?:[^"\\]|\\[\s\S]){1,2000})")\s{0,9}\]'
)


def _rust_attributes(text: str, comments: Sequence[Comment]) -> Iterator[Comment]:
    """Yield the text of ``#[doc = "..."]`` in Rust, outside comments."""
    starts = [comment.start for comment in comments]
    for match in _RUST_DOC.finditer(text):
        number = bisect_right(starts, match.start()) - 1
        if number < 0 or comments[number].end <= match.start():
            yield Comment(*match.span("raw" if match["raw"] else "words"), is_line=False)


def _with_short_gaps(text: str) -> tuple[str, Callable[[int], int]]:
    """Shorten long runs of white space; also return a function from the new offsets to the old ones."""
    cuts: list[int] = []  # offsets into the returned text
    left_out = [0]  # number of characters removed before the first cut, the second cut, ...
    parts: list[str] = []
    at = size = 0
    for gap in _LONG_GAP.finditer(text):
        kept = "\n" if "\n" in gap[2] else ""  # a line end may end a comment, so it is kept
        parts += [text[at : gap.end(1)], kept, gap[3]]
        size += gap.end(1) - at + len(kept)
        cuts.append(size)
        left_out.append(left_out[-1] + len(gap[2]) - len(kept))
        size += len(gap[3])
        at = gap.end()
    return "".join([*parts, text[at:]]), lambda offset: offset + left_out[bisect_right(cuts, offset)]


def _tokens(name: str, text: str) -> Iterator[Token]:
    for at, kind, value in _lexer(name).get_tokens_unprocessed(text):
        yield at, _kind(kind), value


@cache
def _lexer(name: str) -> Any:
    from pygments import lexers

    return getattr(lexers, name)()


@cache
def _kind(kind: Any) -> str:
    return str(kind).removeprefix("Token.")


def _iterate_comments(tokens: Iterable[Token]) -> Iterator[Comment]:
    """Yield comments; nested comments, which Pygments returns in pieces, are one comment."""
    start, depth = 0, 0
    for at, kind, value in tokens:
        if kind == _SINGLE or (kind == _DOCUMENTS and value.startswith("//")):
            yield Comment(at, at + len(value))
        elif kind in (_MULTILINE, _DOCUMENTS):
            # Pygments returns the marks of nested comments as tokens of their own: "/*", text, "*/"
            if not depth:
                start = at
            depth += value.startswith("/*") - value.endswith("*/")
            if depth <= 0:
                depth = 0
                yield Comment(start, at + len(value))


def _iterate_python_comments(tokens: Iterable[Token]) -> Iterator[Comment]:
    """Yield comments, and strings that come first in a module, class or function or document an attribute."""
    statements = _Statements()
    depth = 0  # of brackets
    header = False  # whether the token is in the header of a definition: "def ...:"
    expected = True  # whether a docstring may follow
    # Strings in a row are one docstring. Its end is known at the next token: only a line end or a comment may
    # follow it, since otherwise the string is a part of an expression.
    start = end = -1
    prefix = ""
    for at, kind, value in tokens:
        if kind.startswith(_STRING):
            if start >= 0 or expected or statements.may_document(at):
                start, end = at if start < 0 else start, at + len(value)
                prefix += value if kind.endswith("Affix") else ""
            expected = False
            statements.read(at, kind, value)
            continue
        statements.read(at, kind, value)
        blank = value.isspace()
        if start >= 0 and (not blank or "\n" in value):
            if _DOCSTRING_PREFIX.fullmatch(prefix) and value[0] in "\n \t#;":
                yield Comment(start, end, docstring=True)
            start, prefix = -1, ""
        if kind == _SINGLE:
            yield Comment(at, at + len(value))
        elif not blank and not kind.startswith("Comment"):
            expected = False
            if kind == "Keyword" and value in ("def", "class"):
                depth, header = 0, True
            for mark in value if kind in ("Punctuation", "Operator") else "":
                depth += (mark in "([{") - (mark in ")]}")
                if mark == ":" and header and depth <= 0:
                    header, expected = False, True
    if start >= 0 and _DOCSTRING_PREFIX.fullmatch(prefix):
        yield Comment(start, end, docstring=True)


class _Statements:
    """Reader of Python tokens that finds the assignments of attributes in modules and classes."""

    def __init__(self) -> None:
        self._line = 0  # offset of the current line
        self._column = 0  # of the current statement
        self._depth = 0  # of brackets
        self._size = 0  # number of tokens of the current statement
        self._first = self._last = ""  # kinds of its first and of its last token
        self._assigns = False  # whether it is an assignment
        self._assigned = -1  # column of the previous statement, if that assigned an attribute
        self._scopes: list[tuple[int, bool]] = []  # column of each open definition; whether it is a function

    def may_document(self, at: int) -> bool:
        """Return True if a string at an offset begins a statement directly after an assignment."""
        return not self._size and self._assigned == at - self._line

    def read(self, at: int, kind: str, value: str) -> None:
        """Read a token."""
        is_string = kind.startswith(_STRING)
        if value.isspace() and not is_string:
            if "\n" in value and self._depth <= 0:
                self._end()
        elif not kind.startswith("Comment") and value != "\\\n":
            self._read_code(at, kind, value)
        if "\n" in value:
            self._line = at + value.rindex("\n") + 1

    def _read_code(self, at: int, kind: str, value: str) -> None:
        """Update what is known of the statement: its brackets, scopes and whether it assigns a value."""
        defines = kind == "Keyword" and value in ("def", "class")
        # A definition begins a statement even if brackets before it are not closed: code that is being
        # written has such brackets, and they must not hide all docstrings below.
        if not self._size or (defines and self._depth > 0):
            self._column, self._depth, self._first = at - self._line, 0, kind
            while self._scopes and self._scopes[-1][0] >= self._column:
                self._scopes.pop()
        if defines:
            self._scopes.append((self._column, value == "def"))
        if value == "=" and self._depth <= 0:  # but not "x += 1", nor what begins with a keyword or string
            self._assigns |= not self._first.startswith(("Keyword", _STRING)) and self._last != "Operator"
        elif value == ":" and self._size == 1:
            self._assigns |= self._first.startswith("Name")
        elif value == ";" and self._depth <= 0:
            self._end()
            return
        if kind == "Punctuation":
            self._depth += sum((mark in "([{") - (mark in ")]}") for mark in value)
        self._size += 1
        self._last = kind

    def _end(self) -> None:
        if self._size:
            in_function = bool(self._scopes) and self._scopes[-1][1]
            self._assigned = self._column if self._assigns and not in_function else -1
            self._size, self._assigns = 0, False


_LINES = re.compile("[^\r\n]*(?:\r\n|\r|\n|$)")
# What begins a comment to the end of the line, in all languages; a bar or `^` marks documentation in Haskell.
_LINE_MARK = re.compile(
    r"(?:!+<?|;+|%+|@?(?i:rem\b)|dnl\b|[cC*]+[<>]?(?!\S)|\*+>?|::+|\"|'+|#+(?:[:!]|'(?=[ \t]))?|//+[!]?<?"
    r"|--+(?:[ \t]*[|^](?=[ \t]|$))?)"
)
# What begins a comment over several lines or a docstring, in all languages.
_OPENING = re.compile(
    r"/\*+!?<?|/\++|<!--+|\(\*+|#=|##?\[(?!=*\[)|###+|\{(?!-)|#\[=*\["
    r"|[ \t]*(?:@\w*doc[ \t]+)?(?:~[sS]|raw|doc)?\"\"\"|[ \t]*@doc[ \t]+\""
    r"|<#+|\{-+(?:[ \t]*[|^])?|--\[=*\[|=begin\b[^\n]*|[rRuU]?(?:\"\"\"|'''|\"|')"
)
# What ends a comment over several lines or a docstring, in all languages.
_CLOSING = re.compile(
    r"\*+/$|\++/$|--+>$|\]##?$|###+$|(?<!-)\}$|\*+\)$|=#$|#+>$|-+\}$|\]=*\]$|^=end\b.*|\"\"\"$|'''$|\"$|'$"
)
_MIN_SHARE_OF_GUTTERS = 0.9
"""Minimum share of the lines of a block comment that begin with a star, if stars are its margin."""
_GUTTER = re.compile(r"[ \t]*\*+(?![*/])")
_SPACE = re.compile("[ \t\f]*")
_LINE_END_BETWEEN = re.compile("[ \t\f]*(?:\r\n|\r|\n)[ \t\f]*")


@dataclass(frozen=True, slots=True)
class BlockLine:
    """A line of a block."""

    # offsets of its content in the text of the file
    start: int
    end: int
    stop: int  # the end including the characters up to the next line
    indent: int  # number of blanks before it, in addition to those of the block


@dataclass(frozen=True, slots=True)
class CommentBlock:
    """One docstring, one comment, or several consecutive line comments."""

    start: int  # offset of its first mark
    text: str  # the contents of its lines, joined by line feeds
    lines: tuple[BlockLine, ...]
    docstring: bool


def iterate_blocks(text: str, comments: Sequence[Comment]) -> Iterator[CommentBlock]:
    """Yield the blocks of a sequence of comments, in text order."""
    run: list[Comment] = []
    for comment in comments:
        if run and not _follows(text, run[-1], comment):
            yield _block(text, run)
            run = []
        run.append(comment)
    if run:
        yield _block(text, run)


def _follows(text: str, last: Comment, comment: Comment) -> bool:
    """Return True if one line comment follows another with only blanks between them."""
    return (
        _is_line(text, last)
        and _is_line(text, comment)
        and _LINE_END_BETWEEN.fullmatch(text, last.end, comment.start) is not None
        and _column(text, last.start) == _column(text, comment.start)
    )


def _is_line(text: str, comment: Comment) -> bool:
    if comment.is_line is not None:
        return comment.is_line
    return not comment.docstring and text.startswith(("#", "//"), comment.start)


def _column(text: str, at: int) -> int:
    return at - 1 - max(text.rfind("\n", 0, at), text.rfind("\r", 0, at))


def _block(text: str, run: Sequence[Comment]) -> CommentBlock:
    rough = [line for comment in run for line in _comment_lines(text, comment)]
    docstring = run[0].docstring
    margin = _margin(text, rough[1:] if docstring or len(run) == 1 else rough)
    lines = []
    for number, (start, end) in enumerate(rough):
        cut = len(margin) if text.startswith(margin, start, end) else 0
        space = match_end(_SPACE, text, start + cut, end) - (start + cut)
        first = number == 0 and len(run) == 1
        begin = start + cut + (space if docstring or first else 0)
        following = rough[number + 1][0] if number + 1 < len(rough) else end
        lines.append(BlockLine(begin, end, match_end(_LINES, text, end, following), 0 if first else space))
    whole = "\n".join(text[line.start : line.end] for line in lines)
    return CommentBlock(run[0].start, whole, tuple(lines), docstring)


def _comment_lines(text: str, comment: Comment) -> list[tuple[int, int]]:
    """Return the span of each line of a comment, without marks and trailing blanks."""
    spans: list[tuple[int, int]] = []
    for match in _LINES.finditer(text, comment.start, comment.end):
        start, end = match.start(), match.start() + len(match[0].rstrip())
        if start < match.end() or not spans:
            spans.append((start, max(start, end)))
    if _is_line(text, comment):
        marks = [_LINE_MARK.match(text, start, end) for start, end in spans]
        return [(mark.end() if mark else start, end) for mark, (start, end) in zip(marks, spans, strict=True)]
    start, end = spans[-1]
    if closing := _CLOSING.search(text[start:end]):
        spans[-1] = start, start + len(text[start : start + closing.start()].rstrip())
    start, end = spans[0]
    opening = _OPENING.match(text, start, comment.end)
    spans[0] = (min(opening.end(), end) if opening else start), end
    inner = [(at, end) for at, end in spans[1:] if text[at:end].strip()]
    # two characters more, for the look-ahead that tells a margin from the end of the comment
    n_gutters = sum(_GUTTER.match(text, at, end + 2) is not None for at, end in inner)
    if not comment.docstring and inner and n_gutters >= _MIN_SHARE_OF_GUTTERS * len(inner):
        spans[1:] = [(match_end(_GUTTER, text, at, end), end) for at, end in spans[1:]]
    return spans


def _margin(text: str, lines: Sequence[tuple[int, int]]) -> str:
    """Return the blanks that all nonempty lines begin with."""
    spaces = [text[at : match_end(_SPACE, text, at, end)] for at, end in lines if text[at:end].strip()]
    # what the first and the last string in alphabetical order have in common, all between them have, too
    first, last = min(spaces, default=""), max(spaces, default="")
    return first[: next((i for i, mark in enumerate(first) if mark != last[i : i + 1]), len(first))]


LICENCE = re.compile(
    r"SPDX-|copyright\b.{0,40}\d{4}|\(c\)\s*\d{4}|\u00a9|licen[sc]ed under|permission is hereby granted"
    r"|redistribution and use|all rights reserved|terms of the .{0,60}licen[sc]e",
    re.IGNORECASE | re.DOTALL,
)
"""Matches in blocks that are a licence or a file header that names one."""
_LEGAL = re.compile(
    r"licen[sc]|copyright|copyleft|warrant|redistribut|permission|free software|distributed|merchantab"
    r"|liabilit|[\"']as is[\"']|public domain|trademark|hereby|contribut|authors?\b|\bGNU\b|disclaim"
    r"|(?:is|are) part of|e-?mail",
    re.IGNORECASE,
)
"""Matches in paragraphs of a file header about its licence and authors."""
_MIN_SMALL_WORDS_IN_HEADER = 3
"""Number of small words from which a paragraph of a file header is prose."""

_TOOLS = (
    "noqa type: mypy: pyright: pylint: flake8: ruff: fmt: isort: yapf: black: pragma nosec nopycln cython: "
    "distutils: coding: coding= -*- vi: vim: ex: %% +build go: nolint eslint @ts- @jsx @flow prettier-ignore "
    "tslint: jshint jslint istanbul c8 v8 webpack sourceMappingURL region endregion #region #endregion "
    "biome-ignore deno-lint-ignore deno-fmt-ignore deno-coverage-ignore stylelint shellcheck clang-format "
    "NOLINT rustfmt:: cspell: spellchecker: codespell: typos: disambig: LCOV_ fallthrough FALLTHROUGH lint:"
).split()
PRAGMA = re.compile(
    rf"(?:^|[#/])[ \t@#]*(?:{'|'.join(map(re.escape, _TOOLS))})(?:(?<![^\W_])|(?!\w))[^\n]*"
    r"|^[ \t]*(?:eslint|webpack|@ts-)[^\n]*",
    re.MULTILINE,
)
"""Instructions for tools, up to the end of the line."""

_NAMED = (
    "param arg argument prop property throw throws exception raise raises tparam template typedef retval "
    "callback event member memberof name namespace module class constructor extends see type since author "
    "version default enum file ingroup defgroup addtogroup weakgroup sa copydoc copybrief copydetails "
    "relates sample yieldparam option overload treturn section subsection subsubsection page subpage anchor"
)
TAG = re.compile(
    rf"""(?:^|(?<=\s))[@\\](?:
        tparam\[[^\]\n]*\][ \t]+\S+[ \t]+\w+
      | (?:{_NAMED.replace(" ", "|")})\b (?:\[[\w, ]*\])?
            [ \t]*(?:\{{[^{{}}\n]*(?:\{{[^{{}}\n]*\}}[^{{}}\n]*)*\}})?
            [ \t]*(?:\[[^\]\n]*\]|[\w$.*,<>:\#\[\]-]+)? (?:[ \t]+\[[^\]\n]*\])? (?:[ \t]+-(?=\s))?
      | [A-Za-z]\w* (?:[ \t]*(?:\{{[^{{}}\n]*\}}|\[[\w:<>, ]*\]))?
    )""",
    re.VERBOSE | re.MULTILINE,
)
"""``@param {type} name -``, ``\\brief`` and similar tags."""
INLINE_NAME = re.compile(
    r"(?:(?<=\s)|(?<=[\s(]\()|\A)(?P<mark>[@\\](?:[pca]|ref|cite)[ \t]+)"
    r"(?P<name>[^\s(),;]*[\w>*\]](?:\([^\s()]*\))?(?:(?<=\w)[ \t]+\"[^\"\n]*\")?)"
)
"""Names within a sentence, as Doxygen marks them: ``\\p name``, ``@c name``, ``\\ref name "text"``."""
EMPHASIS = re.compile(r"(?:(?<=\s)|(?<=[\s(]\()|\A)[@\\](?:em?|b)[ \t]+(?=\S)|(?<=\s)\\n(?=\s)")
"""The mark before a word with emphasis, and a line break: ``\\e word``."""
DOXYGEN_CODE = re.compile(
    r"[@\\](code|verbatim|dot|msc|htmlonly|latexonly|manonly|xmlonly|rtfonly|docbookonly)\b"
    r"(?:[^@\\]|[@\\](?!(?:end)?\1\b))*[@\\]end\1\b"
    r"|[@\\]startuml\b(?:[^@\\]|[@\\](?!(?:end|start)uml\b))*[@\\]enduml\b"
    r"|^[ \t]*\\(?:var|def|property|line|skip|skipline|until|if|ifnot|elseif)\b[^\n]*"
    r"|^[ \t]*[@\\](?:fn|headerfile|include|includelineno|dontinclude|snippet|image|dotfile|mscfile)\b[^\n]*",
    re.MULTILINE,
)
"""Blocks of code and of other formats, and lines that name code or files, in comments for Doxygen."""
# `\f$...\f$`, `\f(...\f)` and `\f[...\f]`, with a backslash or an at sign.
DOXYGEN_MATH = re.compile(
    r"[@\\]f\$(?:[^@\\]|[@\\](?!f\$)){1,500}[@\\]f\$"
    r"|[@\\]f\((?:[^@\\]|[@\\](?!f[()])){1,500}[@\\]f\)"
    r"|[@\\]f\[(?:[^@\\]|[@\\](?!f[\[\]])){1,2000}[@\\]f\]"
)
TYPED_SUFFIXES = (".php", ".lua")
"""Suffixes of languages whose comments give the type of a result without brackets."""
RETURN_TYPE = re.compile(
    r"(?:(?<=@return )|(?<=@returns )|(?<=@var )|(?<=@type ))[\w\\|?.]+(?:<[\w, ]*>|\[\])*"
)
"""The type in ``@return Widget of it``."""
FIELD = re.compile(r"^[ \t]*:[A-Za-z][\w \t,.*|\[\]-]{0,80}:(?=\s|$)", re.MULTILINE)
"""Fields of reStructuredText: ``:param int x:``."""
# A keyword for programmers, with a name in brackets and a colon: `TODO(ann):`.
NOTE = re.compile(
    r"\b(?:TODO|FIXME|XXX|HACK|NOTE|BUG|NB|SAFETY|WARNING|WARN|PERF)\b(?:\([^()\n]*\)|\[[^\[\]\n]*\])?:?"
)
LINK = re.compile(
    r"\{@\w+(?:[^{}]|\{[^{}]*\})*\}|:[a-z][\w:+-]*:(?=`)"
    r"|<(?:see|seealso|paramref|typeparamref|inheritdoc)\b[^<>]*/>|<c>[^<>]*</c>"
)
"""``{@link x}``, ``{@code {x}}``, the role before ```x```, and references in XML comments of C#."""
XML_TAG = re.compile(
    r"</?(?:summary|remarks|returns|value|para|param|typeparam|exception|list|item|description|term)\b[^<>\n]*>"
)
"""Tags around the text in XML comments of C#."""
EXAMPLE = re.compile(
    r"^[ \t]*@examples?\b[^\n]*(?:\n(?![ \t]*@[A-Za-z])[^\n]*)*"
    r"|^[ \t]*@(?:import|importFrom|rdname|inheritParams|keywords|usage|aliases|family|snippet)\b[^\n]*"
    r"|^[ \t]*<example>(?:[^<]|<(?!/example>))*</example>",
    re.MULTILINE,
)
"""Code up to the next tag, and lines that only name code."""
VERBATIM = re.compile(
    r"(?<!`)<(?:pre\b[^<>\n]*>(?:[^<]|<(?!/?pre\b))*</pre>"
    r"|code\b[^<>\n]*>[ \t]*\n(?:[^<]|<(?!/?code\b))*</code>)",
    re.IGNORECASE,
)
"""Blocks of code in HTML and in XML comments of C#."""
PARAMETER = re.compile(
    r"^[ \t]*[-*][ \t]+(?:Parameters?|Returns|Throws|Complexity|Precondition|Postcondition|Requires|Note"
    r"|Warning|Important|SeeAlso)\b(?:[ \t]+\w+)?:(?=\s|$)",
    re.MULTILINE,
)
"""Fields in the Markdown of Swift comments."""

CALL = re.compile(r"(?<![\w$.:\]])[\w$.:\]]*[\w$\]]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
NAME = re.compile(
    r"[a-z\d][A-Z]|[$\\=|^~%&*+{}<>@_/\ufffc]|\w[\[:.]\w|\w::|\A[(\"'\[]*(?:-{1,2}|\#)\w|\d[A-Za-z]|[A-Za-z]\d"
)
"""Matches in a chunk without blanks that is a name, a number with a unit, a formula or an option."""
_CHUNK = re.compile(r"\S+")
LONGEST_WORD = 80
"""Maximum number of characters of a chunk that may be a word."""
_KEYWORDS = (
    "and as async await break case class const continue def default do elif else enum except finally for "
    "from func function if import in int is lambda let match mod new not null of or return self set static "
    "struct super switch then this throw to try type use var void while with yield"
)
KEYWORD = re.compile(
    rf"\b(?:{_KEYWORDS.replace(' ', '|')})"
    r"(?=(?:\s+|-)(?:loop|statement|operator|keyword|block|clause|expression|branch|directive)(?:e?s)?\b)"
)
"""A keyword followed by a word that marks it as part of a language: "the in operator"."""
TYPE = re.compile(r"\b(?:long|short|unsigned|signed)(?:\s+(?:long|short|int|char|double))+\b")
"""C types of several words."""
LETTER = re.compile(r"(?<![\w'\u2019-])[a-zB-HJ-Z](?![\w'\u2019])|(?<=[a-z,] )A(?![\w'\u2019])")
"""A single letter, including "a"."""
_AFTER_NAME = (
    "and as at be but by can does for from had has if in into is less may more must not of on onto or over "
    "should than that then to under until upon via was were when which while will with would"
)
_ARTICLE = re.compile(rf"(?<!, )\ba (?!(?:{_AFTER_NAME.replace(' ', '|')})\b)[a-z][a-z-]+[a-rt-z]\b")
"""An "a" that is an article also beside names of one letter: no function word or verb in "s" follows."""
CAPITALS = re.compile(
    r"(?<![\w'\u2019-])(?!(?:DO|DOES|DID|MUST|SHALL|SHOULD|MAY|WILL|CAN|CANNOT|NOT)\b)[A-Z][A-Z\d]+(?![\w'\u2019-])"
)
"""Constants, and words of file formats, but not verbs that are stressed."""
REMARK_END = re.compile(r"[\w)\]](\n)[ \t]*[A-Z][a-z]")
"""The line end between two remarks, the first of which lacks a full stop."""
FORMULA = re.compile(r"(?<!\S)\w+(?: [-+*/<>=|&^%] \w+)+")
_SMALL = (
    "a an the this let that these those its it's it they their there they're he she we you your you're i if "
    "in on at of to too for from by with when where were was is are as and or but not no than then who whose "
    "what which how why all any each every both some many much more most other another only also may can "
    "must should would could will has have had do does did rather less fewer better"
)
FIRST_WORD = re.compile(
    r"(?:\A|\u2029|\n[ \t]*\n|(?<=[.!?:;])\s)[ \t\n\x1f\ufffc>*-]{0,200}"
    rf"(?P<word>(?!(?:{_SMALL.replace(' ', '|')})(?![\w'\u2019])|[a-z]+n['\u2019]t\b)"
    r"[A-Za-z]+(?:['\u2019][a-z]+)?)(?![\w'\u2019])",
    re.IGNORECASE,
)
"""The first word of a sentence, unless it is a function word. Projects differ: "Return" or "Returns"."""


_OPERATOR = re.compile(r"[=!<>]=(?=[\s\w\"'-])|&&|\|\||[-=]>\s|\w::\w|\+\+|\s[-+*/|&^%]=\s|:=\s|<<|>>")
"""Matches in a line of code, and in prose about operators and names."""
# Words that are frequent in English prose and rare in code.
_SMALL_WORD = re.compile(
    r"(?<!\S)(?:a|an|the|of|to|is|are|be|it|that|this|which|will|can|must|should|has|have|was|were|from|at|by)(?=\s)"
)
_MIN_SMALL_WORDS = 2
"""Number of small words from which a line with operators is prose."""
_CODE = re.compile(
    r"""
      \\$ | ^\s*[)\]}]+[,;:]*$ | ^\s*[.]\w+\(
    | ^\s*(?:[\w$]+\s+){0,3}[\w.$\[\]"'*&]+\s*(?::\s*[\w.\[\], |&<>']+)?=(?!=)\s*\S
    | ^\s*@\w+(?:[.(]\S*)?$ | ^\s*<?[\w-]+>?\s*::=\s
    | ^\s*(?:[}]\s*)?(?:else\s+)?(?:if|for|foreach|while|switch|catch)\s*\([^\n]*\)\s*[{]?$
    | ^\s*(?:else|fi|done|esac|then|break|continue|pass|end|return|begin|declare|loop)$
    | ^\s*(?:import|from)\s+[\w.]+(?:\s+(?:import|as)\s[^\n]*)?$
    | ^\s*\#\s*(?:include|define|undef|if|ifdef|ifndef|elif|else|endif|pragma|error)\b
    | ^\s*</?\w[^<>\n]*>$
    | ^\s*(?:echo|export|sudo|cd|mkdir|rm|cp|mv|git|pip|npm|cargo|docker|curl|make|python3?|source)
        \s+[-$/.~\w]+(?:\s+[-$/.~]\S*)*$
    | \|\s*(?:grep|sed|awk|xargs|sort|head|tail|wc|cut|tr)\b
    """,
    re.VERBOSE,
)
"""Matches in a line of code."""
_CODE_OR_PROSE = re.compile(
    r"""
      [;{}]$ | [\])"'],$ | ^\s*["'][^"'\n]*["']\s*:\s
    | ^\s*(?:(?:await|return|yield|throw|new|const|let|var|go|defer|assert|del)\s+)*
        [\w$.:\[\]]+\([^\n]*\)[;.?,\w()]*:?$
    | ^\s*(?:async\s+)?(?:def|func|fn|function|pub|impl|struct|enum|class|interface|static|typedef)
        \s+\w+[^\n]*[(){:<]
    | ^\s*(?:if|elif|while|for|with|except|else|try|switch|case|default|do)\b[^\n]*[:{)]$
    | ^\s*(?:return|raise|throw)\s+[^\n]*[()\[\]{}]$
    | ^\s*(?:(?:if|elsif)\s[^\n]*\sthen|(?:for|while)\s[^\n]*\sloop|case\s[^\n]*\sis|when\s[^\n]*=>)$
    | ^\s*(?:overriding\s+)?(?:procedure|function|package|task|entry|protected|accept)\s[^\n]*\b(?:is|do)$
    """,
    re.VERBOSE,
)
"""Matches in a line of code, and in a line of prose that only ends or begins like code."""
_PLAIN_WORD = re.compile(r"(?<!\S)\(?[A-Za-z][a-z']+[,.;:)]{0,2}(?!\S)")
_ONLY_PROSE = re.compile(
    r"(?<!\S)(?:the|of|to|are|that|which|will|can|must|should|has|have|was|were|an|be|these|those)(?!\S)",
    re.IGNORECASE,
)
"""Words that are hardly ever a word of code."""
_MIN_PLAIN_WORDS = 5
"""Number of words without signs from which a line with a word of `_ONLY_PROSE` is prose."""
_PARAGRAPHS = re.compile(r"(?:[^\n\u2029]*[^\s\u2029][^\n\u2029]*(?:\n|\u2029|$))+")
_MIN_SHARE_OF_CODE = 0.5


def _is_code(line: str) -> bool:
    if _CODE.search(line):
        return True
    if _CODE_OR_PROSE.search(line):
        return not _has_prose(line)
    if not _OPERATOR.search(line):
        return False
    return len(_SMALL_WORD.findall(line)) < _MIN_SMALL_WORDS and not _has_prose(line)


def _has_prose(line: str) -> bool:
    return bool(_ONLY_PROSE.search(line)) and len(_PLAIN_WORD.findall(line)) >= _MIN_PLAIN_WORDS


def paint_code(canvas: Canvas, text: str) -> None:
    """Paint over lines of code in each paragraph; if there are many, also over the lines between them."""
    for paragraph in _PARAGRAPHS.finditer(text):
        lines, at = [], paragraph.start()
        for line in re.split("[\n\u2029]", paragraph[0]):
            lines.append((at, at + len(line), _is_code(line.rstrip())))
            at += len(line) + 1
        code_lines = [number for number, (_, _, code) in enumerate(lines) if code]
        if not code_lines:
            continue
        between = lines[code_lines[0] : code_lines[-1] + 1]
        if len(code_lines) >= _MIN_SHARE_OF_CODE * len(between):
            for start, end, _ in between:
                canvas.leave_out(start, end)
        else:
            for number in code_lines:
                canvas.fill(*lines[number][:2], OPAQUE)


_UNDERLINE = re.compile(r"([-=~^\"'+*#:.])\1{2,}$")
_TERM = re.compile(r"\*{0,2}[\w.`\\]+(?:,\s*[\w.`*\\]+)* : \S")
_LIST_ITEM = re.compile(r"(?:[-*+\u2022]|\(?(?:\d{1,3}|[a-z])[.)])\s+\S")
"""A list item, which may go on in lines that are indented further; ``*args`` is none."""
_LABEL = re.compile(r"(?:[-*]\s+)?[`*]{0,2}[A-Za-z_][\w.*`]*\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?:(?=\s|$)")
_SECTION = re.compile(r"[A-Z][\w ]{0,30}:$")
_DIRECTIVE = re.compile(r"\.\. (?:([A-Za-z][\w:-]*)::|\[|_|\|)")
_DIRECTIVE_TEXT = re.compile(
    r"\.\. (?:(?:attention|caution|danger|error|hint|important|note|seealso|tip|todo|warning)::[ \t]+"
    r"|(?:versionadded|versionchanged|versionremoved|deprecated)::[ \t]+\S+[ \t]+)(?=\S)"
)
"""A directive up to the text in its line: of a note, or of a version note after the version."""
_VERBATIM = frozenset(
    "code code-block sourcecode math parsed-literal literalinclude doctest testcode testoutput plot ipython "
    "highlight prompt jupyter-execute bibliography toctree autosummary".split()
)


def paint_docstring(canvas: Canvas, text: str, lines: Sequence[BlockLine]) -> list[tuple[int, int]]:
    """Paint over everything but prose in the layout of a docstring, and return the labels before prose.

    `text`: the contents of the lines, joined by line feeds.
    `lines`: the lines with their indentation, which `text` lacks.
    """
    at, starts = 0, []
    for line in lines:
        starts.append(at)
        at += line.end - line.start + 1
    stripped = [line.strip() for line in text.split("\n")]
    indents = [line.indent for line in lines]
    labels: list[tuple[int, int]] = []
    literal = -1  # indentation of the line that introduced the current literal block
    sections = False  # whether NumPy sections, which are underlined, have been seen
    refers = False  # whether the current section has names with descriptions: See Also
    for number, words in enumerate(stripped):
        if not words:
            continue
        start, width = starts[number], lines[number].end - lines[number].start
        following = next((n for n in range(number + 1, len(stripped)) if stripped[n]), -1)
        deeper = following >= 0 and indents[following] > indents[number]
        before = stripped[number - 1] if number else ""
        if literal >= 0:  # a literal block goes on while lines are indented further
            if indents[number] > literal:
                canvas.leave_out(start, start + width)
                continue
            literal = -1
        # the first kind of line that matches decides: directives, literal blocks, headings, parameters
        if directive := _DIRECTIVE_TEXT.match(words):
            labels.append((start, start + directive.end()))
        elif directive := _DIRECTIVE.match(words):
            canvas.leave_out(start, start + width)
            if directive[1] in _VERBATIM:
                literal = indents[number]
        elif words.endswith("::") and following >= 0 and deeper:
            literal = indents[number]
        elif _UNDERLINE.match(words):
            canvas.leave_out(start, start + width)
            sections = sections or (bool(before) and words[0] in "-=")
            refers = before.lower() == "see also"
        elif number + 1 < len(stripped) and _UNDERLINE.match(stripped[number + 1]):
            canvas.end_sentence(start + width)
        elif (term := _TERM.match(words)) and (
            # behind a name, "int or tuple of ints" is a type, and a sentence a description
            words[term.end() - 1].isupper() and _has_prose(words[term.end() :]) if deeper else refers
        ):
            labels.append((start, start + term.end() - 1))
        # in NumPy sections, a line above an indented one is a name and its type, also without the colon
        elif (deeper and following == number + 1 and sections and not _LIST_ITEM.match(words)) or (
            _TERM.match(words) and (sections or (deeper and following == number + 1))
        ):
            canvas.leave_out(start, start + width)
        elif _SECTION.match(words) and deeper:
            canvas.fill(start + width - 1, start + width, BREAK)
        elif (label := _LABEL.match(words)) and (
            not before or before[-1] in ".:" or indents[number] < indents[number - 1]
        ):
            labels.append((start, start + label.end()))
    return labels


GNU_QUOTE = re.compile(
    r"(?<![`\w])(`{1,2})(?P<quoted>[\w./*~<+-]+(?: [\w./*~<>+-]+){0,6})'{1,2}(?![\w'`)\]]*`)(?![\w'`])"
)
"""Words between quotation marks of older texts: ```name'``."""
CODE_MARKS: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "Haskell": (
        (
            re.compile(
                r"^[ \t]*(?:Module|Copyright|Licen[sc]e|Maintainer|Stability|Portability)[ \t]*:[^\n]*",
                re.MULTILINE,
            ),
            BREAK,
        ),
        (re.compile(r"^[ \t]*@[ \t]*\n(?:(?![ \t]*@[ \t]*$)[^\n]*\n)*[ \t]*@[ \t]*$", re.MULTILINE), BREAK),
        (re.compile(r"(?<![\w@])@[^@\n]{1,200}@(?!\w)"), OPAQUE),
        (re.compile(r"(?<![\w'])'(?:[A-Z]\w*\.)*[A-Za-z_][\w']*'(?!\w)"), OPAQUE),
    ),
    "GoLexer": ((re.compile(r"\A\s*(?:unordered )?output:.*", re.DOTALL | re.IGNORECASE), BREAK),),
    "PowerShell": (
        (
            re.compile(r"^[ \t]*\.EXAMPLE\b[^\n]*(?:\n[ \t]*(?=\n))*(?:\n[ \t]*[^\s.][^\n]*)*", re.MULTILINE),
            BREAK,
        ),
        (re.compile(r"^[ \t]*\.[A-Z]{3,}\b[^\n]*$", re.MULTILINE), BREAK),
    ),
    "Scala": (
        (re.compile(r"\{\{\{(?:[^}\n]|\}(?!\}\}))*\}\}\}"), OPAQUE),
        (re.compile(r"\{\{\{(?:[^}]|\}(?!\}\})){0,2000}\}\}\}"), BREAK),
    ),
    "R": (
        (
            re.compile(
                r"\\(?:code|link|linkS4class|url|email|pkg|eqn|deqn|doi|verb|samp|file|var|env|option|command)"
                r"(?:\[[^\]\n]*\])?\{[^{}\n]*(?:\{[^{}\n]*\}[^{}\n]*)*\}"
            ),
            OPAQUE,
        ),
    ),
    "OCaml": (
        (re.compile(r"\{\[(?:[^\]]|\](?!\}))*\]\}|\{v\s(?:[^v]|v(?!\}))*v\}"), BREAK),
        (re.compile(r"\[[^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*\]|\{!(?:[a-z]+:)?[^{}\s]+\}"), OPAQUE),
    ),
}
"""Code in comments as the documentation tools of a language mark it, and what replaces it."""

Span = tuple[int, int]
_SESSION = re.compile(r"^[ \t]*(?:>>>|In \[\d*\]:)[^\n]*(?:\n[ \t]*\S[^\n]*)*|^[ \t]*\$ [^\n]*", re.MULTILINE)
"""A doctest with its output, or a shell command."""

_ONLY_ARTICLE = re.compile(r"[\W_]*(an?|the)[\W_]*", re.IGNORECASE)
_SOME_WORD = "x"
_SPACE_BETWEEN = re.compile(r"\s")


def paint_block(
    block: CommentBlock,
    *,
    has_types: bool = False,
    nested: re.Pattern[str] | None = None,
    language: str = "",
) -> Canvas:
    """Paint over everything in a block but its prose.

    All offsets refer to ``block.text``, and the returned text has the same length. If the block
    `has_types`, the word after ``@return`` is one. Marks of comments in the comment match `nested`;
    `language` is the key of the marks of code in `CODE_MARKS`.
    """
    canvas = Canvas(block.text)
    if nested is not None:
        _paint_matches(canvas, nested, BREAK)
    for mark, character in CODE_MARKS.get(language, ()):
        _paint_matches(canvas, mark, character)
    _leave_out_licence(canvas)
    labels = _paint_documentation(canvas, block)
    paint_code(canvas, canvas.text)
    if has_types:
        _paint_matches(canvas, RETURN_TYPE, OPAQUE)
    labels += [m.span() for mark in (TAG, FIELD, PARAMETER, NOTE) for m in mark.finditer(canvas.text)]
    for start, end in labels:
        canvas.fill(start, end, _SOME_WORD)  # so that Markdown sees a line that begins with text
    painted = read_markdown(canvas.text)
    for start, end in labels:
        painted.leave_out(start, end)
    _paint_names(painted)
    return painted


def _leave_out_licence(canvas: Canvas) -> None:
    """If a comment has a licence, leave out its paragraphs, except for prose about the code."""
    if not LICENCE.search(canvas.text):
        return
    for paragraph in _PARAGRAPHS.finditer(canvas.text):
        is_prose = len(_SMALL_WORD.findall(paragraph[0])) >= _MIN_SMALL_WORDS_IN_HEADER
        if not is_prose or LICENCE.search(paragraph[0]) or _LEGAL.search(paragraph[0]):
            canvas.leave_out(*paragraph.span())


def _paint_documentation(canvas: Canvas, block: CommentBlock) -> list[Span]:
    """Paint over the marks of documentation tools; return the labels, such as names of parameters."""
    for match in GNU_QUOTE.finditer(canvas.text):
        if _SPACE_BETWEEN.search(match["quoted"]):
            canvas.fill(*match.span(1))
        else:
            canvas.fill(*match.span(), OPAQUE)
    _paint_matches(canvas, PRAGMA, BREAK)
    _paint_matches(canvas, _SESSION, BREAK)
    _paint_matches(canvas, EXAMPLE, BREAK)
    _paint_matches(canvas, DOXYGEN_CODE, BREAK)
    _paint_matches(canvas, DOXYGEN_MATH, OPAQUE)
    for match in INLINE_NAME.finditer(canvas.text):
        canvas.fill(*match.span("mark"))
        canvas.fill(*match.span("name"), OPAQUE)
    for match in EMPHASIS.finditer(canvas.text):
        canvas.fill(*match.span())
    _paint_matches(canvas, VERBATIM, BREAK)  # a line with a tag alone would be taken for code
    _paint_matches(canvas, LINK, OPAQUE)  # a line that ends with a brace would be taken for code
    labels: list[Span] = []
    for match in XML_TAG.finditer(canvas.text):
        labels.append(match.span())
        canvas.fill(*match.span(), _SOME_WORD)  # a line of tags would be taken for code
    if block.docstring:
        labels += paint_docstring(canvas, canvas.text, block.lines)
    else:
        for match in REMARK_END.finditer(canvas.text):
            canvas.end_sentence(match.start(1))
    return labels


def _paint_names(painted: Canvas) -> None:
    """Paint over what is a name in the code: calls, formulas, words in capitals, and the like."""
    for mark in (CALL, FORMULA, CAPITALS, KEYWORD, TYPE):
        _paint_matches(painted, mark, OPAQUE)
    for chunk in _CHUNK.finditer(painted.text):
        if len(chunk[0]) > LONGEST_WORD or NAME.search(chunk[0]):
            painted.fill(*chunk.span(), OPAQUE)
    for match in FIRST_WORD.finditer(painted.text):
        painted.fill(*match.span("word"), OPAQUE)
    if any(match[0] != "a" for match in LETTER.finditer(painted.text)):
        articles = {match.start() for match in _ARTICLE.finditer(painted.text)}
        for match in LETTER.finditer(painted.text):
            if match.start() not in articles:
                painted.fill(match.start(), match.end(), OPAQUE)
    if only_article := _ONLY_ARTICLE.fullmatch(painted.text):
        painted.fill(*only_article.span(1), OPAQUE)  # a name, or a part of a drawing


def _paint_matches(canvas: Canvas, mark: re.Pattern[str], character: str) -> None:
    """Paint over the matches of a pattern; `BREAK` is written only once per match, at its start."""
    for match in mark.finditer(canvas.text):
        if character == BREAK:
            canvas.leave_out(*match.span())
        else:
            canvas.fill(match.start(), match.end(), character)


SUFFIXES = tuple(LANGUAGES)
_NESTED_MARKS = {
    "{-": re.compile(r"\{-+(?:[ \t]*[|^](?!\S))?|-+\}"),
    "/*": re.compile(r"/\*+!?|\*+/"),
    "(*": re.compile(r"\(\*+|\*+\)"),
    "#=": re.compile(r"#=|=#"),
}
"""Marks of comments within a comment, by the mark of that one."""
_NEST = ("RustLexer", *(name for name, syntax in SYNTAXES.items() if syntax.nested))
"""Lexers of languages whose comments can be nested, or languages of `_comments`."""
_PRAGMA = re.compile(r"(?<=\s)(?:#|//|--)\s*disambig\s*:", re.IGNORECASE)
YAML_FIELDS = frozenset(("description", "summary"))
"""Fields of YAML whose values are prose, in OpenAPI, workflows, definitions of resources and others."""
_QT_FILE = re.compile(r"\ufeff?\s*<(?:\?xml\b|!DOCTYPE\s+TS\b|TS\b)")
"""The beginning of a translation file of Qt, which has the suffix of TypeScript."""
_CATALOGUE = re.compile(
    r"\A\ufeff?(?:(?:---)?[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*"
    r"[\"']?en(?:[-_][A-Za-z]{2,4})?[\"']?:[ \t]*(?:#[^\r\n]*)?(?=[\r\n])"
)
"""The beginning of strings of a program in YAML: their language is the first key."""
_DOUBLED, _LINE_END = re.compile("''"), re.compile("[\r\n]")
_DOUBLED_APOSTROPHE = re.compile(r"[\w']*''[\w']*")
_MARGIN = "\u00a0"
"""Replacement for code: a blank that is not taken for the indentation of a Markdown code block."""


def read_code(text: str, suffix: str, yaml_fields: Collection[str] = YAML_FIELDS) -> Canvas:
    """Paint over everything in `text` but the prose of its comments and docstrings.

    `suffix`: suffix of the file name, one of `SUFFIXES`.
    `yaml_fields`: names of fields in YAML whose values are prose, in lower case.
    """
    if suffix == ".ts" and _QT_FILE.match(text):
        from disambig.markup.localisation import read_qt  # that module imports this one

        return read_qt(text)
    canvas = Canvas(text)
    canvas.fill(0, len(text), _MARGIN)  # prose is written back below
    read = without_long_lines(text)
    comments = find_comments(read, suffix)
    if LANGUAGES[suffix] == PERL:
        documents = [comment for comment in comments if read.startswith("=", comment.start)]
        comments = [comment for comment in comments if not read.startswith("=", comment.start)]
        for document in documents:
            _write_pod(canvas, read, document)
    nested_marks = _NESTED_MARKS if LANGUAGES[suffix] in _NEST else {}
    for block in iterate_blocks(read, comments):
        nested = nested_marks.get(read[block.start : block.start + 2])
        has_types = suffix in TYPED_SUFFIXES
        painted = paint_block(block, has_types=has_types, nested=nested, language=LANGUAGES[suffix])
        _write_block(canvas, block, painted)
    if suffix in _JSX:
        write_elements(canvas, read, find_elements(read))
    elif LANGUAGES[suffix] == VUE:
        write_template(canvas, read, is_svelte=suffix == ".svelte")
    elif LANGUAGES[suffix] == YAML:
        is_catalogue = _CATALOGUE.match(text) is not None
        fields = ("*",) if is_catalogue else yaml_fields
        for start, end in find_yaml_text(read, 0, len(read), fields)[1] if fields else ():
            _write_yaml_value(canvas, read, start, end, read_message if is_catalogue else read_markdown)
    canvas.comments += [
        span for comment in comments if not comment.docstring for span in _split_pragma(text, comment)
    ]
    return canvas


def _write_yaml_value(
    canvas: Canvas, text: str, start: int, end: int, read_text: Callable[[str], Canvas]
) -> None:
    """Write the prose of a value in YAML to its position."""
    quote = text[start - 1 : start]
    if quote == '"':
        EscapedText(text, [(start, end)]).write(canvas, read_text)
        return
    if quote == "'":
        canvas.apostrophes.append((start, end, "''"))
    if quote == "'" and not _LINE_END.search(text, start, end):
        EscapedText(text, [(start, end)], _DOUBLED, lambda doubled: "'").write(canvas, read_text)
        return
    block = _value_block(text, start, end)
    _write_block(canvas, block, read_text(block.text))
    canvas.end_sentence(end)
    if quote == "'":
        for match in _DOUBLED_APOSTROPHE.finditer(text, start, end):
            canvas.fill(*match.span(), OPAQUE)


def _value_block(text: str, start: int, end: int) -> CommentBlock:
    """Return the lines of a value in YAML without their indentation."""
    is_scalar = start == 0 or text[start - 1] in "\r\n"  # a value in the lines below its key
    rough = [(start + at, start + stop) for at, stop, _ in iterate_lines(text[start:end])]
    margin = _margin(text, rough if is_scalar else rough[1:])
    lines = []
    for number, (at, stop) in enumerate(rough):
        cut = len(margin) if (number or is_scalar) and text.startswith(margin, at, stop) else 0
        following = rough[number + 1][0] if number + 1 < len(rough) else stop
        lines.append(BlockLine(at + cut, stop, match_end(_LINES, text, stop, following), 0))
    whole = "\n".join(text[line.start : line.end] for line in lines)
    return CommentBlock(max(start - 1, 0), whole, tuple(lines), docstring=False)


def _write_pod(canvas: Canvas, text: str, document: Comment) -> None:
    """Write the prose of documentation of Perl to its position."""
    painted = read_pod(text[document.start : document.end])
    canvas.put(document.start, painted.text)
    canvas.comments += [(document.start + start, document.start + end) for start, end in painted.comments]


def _split_pragma(text: str, comment: Comment) -> list[tuple[int, int]]:
    """Return the span of a comment, or two spans if it ends with a pragma addressed to disambig."""
    inner = _PRAGMA.search(text, comment.start + 1, comment.end)
    if inner is None:
        return [(comment.start, comment.end)]
    return [(comment.start, inner.start()), (inner.start(), comment.end)]


def _write_block(canvas: Canvas, block: CommentBlock, painted: Canvas) -> None:
    """Write the prose of a block to its position; its sentences end with the block."""
    whole = painted.text
    has_mark = block.start < block.lines[0].start
    if has_mark or block.start:
        canvas.put(block.start - (not has_mark), BREAK)
    at = 0
    for line in block.lines:
        length = line.end - line.start
        canvas.put(line.start, whole[at : at + length])
        canvas.comments += [
            (line.start + start - at, line.start + end - at)
            for start, end in painted.comments
            if at <= start and end <= at + length
        ]
        canvas.shortened += [
            word.moved(line.start - at) for word in painted.shortened if at <= word.start < at + length
        ]
        at += length + 1
        if whole[at - 1 : at] == BREAK:
            canvas.end_sentence(line.end)
        elif whole[at - 1 : at] == BLANK:
            canvas.put(line.end, BLANK * (line.stop - line.end))
