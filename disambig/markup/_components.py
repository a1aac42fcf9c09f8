"""Find and read the text that components show: JSX in code, and the templates of Vue and Svelte.

Between tags and in attributes such as ``title`` and ``placeholder``, text is read as in HTML. Expressions in
braces become `OPAQUE`; blocks such as ``{#each}`` end a sentence. Code that only looks like JSX is left
alone: an element is read if all its tags are closed. The running time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from disambig.markup.canvas import BLANK, BREAK, OPAQUE, Canvas, Span, iterate_between, names, search
from disambig.markup.html_pages import HTML, NOTHING, ElementKinds, TagReader

_WITHIN = names(
    "badge bold chip em emphasis highlight italic link navlink nextlink nuxtlink nuxt-link router-link"
    " routerlink t text tooltip trans i18n-t"
)
"""Components within a sentence, in lower case."""
_CODE = names("codeblock code-block inlinecode prism snippet syntaxhighlighter")
_TEMPLATE_KINDS = replace(
    HTML,
    within=HTML.within | _WITHIN,
    left_out=(HTML.left_out | _CODE) - {"template", "object", "head"},
    raw=names("script style"),
)
# Strings and regular expressions are matched so that marks in them are skipped; a slash begins a regular
# expression only after an operator or an opening bracket, and is a division otherwise.
_CODE_MARK = re.compile(
    r"//[^\r\n]*|/\*|\"(?:[^\"\\\r\n]|\\.)*\"|'(?:[^'\\\r\n]|\\.)*'|`|[{}]|<(?=[A-Za-z>])"
    r"|(?<=[(,=:\[!&|?{};])[ \t]{0,9}/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\r\n])*\]|[^/\\\r\n\[])+/"
)
_TEMPLATE_MARK = re.compile(r"\\.|`|\$\{", re.DOTALL)
_NAME = r"[A-Za-z_$][\w$.:-]*"
_TAG_NAME = re.compile(rf"<({_NAME})?")
# Space, a name, a value in quotes, or what begins a hole or ends the tag.
_TAG_PART = re.compile(
    rf"\s+|{_NAME}|=\s*(?:\"[^\"]*\"|'[^']*')|=\s*(?=\{{)|(?P<hole>\{{)|(?P<empty>/\s*>)|(?P<end>>)"
)
_CHILD = re.compile(rf"(?P<hole>\{{)|</\s*(?P<closed>(?:{_NAME})?)\s*>|<(?P<opened>(?:{_NAME})?)(?=[\s/>])|<")
_BEFORE = re.compile(r"(?:[(=?:&|,\[{!]|=>|\b(?:return|default|case|else|yield|await))\s*\Z")
_GENERIC = re.compile(r"<[A-Z]\w*(?:\s+extends\b|\s*>\s*\()")
"""Parameters of a type, which look like a tag."""
_NEARBY = 200
"""Number of characters in which the code before a tag is searched."""


@dataclass(slots=True)
class Element:
    """An element of JSX that is not a child of another one."""

    start: int
    end: int = -1
    holes: list[Span] = field(default_factory=list)  # code in braces, also in its tags and children


@dataclass(slots=True)
class _Frame:
    """Something that is open: code (with the number of open braces), a template literal, or an element."""

    kind: str  # "code", "template", "tag" or "children"
    start: int
    depth: int = 0
    element: Element | None = None
    names: list[str] = field(default_factory=list)  # of open tags


def find_elements(text: str) -> list[Element]:
    """Return the elements of JSX in code, also those in the holes of others, without unclosed ones."""
    elements: list[Element] = []
    frames = [_Frame("code", 0)]
    at = 0
    while at < len(text):
        if frames[-1].kind == "code":
            at = _read_code(text, at, frames)
        elif frames[-1].kind == "template":
            at = _read_template(text, at, frames)
        else:
            at = _read_element(text, at, frames, elements)
    return elements


def _read_code(text: str, at: int, frames: list[_Frame]) -> int:
    """Read code up to its next brace, template literal, comment or tag; return the position after that."""
    frame = frames[-1]
    mark = _CODE_MARK.search(text, at)
    if mark is None:
        return len(text)
    start, at = mark.span()
    if mark[0] == "`":
        frames.append(_Frame("template", start))
    elif mark[0] == "{":
        frame.depth += 1
    elif mark[0] == "}" and frame.depth:
        frame.depth -= 1
    elif mark[0] == "}" and len(frames) > 1:  # the end of a hole in a template literal or an element
        frames.pop()
        if (element := frames[-1].element) is not None:
            element.holes.append((frame.start, at))
    elif mark[0] == "/*":
        end = text.find("*/", at)
        return len(text) if end < 0 else end + 2
    elif mark[0] == "<" and _BEFORE.search(text, max(0, start - _NEARBY), start):
        name = _TAG_NAME.match(text, start)
        if name is not None and not _GENERIC.match(text, start):
            frames.append(_Frame("tag", start, element=Element(start), names=[name[1] or ""]))
            return name.end()
    return at


def _read_template(text: str, at: int, frames: list[_Frame]) -> int:
    """Read a template literal up to its end or its next hole; return the position after that."""
    mark = _TEMPLATE_MARK.search(text, at)
    if mark is None:
        return len(text)
    if mark[0] == "`":
        frames.pop()
    elif mark[0] == "${":
        frames.append(_Frame("code", mark.start()))
    return mark.end()


def _read_element(text: str, at: int, frames: list[_Frame], elements: list[Element]) -> int:
    """Read the next part of the innermost open element; return the position after it."""
    frame = frames[-1]
    mark = _TAG_PART.match(text, at) if frame.kind == "tag" else _CHILD.search(text, at)
    if mark is None:  # not an element, or one without an end
        frames.pop()
        return at if frame.kind == "tag" else len(text)
    after, parts = mark.end(), mark.groupdict()
    if parts["hole"]:
        frames.append(_Frame("code", mark.start()))
    elif frame.kind == "tag":
        if parts["empty"]:
            frame.names.pop()
        if parts["empty"] or parts["end"]:
            frame.kind = "children"
    elif parts["opened"] is not None:
        frame.names.append(parts["opened"])
        frame.kind = "tag"
    elif parts["closed"] != frame.names[-1]:
        frames.pop()
        return after
    else:
        frame.names.pop()
    if not frame.names and frame.element is not None:
        frame.element.end = after
        elements.append(frame.element)
        frames.pop()
    return after


def mask_elements(text: str, elements: Sequence[Element]) -> str:
    """Return code with its elements of JSX replaced by blanks, apart from code in their holes."""
    canvas = Canvas(text)
    for element in elements:
        for start, end in iterate_between(element.start, element.end, element.holes):
            canvas.fill(start, end, " ")
    return canvas.text


_JSX_KINDS = replace(_TEMPLATE_KINDS, empty=NOTHING, closes={})
_BLANK_HOLE = re.compile(r"\{\s*(?:([\"'`])\s*\1|(/\*(?:[^*]|\*(?!/))*\*/))?\s*\}")
_BLOCK = re.compile(r"\{\s*(?:[#/](?:each|await|key|snippet)|:then|:catch|@)")
_CONDITION = re.compile(r"\{\s*[#/]")
_NAME_IN_HOLE = re.compile(r"\{[^{}<>/`\r\n]*\}")
_FRAGMENT = re.compile(r"</?>")
_LONGEST_HOLE = 10_000


def _hole_character(text: str, start: int, end: int) -> str:
    """Return what stands for code in braces."""
    hole = text[start : min(end, start + _LONGEST_HOLE)]
    if blank := _BLANK_HOLE.fullmatch(hole):
        return BREAK if blank[2] else BLANK
    if _BLOCK.match(hole):
        return BREAK
    return BLANK if _CONDITION.match(hole) else OPAQUE


def write_elements(canvas: Canvas, text: str, elements: Sequence[Element]) -> None:
    """Write the text of elements of JSX to their places."""
    for element in elements:
        _write(canvas, text, element.start, element.end, element.holes, _JSX_KINDS)


def _write(
    canvas: Canvas, text: str, start: int, end: int, holes: Sequence[Span], kinds: ElementKinds
) -> None:
    """Write the text of a span of tags and text to its place, but nothing into its holes."""
    inner = Canvas(text[start:end])
    for first, last in holes:
        inner.fill(first - start, last - start, _hole_character(text, first, last))
    read = TagReader(_FRAGMENT.sub(lambda mark: BREAK * len(mark[0]), inner.text), kinds).read()
    painted = read.text
    for first, last in iterate_between(start, end, holes):
        canvas.put(first, painted[first - start : last - start])
    for first, last in holes:
        canvas.put(first, painted[first - start])
        canvas.put(last - 1, painted[last - 1 - start])
        if _NAME_IN_HOLE.fullmatch(text, first, last):
            canvas.put(first, painted[first - start : last - start])
    canvas.shortened += [word.moved(start) for word in read.shortened]


_SCRIPT = re.compile(r"<(script|style)\b[^<>]*>", re.IGNORECASE)
# The template of a component, unless it is written in Pug or another language.
_TEMPLATE = re.compile(
    r"^<template\b(?![^<>]*\blang\s*=\s*[\"'](?!html))[^<>]*>", re.MULTILINE | re.IGNORECASE
)
_COMMENT = re.compile(r"<!--(?:[^-]|-(?!->))*(?:-->|\Z)")
_EXPRESSION = re.compile(r"\"(?:[^\"\\\r\n]|\\.)*\"|'(?:[^'\\\r\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|[{}]")


def write_template(canvas: Canvas, text: str, *, is_svelte: bool) -> None:
    """Write the text of the templates of a component of Vue or Svelte to its place.

    Comments in them have been written before.
    """
    at, scripts = 0, list[Span]()
    missing: set[str] = set()
    while script := _SCRIPT.search(text, at):
        closing = f"</{script[1]}"
        end_tag = search(text, closing, script.end(), missing)
        at = end_tag.start() if end_tag else len(text)
        scripts.append((script.start(), at))
    for start, end in iterate_between(0, len(text), scripts):
        if not is_svelte:  # other blocks, such as `<i18n>`, are not shown
            template = _TEMPLATE.search(text, start, end)
            start = template.end() if template else end
            end = max(start, text.rfind("</template", start, end))
        holes = [match.span() for match in _COMMENT.finditer(text, start, end)]
        if is_svelte:
            outside = list(iterate_between(start, end, holes))
            holes += [hole for part in outside for hole in _expressions(text, *part)]
        _write(canvas, text, start, end, holes, _TEMPLATE_KINDS)


def _expressions(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the expressions in braces, up to the first one that is not closed."""
    at = text.find("{", start, end)
    while at >= 0:
        depth, stop = 0, -1
        for mark in _EXPRESSION.finditer(text, at, end):
            depth += {"{": 1, "}": -1}.get(mark[0], 0)
            if not depth:
                stop = mark.end()
                break
        if stop < 0:
            return
        yield at, stop
        at = text.find("{", stop, end)
