"""Code actions at a flag: replace the word, ignore it, or correct all flags."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types

from disambig.checking import Flag, FlagCandidate, TextLines, markup_reader, read_directives
from disambig.configuration import OWN, SHARED, nearest_settings
from disambig.errors import UserError
from disambig.lsp.documents import (
    SOURCE,
    UNUSED_TITLE,
    CheckResult,
    ProtocolLines,
    TextDocument,
    action_title,
    to_text_edit,
)
from disambig.markup import (
    BREAK,
    HTML_COMMENT,
    NO_COMMENT,
    XML_DOCUMENT,
    PlainText,
    front_matter_end,
    path_format,
    read_layout,
)
from disambig.text import common_prefix

Edit = tuple[int, int, str]
Read = Callable[[str], PlainText]
_CODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")
"""A coding declaration, which Python only recognises in the first two lines."""
# A directive for the whole file, with its words, up to the end of the comment.
_IGNORE_DIRECTIVE = re.compile(
    r"disambig\s*:\s*ignore(?:-file)?[ \t]+([^\s<>][^<>\r\n]*?)(?=\s*(?:--+>|\*+/|\Z))", re.IGNORECASE
)
_FRONT_MATTER_MARKS = ("---", "+++")
_MARKDOWN = ("Markdown", "MDX")
_HEADING = re.compile(r"[ \t>]*#{1,6}[ \t]")
_UNDERLINE = re.compile(r"(?:\r\n|\r|\n) {0,3}(?:=+|-+)[ \t]*(?=[\r\n]|\Z)")
_ATTRIBUTE_LIST = re.compile(r"\{[ \t]*[:#.][^{}]*\}")
"""An attribute list of Markdown, such as ``{#id}``."""
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+\u2022]|\(?(?:\w{1,5}|#)[.)])[ \t]")
_DECLARATIONS = {
    **dict.fromkeys(
        ("HTML", "DocBook", "DITA", XML_DOCUMENT, ".NET resources", "XLIFF"),
        re.compile(r"\s*<(?:\?xml\b|!doctype\b)[^<>]*>\s*$", re.IGNORECASE),
    ),
    **dict.fromkeys(("manual page", "manual page by section"), re.compile(r"'\\\"")),
}
"""First lines of a format, before which no comment may be inserted."""
_OTHER_COMMENT = {
    **dict.fromkeys(("Vue", "Svelte"), HTML_COMMENT),  # in the template
    "MATLAB, Octave or Objective-C": ("// ", ""),
}
"""Comments of formats with two languages; only those of the first are in the table of formats."""
NOTEBOOK = ".ipynb"
_RULE_PREFIX = "rule:"
"""Prefix of an item of a directive that names a rule."""
_REST_OF_LINE = re.compile(r'(?:[^"\\]|\\[^n])*(?=\\n|")')
"""The rest of a line of Markdown inside a JSON string."""


def ignore_in_line(name: str, text: str, flag: Flag, read: Read) -> Edit | None:
    """Return the edit that adds a comment which suppresses a flag; None if that is not possible.

    `name`: name of the text, whose suffix determines the comment syntax.
    `read`: parses the markup of texts with this name (`disambig.checking.markup_reader`).
    """
    entry = path_format(name)
    if entry is not None and entry.comment == NO_COMMENT:
        return None
    if _suffix(name) == NOTEBOOK:
        return _notebook_edit(name, text, flag, "ignore-line", read)
    start, end = ProtocolLines(text, "utf-32").line_span(flag.start)
    line = text[start:end]
    is_markdown = entry is not None and entry.name in _MARKDOWN
    if is_markdown and flag.start < front_matter_end(text):
        return _front_matter_edit(name, text, flag, (start, start + len(line.rstrip())), read)
    place = "any" if entry is None else entry.comment_place
    if place in ("paragraph", "block") and (_LIST_ITEM.match(line) or not _is_first_line(read(text), start)):
        return None  # the comment would end the list or the paragraph
    target = ignore_target(flag)
    # The edits in order of preference: a comment at the end of the line, a comment before it, and those of
    # the other language of the format.
    edits: list[Edit] = []
    in_line, before = (_limit_directive(kind, target) for kind in ("ignore-line", "ignore-next-line"))
    if place == "any":
        comment = _directive_comment(name, in_line)
        position = start + len(line.rstrip())
        if line.rstrip().endswith("|") and position > flag.end:  # in the last cell of a table
            edits.append((position - 1, position - 1, f"{comment} "))
        elif is_markdown:
            is_heading = bool(_HEADING.match(line) or _UNDERLINE.match(text, end))
            position = start + _comment_column(line.rstrip(), is_heading=is_heading)
            if position >= flag.end:
                edits.append((position, position, f" {comment}"))
        else:
            edits.append((position, position, f" {comment}"))
    comment = _directive_comment(name, before)
    indent = line[: len(line) - len(line.lstrip())]
    newlines = _line_end(text) * (2 if place == "block" else 1)
    edits.append((start, start, f"{indent}{comment}{newlines}"))
    if other := _OTHER_COMMENT.get("" if entry is None else entry.name):
        edits.append((position, position, f" {_in_comment(in_line, other)}"))
        edits.append((start, start, f"{indent}{_in_comment(before, other)}{newlines}"))
    # Whether a comment works depends on the markup around it, so each edit is tried on the text.
    return next((edit for edit in edits if _suppresses(name, read, text, edit, flag)), None)


def ignore_in_file(name: str, text: str, flag: Flag, read: Read) -> Edit | None:
    """Return the edit that adds a comment to ignore a word in the whole text; see `ignore_in_line`."""
    if (entry := path_format(name)) is not None and entry.comment == NO_COMMENT:
        return None
    edits = _file_edits(name, text, ignore_target(flag), read)
    edit = next((edit for edit in edits if _suppresses(name, read, text, edit, flag)), None)
    if edit is None and _suffix(name) == NOTEBOOK:
        edit = _notebook_edit(name, text, flag, "ignore", read)
    return edit


def _is_first_line(plain: PlainText, start: int) -> bool:
    """Return True if a paragraph begins in the line at `start`."""
    before = plain.text[:start]
    gap = before[len(before.rstrip()) :]
    return gap == before or BREAK in gap or len(gap.splitlines()) > 1


def _front_matter_edit(name: str, text: str, flag: Flag, line: tuple[int, int], read: Read) -> Edit | None:
    """Return the edit that adds a comment to a line of YAML or TOML, or before it."""
    start, end = line
    indent = text[start:end][: -len(text[start:end].lstrip())]
    target = ignore_target(flag)
    in_line, before = (_limit_directive(kind, target) for kind in ("ignore-line", "ignore-next-line"))
    edits = [
        (end, end, f" # disambig: {in_line}"),
        (start, start, f"{indent}# disambig: {before}{_line_end(text)}"),
    ]
    return next((edit for edit in edits if _suppresses(name, read, text, edit, flag)), None)


def _comment_column(line: str, *, is_heading: bool, backslash: str = "\\") -> int:
    """Return the column near the end of a line of Markdown at which a comment may be inserted, or -1.

    The comment must not separate a backslash from the line end that it marks as a line break, and must not
    follow the attribute list or the closing marks of a heading.

    `line`: a line without trailing spaces.
    `backslash`: a backslash as it is written in the text.
    """
    n_backslashes = (len(line) - len(line.rstrip("\\"))) // len(backslash)
    if n_backslashes % 2:
        return len(line) - len(backslash)
    column = max(line.rfind("{"), 0)
    if _ATTRIBUTE_LIST.fullmatch(line, column):
        if line[:column].endswith((" ", "\t")):
            line = line[:column].rstrip(" \t")
        elif is_heading:
            return -1  # the list would no longer follow the text of the heading
    title = line.rstrip("#")
    if is_heading and title.endswith((" ", "\t")):
        line = title.rstrip(" \t")
    return len(line)


def _notebook_edit(name: str, text: str, flag: Flag, directive: str, read: Read) -> Edit | None:
    """Return the edit that adds a comment to the line of a Markdown cell, inside its JSON string."""
    stop = _REST_OF_LINE.match(text, flag.end)
    comment = _directive_comment("", _limit_directive(directive, ignore_target(flag)))
    if stop is None:
        return None
    start = max(text.rfind('"', 0, flag.start), text.rfind("\\n", 0, flag.start) + 1) + 1
    line = text[start : stop.end()].rstrip(" \t")
    at = start + _comment_column(line, is_heading=bool(_HEADING.match(line)), backslash="\\\\")
    if at < flag.end:
        return None
    edit = (at, at, " " + json.dumps(comment)[1:-1])
    return edit if _suppresses(name, read, text, edit, flag) else None


def ignore_target(flag: Flag) -> str:
    """Return the item of a directive that suppresses a flag: its word, or its rule if there is no word."""
    word = " ".join(flag.observed.split())
    return word if word and "," not in word else f"{_RULE_PREFIX}{flag.rule}"


def _limit_directive(directive: str, target: str) -> str:
    """Return a directive that is limited to a word or a rule (see `ignore_target`)."""
    if target.startswith(_RULE_PREFIX):
        return f"{directive}[{target.removeprefix(_RULE_PREFIX)}]"
    return f"{directive} {target}"


def ignore_everywhere(
    path: str, root: str, word: str, open_texts: dict[str, str]
) -> tuple[str, str | None, str]:
    """Return the path of a text's settings file, its contents, and the contents that also ignore `word`.

    Raises D972 and similar errors if the settings file is invalid.

    `root`: folder in which a settings file is created if there is none: its old contents are then None.
    `open_texts`: texts of open documents by path: they may differ from the files.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    settings_file = nearest_settings(os.path.dirname(os.path.abspath(path)), {})
    target = settings_file.path or os.path.join(root, OWN[0])
    old = open_texts.get(os.path.realpath(target))
    if old is None and settings_file.path:
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
    """Return the single edit that turns `old` into `new`."""
    start = len(common_prefix(old, new))
    n_same = len(common_prefix(old[start:][::-1], new[start:][::-1]))
    return start, len(old) - n_same, new[start : len(new) - n_same]


def _file_edits(name: str, text: str, target: str, read: Read) -> Iterator[Edit]:
    """Yield possible edits: in an existing comment, at the top, and at the end."""
    for start, end in read(text).comments:
        if match := _IGNORE_DIRECTIVE.search(text[start:end]):
            at = start + match.end()
            yield at, at, f", {target}"
    if _suffix(name) == NOTEBOOK:
        return
    newline, comment = _line_end(text), _directive_comment(name, _limit_directive("ignore", target))
    top = _insertion_start(name, text)
    if not text[top:].startswith(_FRONT_MATTER_MARKS):
        entry = path_format(name)
        mark = "" if entry is None or entry.comment[1] else entry.comment[0].rstrip()
        # A blank line separates the comment from the text, or from a comment that follows.
        needs_blank_line = (
            not mark or (entry is not None and entry.comment_place == "block") or text[top:].startswith(mark)
        )
        yield top, top, f"{comment}{newline}" + (newline if needs_blank_line else "")
        if other := _OTHER_COMMENT.get("" if entry is None else entry.name):
            yield top, top, f"{_in_comment(_limit_directive('ignore', target), other)}{newline}"
    yield len(text), len(text), f"{'' if text.endswith(newline) else newline}{newline}{comment}{newline}"


def _insertion_start(name: str, text: str) -> int:
    """Return the first offset at which a comment may be inserted as a line of its own."""
    lines = ProtocolLines(text, "utf-32")
    top = 1 if text.startswith("\ufeff") else 0
    is_python = _suffix(name) in (".py", ".pyi")
    declaration = _DECLARATIONS.get(language_format.name if (language_format := path_format(name)) else "")
    for number in range(min(2, len(lines) - 1)):
        start, end = lines.line_at(number)
        if (
            (number == 0 and text.startswith("#!"))
            or (is_python and _CODING.match(text, max(start, top), end))
            or (declaration and declaration.match(text, max(start, top), end))
        ):
            top = lines.line_at(number + 1)[0]
    return top


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _directive_comment(name: str, directive: str) -> str:
    return _in_comment(directive, HTML_COMMENT if (entry := path_format(name)) is None else entry.comment)


def _in_comment(directive: str, comment: tuple[str, str]) -> str:
    before, after = comment
    return f"{before}disambig: {directive}{after}"


def _suppresses(name: str, read: Read, text: str, edit: Edit, flag: Flag) -> bool:
    """Return True if an edit suppresses a flag and does not change how the rest of the text is parsed."""
    start, end, new = edit
    changed = text[:start] + new + text[end:]
    moved = flag.start + (len(new) - (end - start) if end <= flag.start else 0)
    plain, before = read(changed), read(text)
    directives = read_directives(name, changed, plain.comments, TextLines(changed), plain.text)
    if len(directives.problems) > len(read_directives("", text, before.comments, TextLines(text)).problems):
        return False
    words = plain.text[:start] + plain.text[start + len(new) :]
    is_shown = SOURCE in plain.text[start : start + len(new)]
    if before.text is not text and is_shown:
        return False
    if before.text is not text and words.split() != (before.text[:start] + before.text[end:]).split():
        return False
    return bool(directives.hiding(moved, flag.observed, *flag.names))


def _line_end(text: str) -> str:
    match = re.search("\r\n|\r|\n", text)
    return match[0] if match else "\n"


FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.{SOURCE}"
IGNORE = "disambig.ignore"
"""The command that ignores a word from now on."""
MAX_IGNORE_ACTIONS = 5
"""Maximum number of selected flags for which actions to ignore them are offered."""
MIN_SAFE_PRECISION = 0.9
"""Minimum precision of flags that are corrected without review."""


def code_actions(
    document: TextDocument,
    context: types.CodeActionContext,
    where: types.Range,
    *,
    root: str,
    texts: dict[str, str],
    safe_flags: Sequence[Flag] = (),
) -> list[types.CodeAction]:
    """Return the code actions in a range of a document; none if it has changed since it was checked.

    `root`: folder that is open in the editor.
    `texts`: texts of open documents by path.
    `safe_flags`: flags that are corrected all at once, if that is requested.
    """
    result = document.check_result
    if result is None or result.version != document.state.version:
        return []
    actions: list[types.CodeAction] = []
    if is_requested(context, types.CodeActionKind.QuickFix.value):
        numbers = _flags_in_range(result, context.diagnostics, where)
        for number in numbers:
            flag, diagnostic = result.flags[number], result.diagnostics[number]
            actions += _replace_actions(document, flag, result.candidates[number], diagnostic)
            if len(numbers) <= MAX_IGNORE_ACTIONS:
                actions += _ignore_actions(document, flag, diagnostic, root, texts)
        for diagnostic, removal in result.unused:
            if removal is not None and overlap(diagnostic.range, where):
                edit = _workspace_edit(document, [removal])
                actions.append(_quick_fix(UNUSED_TITLE, diagnostic, edit=edit, is_preferred=True))
    if is_requested(context, FIX_ALL) and safe_flags:
        actions.append(_fix_all_action(document, safe_flags))
    return actions


def is_safe(flag: Flag) -> bool:
    """Return True if a flag may be corrected without review."""
    return (flag.probability if flag.trust is None else flag.trust.share) >= MIN_SAFE_PRECISION


def is_requested(context: types.CodeActionContext, kind: str) -> bool:
    """Return True if a kind of action or a parent of it is requested; `FIX_ALL` must be named explicitly."""
    if not context.only:
        return kind != FIX_ALL
    # Kinds form a tree, with dots between the levels (specification, ``CodeActionKind``).
    requested = [str(getattr(only, "value", only)) for only in context.only]
    return any(parent in ("", kind) or kind.startswith(f"{parent}.") for parent in requested)


def _flags_in_range(
    result: CheckResult, diagnostics: Sequence[types.Diagnostic], where: types.Range
) -> list[int]:
    """Return the indices of the flags of the client's diagnostics or, without any, of those in a range."""
    requested = {
        (diagnostic.data["start"], diagnostic.data["end"], diagnostic.code)
        for diagnostic in diagnostics
        if diagnostic.source == SOURCE
        and isinstance(diagnostic.data, dict)
        and {"start", "end"} <= diagnostic.data.keys()
        and diagnostic.data.get("version") == result.version
    }
    # The editor names diagnostics if the user asked for the actions of one of them.
    numbers = range(len(result.flags))
    if requested:
        return [
            i
            for i in numbers
            if (result.flags[i].start, result.flags[i].end, result.diagnostics[i].code) in requested
        ]
    return [i for i in numbers if overlap(result.diagnostics[i].range, where)]


def overlap(first: types.Range, second: types.Range) -> bool:
    """Return True if two ranges overlap or touch."""
    return first.start <= second.end and second.start <= first.end


def _replace_actions(
    document: TextDocument, flag: Flag, candidates: Iterable[FlagCandidate], diagnostic: types.Diagnostic
) -> list[types.CodeAction]:
    """Return an action for each candidate; the first one is preferred."""
    actions: list[types.CodeAction] = []
    for candidate in candidates:
        edit, title = _workspace_edit(document, [candidate.edit]), action_title(flag, candidate)
        actions.append(_quick_fix(title, diagnostic, edit=edit, is_preferred=not actions or None))
    return actions


def _ignore_actions(
    document: TextDocument, flag: Flag, diagnostic: types.Diagnostic, root: str, texts: dict[str, str]
) -> list[types.CodeAction]:
    """Return the actions that ignore a flag: in its line, in its file, or in the project."""
    name, text, target = document.name, document.state.text, ignore_target(flag)
    read = document.read = document.read or markup_reader(name)
    is_rule = target.startswith(_RULE_PREFIX)
    quoted = target.removeprefix(_RULE_PREFIX) if is_rule else f'"{target}"'
    actions = []
    for place, edit in (
        ("in this line", ignore_in_line(name, text, flag, read)),
        ("in this file", ignore_in_file(name, text, flag, read)),
    ):
        if edit is not None:
            title = f"{SOURCE}: ignore {quoted} {place}"
            actions.append(_quick_fix(title, diagnostic, edit=_workspace_edit(document, [edit])))
    if not is_rule:
        title = f"{SOURCE}: ignore {quoted} everywhere"
        command = types.Command(title=title, command=IGNORE, arguments=[target])
        try:
            settings = _ignore_in_settings(document, target, root, texts)
        except (UserError, OSError, ValueError):
            settings = None  # errors of the settings file were reported when it was read
        # An editor applies the edit and then runs the command (specification, ``CodeAction``): the word is
        # ignored at once, even before the settings file is saved.
        actions.append(_quick_fix(title, diagnostic, edit=settings, command=command))
    return actions


def _quick_fix(title: str, diagnostic: types.Diagnostic, **fields: Any) -> types.CodeAction:
    kind = types.CodeActionKind.QuickFix
    return types.CodeAction(title=title, kind=kind, diagnostics=[diagnostic], **fields)


def _ignore_in_settings(
    document: TextDocument, word: str, root: str, texts: dict[str, str]
) -> types.WorkspaceEdit:
    """Return the edit of the settings file that adds a word to `ignore`."""
    path, old, new = ignore_everywhere(document.name, root, word, texts)
    uri = Path(path).absolute().as_uri()
    lines = ProtocolLines(old or "", document.encoding)
    edit = to_text_edit(lines, single_edit(old or "", new))
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=None)
    changes: list[Any] = [types.TextDocumentEdit(text_document=identifier, edits=[edit])]
    if old is None:
        changes.insert(0, types.CreateFile(uri=uri, options=types.CreateFileOptions(ignore_if_exists=True)))
    return types.WorkspaceEdit(document_changes=changes)


def supported_edit(
    edit: types.WorkspaceEdit, supported: types.WorkspaceEditClientCapabilities | None
) -> types.WorkspaceEdit:
    """Convert an edit to a form that the editor supports."""
    operations = (supported.resource_operations if supported else None) or ()
    changes: list[Any] = [
        change
        for change in edit.document_changes or ()
        if types.ResourceOperationKind.Create in operations or not isinstance(change, types.CreateFile)
    ]
    if operations or (supported and supported.document_changes):  # Neovim names only the operations
        return types.WorkspaceEdit(document_changes=changes)
    edits: dict[str, Any] = {
        change.text_document.uri: change.edits
        for change in changes
        if isinstance(change, types.TextDocumentEdit)
    }
    return types.WorkspaceEdit(changes=edits)


def _fix_all_action(document: TextDocument, safe_flags: Sequence[Flag]) -> types.CodeAction:
    edits = [flag.edit for flag in safe_flags]
    layout_edits = read_layout(document.name, document.state.text).further(edits)
    return types.CodeAction(
        title=f"{SOURCE}: correct all flags of which 9 in 10 are right",
        kind=FIX_ALL,
        edit=_workspace_edit(document, [*edits, *layout_edits]),
    )


def _workspace_edit(document: TextDocument, edits: Sequence[Edit]) -> types.WorkspaceEdit:
    state = document.state
    text_edits = [to_text_edit(state.lines, edit) for edit in edits]
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=state.version)
    change = types.TextDocumentEdit(text_document=identifier, edits=[*text_edits])
    return types.WorkspaceEdit(document_changes=[change])
