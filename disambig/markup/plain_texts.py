"""Read texts without markup, such as notes and e-mail, and commit messages of git.

In a text without markup, code between backticks of one line becomes `OPAQUE`. Lines that begin with ``>``
are the words of somebody else, and a signature below a line of two hyphens and a blank (RFC 3676) is a list
of names: both are left out.

In a commit message, the lines that git writes and removes again are left out as well: comments, and
everything below the scissors line, such as the diff of ``git commit --verbose``. So are trailers
(``Signed-off-by: Ann``).
"""

from __future__ import annotations

import re

from disambig.markup.canvas import BLANK, BREAK, OPAQUE, Canvas, iterate_lines

# Opened as in `like this' of old texts, an apostrophe closes it; "it`s" has a backtick for an apostrophe.
_INLINE_CODE = re.compile(r"(?<![`\w])(`{1,2})(?![\s`])[^`\r\n]*(?<!\s)\1(?![`\w])")
_QUOTED_LINE = re.compile(r"^>[^\r\n]*", re.MULTILINE)
_SIGNATURE = re.compile(r"^-- (?:\r?\n[^\n]*){0,12}\Z", re.MULTILINE)
"""The mark of a signature and the lines below it, up to the end of the text; a longer text is none."""
_SCISSORS = re.compile(r"#[ \t]*-{8,}[ \t]*>8[ \t]*-{8,}[ \t]*")
_TRAILER = re.compile(
    r"(?:[A-Z][A-Za-z]*(?:-[A-Za-z]+)+|Fixes|Closes|Resolves|Refs?|See|Cc|Link|Bug|Issue):[ \t]+\S.*"
    r"|\(cherry picked from commit [0-9a-f]+\)"
)


def without_code_and_quotations(text: str) -> str:
    """Return a text without markup with its code, quoted lines and signature painted over."""
    if "`" in text:
        text = _INLINE_CODE.sub(lambda match: OPAQUE * len(match[0]), text)
    if ">" in text:
        text = _QUOTED_LINE.sub(lambda match: BREAK + BLANK * (len(match[0]) - 1), text)
    if "-- " in text and (signature := _SIGNATURE.search(text)):
        canvas = Canvas(text)
        canvas.leave_out(*signature.span())
        return canvas.text
    return text


def read_commit_message(text: str, suffix: str = ".gitcommit") -> Canvas:
    """Paint over everything in a commit message but the words of its author."""
    canvas = Canvas(text)
    canvas.put(0, without_code_and_quotations(text))
    for start, end, _ in iterate_lines(text):
        line = text[start:end]
        if _SCISSORS.fullmatch(line):
            canvas.leave_out(start, len(text))
            break
        if line.startswith("#"):
            canvas.comment(start, end)
            canvas.put(start, BREAK)
        elif _TRAILER.fullmatch(line):
            canvas.leave_out(start, end)
    return canvas
