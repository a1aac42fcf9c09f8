"""Flags as diagnostics, directives that hide nothing, and hover texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from disambig.checking import Flag, FlagCandidate, HiddenSpan, LiveText
from disambig.errors import UserError
from disambig.explain import show_candidate
from disambig.jobs import ModelAnnotator
from disambig.lsp.documents import ProtocolLines, TextState
from disambig.markup import PlainText

SOURCE = "disambig"


def make_diagnostics(
    state: TextState, flags: Sequence[Flag], candidates: Sequence[Sequence[FlagCandidate]]
) -> list[types.Diagnostic]:
    """Return a diagnostic a flag; its data hold the version of the text and the edits, the best first."""
    return [
        types.Diagnostic(
            range=to_range(state.lines, flag.start, _visible_end(state.text, flag)),
            message=f"{show_candidate(flag.observed)} -> {show_candidate(flag.replacement)} ({flag.probability:.2f})",
            severity=types.DiagnosticSeverity.Information,
            source=SOURCE,
            code=f"{SOURCE}/{flag.task}",
            data=_data(state, flag, own),
        )
        for flag, own in zip(flags, candidates, strict=True)
    ]


def to_range(lines: ProtocolLines, start: int, end: int) -> types.Range:
    """Return two offsets as the protocol has them."""
    first, last = lines.position(start), lines.position(end)
    return types.Range(types.Position(*first), types.Position(*last))


def to_text_edit(lines: ProtocolLines, edit: tuple[int, int, str]) -> types.TextEdit:
    """Return a change of a text as the protocol has it."""
    start, end, new = edit
    return types.TextEdit(range=to_range(lines, start, end), new_text=new)


def action_title(flag: Flag, candidate: FlagCandidate) -> str:
    """Say what a change does, with the probability of the word that it puts there."""
    new = candidate.text
    observed = flag.observed if candidate.elsewhere is None else candidate.elsewhere
    if not new:
        what = f'Take out "{observed}"' if observed else "Change"
    elif candidate.elsewhere:
        what = f'Replace "{observed}" by "{new}"'
    else:
        what = f'Replace by "{new}"' if observed else f'Insert "{new}"'
    return f"{what} ({candidate.probability:.2f})"


def _data(state: TextState, flag: Flag, candidates: Sequence[FlagCandidate]) -> dict[str, Any]:
    return {
        "version": state.version,
        "start": flag.start,
        "end": flag.end,
        "fixes": [
            {"title": action_title(flag, each), "range": _plain(state.lines, each), "newText": each.edit[2]}
            for each in candidates
        ],
    }


def _plain(lines: ProtocolLines, candidate: FlagCandidate) -> dict[str, Any]:
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


CODE = f"{SOURCE}/unused"
UNUSED_TITLE = f"{SOURCE}: take out the comment"
Edit = tuple[int, int, str]


def unused_directives(
    name: str, state: TextState, plain: PlainText, unused: Sequence[HiddenSpan]
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
            range=to_range(state.lines, start, end),
            message=UserError("D960", path=name, line=each.line, said=each.directive).text,
            severity=types.DiagnosticSeverity.Information,
            source=SOURCE,
            code=CODE,
            tags=[types.DiagnosticTag.Unnecessary],
        )
        edit = _without(state, start, end) if len(own) == 1 and "," not in state.text[start:end] else None
        found.append((diagnostic, edit))
    return found


def _without(state: TextState, start: int, end: int) -> Edit | None:
    """Return the change that takes a comment out: with its line, if it is alone there."""
    text = state.text
    first, last = state.lines.line_span(start)
    if last < end or text[end:last].strip():
        return None
    if text[first:start].strip():
        return first + len(text[first:start].rstrip()), end, ""
    behind = last + (2 if text.startswith("\r\n", last) else 1 if last < len(text) else 0)
    return first, behind, ""


_MOST = 6


def hover_text(flag: Flag, candidates: list[FlagCandidate], live: LiveText) -> str:
    """Return what is said of a flag, as Markdown; it asks the models."""
    from disambig.explain import compare_ngrams, ngram_sentence

    sure = f"{flag.probability:.2f}"
    if flag.trust is not None:
        sure = f"of such flags {100 * flag.trust.share:.0f} % were right"
    lines = [f"**{_code(flag.observed)} -> {_code(flag.replacement)}** ({flag.task}; {sure})"]
    beside = []
    model = None
    if isinstance(live.annotate, ModelAnnotator):
        model = next((each for each in live.annotate.models if each.task.name == flag.task), None)
    if model is not None:
        text, offset = live.around(flag.start)
        proposed = flag.replacement.lower()
        beside = compare_ngrams(model, text, flag.start - offset, flag.end - offset, proposed)
    reason = ngram_sentence(beside) or f"The words around it speak for {_code(flag.replacement)}."
    lines += ["", reason]
    if beside:
        lines += ["", "| written | seen | proposed | seen |", "|---|---:|---|---:|"]
        beside = sorted(beside, key=lambda each: -abs(each.log_ratio))[:_MOST]
        lines += [
            f"| {_cell(each.written)} | {each.written_count:,} "
            f"| {_cell(each.proposed)} | {each.proposed_count:,} |"
            for each in beside
        ]
    here = [each for each in candidates[1:] if each.elsewhere is None]
    if here:
        others = ", ".join(f"{_code(each.text)} ({each.probability:.2f})" for each in here)
        lines += ["", f"Or {others}."]
    return "\n".join(lines)


def _code(word: str) -> str:
    return f"`{word}`" if word and "`" not in word else show_candidate(word)


def _cell(words: str) -> str:
    return words.replace("\\", "\\\\").replace("|", "\\|").replace("<", "\\<").replace("`", "\\`")
