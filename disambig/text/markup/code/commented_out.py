"""Code that was commented out, and lines of a shell: known by what prose does not have."""

from __future__ import annotations

import re

from disambig.text.markup.canvas import BLANK, BREAK, OPAQUE, Canvas

_CODE = re.compile(
    r"""
      [;{}\\]$ | [\])"'],$ | ^\s*[)\]}]+[,;:]*$ | ^\s*[.]\w+\(
    | [=!<>]=(?=[\s\w"'-]) | && | \|\| | [-=]>\s | \w::\w | \+\+ | \s[-+*/|&^%]=\s | :=\s | <<|>>
    | ^\s*(?:[\w$]+\s+){0,3}[\w.$\[\]"'*&]+\s*(?::\s*[\w.\[\], |&<>']+)?=\s*\S
    | ^\s*(?:(?:await|return|yield|throw|new|const|let|var|go|defer|assert|del)\s+)*
        [\w$.:\[\]]+\([^\n]*\)[;.?,\w()]*:?$
    | ^\s*@\w+(?:[.(]\S*)?$
    | ^\s*(?:async\s+)?(?:def|func|fn|function|pub|impl|struct|enum|class|interface|static|typedef)
        \s+\w+[^\n]*[(){:<]
    | ^\s*(?:if|elif|while|for|with|except|else|try|switch|case|default|do)\b[^\n]*[:{)]$
    | ^\s*(?:else|fi|done|esac|then|break|continue|pass|end|return)$
    | ^\s*(?:import|from)\s+[\w.]+(?:\s+(?:import|as)\s[^\n]*)?$
    | ^\s*\#\s*(?:include|define|undef|if|ifdef|ifndef|elif|else|endif|pragma|error)\b
    | ^\s*(?:return|raise|throw)\s+[^\n]*[()\[\]{}]$
    | ^\s*</?\w[^<>\n]*>$ | ^\s*["'][^"'\n]*["']\s*:\s
    | ^\s*(?:echo|export|sudo|cd|mkdir|rm|cp|mv|git|pip|npm|cargo|docker|curl|make|python3?|source)
        \s+[-$/.~\w]+(?:\s+[-$/.~]\S*)*$
    | \|\s*(?:grep|sed|awk|xargs|sort|head|tail|wc|cut|tr)\b
    """,
    re.VERBOSE,
)
_PARAGRAPHS = re.compile(r"(?:[^\n\u2029]*[^\s\u2029][^\n\u2029]*(?:\n|\u2029|$))+")
_ENOUGH = 0.5


def paint_code(canvas: Canvas, text: str) -> None:
    """Paint over the lines of code in each paragraph; where they are many, also what is between them."""
    for paragraph in _PARAGRAPHS.finditer(text):
        lines, at = [], paragraph.start()
        for line in re.split("[\n\u2029]", paragraph[0]):
            lines.append((at, at + len(line), bool(_CODE.search(line.rstrip()))))
            at += len(line) + 1
        known = [number for number, (_, _, code) in enumerate(lines) if code]
        if not known:
            continue
        between = lines[known[0] : known[-1] + 1]
        if len(known) >= _ENOUGH * len(between):
            for start, end, _ in between:
                canvas.fill(start, end, BLANK)
                canvas.fill(start, min(end, start + 1), BREAK)
        else:
            for number in known:
                canvas.fill(*lines[number][:2], OPAQUE)
