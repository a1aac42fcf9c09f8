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
    diagnostics = []
    for flag, flag_candidates in zip(flags, candidates, strict=True):
        message = f"{show_candidate(flag.observed)} -> {show_candidate(flag.replacement)}"
        diagnostics.append(
            types.Diagnostic(
                range=to_range(state.lines, flag.start, _visible_end(state.text, flag)),
                message=message if flag.trust is None else f"{message} ({flag.trust} right)",
                severity=types.DiagnosticSeverity.Information,
                source=SOURCE,
                code=flag.rule,
                code_description=_code_description(flag.rule),
                data=_diagnostic_data(state, flag, flag_candidates),
            )
        )
    return diagnostics


def _code_description(name: str) -> types.CodeDescription | None:
    """Return the address of the description of a rule; that of a shared rule is in an installed file."""
    rule = find_rule(name)
    is_shared = rule.url.startswith(PAGE)
    address = f"{local_page().absolute().as_uri()}#{name}" if is_shared else rule.url
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
    """Return the title of the code action that inserts a candidate."""
    new = candidate.text
    observed = flag.observed if candidate.elsewhere is None else candidate.elsewhere
    if not new:
        return f'Remove "{observed}"' if observed else "Change"
    if candidate.elsewhere:
        return f'Replace "{observed}" by "{new}"'
    return f'Replace with "{new}"' if observed else f'Insert "{new}"'


def _diagnostic_data(state: TextState, flag: Flag, candidates: Sequence[FlagCandidate]) -> dict[str, Any]:
    """Return the data of a diagnostic, for editors that apply edits themselves."""
    return {
        "version": state.version,
        "start": flag.start,
        "end": flag.end,
        "fixes": [
            {
                "title": action_title(flag, candidate),
                "range": _range_as_json(state.lines, candidate),
                "newText": candidate.edit[2],
            }
            for candidate in candidates
        ],
    }


def _range_as_json(lines: ProtocolLines, candidate: FlagCandidate) -> dict[str, Any]:
    def position(offset: int) -> dict[str, int]:
        line, column = lines.position(offset)
        return {"line": line, "character": column}

    start, end, _ = candidate.edit
    return {"start": position(start), "end": position(end)}


def _visible_end(text: str, flag: Flag) -> int:
    """Return the end of a flag; the flag of a missing word includes the next word, to be visible."""
    end = flag.end
    if flag.start == flag.end:
        while end < len(text) and not text[end].isspace():
            end += 1
    return end


UNUSED_CODE = f"{SOURCE}/unused"
UNUSED_TITLE = f"{SOURCE}: remove the comment"
Edit = tuple[int, int, str]


def unused_directives(
    name: str, state: TextState, plain: PlainText, unused: Sequence[HiddenSpan], names: Collection[str]
) -> list[tuple[types.Diagnostic, Edit | None]]:
    """Return a diagnostic for each directive that does not suppress any flag, and the edit that removes it.

    Parameters
    ----------
    name : str
        Name of the text.
    names : collection of str
        Rules and tasks that directives may name.

    Returns
    -------
    list of (Diagnostic, edit or None)
        The edit is None if the comment has other contents, or if text follows it on its line.
    """
    comments: dict[int, list[tuple[int, int]]] = {}
    for start, end in plain.comments:
        comments.setdefault(state.lines.position(start)[0], []).append((start, end))
    results = []
    for directive in unused:
        line = directive.line - 1
        in_line = comments.get(line, [])
        start, end = in_line[0] if len(in_line) == 1 else state.lines.line_at(line)
        note = unused_directive(name, directive, names)
        diagnostic = types.Diagnostic(
            range=to_range(state.lines, start, end),
            message=UserError(note.code, **{**note.values, "where": ""}).text,  # without file and line
            severity=types.DiagnosticSeverity.Information,
            source=SOURCE,
            code=UNUSED_CODE,
            tags=None if directive.follows_text else [types.DiagnosticTag.Unnecessary],
        )
        is_alone = len(in_line) == 1 and not directive.follows_text and "," not in state.text[start:end]
        edit = _removal_edit(state, start, end) if is_alone else None
        results.append((diagnostic, edit))
    return results


def _removal_edit(state: TextState, start: int, end: int) -> Edit | None:
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
    others = [candidate.text for candidate in candidates[1:] if candidate.elsewhere is None]
    if others:
        lines += ["", f"Or {', '.join(map(_code, others))}."]
    return "\n".join(lines)


def _count(pair: NgramPair) -> str:
    """Return the count of the written n-gram as text; of rare ones, which are not stored, only a bound."""
    if pair.written_count or pair.least == 1:
        return f"{pair.written_count:,}"
    return "not stored" if pair.least is None else f"< {pair.least:,}"


def _code(word: str) -> str:
    return f"`{word}`" if word and "`" not in word else show_candidate(word)


def _cell(words: str) -> str:
    return words.replace("\\", "\\\\").replace("|", "\\|").replace("<", "\\<").replace("`", "\\`")
