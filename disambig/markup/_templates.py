"""Templates of Jinja, Liquid, Twig, Handlebars, ERB, EJS, Go and Smarty: the tags that a program replaces.

A tag that prints something (``{{ name }}``) becomes `OPAQUE`, together with the letters beside it. Blocks,
loops, inclusions and ``else`` end a sentence, conditions do not. Comments are comments as in other formats.
What is left is a text in the format of the suffix before that of the template, and the reader of that format
reads it.

A tag without an end is text. The running time is linear in the length of the text.
"""

from __future__ import annotations

import re
from functools import cached_property

from disambig.markup.canvas import BLANK, BREAK, OPAQUE, Canvas, Span, search, word_around

TAG_ENDS = {"{{{": "}}}", "{{": "}}", "{%": "%}", "{#": "#}", "<%": "%>"}
_BLOCKS = frozenset(
    "block endblock for endfor foreach each eachIn macro endmacro include extends import from set endset load"
    " section autoescape endautoescape cache endcache call endcall raw endraw verbatim endverbatim"
    " comment endcomment tablerow endtablerow capture endcapture assign layout render partial case endcase"
    " when schema javascript stylesheet".split()
)
ALTERNATIVES = frozenset("else elif elsif elseif foreachelse".split())
_CONDITIONS = frozenset(
    "if endif unless endunless end ifequal endifequal ifchanged endifchanged with endwith blocktrans"
    " endblocktrans blocktranslate endblocktranslate trans endtrans filter endfilter spaceless"
    " endspaceless".split()
)
_HIDDEN_BLOCKS = frozenset("raw verbatim comment schema javascript stylesheet".split())
PRINTING = frozenset(("trans", "translate"))
"""Statements that print a text in quotes, or else translate the text up to their end."""
QUOTED_TEXT = re.compile("[\"'](?P<text>[^\"']*)")
_OPENING = re.compile(r"(?:\{\{\{?|\{[%#]?|<%)(?P<kind>[-+~=!#/^>&%_*]*)[\s}]*(?P<name>[A-Za-z]\w*)?")
_BRACES = r"\{\{\{?|\{[%#]"
_SMARTY = r"\{(?=\*|\$|/?(?:if|else|elseif|foreach|foreachelse|for|section|include|block|capture)\b)"
_MARKS = {
    **dict.fromkeys((".erb", ".ejs"), re.compile("<%")),
    ".tmpl": re.compile(rf"<%|{_BRACES}"),
    ".tpl": re.compile(rf"<%|{_BRACES}|{_SMARTY}"),
}
"""What begins a tag, by suffix; in other templates these are braces."""
_GO = frozenset((".tmpl", ".gotmpl", ".tpl"))
_GO_BLOCKS, _GO_CONDITIONS = frozenset(("range", "define", "template")), frozenset(("if", "with", "end"))
_LONGEST_TAG = 20_000


def read_tag(text: str, at: int, end: int, mark: str, *, is_go: bool = False) -> tuple[str, str]:
    """Return the name in a tag, and the character that stands for the tag: empty for a comment.

    `end`: where the closing mark begins.
    `is_go`: whether the statements of Go have no sign of their own.
    """
    opening = _OPENING.match(text, at, end)
    kind, name = (opening["kind"], opening["name"] or "") if opening else ("#", "")
    sign = kind.lstrip("-~")[:1]
    is_go_comment = mark == "{{" and text[at + len(mark) : end].lstrip("- \t").startswith("/*")
    if is_go_comment or (mark, sign) in (("<%", "#"), ("{{", "!"), ("{", "*")) or mark == "{#":
        return name, ""
    is_statement = mark == "{%" or (mark == "<%" and "=" not in kind) or not set("#/^>").isdisjoint(kind)
    if mark == "{":
        is_statement = name != ""
    if is_go and name in _GO_BLOCKS:
        return name, BREAK
    if name in _BLOCKS and (is_statement or mark == "{{"):
        return name, BREAK
    if name in ALTERNATIVES:
        return name, OPAQUE
    if is_go and name in _GO_CONDITIONS:
        return name, BLANK
    return name, BLANK if is_statement and (name in _CONDITIONS or mark != "{%") else OPAQUE


def hidden_block_end(text: str, name: str, mark: str, at: int, missing: set[str]) -> int:
    """Return the end of a block whose contents are not read; `at` if the tag begins no such block.

    `missing`: see `search`.
    """
    if mark != "{%" or name not in _HIDDEN_BLOCKS:
        return at
    end = search(text, rf"\{{%[-+]?\s*end{name}\s*[-+]?%\}}", at, missing)
    return end.end() if end else at


# A tag of Jinja or Liquid (`{% name`, `{% endname`) or a shortcode of Hugo (`{{< name`, `{{< /name`).
_IN_PROSE = re.compile(
    r"(?:\{%|\{\{(?P<shortcode>[<%])?)[-~+\s]*(?P<closes>/\s*|end(?=[A-Za-z]))?(?P<name>[A-Za-z][\w-]*)?"
)
_END_TAG = re.compile(r"\{[{%][<%]?[-~+\s]*(?:end|/\s*)(?P<name>[A-Za-z][\w-]*)")
_CLOSING = re.compile(r"(?:\{\{\{?|\{[%#]?|<%)[-+~\s]*(?:/|end|\})")
_SENTENCE_ENDS = (".", "!", "?", ":")
_MARGIN = 4
"""Number of characters before a tag in which a sentence may end."""
_GOES_ON = re.compile(r"\s[a-z]")
_CONDITION = re.compile(r"(?:if|unless|with)(?:\w*)\Z")
_INCLUSIONS = frozenset("include render partial layout".split())


class Alternatives:
    """Texts of a condition with ``else``, of which only one is shown.

    ``else`` ends a sentence. The end of such a condition is a word, unless a sentence ends before it.
    """

    def __init__(self) -> None:
        self._is_open = False

    def character(self, text: str, start: int, name: str, character: str) -> str:
        """Return the character that stands for a tag; `read_tag` returned `name` and `character`."""
        if name in ALTERNATIVES:
            self._is_open = True
            return BREAK
        if character != BLANK or not _CLOSING.match(text, start):
            return character
        is_word = self._is_open and not text[max(start - _MARGIN, 0) : start].rstrip().endswith(
            _SENTENCE_ENDS
        )
        self._is_open = False
        return OPAQUE if is_word else BLANK

    def begin(self) -> None:
        """Begin an alternative that has no tag ``else``."""
        self._is_open = True


class TagsOfProse:
    """Reader of the tags in a paragraph of a format that is not a template itself, such as Markdown.

    Values (``{{ name }}``) are words. Of statements and of Hugo's shortcodes (``{{< note >}}``), conditions
    and pairs of tags within a line are invisible, and those that begin or end a line end a sentence; all
    others are words. A condition directly after another one is an alternative.

    The paragraph is ``text[start:end]``.
    """

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self._span = text, (start, end)
        self._alternatives = Alternatives()
        self._condition_end = -1  # end of the last tag that ends a condition

    def character(self, text: str, start: int, end: int, *, begins: bool, ends: bool) -> str:
        """Return the character that stands for a tag; empty for a comment.

        `begins` and `ends`: whether nothing but tags is before it, or after it, in its line.
        """
        match = _IN_PROSE.match(text, start, end)
        mark = text[start : start + 2]
        name, character = read_tag(text, start, end - len(mark), mark)
        if match is None or not character or (mark == "{{" and not match["shortcode"]):
            return self._alternatives.character(text, start, name, character)
        inner = match["name"] or ""
        if name in ALTERNATIVES or _CONDITION.match(inner):
            if match["closes"]:
                self._condition_end = end
            elif name not in ALTERNATIVES and 0 <= self._condition_end <= start <= self._condition_end + 1:
                self._alternatives.begin()
                return BREAK
            return self._alternatives.character(text, start, name, BLANK)
        if character == BLANK or inner in _BLOCKS - _INCLUSIONS:
            return character if character == BLANK else BREAK
        if match["closes"]:
            return BREAK if ends else BLANK
        is_pair = self._last_ends.get(inner, -1) >= end
        if begins and not _GOES_ON.match(text, end):
            return BREAK
        return BLANK if is_pair else OPAQUE

    @cached_property
    def _last_ends(self) -> dict[str, int]:
        """The start of the last end tag of each name."""
        return {match["name"]: match.start() for match in _END_TAG.finditer(self._text, *self._span)}


def hide_tags(text: str, suffix: str, *, keep_printed: bool = False) -> tuple[str, list[Span]]:
    """Return a template with its tags painted over, and the spans of its comments.

    `suffix`: that of the template, such as ``.j2``; it determines what a tag is.
    `keep_printed`: whether ``{% trans "a text" %}`` remains, which the reader of HTML reads.
    """
    canvas, marks = Canvas(text), _MARKS.get(suffix) or re.compile(_BRACES)
    missing: set[str] = set()
    alternatives = Alternatives()
    ends: dict[str, int] = {}  # the next place of each closing mark
    at = 0
    while match := marks.search(text, at):
        start, mark, at = match.start(), match[0], match.end()
        closings = ["*}" if text.startswith("{*", start) else TAG_ENDS.get(mark, "}")]
        if text.startswith(("{{!--", "{{~!--"), start):  # it may contain tags
            closings = ["--}}", "--~}}"]
        for closing in closings:
            if 0 <= ends.get(closing, 0) < at:
                ends[closing] = text.find(closing, at)
        places = [(ends[closing], closing) for closing in closings if ends[closing] >= 0]
        place, closing = min(places, default=(len(text), ""))
        if place > start + _LONGEST_TAG or not closing:
            continue
        name, character = read_tag(text, start, place, mark, is_go=suffix in _GO)
        if keep_printed and name in PRINTING and QUOTED_TEXT.search(text, start, place):
            continue
        at = place + len(closing)
        if character:
            at = hidden_block_end(text, name, mark, at, missing)
            is_word = character == OPAQUE and name not in ALTERNATIVES
            character = alternatives.character(text, start, name, character)
            _hide_tag(canvas, start, at, character, name, is_word=is_word)
        else:
            canvas.comment(start, at)
    return canvas.text, canvas.comments


def _hide_tag(canvas: Canvas, start: int, end: int, character: str, name: str, *, is_word: bool) -> None:
    """Paint over a tag, and over the letters beside it if it is part of a word.

    `is_word`: whether a letter on one side is enough, since the tag prints something.
    """
    text = canvas.original
    begins, ends = text[start - 1 : start].isalnum(), text[end : end + 1].isalnum()
    if character == BREAK and not (begins and ends and name in ALTERNATIVES):
        canvas.leave_out(start, end)
        return
    if (character == OPAQUE and is_word) or (begins and ends):
        character = OPAQUE
        start, end = word_around(text, start, end)
    canvas.fill(start, end, character)
