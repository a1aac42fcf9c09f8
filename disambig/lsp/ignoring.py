"""Leaving a word alone: in a line or a file by a comment, everywhere by the file of settings.

A comment is tried before it is offered: where the text with it would still be flagged, or reads otherwise,
there is no offer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from disambig.checking.directives import read_directives
from disambig.checking.flags import Flag
from disambig.checking.places import Places
from disambig.configuration.finding import OWN, SHARED, nearest_settings
from disambig.errors import UserError
from disambig.lsp.lines import Lines
from disambig.text.markup import LATEX, PlainText
from disambig.text.markup.code.lexing import LANGUAGES

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


def in_line(name: str, text: str, flag: Flag, read: Read) -> Edit | None:
    """Return the change that writes a comment which hides a flag; None where none can be written.

    Parameters
    ----------
    name : str
        Of the text: its suffix tells what a comment is.
    read : callable
        Reads the markup of texts of that name (`disambig.checking.live.text.reader_of`).
    """
    start, end = Lines(text, "utf-32").line_of(flag.start)
    line = text[start:end]
    indent = line[: len(line) - len(line.lstrip())]
    what = what_of(flag)
    behind = end - (len(line) - len(line.rstrip()))
    if line.rstrip().endswith("|") and behind > flag.end:  # in the last cell of a table
        behind -= 1
    before, after = ("", " ") if text[behind:end].startswith("|") else (" ", "")
    newline = _line_end(text)
    tried = [
        (behind, behind, f"{before}{_comment(name, f'ignore-line {what}')}{after}"),
        (start, start, f"{indent}{_comment(name, f'ignore-next-line {what}')}{newline}"),
    ]
    return next((edit for edit in tried if _hides(read, text, edit, flag)), None)


def in_file(name: str, text: str, flag: Flag, read: Read) -> Edit | None:
    """Return the change that leaves a word alone in all of a text by a comment; see `in_line`."""
    tried = (edit for edit in _in_file(name, text, what_of(flag), read) if _hides(read, text, edit, flag))
    return next(tried, None)


def what_of(flag: Flag) -> str:
    """Return what a directive names to hide a flag: its word, or its task where no word stands."""
    word = " ".join(flag.observed.split())
    return word if word and "," not in word else f"task:{flag.task}"


def everywhere(path: str, root: str, word: str, open_texts: dict[str, str]) -> tuple[str, str | None, str]:
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


def difference(old: str, new: str) -> Edit:
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
    newline, comment = _line_end(text), _comment(name, f"ignore {what}")
    top = _top(name, text)
    if not text[top:].startswith(_FRONT):
        mark = _LINE_COMMENTS.get(_suffix(name))
        is_apart = mark is None or text[top:].startswith(mark)  # a comment behind it is one of its own
        yield top, top, f"{comment}{newline}" + (newline if is_apart else "")
    yield len(text), len(text), f"{'' if text.endswith(newline) else newline}{newline}{comment}{newline}"


def _top(name: str, text: str) -> int:
    """Return where the first line begins that need not stay where it is."""
    lines = Lines(text, "utf-32")
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


def _comment(name: str, said: str) -> str:
    mark = _LINE_COMMENTS.get(_suffix(name))
    return f"{mark} disambig: {said}" if mark else f"<!-- disambig: {said} -->"


def _hides(read: Read, text: str, edit: Edit, flag: Flag) -> bool:
    """Tell whether a change hides a flag, and nothing else of the text is read otherwise."""
    start, end, new = edit
    changed = text[:start] + new + text[end:]
    moved = flag.start + (len(new) - (end - start) if end <= flag.start else 0)
    plain, before = read(changed), read(text)
    directives = read_directives("", changed, plain.comments, Places(changed))
    if len(directives.problems) > len(read_directives("", text, before.comments, Places(text)).problems):
        return False
    words = plain.text[:start] + plain.text[start + len(new) :]
    if before.text is not text and words.split() != (before.text[:start] + before.text[end:]).split():
        return False
    return bool(directives.hiding(moved, flag.observed, flag.task))


def _line_end(text: str) -> str:
    found = re.search("\r\n|\r|\n", text)
    return found[0] if found else "\n"
