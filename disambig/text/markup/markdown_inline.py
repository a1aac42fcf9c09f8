"""Markdown within a paragraph: emphasis, links, code, tags, mathematics. Blocks are `markdown`'s.

Kept: the text of links and of emphasis, and what images say where they cannot be seen, set apart by
`OPAQUE`. Blank: marks, targets, footnote marks, comments, struck-out text. `OPAQUE`: code, ``$...$``,
addresses, citations (``[@key]``), entities, placeholders (``{{ x }}``), words that a mark cuts.
Work is linear.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Collection

from disambig.text.markup.canvas import BLANK, BREAK, OPAQUE, Canvas

_MARKS = re.compile(
    r"\\[!-/:-@\[-`{-~]|`+|<|!?\[|\]|\*+|_+|~~+|\$\$?|&|\{\{|\{%|\{(?=[#.:])|(?:https?|ftp)://[^\s<>\[\]()]*"
)
_TICKS = re.compile("`+")
_DOLLARS = re.compile(r"\\.|\$\$?")
_ENTITY = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}%]*%\}")
_ATTRIBUTES = re.compile(r"\{[#.:][^{}\n]*\}")
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]{1,64}@[^\s<>]*)>")
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9:-]*)(?:[\s/][^<>]*)?>")
_VERBATIM = frozenset(
    ("code", "kbd", "samp", "pre", "script", "style", "math", "svg", "textarea", "tt", "var")
)
_LEFT_ALONE = frozenset(("q", "blockquote", "del", "s", "strike"))
_WITHIN = frozenset(
    "a abbr acronym b bdi bdo big cite em font i ins label mark nobr small span strong sub sup time u".split()
)
_REFERENCE = re.compile(r"\[[^\[\]]*\]")
_ANGLED = re.compile(r"<[^<>\n]*>")
_BARE = re.compile(r"[^\s()<]*(?:\([^\s()]*\)[^\s()]*)*")
_SPACE = re.compile(r"\s*")
_TITLE = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)")
_AFTER_ADDRESS = ".,;:!?'\"*_~"
_LONGEST_LABEL = 300


def label_of(label: str) -> str:
    """Return what two labels of one reference have in common."""
    return " ".join(label.casefold().split())


def paint_inline(canvas: Canvas, text: str, start: int, end: int, *, labels: Collection[str]) -> None:
    """Paint over the marks in ``text[start:end]``, which is `canvas.text` with its blocks painted.

    Parameters
    ----------
    labels : collection of str
        Labels that are defined somewhere in the text, as `label_of` returns them.
    """
    _Inline(canvas, text, start, end, labels).paint()


class _Inline:
    """Reads marks from left to right; each look ahead is remembered where it is in vain."""

    def __init__(self, canvas: Canvas, text: str, start: int, end: int, labels: Collection[str]) -> None:
        self.canvas, self.text, self.start, self.end = canvas, text, start, end
        self.labels = labels
        self.brackets: list[tuple[int, int]] = []  # place and width of what opens
        self.runs: dict[str, list[list[int]]] = {"*": [], "_": []}
        self.struck = -1
        self.in_vain: set[str] = set()
        self.ticks: dict[int, list[int]] | None = None
        self.dollars: tuple[list[int], list[int]] | None = None

    def paint(self) -> None:
        """Paint over the marks."""
        at = self.start
        while match := _MARKS.search(self.text, at, self.end):
            at = max(self._mark(match.start(), match.end(), match[0]), match.start() + 1)

    def _mark(self, at: int, after: int, mark: str) -> int:
        """Treat one mark and return where to read on."""
        kind = mark[0]
        if kind == "\\":
            self.canvas.mark(at, at + 1)
            if self._letters_beside(at, after):
                self.canvas.hide_word(at, after)
        elif kind == "`":
            return self._code(at, after)
        elif kind == "<":
            return self._angle(at)
        elif mark in ("[", "!["):
            self.brackets.append((at, len(mark)))
        elif kind == "]":
            return self._link(at)
        elif kind in "*_":
            self._emphasis(kind, at, after)
        elif kind == "~":
            self._strike(at, after)
        elif kind == "$":
            return self._math(at, after)
        elif kind == "&":
            if entity := _ENTITY.match(self.text, at, self.end):
                meant = html.unescape(entity[0])
                self.canvas.fill(at, entity.end(), BLANK if meant.isspace() else OPAQUE)
                if meant.isalpha():
                    self.canvas.hide_word(at, entity.end())
                return entity.end()
        elif kind == "{":
            return self._braces(at, after)
        else:
            after = at + len(mark.rstrip(_AFTER_ADDRESS))
            self.canvas.fill(at, after, OPAQUE)
        return after

    def _letters_beside(self, at: int, after: int) -> bool:
        return self.start < at and after < self.end and (self.text[at - 1] + self.text[after]).isalnum()

    def _code(self, at: int, after: int) -> int:
        if self.ticks is None:
            self.ticks = {}
            for match in _TICKS.finditer(self.text, at, self.end):
                self.ticks.setdefault(match.end() - match.start(), []).append(match.start())
        width = after - at
        places = self.ticks.get(width, [])
        following = bisect_left(places, after)
        if following == len(places):
            return after
        stop = places[following] + width
        self.canvas.fill(at, stop, OPAQUE)
        return stop

    def _angle(self, at: int) -> int:
        text, canvas = self.text, self.canvas
        if text.startswith("<!--", at):
            stop = self._search("-->", at + 4)
            if stop < 0:
                return at + 4
            canvas.comment(at, stop)
            return stop
        if match := _AUTOLINK.match(text, at, self.end):
            canvas.fill(at, match.end(), OPAQUE)
            return match.end()
        match = _TAG.match(text, at, self.end)
        if not match:
            return at + 1
        name, opens = match[1].lower(), text[at + 1] != "/"
        if opens and name in _VERBATIM | _LEFT_ALONE and not match[0].endswith("/>"):
            stop = self._search(f"</{name}", match.end())
            if stop >= 0:
                stop = max(stop, text.find(">", stop, self.end) + 1)
                canvas.fill(at, stop, OPAQUE)
                return stop
        if name in _WITHIN:
            canvas.mark(at, match.end())
        else:
            canvas.fill(at, match.end(), OPAQUE if name == "img" else BREAK)
        return match.end()

    def _search(self, what: str, at: int) -> int:
        """Return where `what`, in any case, ends; -1 where there is none from `at` on."""
        if what in self.in_vain:
            return -1
        found = re.compile(re.escape(what), re.IGNORECASE).search(self.text, at, self.end)
        if not found:
            self.in_vain.add(what)
            return -1
        return found.end()

    def _link(self, close: int) -> int:
        """Treat a closing bracket."""
        after = close + 1
        if not self.brackets:
            return after
        at, width = self.brackets.pop()
        inside = at + width
        image = width == 2
        first = self.text[inside]
        if not image and first == "^":
            self.canvas.fill(at, after)
            return after
        if not image and first == "@" and close - inside < _LONGEST_LABEL:
            self.canvas.fill(at, after, OPAQUE)
            return after
        stop = self._target(after)
        if stop < 0 and (reference := _REFERENCE.match(self.text, after, self.end)):
            stop = reference.end()
        if stop < 0 and close - inside < _LONGEST_LABEL and label_of(self.text[inside:close]) in self.labels:
            stop = after
        if stop < 0:
            return after
        character = OPAQUE if image else BLANK
        self.canvas.mark(at, inside, character)
        self.canvas.mark(close, stop, character)
        return stop

    def _target(self, at: int) -> int:
        """Return where ``(target "title")`` ends; -1 where `at` has none."""
        text, end = self.text, self.end
        if not text.startswith("(", at):
            return -1
        at = self._space(at + 1)
        found = _ANGLED.match(text, at, end) or _BARE.match(text, at, end)
        at = self._space(found.end() if found else at)
        if title := _TITLE.match(text, at, end):
            at = self._space(title.end())
        return at + 1 if at < end and text[at] == ")" else -1

    def _space(self, at: int) -> int:
        found = _SPACE.match(self.text, at, self.end)
        return found.end() if found else at

    def _emphasis(self, kind: str, at: int, after: int) -> None:
        before = self.text[at - 1] if at > self.start else BLANK
        follows = self.text[after] if after < self.end else BLANK
        left = not follows.isspace() and (follows.isalnum() or not before.isalnum())
        right = not before.isspace() and (before.isalnum() or not follows.isalnum())
        opens, closes = left, right
        if kind == "_":
            opens, closes = left and not before.isalnum(), right and not follows.isalnum()
        openers = self.runs[kind]
        place = at
        while closes and openers and place < after:
            opener = openers[-1]
            n = min(after - place, opener[1] - opener[0])
            self.canvas.mark(opener[1] - n, opener[1])
            self.canvas.mark(place, place + n)
            opener[1] -= n
            place += n
            if opener[0] == opener[1]:
                openers.pop()
        if opens and place < after:
            openers.append([place, after])

    def _strike(self, at: int, after: int) -> None:
        if self.struck < 0:
            self.struck = at if self.text[after : after + 1].strip() else -1
        elif self.text[at - 1].strip():
            self.canvas.fill(self.struck, after)
            self.struck = -1

    def _math(self, at: int, after: int) -> int:
        if self.dollars is None:
            self.dollars = [], []
            for match in _DOLLARS.finditer(self.text, at, self.end):
                if match[0][0] == "$":
                    self._note_closing(match.start(), match.end())
        width = after - at
        if width == 1 and (after == self.end or self.text[after].isspace()):
            return after
        closing = self.dollars[width - 1]
        following = bisect_left(closing, after)
        if following == len(closing):
            return after
        stop = closing[following] + width
        self.canvas.fill(at, stop, OPAQUE)
        return stop

    def _note_closing(self, at: int, after: int) -> None:
        """Remember dollars that can close: not after a space, nor before a digit, where there is one."""
        assert self.dollars is not None
        if after - at == 2:
            self.dollars[1].append(at)
        elif not self.text[at - 1 : at].isspace() and not self.text[after : after + 1].isdigit():
            self.dollars[0].append(at)

    def _braces(self, at: int, after: int) -> int:
        match = _PLACEHOLDER.match(self.text, at, self.end)
        if match:
            self.canvas.fill(at, match.end(), OPAQUE)
            return match.end()
        if match := _ATTRIBUTES.match(self.text, at, self.end):
            self.canvas.fill(at, match.end())
            return match.end()
        return after
