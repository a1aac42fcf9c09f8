"""What was changed in git: which files and which of their lines a run looks at."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from disambig.checking.files import TextFile, as_text, read_text
from disambig.checking.flags import Flag
from disambig.checking.git import Repositories, Repository
from disambig.errors import UserError


@dataclass(frozen=True, slots=True)
class _Changed:
    """What was changed in one repository: new lines by file, and files that are new altogether."""

    git: Repository
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
        self._repositories = Repositories()
        self._changed: dict[str, _Changed] = {}
        self._by_folder: dict[str, _Changed] = {}

    def has(self, path: str) -> bool:
        """Tell whether a file has a new line.

        Raises
        ------
        UserError
            D961 to D965, D968 and D969 if git cannot answer.
        """
        changed, path = self._find(path)
        return path in changed.lines or path in changed.new

    def read(self, path: str) -> TextFile:
        """Read a file as it is now, or as it is staged.

        Raises
        ------
        UserError
            As `files.read_text`; D964 and D969 if git cannot give it.
        """
        if self._since is not None:
            return read_text(path)
        changed, absolute = self._find(path)
        return as_text(path, changed.git.staged_bytes(absolute))

    def keep(self, path: str, text: str, flags: Iterable[Flag]) -> list[Flag]:
        """Return the flags of a file that stand, in part at least, in new lines."""
        changed, path = self._find(path)
        if path in changed.new:
            return list(flags)
        ends = [place for place, character in enumerate(text) if character == "\n"]  # git knows no other
        new = {line for lines in changed.lines.get(path, ()) for line in lines}
        return [
            flag
            for flag in flags
            if not new.isdisjoint(range(bisect_right(ends, flag.start - 1) + 1, _last(ends, flag) + 1))
        ]

    def _find(self, path: str) -> tuple[_Changed, str]:
        """Return the repository of a file, and the file's path as that repository names it."""
        folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
        if folder not in self._by_folder:
            if not os.path.isdir(folder):
                raise UserError("D300", path=path)
            repository = self._repositories.get(folder)
            if repository.home not in self._changed:
                self._changed[repository.home] = self._compare(repository)
            self._by_folder[folder] = self._changed[repository.home]
        return self._by_folder[folder], os.path.join(folder, os.path.basename(path))

    def _compare(self, repository: Repository) -> _Changed:
        if self._since is None:
            return _Changed(repository, repository.changed_lines(None), set())
        base = repository.merge_base(self._since)
        return _Changed(repository, repository.changed_lines(base), repository.untracked_files())


def _last(ends: list[int], flag: Flag) -> int:
    """Return the line, from 1, of a flag's last character."""
    return bisect_right(ends, max(flag.start, flag.end - 1) - 1) + 1
