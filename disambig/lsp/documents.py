"""Open documents of an editor with their lines and columns, diagnostics for flags, and hover texts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, urlsplit

import numpy as np
import numpy.typing as npt
from lsprotocol import types

from disambig.checking import Flag, FlagCandidate, HiddenSpan, LiveText, unused_directive
from disambig.errors import UserError
from disambig.explain import show_candidate
from disambig.markup import PlainText, has_markup, language_suffix
from disambig.models import ModelSet
from disambig.rules import PAGE, find_rule, local_page
from disambig.text import HIDDEN

if TYPE_CHECKING:
    from disambig.explain import NgramPair

Encoding = Literal["utf-8", "utf-16", "utf-32"]
_LINE_END = re.compile("\r\n|\r|\n")  # those of the specification; `str.splitlines` knows others as well
# codec, and bytes per code unit
_WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class ProtocolLines:
    """The lines of a text. `encoding` is the encoding whose code units the columns count."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self.text = text
        self._codec, self._width = _WIDTHS[encoding]
        self._is_utf_32 = encoding == "utf-32"
        line_ends = _line_ends(text, 0, len(text))
        self._starts = np.concatenate(([0], line_ends[:, 1]))
        self._ends = np.concatenate((line_ends[:, 0], [len(text)]))

    def __len__(self) -> int:
        return len(self._starts)

    def changed(self, start: int, end: int, new: str) -> ProtocolLines:
        """Return the lines of the text in which `new` replaces ``text[start:end]``.

        Line ends are searched only in that part.
        """
        result = copy(self)
        result.text = self.text[:start] + new + self.text[end:]
        shift = len(new) - (end - start)
        # Start one character earlier: a CR before the edit may now belong to an LF after it.
        first, last = self._line(max(start - 1, 0)), self._line(end)
        is_last = last + 1 == len(self)
        stop = len(result.text) if is_last else int(self._starts[last + 1]) + shift
        line_ends = _line_ends(result.text, int(self._starts[first]), stop)
        later_ends = [len(result.text)] if is_last else self._ends[last + 1 :] + shift
        later_starts = self._starts[last + 2 :] + shift
        result._ends = np.concatenate((self._ends[:first], line_ends[:, 0], later_ends))
        result._starts = np.concatenate((self._starts[: first + 1], line_ends[:, 1], later_starts))
        return result

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset, counted from 0."""
        line = self._line(offset)
        return line, self._units(self.text[self._starts[line] : offset])

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and column, counted from 0.

        A column after the end of a line stands for its end, and a column inside a character for the start of
        the character. The line after the last one stands for the end of the text: some clients use it for
        ranges of the whole text.

        Raises D842 for a later line.
        """
        if line >= len(self._starts):
            if line == len(self._starts):
                return len(self.text)
            raise UserError("D842", line=line + 1, lines=len(self._starts))
        low, end = self.line_at(line)
        high = min(end, low + column)
        if self._is_utf_32 or self.text[low:high].isascii():
            return high
        while low < high:  # binary search: `low` <= offset <= `high`
            middle = (low + high + 1) // 2
            units = self._units(self.text[low:middle])
            if units > column:
                high = middle - 1
            else:
                low, column = middle, column - units
        return low

    def line_span(self, offset: int) -> tuple[int, int]:
        """Return the start and end of the line at an offset, without its line end."""
        return self.line_at(self._line(offset))

    def line_at(self, number: int) -> tuple[int, int]:
        """Return the start and end of a line, counted from 0, without its line end."""
        return int(self._starts[number]), int(self._ends[number])

    def _line(self, offset: int) -> int:
        return int(np.searchsorted(self._starts, offset, side="right")) - 1

    def _units(self, text: str) -> int:
        if self._is_utf_32 or text.isascii():
            return len(text)
        # JSON can contain half of a surrogate pair, which is not a character
        return len(text.encode(self._codec, "surrogatepass")) // self._width


def _line_ends(text: str, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Return the start and end of each line end, as an array of shape (line ends, 2)."""
    spans = [match.span() for match in _LINE_END.finditer(text, start, stop)]
    return np.array(spans, np.int64).reshape(-1, 2)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The flags in a text."""

    version: int  # version of the text
    flags: tuple[Flag, ...]
    candidates: tuple[list[FlagCandidate], ...]  # candidates for each flag
    diagnostics: list[Any]  # the flags as diagnostics of the protocol
    # directives that do not suppress any flag, and the edits that remove them
    unused: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class TextState:
    """A version of a text."""

    version: int
    text: str
    lines: ProtocolLines


@dataclass(slots=True, eq=False)
class TextDocument:
    """An open document.

    Only the thread of the protocol changes `state`, and only the worker thread changes `live`.
    """

    # URI from the editor, and the path of the file or, without a file, an invented path
    uri: str
    name: str
    encoding: Encoding  # position encoding of the protocol
    state: TextState  # the current version of the text
    settings_version: int = 0  # number of changes of settings since the document was opened
    live: LiveText | None = None  # the object that checks the text; None before the first check
    live_settings_version: int = 0  # value of `settings_version` for which `live` was created
    check_result: CheckResult | None = None  # the last result, which was published
    # why the text differs from that of the editor; it is not checked then
    sync_error: UserError | None = None
    # parses the markup, for the thread of the protocol; None before it is needed
    read: Callable[[str], PlainText] | None = None
    is_foreign_reported: bool = False  # whether the user was told which paragraphs are in other languages
    # whether the document is open, and whether a check is queued
    is_open: bool = True
    is_waiting: bool = False

    @classmethod
    def opened(cls, uri: str, name: str, version: int, text: str, encoding: Encoding) -> TextDocument:
        """Return a document that was just opened."""
        return cls(uri, name, encoding, TextState(version, text, ProtocolLines(text, encoding)))

    def is_current(self, state: TextState, settings_version: int) -> bool:
        """Return True if the document is open and its text and settings have not changed."""
        return self.is_open and self.state is state and self.settings_version == settings_version

    def change(self, version: int, changes: Sequence[Any]) -> None:
        """Apply changes from the editor in order.

        Raises D843 for an edit outside the text; it is the `sync_error` until the editor sends the whole
        text.
        """
        lines = self.state.lines
        # Each change refers to the text after the previous one. Once one fails, the text differs from that of
        # the editor, and positions mean nothing until the editor sends the whole text.
        for change in changes:
            edited = getattr(change, "range", None)
            if edited is None:
                lines, self.sync_error = ProtocolLines(change.text, self.encoding), None
            elif self.sync_error is None:
                try:
                    start = lines.offset(edited.start.line, edited.start.character)
                    end = lines.offset(edited.end.line, edited.end.character)
                    if end < start:
                        raise UserError("D844")
                except UserError as problem:
                    self.sync_error = UserError("D843", path=self.name, problem=problem.text)
                    continue
                lines = lines.changed(start, end, change.text)
        # a new object in one assignment: the worker thread sees either the old version or the new one
        self.state = TextState(version, lines.text, lines)
        if self.sync_error is not None:
            raise self.sync_error


def uri_to_path(uri: str) -> str:
    """Return the path of a URI; "" if it is not the URI of a file."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    if parts.scheme not in ("file", ""):
        return ""
    path = unquote(parts.path)
    if os.name == "nt":  # pragma: no cover
        path = path.lstrip("/").replace("/", os.sep)
    return path


def document_name(uri: str, language: str, root: str) -> str:
    """Return the name of a document: the path of its file, or an invented path with a matching suffix.

    `language`: the editor's name of the language; used if the suffix of the path does not determine the
    markup.
    `root`: folder whose settings apply to a text without a file.
    """
    path = uri_to_path(uri)
    suffix = language_suffix(language)
    if not path:
        return os.path.join(root, f"untitled{suffix}")
    if has_markup(path) or not has_markup(f"x{suffix}"):
        return path
    return path + suffix


SOURCE = "disambig"


def make_diagnostics(
    state: TextState, flags: Sequence[Flag], candidates: Sequence[Sequence[FlagCandidate]]
) -> list[types.Diagnostic]:
    """Return one diagnostic per flag; its data has the version of the text and the edits, the best first."""
    diagnostics = []
    for flag, flag_candidates in zip(flags, candidates, strict=True):
        message = f"{show_candidate(flag.observed)} -> {show_candidate(flag.replacement)}"
        end = flag.end
        if flag.start == flag.end:  # a missing word: underline the next one, as an empty range is invisible
            while end < len(state.text) and not state.text[end].isspace():
                end += 1
        diagnostics.append(
            types.Diagnostic(
                range=to_range(state.lines, flag.start, end),
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


UNUSED_CODE = f"{SOURCE}/unused"
UNUSED_TITLE = f"{SOURCE}: remove the comment"
Edit = tuple[int, int, str]


def unused_directives(
    name: str, state: TextState, plain: PlainText, unused: Sequence[HiddenSpan], names: Collection[str]
) -> list[tuple[types.Diagnostic, Edit | None]]:
    """Return a diagnostic for each directive that does not suppress any flag, and the edit that removes it.

    `names`: rules and tasks that directives may name.
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
