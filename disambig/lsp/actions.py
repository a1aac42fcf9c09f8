"""Code actions at a flag: replace the word, ignore it, or correct all flags."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types

from disambig.checking import Flag, FlagCandidate, TextLines, markup_reader, read_directives
from disambig.configuration import OWN, SHARED, nearest_settings
from disambig.errors import UserError
from disambig.lsp._diagnostics import SOURCE, UNUSED_TITLE, action_title, to_text_edit
from disambig.lsp.documents import CheckResult, ProtocolLines, TextDocument, TextState
from disambig.markup import LANGUAGES, LATEX, PlainText

Edit = tuple[int, int, str]
Read = Callable[[str], PlainText]
_LINE_COMMENTS = {suffix: "%" for suffix in LATEX} | {
    suffix: "#" if lexer in ("PythonLexer", "BashLexer") else "//" for suffix, lexer in LANGUAGES.items()
}
_CODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")
"""Python looks for it in the first two lines, and nowhere else."""
_IGNORED = re.compile(
    r"disambig\s*:\s*ignore(?:-file)?[ \t]+([^\s<>][^<>\r\n]*?)(?=\s*(?:--+>|\*+/|\Z))", re.IGNORECASE
)
_FRONT = ("---", "+++")


def ignore_in_line(name: str, text: str, flag: Flag, read: Read) -> Edit | None:
    """Return the change that writes a comment which hides a flag; None where none can be written.

    Parameters
    ----------
    name : str
        Of the text: its suffix tells what a comment is.
    read : callable
        Reads the markup of texts of that name (`disambig.checking.live.markup_reader`).
    """
    start, end = ProtocolLines(text, "utf-32").line_span(flag.start)
    line = text[start:end]
    indent = line[: len(line) - len(line.lstrip())]
    what = ignore_target(flag)
    behind = end - (len(line) - len(line.rstrip()))
    if line.rstrip().endswith("|") and behind > flag.end:  # in the last cell of a table
        behind -= 1
    before, after = ("", " ") if text[behind:end].startswith("|") else (" ", "")
    newline = _line_end(text)
    tried = [
        (behind, behind, f"{before}{_directive_comment(name, f'ignore-line {what}')}{after}"),
        (start, start, f"{indent}{_directive_comment(name, f'ignore-next-line {what}')}{newline}"),
    ]
    return next((edit for edit in tried if _hides(read, text, edit, flag)), None)


def ignore_in_file(name: str, text: str, flag: Flag, read: Read) -> Edit | None:
    """Return the change that leaves a word alone in all of a text by a comment; see `ignore_in_line`."""
    tried = (
        edit for edit in _in_file(name, text, ignore_target(flag), read) if _hides(read, text, edit, flag)
    )
    return next(tried, None)


def ignore_target(flag: Flag) -> str:
    """Return what a directive names to hide a flag: its word, or its task where no word stands."""
    word = " ".join(flag.observed.split())
    return word if word and "," not in word else f"task:{flag.task}"


def ignore_everywhere(
    path: str, root: str, word: str, open_texts: dict[str, str]
) -> tuple[str, str | None, str]:
    """Return the file of settings that holds for a text, its text, and that with `word` to leave alone.

    Parameters
    ----------
    path : str
        Of the text that is checked.
    root : str
        Where a file of settings is made if there is none: its text is then None.
    open_texts : dict of str to str
        Texts of files that are open, by their paths: they may differ from the files.

    Raises
    ------
    UserError
        D972 and the like where the file of settings is wrong.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    found = nearest_settings(os.path.dirname(os.path.abspath(path)), {})
    target = found.path or os.path.join(root, OWN[0])
    old = open_texts.get(os.path.realpath(target))
    if old is None and found.path:
        old = Path(target).read_bytes().decode("utf-8")
    try:
        document = tomlkit.parse(old or "")
        table: Any = document
        if os.path.basename(target) == SHARED:
            table = document["tool"]["disambig"]
        if "ignore" not in table:
            table["ignore"] = tomlkit.array()
        words = table["ignore"]
        if word not in words:
            words.append(word)
        return target, old, tomlkit.dumps(document)
    except TOMLKitError as problem:
        raise UserError("D972", path=target, problem=str(problem)) from None


def single_edit(old: str, new: str) -> Edit:
    """Return the one change that makes `new` of `old`."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    behind = 0
    while behind < min(len(old), len(new)) - start and old[-1 - behind] == new[-1 - behind]:
        behind += 1
    return start, len(old) - behind, new[start : len(new) - behind]


def _in_file(name: str, text: str, what: str, read: Read) -> Iterator[Edit]:
    """Yield changes that may do: to a comment that is there, at the top, at the end."""
    for start, end in read(text).comments:
        if match := _IGNORED.search(text[start:end]):
            at = start + match.end()
            yield at, at, f", {what}"
    newline, comment = _line_end(text), _directive_comment(name, f"ignore {what}")
    top = _top(name, text)
    if not text[top:].startswith(_FRONT):
        mark = _LINE_COMMENTS.get(_suffix(name))
        is_apart = mark is None or text[top:].startswith(mark)  # a comment behind it is one of its own
        yield top, top, f"{comment}{newline}" + (newline if is_apart else "")
    yield len(text), len(text), f"{'' if text.endswith(newline) else newline}{newline}{comment}{newline}"


def _top(name: str, text: str) -> int:
    """Return where the first line begins that need not stay where it is."""
    lines = ProtocolLines(text, "utf-32")
    top = 1 if text.startswith("\ufeff") else 0
    is_python = _suffix(name) in (".py", ".pyi")
    for number in range(min(2, len(lines) - 1)):
        start, end = lines.line_at(number)
        if (number == 0 and text.startswith("#!")) or (
            is_python and _CODING.match(text, max(start, top), end)
        ):
            top = lines.line_at(number + 1)[0]
    return top


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _directive_comment(name: str, said: str) -> str:
    mark = _LINE_COMMENTS.get(_suffix(name))
    return f"{mark} disambig: {said}" if mark else f"<!-- disambig: {said} -->"


def _hides(read: Read, text: str, edit: Edit, flag: Flag) -> bool:
    """Tell whether a change hides a flag, and nothing else of the text is read otherwise."""
    start, end, new = edit
    changed = text[:start] + new + text[end:]
    moved = flag.start + (len(new) - (end - start) if end <= flag.start else 0)
    plain, before = read(changed), read(text)
    directives = read_directives("", changed, plain.comments, TextLines(changed))
    if len(directives.problems) > len(read_directives("", text, before.comments, TextLines(text)).problems):
        return False
    words = plain.text[:start] + plain.text[start + len(new) :]
    if before.text is not text and words.split() != (before.text[:start] + before.text[end:]).split():
        return False
    return bool(directives.hiding(moved, flag.observed, flag.task))


def _line_end(text: str) -> str:
    found = re.search("\r\n|\r|\n", text)
    return found[0] if found else "\n"


FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.{SOURCE}"
IGNORE = "disambig.ignore"
"""The command that leaves a word alone from now on."""
FEW = 5
"""Where more flags are selected nobody means to write a comment for each."""
SAFE = 0.9
"""Flags that are at least so probable are corrected all at once."""


def code_actions(
    document: TextDocument,
    context: types.CodeActionContext,
    where: types.Range,
    *,
    root: str,
    texts: dict[str, str],
    sure: Sequence[Flag] = (),
) -> list[types.CodeAction]:
    """Return what may be done in a range of a text; nothing where it changed since it was checked.

    Parameters
    ----------
    root : str
        Folder that is open in the editor.
    texts : dict of str to str
        Open texts by the paths of their files.
    sure : sequence of Flag
        What is corrected all at once, if that is asked for.
    """
    found, state = document.found, document.state
    if found is None or found.version != state.version:
        return []
    actions: list[types.CodeAction] = []
    if wants(context, types.CodeActionKind.QuickFix.value):
        numbers = _flags_in_range(found, context.diagnostics, where)
        for number in numbers:
            flag, diagnostic = found.flags[number], found.diagnostics[number]
            actions += _replace_actions(document, state, flag, found.candidates[number], diagnostic)
            if len(numbers) <= FEW:
                actions += _ignore_actions(document, state, flag, diagnostic, root, texts)
        actions += [
            _quick_fix(
                UNUSED_TITLE, diagnostic, edit=_edit_action(document, state, [edit]), is_preferred=True
            )
            for diagnostic, edit in found.unused
            if edit is not None and _touch(diagnostic.range, where)
        ]
    if wants(context, FIX_ALL) and (action := _fix_all_action(document, state, sure)):
        actions.append(action)
    return actions


def wants(context: types.CodeActionContext, kind: str) -> bool:
    """Tell whether a kind of action was asked for: it, or one that it is a kind of; else not `FIX_ALL`."""
    if not context.only:
        return kind != FIX_ALL
    asked = [str(getattr(each, "value", each)) for each in context.only]
    return any(kind == each or kind.startswith(f"{each}.") or each == "" for each in asked)


def _flags_in_range(found: CheckResult, said: Sequence[types.Diagnostic], where: types.Range) -> list[int]:
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


def _replace_actions(
    document: TextDocument,
    state: TextState,
    flag: Flag,
    candidates: Iterable[FlagCandidate],
    diagnostic: types.Diagnostic,
) -> list[types.CodeAction]:
    return [
        types.CodeAction(
            title=action_title(flag, candidate),
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=True if number == 0 else None,
            edit=_edit_action(document, state, [candidate.edit]),
        )
        for number, candidate in enumerate(candidates)
    ]


def _ignore_actions(
    document: TextDocument,
    state: TextState,
    flag: Flag,
    diagnostic: types.Diagnostic,
    root: str,
    texts: dict[str, str],
) -> list[types.CodeAction]:
    name, what = document.name, ignore_target(flag)
    read = document.read = document.read or markup_reader(name)
    shown = what if what.startswith("task:") else f'"{what}"'
    actions = []
    for place, edit in (
        ("in this line", ignore_in_line(name, state.text, flag, read)),
        ("in this file", ignore_in_file(name, state.text, flag, read)),
    ):
        if edit is not None:
            title = f"{SOURCE}: ignore {shown} {place}"
            actions.append(_quick_fix(title, diagnostic, edit=_edit_action(document, state, [edit])))
    if not what.startswith("task:"):
        title = f"{SOURCE}: ignore {shown} everywhere"
        command = types.Command(title=title, command=IGNORE, arguments=[what])
        try:
            settings = _ignore_in_settings(document, what, root, texts)
        except (UserError, OSError, ValueError):
            settings = None  # what is wrong with the file of settings was told when it was read
        actions.append(_quick_fix(title, diagnostic, edit=settings, command=command))
    return actions


def _quick_fix(title: str, diagnostic: types.Diagnostic, **what: Any) -> types.CodeAction:
    kind = types.CodeActionKind.QuickFix
    return types.CodeAction(title=title, kind=kind, diagnostics=[diagnostic], **what)


def _ignore_in_settings(
    document: TextDocument, word: str, root: str, texts: dict[str, str]
) -> types.WorkspaceEdit:
    """Return the change of the file of settings that adds a word to those that are left alone."""
    path, old, new = ignore_everywhere(document.name, root, word, texts)
    uri = Path(path).absolute().as_uri()
    lines = ProtocolLines(old or "", document.encoding)
    edit = to_text_edit(lines, single_edit(old or "", new))
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=None)
    changes: list[Any] = [types.TextDocumentEdit(text_document=identifier, edits=[edit])]
    if old is None:
        changes.insert(0, types.CreateFile(uri=uri, options=types.CreateFileOptions(ignore_if_exists=True)))
    return types.WorkspaceEdit(document_changes=changes)


def _fix_all_action(
    document: TextDocument, state: TextState, sure: Sequence[Flag]
) -> types.CodeAction | None:
    if not sure:
        return None
    return types.CodeAction(
        title=f"{SOURCE}: correct all that is at least {SAFE:.0%} sure",
        kind=FIX_ALL,
        edit=_edit_action(document, state, [flag.edit for flag in sure]),
    )


def _edit_action(
    document: TextDocument, state: TextState, edits: Sequence[tuple[int, int, str]]
) -> types.WorkspaceEdit:
    made = [to_text_edit(state.lines, edit) for edit in edits]
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=state.version)
    return types.WorkspaceEdit(
        document_changes=[types.TextDocumentEdit(text_document=identifier, edits=[*made])]
    )
