"""One run of ``disambig check``: what is read, what is said of it, the exit status."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from disambig.batch.annotation import annotate_documents
from disambig.checking.diff import unified_diff
from disambig.checking.directives import plain_word
from disambig.checking.files import TextFile, find_files, read_text, write_text
from disambig.checking.flags import Checked, Flag, choose, corrected, flags_of
from disambig.cli.checks import check_rate
from disambig.corpora.documents import Document
from disambig.corpora.opening import STDIN
from disambig.corpora.saving import writing
from disambig.corpora.word_lists import read_words
from disambig.errors import UserError, nearest_first
from disambig.text.markup import read_markup

if TYPE_CHECKING:
    from disambig.batch.sources import Annotate

FORMATS = ("text", "json")
FLAGGED = 1
FAILURE = 2
_NOTHING = '""'
_AT_ONCE = 200_000  # characters annotated together
_FILES_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Request:
    """The options of ``disambig check``."""

    paths: tuple[str, ...]
    fix: bool = False
    diff: bool = False
    backup: str | None = ".bak"
    models: tuple[str, ...] = ()
    flags_per_1000: float | None = None
    most_per_1000: float | None = None
    ignore: str | None = None
    format: str = "text"
    stdin_name: str = "<stdin>"


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


def run(request: Request) -> int:
    """Check as asked and return the exit status: 0 without flags, 1 with, 2 where something went wrong.

    Raises
    ------
    UserError
        What ends the run before a file is checked: options, models.
    """
    _check_options(request)
    ignore = frozenset(map(plain_word, read_words(request.ignore))) if request.ignore else frozenset()
    tally = Tally()
    annotate: Annotate | None = None
    for files in _batches(request, tally):
        if annotate is None:
            annotate = _annotator(request)
        documents = [Document(str(i), file.text, _name(file, request)) for i, file in enumerate(files)]
        found, bad = annotate_documents(documents, annotate)
        for failed in bad:
            _report(failed.error, tally)
        for result in found:
            name, text = result.document.path, result.document.text
            checked = flags_of(
                name,
                text,
                read_markup(name, text),
                result.decisions,
                ignore=ignore,
                most_per_1000=request.most_per_1000,
            )
            _finish(files[int(result.document.id)], checked, request, tally)
    _summary(request, tally)
    return FAILURE if tally.problems else FLAGGED if tally.flags else 0


def _check_options(request: Request) -> None:
    check_rate(request.flags_per_1000)
    check_rate(request.most_per_1000, option="--max-flags-per-1000")
    problem = ""
    if request.fix and request.diff:
        problem = "--fix and --diff exclude each other"
    elif request.diff and request.format != "text":
        problem = f"--diff and --format {request.format} exclude each other"
    elif request.backup is not None and (not request.backup or os.sep in request.backup):
        problem = f"--backup-suffix {request.backup!r} is no suffix; without a backup: --no-backup"
    if problem:
        raise UserError("D600", problem=problem, command="disambig check")
    if request.format not in FORMATS:
        raise UserError("D601", name=request.format, names=nearest_first(request.format, FORMATS))


def _annotator(request: Request) -> Annotate:
    """Load the models that correct words; those that choose labels have nothing to say here."""
    from disambig.batch.sources import ModelSource
    from disambig.model.annotate import annotate
    from disambig.model.labels import are_labels

    models = []
    for model in ModelSource(models=request.models).load_models():
        if not are_labels(model.task):
            models.append(model)
        elif request.models:
            raise UserError("D644", name=model.name, task=model.task.name)
    return lambda texts: annotate(texts, models, flags_per_1000=request.flags_per_1000)


def _batches(request: Request, tally: Tally) -> Iterator[list[TextFile]]:
    """Read the files, a few at a time; those that cannot be read are reported."""
    batch: list[TextFile] = []
    size = 0
    for path in find_files(request.paths):
        try:
            file = read_text(path)
        except UserError as problem:
            _report(problem, tally)
            continue
        batch.append(file)
        size += len(file.text)
        if size >= _AT_ONCE or len(batch) >= _FILES_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _finish(file: TextFile, checked: Checked, request: Request, tally: Tally) -> None:
    """Do with the flags of one file what was asked for."""
    name = _name(file, request)
    tally.files += 1
    tally.flagged_files += bool(checked.flags)
    tally.words += checked.words
    tally.flags += len(checked.flags)
    if checked.left_out:
        tally.left_out += checked.left_out
        tally.in_file[name] = checked.left_out
    for problem in checked.problems:
        _report(problem, tally)
    taken, left = choose(checked.flags)
    if request.diff:
        _write(unified_diff(name, file.text, corrected(file.text, taken)))
        if left:
            _say(f"{name}: {_count(len(left), 'flag')} not in the diff: {_without(left)}")
    elif not request.fix:
        _write("".join(_line(name, flag, request.format) for flag in checked.flags))
    else:
        _fix(file, checked.flags, taken, request, tally)


def _fix(
    file: TextFile, flags: Sequence[Flag], taken: Sequence[Flag], request: Request, tally: Tally
) -> None:
    name = _name(file, request)
    new = corrected(file.text, taken)
    done = False
    if file.path == STDIN:
        _write_bytes(new.encode())
        done = True
    elif taken:
        try:
            copy = write_text(file, new, backup=request.backup)
            done = True
            if copy is not None:
                _say(f"{name}: the old text is in {copy}")
        except UserError as problem:
            _report(problem, tally)
    lines = "".join(
        _line(name, flag, request.format, "fixed" if done and flag in taken else "left") for flag in flags
    )
    tally.fixed += len(taken) if done else 0
    (_to_stderr if file.path == STDIN else _write)(lines)


def _line(name: str, flag: Flag, format: str, outcome: str = "") -> str:
    if format == "json":
        return json.dumps({"path": name, **asdict(flag), **({"outcome": outcome} if outcome else {})}) + "\n"
    observed = " ".join(flag.observed.split()) or _NOTHING
    place = f"{name}:{flag.line}:{flag.column}"
    said = f"{observed} -> {flag.replacement or _NOTHING} ({flag.task}, {flag.probability:.2f})"
    return f"{place}: {said}{', ' if outcome else ''}{outcome}\n"


def _summary(request: Request, tally: Tally) -> None:
    if not tally.files:
        if not tally.problems:
            _say("no file to check")
        return
    if tally.left_out:
        files = ", ".join(f"{name}: {n:,}" for name, n in list(tally.in_file.items())[:5])
        more = f", and {len(tally.in_file) - 5:,} more files" if len(tally.in_file) > 5 else ""
        _say(f"{_count(tally.left_out, 'flag')} left out by --max-flags-per-1000 ({files}{more})")
    found = _count(tally.flags, "flag")
    if tally.flags:
        found += f" in {tally.flagged_files:,} of {_count(tally.files, 'file')}"
    else:
        found = f"no flags in {_count(tally.files, 'file')}"
    fixed = f", {tally.fixed:,} corrected" if request.fix else ""
    failed = f"; {_count(tally.problems, 'problem')}" if tally.problems else ""
    _say(f"{found}, {_count(tally.words, 'word')}{fixed}{failed}")


def _without(left: Sequence[Flag]) -> str:
    return ", ".join(f"{flag.line}:{flag.column} {' '.join(flag.observed.split())}" for flag in left[:5])


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _name(file: TextFile, request: Request) -> str:
    return request.stdin_name if file.path == STDIN else file.path


def _report(problem: UserError, tally: Tally) -> None:
    tally.problems += 1
    _say(str(problem))


def _say(message: str) -> None:
    _to_stderr(f"disambig: {message}\n")


def _to_stderr(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text.encode("utf-8", "replace").decode())


def _write(text: str) -> None:
    _write_bytes(text.encode("utf-8", "surrogateescape"))


def _write_bytes(data: bytes) -> None:
    if not data:
        return
    if sys.stdout is None:
        raise UserError("D309", path="standard output", problem="it is closed")
    with writing("standard output"):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
