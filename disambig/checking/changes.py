"""What was changed in git: which files and which of their lines a run looks at."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from disambig.checking import git
from disambig.checking.files import TextFile, as_text, read_text
from disambig.checking.flags import Flag
from disambig.errors import UserError


@dataclass(frozen=True, slots=True)
class _Repository:
    """What was changed in one repository: new lines by file, and files that are new altogether."""

    top: str
    lines: dict[str, list[range]]
    new: set[str]


class Changes:
    """What was changed since a commit, or what is staged.

    Parameters
    ----------
    since : str, optional
        A revision: what is new in the files since its history and that of HEAD parted. Without it what is
        staged, and the texts are those that are staged.
    """

    def __init__(self, since: str | None = None) -> None:
        self._since = since
        self._of_folder: dict[str, _Repository] = {}
        self._of_top: dict[str, _Repository] = {}

    def has(self, path: str) -> bool:
        """Tell whether a file has a new line.

        Raises
        ------
        UserError
            D961 to D965 where git cannot say.
        """
        repository, path = self._find(path)
        return path in repository.lines or path in repository.new

    def read(self, path: str) -> TextFile:
        """Read a file as it is now, or as it is staged.

        Raises
        ------
        UserError
            As `files.read_text`; D964 where git cannot give it.
        """
        if self._since is not None:
            return read_text(path)
        repository, found = self._find(path)
        return as_text(path, git.staged_bytes(repository.top, found))

    def keep(self, path: str, text: str, flags: Iterable[Flag]) -> list[Flag]:
        """Return the flags of a file that stand, in part at least, in new lines."""
        repository, path = self._find(path)
        if path in repository.new:
            return list(flags)
        ends = [place for place, character in enumerate(text) if character == "\n"]  # git knows no other
        new = {line for lines in repository.lines.get(path, ()) for line in lines}
        return [
            flag
            for flag in flags
            if not new.isdisjoint(range(bisect_right(ends, flag.start - 1) + 1, _last(ends, flag) + 1))
        ]

    def _find(self, path: str) -> tuple[_Repository, str]:
        """Return the repository of a file, and the file's path as that repository names it."""
        folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
        if folder not in self._of_folder:
            if not os.path.isdir(folder):
                raise UserError("D300", path=path)
            top = git.repository_of(folder)
            if top not in self._of_top:
                self._of_top[top] = self._ask(top)
            self._of_folder[folder] = self._of_top[top]
        return self._of_folder[folder], os.path.join(folder, os.path.basename(path))

    def _ask(self, top: str) -> _Repository:
        if self._since is None:
            return _Repository(top, git.changed_lines(top, None), set())
        base = git.base_of(top, self._since)
        return _Repository(top, git.changed_lines(top, base), git.untracked_files(top))


def _last(ends: list[int], flag: Flag) -> int:
    """Return the line, from 1, of a flag's last character."""
    return bisect_right(ends, max(flag.start, flag.end - 1) - 1) + 1
