"""Flags as diagnostics: where they are, what they say, and the ready edits that go with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from disambig.checking.flags import Flag
from disambig.checking.live.candidates import Candidate
from disambig.explaining.verdict import shown
from disambig.lsp.documents import State
from disambig.lsp.lines import Lines

SOURCE = "disambig"


def diagnostics_of(
    state: State, flags: Sequence[Flag], candidates: Sequence[Sequence[Candidate]]
) -> list[types.Diagnostic]:
    """Return a diagnostic a flag; its data hold the version of the text and the edits, the best first."""
    return [
        types.Diagnostic(
            range=range_of(state.lines, flag.start, _visible_end(state.text, flag)),
            message=f"{shown(flag.observed)} -> {shown(flag.replacement)} ({flag.probability:.2f})",
            severity=types.DiagnosticSeverity.Information,
            source=SOURCE,
            code=f"{SOURCE}/{flag.task}",
            data=_data(state, flag, own),
        )
        for flag, own in zip(flags, candidates, strict=True)
    ]


def range_of(lines: Lines, start: int, end: int) -> types.Range:
    """Return two offsets as the protocol has them."""
    first, last = lines.position(start), lines.position(end)
    return types.Range(types.Position(*first), types.Position(*last))


def edit_of(lines: Lines, edit: tuple[int, int, str]) -> types.TextEdit:
    """Return a change of a text as the protocol has it."""
    start, end, new = edit
    return types.TextEdit(range=range_of(lines, start, end), new_text=new)


def titled(flag: Flag, candidate: Candidate) -> str:
    """Say what a change does, with the probability of the word that it puts there."""
    new = candidate.text
    if not new:
        what = f'Take out "{flag.observed}"' if flag.observed else "Change"
    else:
        what = f'Replace by "{new}"' if flag.observed else f'Insert "{new}"'
    return f"{what} ({candidate.probability:.2f})"


def _data(state: State, flag: Flag, candidates: Sequence[Candidate]) -> dict[str, Any]:
    return {
        "version": state.version,
        "start": flag.start,
        "end": flag.end,
        "fixes": [
            {"title": titled(flag, each), "range": _plain(state.lines, each), "newText": each.edit[2]}
            for each in candidates
        ],
    }


def _plain(lines: Lines, candidate: Candidate) -> dict[str, Any]:
    start, end, _ = candidate.edit
    places = zip(("start", "end"), (lines.position(start), lines.position(end)), strict=True)
    return {name: {"line": line, "character": column} for name, (line, column) in places}


def _visible_end(text: str, flag: Flag) -> int:
    """Return where a flag ends; that of a missing word goes over the word behind it, to be seen."""
    end = flag.end
    if flag.start == flag.end:
        while end < len(text) and not text[end].isspace():
            end += 1
    return end
