"""Find the values of attributes that readers of a page see or hear as text.

These are ``alt``, ``title``, ``aria-label`` and the like in tags of HTML and of components, in Markdown's
shortcodes and in braces after links: ``<img alt='...'>``, ``<Card title={"..."}>``,
``{{< figure caption="..." >}}``, ``{fig-alt="..."}``. Values of one to three words have no context and are
not text. A value within a sentence divides it, so there only longer ones are text, and those with names of
code, such as the titles that Javadoc gives to links, are not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from disambig.markup.canvas import ENTITY, OPAQUE, Canvas, Span

_SHOWN = frozenset(
    "alt title subtitle description caption summary label placeholder heading tooltip content aria-label"
    " aria-description aria-placeholder aria-roledescription aria-valuetext fig-alt fig-cap fig-scap tbl-cap"
    " lst-cap fig.alt fig.cap".split()
)
"""Attributes whose values are text."""
# `name="value"`, `name={"value"}` or `name: "value"`.
_VALUE = re.compile(
    r"(?<![^\s{(,\"'])(?P<name>[A-Za-z][\w.:-]*)[ \t]{0,9}[=:][ \t]{0,9}(?:\{[ \t]{0,9})?"
    r"(?P<mark>[\"'`])(?P<value>(?:(?!(?P=mark))[^\\]|\\.){1,2000}?)(?P=mark)",
    re.DOTALL,
)
_WORD = re.compile(r"(?<![^\s(\"'])[A-Za-z][A-Za-z'\u2019]*(?![^\s.,;:!?)\"'])")
_NAME_OF_CODE = re.compile(r"\w[._:/\\]\w|\w\(|[a-z][A-Z]")
# What a program replaces: `{name}`, `${name}`, `{{ name }}`, `{% tag %}`, `<% code %>`, `%s`, `%(name)s`.
_PLACEHOLDER = re.compile(
    r"\$?\{\{?[^{}]{0,200}\}?\}|\{%[^{}%]{0,200}%\}|<[%?][^<>]{0,200}[%?]>|%(?:\(\w{1,40}\))?[sd]"
)
_FEW, _MANY = 4, 5
"""Minimum number of words of a value that is a text of its own, and of one within a sentence."""
_META = frozenset(
    "description og:title og:description og:site_name og:image:alt twitter:title twitter:description"
    " twitter:image:alt abstract subject dc.title dc.description".split()
)
"""Names of metadata of HTML whose ``content`` is text."""
_PRESSED = frozenset("submit button reset".split())
"""Types of ``<input>`` whose ``value`` is shown."""


def is_text(value: str, *, within: bool = False) -> bool:
    """Return True if the value of an attribute is text; `within`: whether it stands within a sentence."""
    if within and _NAME_OF_CODE.search(value):
        return False
    return len(_WORD.findall(value)) >= (_MANY if within else _FEW)


def find_values(text: str, start: int, end: int, *, within: bool = False) -> Iterator[Span]:
    """Yield the spans of the values in ``text[start:end]`` that are text, without their quotes.

    `start` and `end`: a tag, or the attributes in braces.
    `within`: whether it stands within a sentence.
    """
    for match in _VALUE.finditer(text, start, end):
        if match["name"].lower() in _SHOWN and is_text(match["value"], within=within):
            yield match.span("value")


def find_values_of_html(
    name: str, attributes: dict[str, tuple[str, int]], *, within: bool = False
) -> Iterator[Span]:
    """Yield the spans of the values of an element of HTML that are text; see `find_values`."""

    def get_lower(attribute: str) -> str:
        return attributes.get(attribute, ("", 0))[0].strip().lower()

    shown: Collection[str] = _SHOWN
    if name == "meta":
        is_shown = get_lower("name") in _META or get_lower("property") in _META
        shown = ("content",) if is_shown else ()
    elif name == "input":
        shown = _SHOWN | {"value"} if get_lower("type") in _PRESSED else _SHOWN
    for attribute, (value, place) in attributes.items():
        if attribute in shown and place >= 0 and is_text(value, within=within):
            yield place, place + len(value)


def keep_values(
    canvas: Canvas, spans: Iterable[Span], *, within: Span | None = None, text: str | None = None
) -> None:
    """Write values to their places after the markup around them was painted over; each is a text of its own.

    `within`: the span of the markup if it stands within a sentence: `OPAQUE` stands for it on both sides.
    `text`: the text with the values, if it is not that of the canvas.
    """
    text = canvas.original if text is None else text
    for start, end in (spans := list(spans)):
        canvas.keep(start, end, text)
        for match in ENTITY.finditer(text, start, end):
            canvas.fill(*match.span(), OPAQUE)
            canvas.hide_word(*match.span())
        for match in _PLACEHOLDER.finditer(text, start, end):
            canvas.fill(*match.span(), OPAQUE)
    if within is not None and spans:
        canvas.fill(within[0], within[0] + 1, OPAQUE)
        canvas.fill(within[1] - 1, within[1], OPAQUE)
