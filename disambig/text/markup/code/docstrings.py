"""How docstrings of Python are laid out: sections, lists of parameters with types, literal blocks.

The styles of NumPy and Google, and reStructuredText. What a parameter is called and its type are painted
over, what is said of it is text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from disambig.text.markup.canvas import BREAK, Canvas
from disambig.text.markup.code.blocks import Line

_UNDERLINE = re.compile(r"([-=~^\"'+*#:.])\1{2,}$")
_TERM = re.compile(r"\*{0,2}[\w.`\\]+(?:,\s*[\w.`*\\]+)* : \S")
_LABEL = re.compile(r"(?:[-*]\s+)?[`*]{0,2}[A-Za-z_][\w.*`]*\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?:(?=\s|$)")
_SECTION = re.compile(r"[A-Z][\w ]{0,30}:$")
_DIRECTIVE = re.compile(r"\.\. (?:([A-Za-z][\w:-]*)::|\[|_|\|)")
_VERBATIM = frozenset(
    "code code-block sourcecode math parsed-literal literalinclude doctest testcode testoutput plot ipython "
    "highlight prompt jupyter-execute bibliography toctree autosummary".split()
)


def paint_docstring(canvas: Canvas, text: str, lines: Sequence[Line]) -> list[tuple[int, int]]:
    """Paint over what is no prose in the layout of a docstring, and return the labels before prose.

    Parameters
    ----------
    text : str
        What the lines say, with a line feed between them.
    lines : sequence of Line
        With their indentation, which `text` has not.
    """
    at, starts = 0, []
    for line in lines:
        starts.append(at)
        at += line.end - line.start + 1
    said = [line.strip() for line in text.split("\n")]
    indents = [line.indent for line in lines]
    labels: list[tuple[int, int]] = []
    literal = -1  # indentation that a literal block is deeper than
    sections = False  # those of NumPy, with a line below
    for number, words in enumerate(said):
        if not words:
            continue
        start, width = starts[number], lines[number].end - lines[number].start
        following = _following(said, number)
        deeper = following >= 0 and indents[following] > indents[number]
        before = said[number - 1] if number else ""
        if literal >= 0:
            if indents[number] > literal:
                _paint(canvas, start, width)
                continue
            literal = -1
        if directive := _DIRECTIVE.match(words):
            _paint(canvas, start, width)
            if directive[1] in _VERBATIM:
                literal = indents[number]
        elif words.endswith("::") and following >= 0 and deeper:
            literal = indents[number]
        elif _UNDERLINE.match(words):
            _paint(canvas, start, width)
            sections = sections or (bool(before) and words[0] in "-=")
        elif number + 1 < len(said) and _UNDERLINE.match(said[number + 1]):
            canvas.end_sentence(start + width)
        elif (deeper and following == number + 1 and sections) or (
            _TERM.match(words) and (sections or (deeper and following == number + 1))
        ):
            _paint(canvas, start, width)
        elif _SECTION.match(words) and deeper:
            canvas.fill(start + width - 1, start + width, BREAK)
        elif (label := _LABEL.match(words)) and (
            not before or before[-1] in ".:" or indents[number] < indents[number - 1]
        ):
            labels.append((start, start + label.end()))
    return labels


def _following(said: Sequence[str], number: int) -> int:
    """Return the next line that says something; -1 where there is none."""
    return next((n for n in range(number + 1, len(said)) if said[n]), -1)


def _paint(canvas: Canvas, start: int, width: int) -> None:
    canvas.fill(start, start + width)
    canvas.fill(start, start + min(width, 1), BREAK)
