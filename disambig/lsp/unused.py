"""Comments that hide nothing: shown as diagnostics, with the change that takes them out."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from disambig.checking.directives import Hidden
from disambig.errors import UserError
from disambig.lsp.diagnostics import SOURCE, range_of
from disambig.lsp.documents import State
from disambig.text.markup import PlainText

CODE = f"{SOURCE}/unused"
TITLE = f"{SOURCE}: take out the comment"
Edit = tuple[int, int, str]


def unused_of(
    name: str, state: State, plain: PlainText, unused: Sequence[Hidden]
) -> list[tuple[types.Diagnostic, Edit | None]]:
    """Return a diagnostic for each directive that hides nothing, and the change that takes its comment out.

    There is no change where the comment says more than this one thing, or is within a line of text.
    """
    comments: dict[int, list[tuple[int, int]]] = {}
    for start, end in plain.comments:
        comments.setdefault(state.lines.position(start)[0], []).append((start, end))
    found = []
    for each in unused:
        first, last = state.lines.line_at(each.line - 1)
        own = comments.get(each.line - 1, [])
        start, end = own[0] if len(own) == 1 else (first, last)
        diagnostic = types.Diagnostic(
            range=range_of(state.lines, start, end),
            message=UserError("D960", path=name, line=each.line, said=each.said).text,
            severity=types.DiagnosticSeverity.Information,
            source=SOURCE,
            code=CODE,
            tags=[types.DiagnosticTag.Unnecessary],
        )
        edit = _without(state, start, end) if len(own) == 1 and "," not in state.text[start:end] else None
        found.append((diagnostic, edit))
    return found


def _without(state: State, start: int, end: int) -> Edit | None:
    """Return the change that takes a comment out: with its line, if it is alone there."""
    text = state.text
    first, last = state.lines.line_of(start)
    if last < end or text[end:last].strip():
        return None
    if text[first:start].strip():
        return first + len(text[first:start].rstrip()), end, ""
    behind = last + (2 if text.startswith("\r\n", last) else 1 if last < len(text) else 0)
    return first, behind, ""
