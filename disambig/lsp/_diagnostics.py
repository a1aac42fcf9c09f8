"""Diagnostics for flags and for unused directives, and hover texts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from disambig.checking import Flag, FlagCandidate, HiddenSpan, LiveText, unused_directive
from disambig.errors import UserError
from disambig.explain import show_candidate
from disambig.lsp.documents import ProtocolLines, TextState
from disambig.markup import PlainText
from disambig.models import ModelSet
from disambig.rules import PAGE, find_rule, local_page
from disambig.text import HIDDEN

if TYPE_CHECKING:
    from disambig.explain import NgramPair


SOURCE = "disambig"


def make_diagnostics(
    state: TextState, flags: Sequence[Flag], candidates: Sequence[Sequence[FlagCandidate]]
) -> list[types.Diagnostic]:
    """Return one diagnostic per flag; its data has the version of the text and the edits, the best first."""
    return [
        types.Diagnostic(
            range=to_range(state.lines, flag.start, _visible_end(state.text, flag)),
            message=f"{show_candidate(flag.observed)} -> {show_candidate(flag.replacement)}"
            f"{'' if flag.trust is None else f' ({flag.trust} right)'}",
            severity=types.DiagnosticSeverity.Information,
            source=SOURCE,
            code=flag.rule,
            code_description=_code_description(flag.rule),
            data=_data(state, flag, corrections),
        )
        for flag, corrections in zip(flags, candidates, strict=True)
    ]


def _code_description(name: str) -> types.CodeDescription | None:
    """Return the address of the description of a rule; the page of shared rules is a file that is here."""
    rule = find_rule(name)
    shared = rule.url.startswith(PAGE)
    address = f"{local_page().absolute().as_uri()}#{name}" if shared else rule.url
    return types.CodeDescription(href=address) if address else None


def to_range(lines: ProtocolLines, start: int, end: int) -> types.Range:
    """Return a range of the protocol for two offsets."""
    first, last = lines.position(start), lines.position(end)
    return types.Range(types.Position(*first), types.Position(*last))


def to_text_edit(lines: ProtocolLines, edit: tuple[int, int, str]) -> types.TextEdit:
    """Return an edit of the protocol for an edit of a text."""
    start, end, new = edit
    return types.TextEdit(range=to_range(lines, start, end), new_text=new)


def action_title(flag: Flag, candidate: FlagCandidate) -> str:
    """Return the title of an edit."""
    new = candidate.text
    observed = flag.observed if candidate.elsewhere is None else candidate.elsewhere
    if not new:
        return f'Remove "{observed}"' if observed else "Change"
    if candidate.elsewhere:
        return f'Replace "{observed}" by "{new}"'
    return f'Replace with "{new}"' if observed else f'Insert "{new}"'


def _data(state: TextState, flag: Flag, candidates: Sequence[FlagCandidate]) -> dict[str, Any]:
    return {
        "version": state.version,
        "start": flag.start,
        "end": flag.end,
        "fixes": [
            {
                "title": action_title(flag, candidate),
                "range": _plain(state.lines, candidate),
                "newText": candidate.edit[2],
            }
            for candidate in candidates
        ],
    }


def _plain(lines: ProtocolLines, candidate: FlagCandidate) -> dict[str, Any]:
    start, end, _ = candidate.edit
    places = zip(("start", "end"), (lines.position(start), lines.position(end)), strict=True)
    return {name: {"line": line, "character": column} for name, (line, column) in places}


def _visible_end(text: str, flag: Flag) -> int:
    """Return the end of a flag; the flag of a missing word covers the next word, so that it is visible."""
    end = flag.end
    if flag.start == flag.end:
        while end < len(text) and not text[end].isspace():
            end += 1
    return end


CODE = f"{SOURCE}/unused"
UNUSED_TITLE = f"{SOURCE}: take out the comment"
Edit = tuple[int, int, str]


def unused_directives(
    name: str, state: TextState, plain: PlainText, unused: Sequence[HiddenSpan], names: Collection[str]
) -> list[tuple[types.Diagnostic, Edit | None]]:
    """Return a diagnostic for each directive that does not suppress any flag, and the edit that removes it.

    There is no edit if the comment has other contents, or if text follows it on its line. `names` has the
    rules and tasks that directives may name. Messages do not repeat the file and the line.
    """
    comments: dict[int, list[tuple[int, int]]] = {}
    for start, end in plain.comments:
        comments.setdefault(state.lines.position(start)[0], []).append((start, end))
    results = []
    for directive in unused:
        first, last = state.lines.line_at(directive.line - 1)
        in_line = comments.get(directive.line - 1, [])
        start, end = in_line[0] if len(in_line) == 1 else (first, last)
        note = unused_directive(name, directive, names)
        diagnostic = types.Diagnostic(
            range=to_range(state.lines, start, end),
            message=UserError(note.code, **{**note.values, "where": ""}).text,
            severity=types.DiagnosticSeverity.Information,
            source=SOURCE,
            code=CODE,
            tags=None if directive.follows_text else [types.DiagnosticTag.Unnecessary],
        )
        is_alone = len(in_line) == 1 and not directive.follows_text and "," not in state.text[start:end]
        edit = _without(state, start, end) if is_alone else None
        results.append((diagnostic, edit))
    return results


def _without(state: TextState, start: int, end: int) -> Edit | None:
    """Return the edit that removes a comment, with its line if nothing else is on that line."""
    text = state.text
    first, last = state.lines.line_span(start)
    if last < end or text[end:last].strip():
        return None
    if text[first:start].strip():
        return first + len(text[first:start].rstrip()), end, ""
    next_line = last + (2 if text.startswith("\r\n", last) else 1 if last < len(text) else 0)
    return first, next_line, ""


_MAX_NGRAMS = 6


def hover_text(flag: Flag, candidates: list[FlagCandidate], live: LiveText) -> str:
    """Return the hover text of a flag as Markdown; this runs the models."""
    from disambig.explain import compare_ngrams, ngram_sentence

    measured = "" if flag.trust is None else f"; {flag.trust} of such flags were right"
    lines = [f"**{_code(flag.observed)} -> {_code(flag.replacement)}** ({flag.rule}{measured})"]
    lines += ["", find_rule(flag.rule).title]
    pairs = []
    model = None
    if isinstance(live.annotate, ModelSet):
        model = next((loaded for loaded in live.annotate.models if loaded.task.name == flag.task), None)
    if model is not None:
        text, offset = live.around(flag.start)
        proposed = flag.replacement.lower()
        start, end = flag.start - offset, flag.end - offset
        end = start + len(text[start:end].rstrip(HIDDEN))  # the word may be shortened
        pairs = compare_ngrams(model, text, start, end, proposed)
    reason = ngram_sentence(pairs) or f"The context favours {_code(flag.replacement)}."
    lines += ["", reason]
    if pairs:
        lines += ["", "| written | seen | proposed | seen |", "|---|---:|---|---:|"]
        pairs = sorted(pairs, key=lambda pair: -abs(pair.log_ratio))[:_MAX_NGRAMS]
        lines += [
            f"| {_cell(pair.written)} | {_count(pair)} | {_cell(pair.proposed)} | {pair.proposed_count:,} |"
            for pair in pairs
        ]
    here = [other for other in candidates[1:] if other.elsewhere is None]
    if here:
        lines += ["", f"Or {', '.join(_code(other.text) for other in here)}."]
    return "\n".join(lines)


def _count(pair: NgramPair) -> str:
    """Return how often an n-gram was seen; rare ones are not in the table, so that only a bound is known."""
    if pair.written_count or pair.least == 1:
        return f"{pair.written_count:,}"
    return "not stored" if pair.least is None else f"< {pair.least:,}"


def _code(word: str) -> str:
    return f"`{word}`" if word and "`" not in word else show_candidate(word)


def _cell(words: str) -> str:
    return words.replace("\\", "\\\\").replace("|", "\\|").replace("<", "\\<").replace("`", "\\`")
