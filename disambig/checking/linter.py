"""Run the linter: read files, report flags and write corrections."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from disambig.checking.baseline import (
    Baseline,
    flag_identity,
    new_baseline,
    number_fingerprints,
    read_baseline,
)
from disambig.checking.changes import Changes, WorkTrees
from disambig.checking.files import (
    PACKAGE_FOLDERS,
    TextFile,
    find_files,
    has_checked_suffix,
    read_text,
    unified_diff,
    write_text,
)
from disambig.checking.flags import (
    CheckedText,
    Flag,
    TextLines,
    apply_corrections,
    find_flags,
    is_likely_right,
    most_certain,
    select_compatible,
    select_fitting,
    unused_directive,
)
from disambig.checking.loading import CheckerCache, CorrectingAnnotator, selectable_names
from disambig.checking.reports import (
    ReportedFlag,
    RunSummary,
    left_flags_line,
    make_report,
    path_in_repository,
)
from disambig.configuration import CheckSettings, ProjectSettings
from disambig.data import plain_word
from disambig.errors import UserError
from disambig.files import STDIN
from disambig.formats import AnnotatedDocument, Document, Kind, SkippedFiles, read_as_text_note
from disambig.formatting import escape_control_chars, pluralize
from disambig.markup import PlainText, invalid_markup, read_layout, read_markup
from disambig.models import annotate_documents, annotator_languages

if TYPE_CHECKING:
    from disambig.data import Decisions
    from disambig.explain import FlagEvidence
    from disambig.models import Annotate


@dataclass(slots=True)
class RunTally:
    """Running totals of a run."""

    # number of checked files, of files with flags, of words, of reported flags, and of corrected flags
    files: int = 0
    flagged_files: int = 0
    words: int = 0
    flags: int = 0
    fixed: int = 0
    # number of flags in a baseline, and of flags in unchanged lines
    in_baseline: int = 0
    unchanged: int = 0
    left_out: dict[str, int] = field(default_factory=dict)  # number of flags beyond the maximum, by file
    problems: list[UserError] = field(default_factory=list)
    notes: list[UserError] = field(default_factory=list)

    def left_out_line(self) -> str:
        """Return a message about flags beyond the maximum; "" if there are none."""
        if not self.left_out:
            return ""
        files = ", ".join(
            f"{escape_control_chars(name)}: {n:,}" for name, n in list(self.left_out.items())[:5]
        )
        more = f", and {len(self.left_out) - 5:,} more files" if len(self.left_out) > 5 else ""
        n_flags = pluralize(sum(self.left_out.values()), "flag")
        return f"{n_flags} left out by --max-flags-per-1000 ({files}{more})"

    def line(self, *, fixing: bool) -> str:
        """Return a summary of the run on one line."""
        n_files = pluralize(self.files, "file")
        if self.flags:
            line = f"{pluralize(self.flags, 'flag')} in {self.flagged_files:,} of {n_files}"
        else:
            line = f"no flags in {n_files}"
        line += f", {pluralize(self.words, 'word')}"
        line += f", {self.fixed:,} corrected" if fixing else ""
        line += f"; {self.in_baseline:,} already in the baseline" if self.in_baseline else ""
        line += f"; {self.unchanged:,} in unchanged lines" if self.unchanged else ""
        line += f"; {pluralize(len(self.problems), 'problem')}" if self.problems else ""
        return line


FLAGGED = 1
FAILURE = 2
_PLAIN: Kind = "line"
"""Kind of documents whose text has no markup."""
_NO_ROOM, _OR_QUOTED = "too long for its cell of the table", ", or in a value between apostrophes"
"""Why a correction does not fit."""
_BATCH_CHARACTERS = 200_000
_BATCH_FILES = 500


@dataclass(frozen=True, slots=True)
class CheckRun:
    """The options of one run that cannot be set in a settings file."""

    paths: tuple[str, ...]  # files, directories, or ``-`` for standard input
    fix: bool = False  # whether to write corrections
    diff: bool = False  # whether to show them as a diff
    backup: str | None = ".bak"  # suffix of the backup file; None for no backup
    format: str = "text"  # one of `reports.FORMATS`
    stdin_name: str = "<stdin>"  # name of standard input in reports
    changes: Changes | None = None  # the changes to check; None for whole files
    new_baseline: str | None = None  # baseline file to which all flags are written; none is reported then
    # Whether to report directives that do not suppress any flag. If only some tasks are checked, a directive
    # for another task is unused, but right
    report_unused: bool = True
    evidence: bool = False  # whether to report the evidence for each flag (`reports.WITH_EVIDENCE`)
    report_path: str | None = None  # file to which the caller writes the report; it is not checked


class RunOutput(Protocol):
    """The output streams of a run."""

    def result(self, text: str, *, encoding: str = "utf-8") -> None:
        """Write flags, diffs or the corrected standard input, which keeps its encoding."""

    def remark(self, text: str) -> None:
        """Write a message that users can turn off."""

    def note(self, text: str) -> None:
        """Write a message that is always shown, to another stream than that of `result`."""


def _ignore_batch(files: int, characters: int) -> None:
    """Do nothing: the default of `report_progress`."""


def run(
    request: CheckRun,
    project: ProjectSettings,
    load: Callable[[CheckSettings], Annotate],
    output: RunOutput,
    write_report: Callable[[str], object] | None = None,
    *,
    report_progress: Callable[[int, int], object] = _ignore_batch,
) -> int:
    """Check files and return the exit status: 0 without flags, 1 with flags, 2 after an error.

    `project`: the settings of each file.
    `load`: loads the models that settings name; called only if there is a file to check.
    `write_report`: writes flags and diffs; by default they go to `output`.
    `report_progress`: called before each batch with the numbers of checked files and of characters in it.
    Raises the errors of `load`, and those of settings, a baseline or git.
    """
    return _Linter(request, project, load, output, write_report, report_progress).run()


class _Linter:
    """The state of a run."""

    def __init__(
        self,
        request: CheckRun,
        project: ProjectSettings,
        load: Callable[[CheckSettings], Annotate],
        output: RunOutput,
        write_report: Callable[[str], object] | None,
        report_progress: Callable[[int, int], object],
    ) -> None:
        self.request, self.project, self.output = request, project, output
        self.load, self.checkers = load, CheckerCache(self._load)
        self._report_progress = report_progress
        fixes_stdin = request.fix and STDIN in request.paths  # the corrected text is the result
        self._write_report = write_report or (output.note if fixes_stdin else output.result)
        self.tally = RunTally()
        self.left_out = SkippedFiles()
        self.work_trees = WorkTrees()
        self.report = make_report(request.format)
        self.baseline_to_write = None if request.new_baseline is None else new_baseline(request.new_baseline)
        self._baselines: dict[str, Baseline] = {}
        self._ignored: dict[object, frozenset[str]] = {}

    def run(self) -> int:
        """Check all files and return the exit status."""
        for settings, files in self._batches():
            self._report_progress(self.tally.files, sum(len(file.text) for file in files))
            annotate = self.checkers.get(settings)
            plain = [self._plain(file) for file in files]
            documents = [
                Document(str(i), text.text, self._name(file.path), kind=_PLAIN)
                for i, (file, text) in enumerate(zip(files, plain, strict=True))
                if not text.problem
            ]
            annotated, failed = annotate_documents(documents, annotate)
            for failure in failed:
                self._report(failure.error)
            self._count_foreign(annotated, annotate)
            for result in annotated:
                number = int(result.document.id)
                self._check(files[number], plain[number], result.decisions)
        return self._end()

    def _load(self, settings: CheckSettings) -> Annotate:
        """Load the models that settings name, and show notes on them."""
        annotate = self.load(settings)
        for note in getattr(annotate, "notes", ()):
            self._note(note)
        return annotate

    def _plain(self, file: TextFile) -> PlainText:
        """Return the text of a file without markup; report a text whose format is invalid."""
        name = self._name(file.path)
        plain = read_markup(name, file.text, self.project.for_file(name).markup_options)
        if plain.problem:
            self._report(invalid_markup(name, plain))
        return plain

    def _count_foreign(self, results: Sequence[AnnotatedDocument], annotate: Annotate) -> None:
        """Count the paragraphs that are not in the language of the models."""
        for result in results:
            settings = self.project.for_file(result.document.path)
            if result.foreign and not settings.excluded:
                self.left_out.paragraphs.update(paragraph.language for paragraph in result.foreign)
                languages = [*self.left_out.languages, *annotator_languages(annotate)]
                self.left_out.languages = list(dict.fromkeys(languages))

    def _batches(self) -> Iterator[tuple[CheckSettings, list[TextFile]]]:
        """Yield batches of files that are checked by the same models; report files that cannot be read."""
        batch: list[TextFile] = []
        size = 0
        batch_settings = CheckSettings()
        for settings, file in self._files():
            is_full = size >= _BATCH_CHARACTERS or len(batch) >= _BATCH_FILES
            if batch and (is_full or settings.checker != batch_settings.checker):
                yield batch_settings, batch
                batch, size = [], 0
            batch_settings = settings
            batch.append(file)
            size += len(file.text)
        if batch:
            yield batch_settings, batch

    def _files(self) -> Iterator[tuple[CheckSettings, TextFile]]:
        """Yield the files to check with their settings; report or count the others."""
        changes = self.request.changes
        named = set(self.request.paths)
        files = find_files(
            self.request.paths, self._takes, self._report, left_out=self.left_out, git=self.work_trees
        )
        report_path = self.request.report_path and os.path.realpath(self.request.report_path)
        for path in chain(files, self._only_staged()):
            if path != STDIN and report_path == os.path.realpath(path):
                continue  # the report of an earlier run
            settings = self.project.for_file(self._name(path))
            if settings.excluded:
                self._remark(f"{escape_control_chars(self._name(path))}: left out by `exclude`")
                if path != STDIN or not self.request.fix:
                    continue
            if changes is not None and os.path.exists(path) and not changes.has(path):
                continue
            try:
                file = read_text(path) if changes is None else changes.read(path)
            except UserError as problem:
                if path in named or not self._count_unreadable(path, problem):
                    self._report(problem)
                continue
            if note := read_as_text_note(self._name(path)):
                self._note(note)
            yield settings, file

    def _only_staged(self) -> Iterator[str]:
        """Yield the staged files in the checked directories that are not in the work tree."""
        changes = self.request.changes
        if changes is None:
            return
        for folder in filter(os.path.isdir, self.request.paths):
            for path in changes.only_staged(folder):
                parts = os.path.relpath(path, folder).split(os.sep)
                is_left_out = any(part.startswith(".") or part in PACKAGE_FOLDERS for part in parts)
                if not is_left_out and self._takes(path):
                    yield path

    def _takes(self, path: str) -> bool:
        """Return True if a file in a directory is checked; count it otherwise."""
        if self.project.takes(path, has_checked_suffix):
            return True
        settings, changes = self.project.for_file(path), self.request.changes
        if changes is not None and os.path.exists(path) and not changes.has(path):
            return False
        if settings.excluded or settings.include:
            self.left_out.excluded += 1
        elif not self.work_trees.ignores(path):
            self.left_out.suffixes[os.path.splitext(path)[1].lower()] += 1
        return False

    def _count_unreadable(self, path: str, problem: UserError) -> bool:
        """Count a file in a directory that is not text or too long; return False for other problems."""
        if problem.code == "D303" and not problem.values["hint"]:
            self.left_out.binary.append(path)
        elif problem.code == "D320":
            self.left_out.too_long.append(path)
        else:
            return False
        return True

    def _check(self, file: TextFile, plain: PlainText, decisions: Sequence[Decisions]) -> None:
        """Find the flags of one file, and report or correct them."""
        name = self._name(file.path)
        settings = self.project.for_file(name)
        checked = find_flags(
            name,
            file.text,
            plain,
            () if settings.excluded else decisions,
            ignore=self._words(settings),
            project_names=settings.project_names,
        )
        self.tally.files += 1
        self.tally.words += checked.words
        for problem in checked.problems:
            self._report(problem)
        unused = [span for span in checked.unused if span.follows_text or self.request.report_unused]
        if unused and not settings.excluded:
            names = selectable_names(self.checkers.get(settings))
            for directive in unused:
                self._note(unused_directive(name, directive, names))
        if self.baseline_to_write is not None:
            self.baseline_to_write.add(name, plain.text, checked.flags)
            self.tally.in_baseline += len(checked.flags)
            return
        flags = self._select_shown(file, plain.text, checked, settings)
        self.tally.flagged_files += bool(flags)
        self.tally.flags += len(flags)
        if self.request.diff or self.request.fix:
            self._correct(file, plain.text, flags)
        else:
            self._write_report(self.report.add(self._reported_flags(file, plain.text, flags)))

    def _select_shown(
        self, file: TextFile, plain: str, checked: CheckedText, settings: CheckSettings
    ) -> Sequence[Flag]:
        """Return the most certain flags that are not in the baseline and are in changed lines."""
        name = self._name(file.path)
        flags = self._not_in_baseline(name, plain, checked.flags, settings.baseline_path())
        if self.request.changes is not None:
            kept = self.request.changes.keep(name, file.text, flags)
            self.tally.unchanged += len(flags) - len(kept)
            flags = kept
        shown = most_certain(flags, checked.words, settings.max_flags_per_1000)
        if len(shown) < len(flags):
            self.tally.left_out[name] = len(flags) - len(shown)
        return shown

    def _not_in_baseline(
        self, name: str, plain: str, flags: Sequence[Flag], baseline: str | None
    ) -> Sequence[Flag]:
        """Return the flags that are not in the baseline; count the others."""
        if baseline is None:
            return flags
        if baseline not in self._baselines:
            self._baselines[baseline] = read_baseline(baseline)
        new_flags = self._baselines[baseline].new_flags(name, plain, flags)
        self.tally.in_baseline += len(flags) - len(new_flags)
        return new_flags

    def _correct(self, file: TextFile, plain: str, flags: Sequence[Flag]) -> None:
        """Write the corrections of a file, or show them as a diff."""
        name = self._name(file.path)
        layout = read_layout(name, file.text)
        likely = self._likely(file, flags)
        possible = select_compatible(likely)
        corrected = self._fixed_point(file, plain, possible) if possible else []
        flags = self._add_new_flags(flags, corrected)
        reasons = self._reasons(flags, likely, possible, select_fitting(possible, layout), corrected)
        new_text = apply_corrections(file.text, corrected, layout)
        if self.request.diff:
            self._write_report(unified_diff(name, file.text, new_text))
            left = [(flag, reason) for flag, reason in zip(flags, reasons, strict=True) if reason]
            if left:
                n_left = pluralize(len(left), "flag")
                self._message(
                    f"{escape_control_chars(name)}: {n_left} not in the diff: {left_flags_line(left)}"
                )
            return
        is_written = bool(corrected or file.path == STDIN) and self._write(file, new_text)
        self.tally.fixed += len(corrected) if is_written else 0
        done = ("fixed", "") if is_written else ("left", "the file was not written")
        outcomes = [("left", reason) if reason else done for reason in reasons]
        self._write_report(self.report.add(self._reported_flags(file, plain, flags, outcomes)))

    def _write(self, file: TextFile, text: str) -> bool:
        """Write the new text of a file; report an error and return False if that fails."""
        if file.path == STDIN:
            self.output.result(text, encoding=file.encoding)
            return True
        try:
            backup = write_text(file, text, backup=self.request.backup)
        except UserError as problem:
            self._report(problem)
            return False
        if backup is not None:
            name = escape_control_chars(self._name(file.path))
            self._remark(f"{name}: the old text is in {escape_control_chars(backup)}")
        return True

    def _likely(self, file: TextFile, flags: Sequence[Flag]) -> Sequence[Flag]:
        """Return the flags that are right often enough to be corrected without review."""
        settings = self.project.for_file(self._name(file.path))
        if settings.trust is not None:
            return flags  # the user has set a minimum precision
        return [flag for flag in flags if is_likely_right(flag, settings.writing)]

    @staticmethod
    def _reasons(
        flags: Sequence[Flag],
        likely: Sequence[Flag],
        possible: Sequence[Flag],
        fitting: Sequence[Flag],
        corrected: Sequence[Flag],
    ) -> list[str]:
        """Return why each flag is not corrected; "" for those in `corrected`."""
        # A flag has no hash.
        likely_ids, possible_ids, fitting_ids, corrected_ids = (
            set(map(id, group)) for group in (likely, possible, fitting, corrected)
        )

        def reason(flag: Flag) -> str:
            if id(flag) in corrected_ids:
                return ""
            if id(flag) in possible_ids and id(flag) not in fitting_ids:
                return _NO_ROOM + (_OR_QUOTED if "'" in flag.edit[2] else "")
            if id(flag) in possible_ids:
                return "not flagged once the others are corrected"
            if id(flag) not in likely_ids:
                return "most such corrections are wrong"
            several_lines = "\n" in flag.observed or "\r" in flag.observed
            return "on several lines" if several_lines else "overlaps another correction"

        return [reason(flag) for flag in flags]

    def _fixed_point(self, file: TextFile, plain: str, flags: Sequence[Flag]) -> list[Flag]:
        """Return the flags to correct so that a second run has nothing to correct.

        They include flags that are raised only once others are corrected.
        """
        from disambig.checking.stable_corrections import Recheck, fixed_point_flags

        name = self._name(file.path)
        settings = self.project.for_file(name)

        def select(new_flags: Sequence[Flag]) -> Sequence[Flag]:
            if settings.max_flags_per_1000 is not None:
                return ()  # the maximum is reached
            if settings.baseline is not None:
                new_flags = self._baselines[settings.baseline].peek_new_flags(name, plain, new_flags)
            new_flags = self._likely(file, new_flags)
            changes = self.request.changes
            return new_flags if changes is None else changes.keep(name, file.text, new_flags)

        recheck = Recheck(
            self.checkers.get(settings),
            self._words(settings),
            settings.markup_options,
            settings.project_names,
        )
        return fixed_point_flags(name, file.text, flags, recheck, select)

    def _add_new_flags(self, flags: Sequence[Flag], corrected: Sequence[Flag]) -> Sequence[Flag]:
        """Return `flags` and those of `corrected` that are not among them, in text order."""
        shown = set(map(id, flags))
        new_flags = [flag for flag in corrected if id(flag) not in shown]
        self.tally.flags += len(new_flags)
        return sorted([*flags, *new_flags], key=lambda flag: flag.start)

    def _reported_flags(
        self, file: TextFile, plain: str, flags: Sequence[Flag], outcomes: Sequence[tuple[str, str]] = ()
    ) -> list[ReportedFlag]:
        """Return the flags of a file as reports need them; `outcomes` has the outcome and reason of each."""
        name = self._name(file.path)
        path, lines = path_in_repository(name), TextLines(file.text)
        fingerprints = number_fingerprints(flag_identity(path, plain, flag) for flag in flags)
        evidence_for, layout = self._evidence(name, plain), read_layout(name, file.text if flags else "")
        reported = []
        outcomes = outcomes or [("", "")] * len(flags)
        for flag, fingerprint, outcome in zip(flags, fingerprints, outcomes, strict=True):
            details = *outcome, evidence_for(flag), layout.complete(flag.edit)
            reported.append(ReportedFlag(name, path, flag, lines, fingerprint, *details))
        return reported

    def _evidence(self, name: str, plain: str) -> Callable[[Flag], FlagEvidence | None]:
        """Return a function that returns the evidence for a flag, or None if evidence is not requested."""
        annotate = self.checkers.get(self.project.for_file(name))
        if not self.request.evidence or not isinstance(annotate, CorrectingAnnotator):
            return lambda flag: None
        return lambda flag: annotate.evidence(plain, flag)

    def _end(self) -> int:
        """Write the summary of the run, and return the exit status."""
        tally = self.tally
        if line := self.left_out.describe():
            self._note(UserError("D342", what=line))
        if (problem := self.work_trees.problem) and self.request.changes is None:
            self._note(problem)
        status = FAILURE if tally.problems else FLAGGED if tally.flags else 0
        if self.baseline_to_write is not None:
            self.baseline_to_write.write()
            n_flags = pluralize(tally.in_baseline, "flag")
            self._remark(f"{n_flags} written to {escape_control_chars(self.baseline_to_write.path)}")
        elif not self.request.diff:
            summary = RunSummary(status, tally.files, tally.words, tuple(tally.problems), tuple(tally.notes))
            self._write_report(self.report.end(summary))
        if not tally.files:
            if not tally.problems and self.request.changes is None:
                self._message("no file to check")
            elif not tally.problems:  # a usual case for hooks
                self._remark("no file was changed")
            return status
        if line := tally.left_out_line():
            self._message(line)
        for path, baseline in self._baselines.items():
            if n_unmatched := baseline.n_unmatched():
                n_flags = pluralize(n_unmatched, "flag")
                self._remark(f"{escape_control_chars(path)}: {n_flags} in it no longer found")
        self._remark(tally.line(fixing=self.request.fix))
        return status

    def _words(self, settings: CheckSettings) -> frozenset[str]:
        """Return the words and corrections to ignore."""
        key = settings.ignore, settings.ignore_files
        if key not in self._ignored:
            self._ignored[key] = frozenset(map(plain_word, settings.words_to_ignore()))
        return self._ignored[key]

    def _name(self, path: str) -> str:
        """Return the name of a file in reports."""
        return self.request.stdin_name if path == STDIN else path

    def _report(self, problem: UserError) -> None:
        """Record and show an error."""
        self.tally.problems.append(problem)
        self._message(str(problem))

    def _note(self, note: UserError) -> None:
        """Record a note, and show it unless messages are turned off."""
        self.tally.notes.append(note)
        self._remark(str(note))

    def _message(self, text: str) -> None:
        self.output.note(f"disambig: {text}\n")

    def _remark(self, text: str) -> None:
        self.output.remark(f"disambig: {text}\n")
