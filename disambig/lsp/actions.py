"""What an editor offers at a flag: other words, leaving it alone, correcting all that is sure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types

from disambig.checking.flags import Flag, choose
from disambig.checking.live.candidates import Candidate
from disambig.checking.live.text import reader_of
from disambig.errors import UserError
from disambig.lsp import ignoring
from disambig.lsp.diagnostics import SOURCE, edit_of, titled
from disambig.lsp.documents import Found, State, TextDocument
from disambig.lsp.lines import Lines
from disambig.lsp.unused import TITLE

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.{SOURCE}"
IGNORE = "disambig.ignore"
"""The command that leaves a word alone from now on."""
FEW = 5
"""Where more flags are selected nobody means to write a comment for each."""
SAFE = 0.9
"""Flags that are at least so probable are corrected all at once."""


def actions_of(
    document: TextDocument,
    context: types.CodeActionContext,
    where: types.Range,
    *,
    root: str,
    texts: dict[str, str],
) -> list[types.CodeAction]:
    """Return what may be done in a range of a text; nothing where it changed since it was checked.

    Parameters
    ----------
    root : str
        Folder that is open in the editor.
    texts : dict of str to str
        Open texts by the paths of their files.
    """
    found, state = document.found, document.state
    if found is None or found.version != state.version:
        return []
    actions: list[types.CodeAction] = []
    if _wants(context, types.CodeActionKind.QuickFix.value):
        numbers = _meant(found, context.diagnostics, where)
        for number in numbers:
            flag, diagnostic = found.flags[number], found.diagnostics[number]
            actions += _replacing(document, state, flag, found.candidates[number], diagnostic)
            if len(numbers) <= FEW:
                actions += _ignoring(document, state, flag, diagnostic, root, texts)
        actions += [
            _quick_fix(TITLE, diagnostic, edit=_changing(document, state, [edit]), is_preferred=True)
            for diagnostic, edit in found.unused
            if edit is not None and _touch(diagnostic.range, where)
        ]
    if _wants(context, FIX_ALL) and (action := _fixing_all(document, state, found)):
        actions.append(action)
    return actions


def _wants(context: types.CodeActionContext, kind: str) -> bool:
    """Tell whether a kind of action was asked for: it, or one that it is a kind of; else not `FIX_ALL`."""
    if not context.only:
        return kind != FIX_ALL
    asked = [str(getattr(each, "value", each)) for each in context.only]
    return any(kind == each or kind.startswith(f"{each}.") or each == "" for each in asked)


def _meant(found: Found, said: Sequence[types.Diagnostic], where: types.Range) -> list[int]:
    """Return the numbers of the flags that the client means: those it names, else those in the range."""
    named = {
        (each.data["start"], each.data["end"], each.code)
        for each in said
        if each.source == SOURCE and isinstance(each.data, dict) and {"start", "end"} <= each.data.keys()
    }
    numbers = range(len(found.flags))
    if named:
        return [
            i
            for i in numbers
            if (found.flags[i].start, found.flags[i].end, found.diagnostics[i].code) in named
        ]
    return [i for i in numbers if _touch(found.diagnostics[i].range, where)]


def _touch(one: types.Range, other: types.Range) -> bool:
    return _place(one.start) <= _place(other.end) and _place(other.start) <= _place(one.end)


def _place(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _replacing(
    document: TextDocument,
    state: State,
    flag: Flag,
    candidates: Iterable[Candidate],
    diagnostic: types.Diagnostic,
) -> list[types.CodeAction]:
    return [
        types.CodeAction(
            title=titled(flag, candidate),
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=True if number == 0 else None,
            edit=_changing(document, state, [candidate.edit]),
        )
        for number, candidate in enumerate(candidates)
    ]


def _ignoring(
    document: TextDocument,
    state: State,
    flag: Flag,
    diagnostic: types.Diagnostic,
    root: str,
    texts: dict[str, str],
) -> list[types.CodeAction]:
    name, what = document.name, ignoring.what_of(flag)
    read = document.read = document.read or reader_of(name)
    shown = what if what.startswith("task:") else f'"{what}"'
    actions = []
    for place, edit in (
        ("in this line", ignoring.in_line(name, state.text, flag, read)),
        ("in this file", ignoring.in_file(name, state.text, flag, read)),
    ):
        if edit is not None:
            title = f"{SOURCE}: ignore {shown} {place}"
            actions.append(_quick_fix(title, diagnostic, edit=_changing(document, state, [edit])))
    if not what.startswith("task:"):
        title = f"{SOURCE}: ignore {shown} everywhere"
        command = types.Command(title=title, command=IGNORE, arguments=[what])
        try:
            settings = _in_settings(document, what, root, texts)
        except (UserError, OSError, ValueError):
            settings = None  # what is wrong with the file of settings was told when it was read
        actions.append(_quick_fix(title, diagnostic, edit=settings, command=command))
    return actions


def _quick_fix(title: str, diagnostic: types.Diagnostic, **what: Any) -> types.CodeAction:
    kind = types.CodeActionKind.QuickFix
    return types.CodeAction(title=title, kind=kind, diagnostics=[diagnostic], **what)


def _in_settings(document: TextDocument, word: str, root: str, texts: dict[str, str]) -> types.WorkspaceEdit:
    """Return the change of the file of settings that adds a word to those that are left alone."""
    path, old, new = ignoring.everywhere(document.name, root, word, texts)
    uri = Path(path).absolute().as_uri()
    lines = Lines(old or "", document.encoding)
    edit = edit_of(lines, ignoring.difference(old or "", new))
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=None)
    changes: list[Any] = [types.TextDocumentEdit(text_document=identifier, edits=[edit])]
    if old is None:
        changes.insert(0, types.CreateFile(uri=uri, options=types.CreateFileOptions(ignore_if_exists=True)))
    return types.WorkspaceEdit(document_changes=changes)


def _fixing_all(document: TextDocument, state: State, found: Found) -> types.CodeAction | None:
    taken, _ = choose([flag for flag in found.flags if flag.probability >= SAFE])
    if not taken:
        return None
    return types.CodeAction(
        title=f"{SOURCE}: correct all that is at least {SAFE:.0%} sure",
        kind=FIX_ALL,
        edit=_changing(document, state, [flag.edit for flag in taken]),
    )


def _changing(
    document: TextDocument, state: State, edits: Sequence[tuple[int, int, str]]
) -> types.WorkspaceEdit:
    made = [edit_of(state.lines, edit) for edit in edits]
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=state.version)
    return types.WorkspaceEdit(
        document_changes=[types.TextDocumentEdit(text_document=identifier, edits=[*made])]
    )
