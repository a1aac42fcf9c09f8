"""Read mails (``.eml``) and folders of mails (``.mbox``): the words of their writers remain.

The subject and the text are read; other headers, quoted lines and what introduces them, signatures,
forwarded mails, patches, attachments, and parts in HTML or in base64 are left out. In the encoding
quoted-printable, a character that is written as bytes counts as the character, and a word that contains one
becomes `OPAQUE`, except for an apostrophe. The running time is linear in the length of the text.
"""

from __future__ import annotations

import re

from disambig.markup.canvas import BREAK, OPAQUE, Canvas, Span, iterate_between, match_end
from disambig.markup.reading import without_code_and_quotations
from disambig.markup.translations import EscapedText

_HEADER = re.compile(r"(?P<name>[!-9;-~]{1,80}):(?P<value>[^\r\n]*(?:\r?\n[ \t]+\S[^\r\n]*)*)\r?\n?")
# What precedes a subject: `Re:`, `Fwd:`, `AW[2]:`, and the name of a list in brackets.
_SUBJECT = re.compile(
    r"[ \t]*(?:(?:re|fwd?|aw)(?:\[\d+\])?:[ \t]*|\[[^\[\]\r\n]{1,80}\][ \t]*){0,9}", re.IGNORECASE
)
_ENCODED_WORD = re.compile(r"=\?[^\s?]{1,40}\?[bqBQ]\?[^\s?]{0,200}\?=")
_ENVELOPE = re.compile(r"^From \S+ [^\r\n]*\d{4}[^\r\n]*\r?\n(?=[!-9;-~]{1,80}:)", re.MULTILINE)
# The parameter of a header that names the line between the parts of a message.
_BOUNDARY = re.compile(
    r"boundary[ \t]{0,9}=[ \t]{0,9}(?:\"(?P<quoted>[^\"\r\n]{1,200})\"|(?P<bare>[^\s;\"]{1,200}))",
    re.IGNORECASE,
)
# The one or two lines before a quotation: `On 1 May, Ann wrote:`.
_INTRODUCTION = re.compile(
    r"^(?!>)[^\r\n]{0,200}(?:\r?\n[^\r\n>]{1,200})?\b(?:wrote|writes)[ \t]?:[ \t]*"
    r"(?=\r?\n(?:[ \t]*\r?\n)?>)",
    re.MULTILINE,
)
# The line before a forwarded message; also the underscores of Outlook, and a patch of git.
_FORWARDED = re.compile(
    r"^(?:[ \t]*-{2,}[ \t]*(?:original|forwarded) message[ \t]*-{2,}|_{20,}[ \t]*\r?$"
    r"|begin forwarded message:|diff --git a/)",
    re.MULTILINE | re.IGNORECASE,
)
_QUOTED_BYTES = re.compile(r"(?:=[\dA-Fa-f]{2})+")
_SOFT_BREAK = re.compile(r"=[ \t]*\r?\n")
_DEEPEST = 8
"""Maximum depth of parts within parts."""


def read_mail(text: str, suffix: str = ".eml") -> Canvas:
    """Paint over everything in mails but subjects and the words of the writers."""
    canvas = Canvas(text)
    canvas.fill(0, len(text))
    for start, end in iterate_between(0, len(text), (match.span() for match in _ENVELOPE.finditer(text))):
        if start < end:
            _write_part(canvas, start, end, depth=0)
    return canvas


def _write_part(canvas: Canvas, start: int, end: int, depth: int) -> None:
    """Write the text of a mail or of a part of one."""
    text, headers = canvas.original, dict[str, Span]()
    while header := _HEADER.match(text, start, end):
        headers.setdefault(header["name"].lower(), header.span("value"))
        start = header.end()

    def get_header(name: str) -> str:
        return text[slice(*headers.get(name, (0, 0)))].strip().lower()

    if not depth and "subject" in headers:
        _write_subject(canvas, *headers["subject"])
    kind, encoding = get_header("content-type"), get_header("content-transfer-encoding")
    if kind.startswith("multipart/") and depth < _DEEPEST:
        boundary = _BOUNDARY.search(text, *headers["content-type"])
        if boundary is None:
            return
        mark = re.escape(boundary["quoted"] or boundary["bare"])
        lines = list(re.compile(rf"^--{mark}(?:--)?[ \t]*\r?$\n?", re.MULTILINE).finditer(text, start, end))
        stops = [*(line.start() for line in lines[1:]), end]
        for line, stop in zip(lines, stops, strict=False):  # without lines, there is no part
            if not line[0].rstrip().endswith("--"):
                _write_part(canvas, line.end(), stop, depth + 1)
        return
    is_attached = get_header("content-disposition").startswith("attachment")
    if is_attached or encoding == "base64" or (kind and not kind.startswith("text/plain")):
        return
    if encoding != "quoted-printable":
        canvas.put(start, _read_body(text[start:end]).text)
        return
    soft_breaks = [match.span() for match in _SOFT_BREAK.finditer(text, start, end)]
    pieces = list(iterate_between(start, end, soft_breaks))
    EscapedText(text, pieces, _QUOTED_BYTES, _decode_bytes).write(canvas, _read_body)


def _write_subject(canvas: Canvas, start: int, end: int) -> None:
    text = canvas.original
    begin = match_end(_SUBJECT, text, start, end)
    canvas.put(begin, text[begin:end])
    for match in _ENCODED_WORD.finditer(text, begin, end):
        canvas.fill(*match.span(), OPAQUE)
    canvas.fill(start - 1, start, BREAK)
    canvas.end_sentence(end)


def _read_body(content: str) -> Canvas:
    """Return the text of a body without quotations, their introductions, forwarded mails and patches."""
    canvas = Canvas(content)
    canvas.put(0, without_code_and_quotations(content))
    for match in _INTRODUCTION.finditer(content):
        canvas.leave_out(*match.span())
    if forwarded := _FORWARDED.search(content):
        canvas.leave_out(forwarded.start(), len(content))
    return canvas


def _decode_bytes(escape: str) -> str:
    try:
        character = bytes.fromhex(escape.replace("=", "")).decode()
    except UnicodeDecodeError:
        return OPAQUE
    return character if len(character) == 1 else OPAQUE
