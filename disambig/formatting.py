"""Format numbers and texts for output: plural forms, figures, escaped control characters."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from math import isnan
from types import FrameType
from typing import Any


def pluralize(n: int, noun: str) -> str:
    """Return ``1 document``, ``2 documents``, ``1,000 words``; `noun` is in the singular."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def with_article(noun: str) -> str:
    """Return a noun in the singular with its article: ``an extractor``, ``a UserError``."""
    begins_with_vowel = noun[:1].lower() in "aeio" or noun.startswith("un")
    return f"{'an' if begins_with_vowel else 'a'} {noun}"


def markdown_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, n_left: int | None = None
) -> list[str]:
    """Return the lines of a Markdown table; with `n_left`, the columns after that many are right-aligned."""
    n_left = len(heads) if n_left is None else n_left
    rule = "|" + "---|" * n_left + "---:|" * (len(heads) - n_left)
    lines = ["| " + " | ".join(cells) + " |" for cells in (heads, *rows)]
    return [lines[0], rule, *lines[1:]]


def on_one_line(text: object) -> str:
    """Return a text, or the message of an exception, with each run of white space as one blank."""
    return " ".join(str(text).split())


_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROLS = f"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_DIRECTIONS}\ud800-\udfff"
"""Characters that could change how a terminal shows a line.

C0 and C1 controls, line and paragraph separators, direction marks and surrogate halves.
"""
_IN_LINES = re.compile(f"[{_CONTROLS}]")
_IN_A_LINE = re.compile(f"[{_CONTROLS}\n\t]")
_NEEDS_QUOTES = re.compile(f'[{_CONTROLS}\n\t"\\\\]')
_C_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
"""Letters of the C escape sequences, by character code."""
_WORKFLOW_COMMANDS = ("::", "##[")
"""Prefixes of commands in the log of a GitHub workflow."""


def escape_control_chars(text: str, *, lines: bool = False) -> str:
    r"""Return `text` with control characters as ``\x1b`` or ``\u202e``; `lines` keeps line ends and tabs."""
    return (_IN_LINES if lines else _IN_A_LINE).sub(_escape, text)


_LONGEST = 300


def first_names(names: Sequence[str], maximum: int = 3) -> str:
    """Join the first names for a message, without control characters."""
    shown = ", ".join(map(escape_control_chars, names[:maximum]))
    return f"{shown}, ..." if len(names) > maximum else shown


def describe_exception(problem: BaseException) -> str:
    """Return the type and the text of an exception on one line of at most 300 characters."""
    try:
        text = on_one_line(problem)
    except Exception:  # the exception of a plugin may fail to describe itself
        text = ""
    line = escape_control_chars(f"{type(problem).__name__}{text and ': '}{text}")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def add_note(problem: BaseException, note: str) -> None:
    """Add a line to an exception, which tracebacks show since Python 3.11 (PEP 678)."""
    notes: Any = problem
    notes.__notes__ = [*getattr(problem, "__notes__", ()), note]


_CORE = __name__.partition(".")[0]


def describe_failure(problem: BaseException, packages: Collection[str] = (), text: str = "") -> str:
    """Return the type and text of an exception, with the line of a plugin that raised it.

    `packages`: top-level names of the packages of plugins. The innermost line in these is given; if there is
    none, the innermost line that is neither in the core nor in an installed package.
    `text`: description of the exception; by default that of `describe_exception`.
    An example is ``IndexError: list index out of range (my_plugin/extractor.py:12, in transform)``.
    """
    line = _raised_in(problem, packages)
    text = text or describe_exception(problem)
    return f"{text} ({line})" if line else text


def _raised_in(problem: BaseException, packages: Collection[str]) -> str:
    """Return the line of a plugin that raised an exception, or "" if no plugin was involved."""
    if isinstance(problem, SyntaxError):  # its text names file and line
        return ""
    in_packages = others = ""
    trace = problem.__traceback__
    while trace is not None:
        frame, line = trace.tb_frame, trace.tb_lineno
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package in packages:
            in_packages = _format_line(frame, line)
        elif package != _CORE and _is_script(frame.f_code.co_filename):
            others = _format_line(frame, line)
        trace = trace.tb_next
    return in_packages or others


def _is_script(path: str) -> bool:
    """Return True if a file is neither of the standard library nor of an installed package."""
    in_packages = {"site-packages", "dist-packages"} & set(path.split(os.sep))
    return not in_packages and not path.startswith(("<", *_standard_library()))


@lru_cache(maxsize=1)
def _standard_library() -> tuple[str, ...]:
    import sysconfig

    return tuple(os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib"))


def _format_line(frame: FrameType, line: int) -> str:
    """Return a line as ``package/module.py:12, in function``."""
    parts = frame.f_code.co_filename.split(os.sep)
    depth = str(frame.f_globals.get("__name__", "")).count(".") + 1
    depth += parts[-1] == "__init__.py"
    return escape_control_chars(f"{'/'.join(parts[-depth:])}:{line}, in {frame.f_code.co_name}")


def shown_path(path: str) -> str:
    """Return a path for display at the start of a line, so that it is not a workflow command."""
    shown = escape_control_chars(path)
    return f"./{shown}" if shown.lstrip().startswith(_WORKFLOW_COMMANDS) else shown


def quoted_path(path: str) -> str:
    r"""Return a path quoted as in the diffs of git, which ``patch`` and ``git apply`` understand.

    A path without control characters, quotes, backslashes and surrounding blanks is not changed, as with
    ``core.quotePath=false``. In other paths, bytes that are not printable ASCII are written as octal numbers:
    ``"a\nb \303\274"``, so that every name fits on one line. A name with blanks is terminated by a tab.
    """
    if not _NEEDS_QUOTES.search(path) and path == path.strip():
        return f"{path}\t" if any(map(str.isspace, path)) else path
    return f'"{"".join(map(_octal, os.fsencode(path)))}"'


def escaped_json(text: str) -> str:
    r"""Return JSON with control characters as ``\u202e``; line ends between values are kept."""
    return _IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _octal(byte: int) -> str:
    if byte in _C_ESCAPES:
        return f"\\{_C_ESCAPES[byte]}"
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


FEW_MEASURED = 60
"""A share measured on fewer cases is shown in tenths: a percentage would look too exact."""


def describe_share(share: float, n: int) -> str:
    """Return a share that was measured on `n` cases: ``88 %``, or ``about 9 in 10`` if they are few."""
    if n >= FEW_MEASURED:
        return f"{round(100 * share)} %"
    tenths = min(round(10 * share), 9)
    return f"about {tenths} in 10" if tenths else "fewer than 1 in 10"


def format_figure(value: float | None, form: str) -> str:
    """Return a figure in a format such as ``".2%"``, or a dash if it is undefined."""
    return "-" if value is None or isnan(value) else format(value, form)


def format_value(value: float | None, measure: Mapping[str, Any], *, signed: bool = False) -> str:
    """Return the value of a measure with a ``unit`` as text; shares are percentages."""
    digits = ".2%" if measure["unit"].startswith("share") else ".4f"
    return format_figure(value, f"+{digits}" if signed else digits)


_SMALLEST_P = 1e-4


def format_p(value: float | None, *, draws: int | None = None) -> str:
    """Return a p-value as ``0.0123``, ``< 0.0001`` if it is smaller, or a dash if it is undefined.

    `draws` is the number of draws of a bootstrap, which cannot show a value below ``1 / draws``.
    """
    if value is None or isnan(value):
        return "-"
    smallest = _SMALLEST_P if draws is None else max(_SMALLEST_P, 1 / draws)
    return f"< {smallest:.4f}" if value < smallest else f"{value:.4f}"
