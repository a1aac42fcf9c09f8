"""One run of the linter: files in, flags and corrections out, what it came to, the exit status."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from disambig.batch.annotation import annotate_documents
from disambig.checking.diff import unified_diff
from disambig.checking.files import TextFile, find_files, read_text, write_text
from disambig.checking.flags import Checked, Flag, choose, corrected, flags_of
from disambig.checking.lines import line_of, without
from disambig.errors import UserError
from disambig.files.opening import STDIN
from disambig.formats.documents import Document
from disambig.plural import many
from disambig.text.markup import read_markup

if TYPE_CHECKING:
    from disambig.batch.sources import Annotate

FLAGGED = 1
FAILURE = 2
_AT_ONCE = 200_000  # characters annotated together
_FILES_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a run.

    Attributes
    ----------
    paths : tuple of str
        Files, directories, ``-`` for standard input.
    fix, diff : bool
        Write corrections; show them as a diff.
    backup : str, optional
        What the name of the old text ends in; None for no copy.
    most_per_1000 : float, optional
        Most flags per 1,000 words of a file.
    ignore : frozenset of str
        Words to leave alone, as `directives.plain_word` returns them.
    format : str
        One of `lines.FORMATS`.
    stdin_name : str
        What standard input is called.
    """

    paths: tuple[str, ...]
    fix: bool = False
    diff: bool = False
    backup: str | None = ".bak"
    most_per_1000: float | None = None
    ignore: frozenset[str] = frozenset()
    format: str = "text"
    stdin_name: str = "<stdin>"


class Output(Protocol):
    """Where a run writes to."""

    def result(self, text: str) -> None:
        """Write flags, diffs, corrected standard input."""

    def remark(self, text: str) -> None:
        """Write what is good to know and no problem."""

    def note(self, text: str) -> None:
        """Write what is no result: as it is, to where it disturbs none."""


@dataclass(slots=True)
class Tally:
    """What a run came to."""

    files: int = 0
    flagged_files: int = 0
    words: int = 0
    flags: int = 0
    fixed: int = 0
    left_out: int = 0
    problems: int = 0
    in_file: dict[str, int] = field(default_factory=dict)


def run(request: Request, load: Callable[[], Annotate], output: Output) -> int:
    """Check as asked and return the exit status: 0 without flags, 1 with, 2 where something went wrong.

    Parameters
    ----------
    load : callable
        Loads the models, once there is a file to check.

    Raises
    ------
    UserError
        What `load` raises.
    """
    return _Run(request, output).of(load)


class _Run:
    """A run: what was asked, where it is written to, what it came to so far."""

    def __init__(self, request: Request, output: Output) -> None:
        self.request, self.output, self.tally = request, output, Tally()

    def of(self, load: Callable[[], Annotate]) -> int:
        annotate: Annotate | None = None
        for files in self._batches():
            if annotate is None:
                annotate = load()
            documents = [Document(str(i), file.text, self._name(file)) for i, file in enumerate(files)]
            found, bad = annotate_documents(documents, annotate)
            for failed in bad:
                self._report(failed.error)
            for result in found:
                name, text = result.document.path, result.document.text
                checked = flags_of(
                    name,
                    text,
                    read_markup(name, text),
                    result.decisions,
                    ignore=self.request.ignore,
                    most_per_1000=self.request.most_per_1000,
                )
                self._finish(files[int(result.document.id)], checked)
        self._summary()
        return FAILURE if self.tally.problems else FLAGGED if self.tally.flags else 0

    def _batches(self) -> Iterator[list[TextFile]]:
        """Read the files, a few at a time; those that cannot be read are reported."""
        batch: list[TextFile] = []
        size = 0
        for path in find_files(self.request.paths):
            try:
                file = read_text(path)
            except UserError as problem:
                self._report(problem)
                continue
            batch.append(file)
            size += len(file.text)
            if size >= _AT_ONCE or len(batch) >= _FILES_AT_ONCE:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _finish(self, file: TextFile, checked: Checked) -> None:
        """Do with the flags of one file what was asked for."""
        name = self._name(file)
        self.tally.files += 1
        self.tally.flagged_files += bool(checked.flags)
        self.tally.words += checked.words
        self.tally.flags += len(checked.flags)
        if checked.left_out:
            self.tally.left_out += checked.left_out
            self.tally.in_file[name] = checked.left_out
        for problem in checked.problems:
            self._report(problem)
        taken, left = choose(checked.flags)
        if self.request.diff:
            self.output.result(unified_diff(name, file.text, corrected(file.text, taken)))
            if left:
                self._say(f"{name}: {many(len(left), 'flag')} not in the diff: {without(left)}")
        elif not self.request.fix:
            self.output.result("".join(line_of(name, flag, self.request.format) for flag in checked.flags))
        else:
            self._fix(file, checked.flags, taken)

    def _fix(self, file: TextFile, flags: Sequence[Flag], taken: Sequence[Flag]) -> None:
        name = self._name(file)
        new = corrected(file.text, taken)
        done = False
        if file.path == STDIN:
            self.output.result(new)
            done = True
        elif taken:
            try:
                copy = write_text(file, new, backup=self.request.backup)
                done = True
                if copy is not None:
                    self._say(f"{name}: the old text is in {copy}")
            except UserError as problem:
                self._report(problem)
        lines = "".join(
            line_of(name, flag, self.request.format, "fixed" if done and flag in taken else "left")
            for flag in flags
        )
        self.tally.fixed += len(taken) if done else 0
        (self.output.note if file.path == STDIN else self.output.result)(lines)

    def _summary(self) -> None:
        if not self.tally.files:
            if not self.tally.problems:
                self._say("no file to check")
            return
        if self.tally.left_out:
            files = ", ".join(f"{name}: {n:,}" for name, n in list(self.tally.in_file.items())[:5])
            more = f", and {len(self.tally.in_file) - 5:,} more files" if len(self.tally.in_file) > 5 else ""
            self._say(f"{many(self.tally.left_out, 'flag')} left out by --max-flags-per-1000 ({files}{more})")
        found = many(self.tally.flags, "flag")
        if self.tally.flags:
            found += f" in {self.tally.flagged_files:,} of {many(self.tally.files, 'file')}"
        else:
            found = f"no flags in {many(self.tally.files, 'file')}"
        fixed = f", {self.tally.fixed:,} corrected" if self.request.fix else ""
        failed = f"; {many(self.tally.problems, 'problem')}" if self.tally.problems else ""
        self.output.remark(f"disambig: {found}, {many(self.tally.words, 'word')}{fixed}{failed}\n")

    def _name(self, file: TextFile) -> str:
        return self.request.stdin_name if file.path == STDIN else file.path

    def _report(self, problem: UserError) -> None:
        self.tally.problems += 1
        self._say(str(problem))

    def _say(self, message: str) -> None:
        self.output.note(f"disambig: {message}\n")
