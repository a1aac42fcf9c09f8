"""Mine git histories: corrected words, and paragraphs that have not changed for a long time.

Only objects are read: nothing is checked out, and no command that the repository configures is run, such as a
hook, a filter, a text converter or a file system monitor (see `disambig.checking.Repository`).
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from disambig.checking import (
    PACKAGE_FOLDERS,
    SUFFIXES,
    Repositories,
    Repository,
    open_bare_repository,
)
from disambig.configuration import ProjectSettings
from disambig.errors import UserError
from disambig.files import json_text, saved_folder
from disambig.formats import Fix, fix_kind
from disambig.formatting import pluralize
from disambig.mining.corrections import (
    LANGUAGES,
    MIN_WORDS,
    CorrectionKind,
    Paragraph,
    Vocabulary,
    WordEdit,
    changed_paragraphs,
    classify,
    read_paragraphs,
    word_edits,
)
from disambig.models import Model
from disambig.packs import check_packs_readable, packs
from disambig.type_aliases import Progress, no_progress

MAX_BLOB_BYTES = 2_000_000
"""Maximum number of bytes of a file."""
_MAX_FIELD = 1 << 20
"""Maximum number of bytes of a commit message or path."""
_BLOCK = 1 << 16
_LOG = (
    "log -z --raw --no-abbrev --no-color --no-ext-diff --no-textconv --no-show-signature --no-notes "
    "--no-mailmap --no-merges --ignore-submodules=all --find-renames=60% -l200 --diff-filter=MR "
    "--encoding=UTF-8 --format=%H%x00%ct%x00%at%x00%B"
).split()
_REGULAR = ("100644", "100755")
_NOT_READ = "files that are too large, or missing in the clone"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a commit changed."""

    path: str  # path after the commit
    # object names of the contents before and after the commit
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that is not a merge."""

    id: str
    time: int  # time of the commit in seconds since 1970
    year: int  # year in which the change was written
    message: str
    files: tuple[ChangedFile, ...]  # the changed and renamed files, without new and deleted ones


class History:
    """The history of the repository that contains a folder.

    `folder` is a work tree, a folder in it, or a bare repository. Raises D540 if git is not installed, D541
    for a folder outside all repositories, D542 if there is no commit; D964, D968 and D969 if git fails.
    """

    def __init__(self, folder: str) -> None:
        path = os.path.realpath(folder)
        if not os.path.isdir(path):
            raise UserError("D541", path=folder)
        try:
            self.repository: Repository = open_bare_repository(path) or Repositories().get(path)
        except UserError as problem:
            if problem.code == "D961":
                raise UserError("D540") from None
            if problem.code == "D962":
                raise UserError("D541", path=folder) from None
            raise
        head = self.repository.head()
        if head is None:
            raise UserError("D542", path=folder)
        self.head: str = head

    @property
    def top(self) -> str:
        """The top folder of the work tree, or the bare repository."""
        return self.repository.top

    @property
    def name(self) -> str:
        """The name of the project: that of its folder."""
        name = os.path.basename(self.top)
        return name.removesuffix(".git") or name

    @property
    def is_shallow(self) -> bool:
        """Whether older commits are missing."""
        return self.repository.is_shallow

    def n_commits(self) -> int:
        """Return the number of commits that are not merges."""
        with self._output(["rev-list", "--count", "--no-merges", self.head, "--"]) as output:
            return int(output.read(100) or 0)

    def commits(self) -> Iterator[Commit]:
        """Yield the commits that changed files, the newest first. Raises D964 if git fails."""
        # A commit is four fields, id, time, year and message, and the fields of its changed files: one that
        # begins with a colon, and the path (two paths if it was renamed).
        with self._output([*_LOG, self.head, "--"]) as output:
            fields = _fields(output)
            field = next(fields, None)
            while field is not None:
                commit_id = field.decode("ascii", "replace")
                committed, written, message = (next(fields, b"") for _ in range(3))
                files = []
                while (field := next(fields, None)) is not None and field.lstrip(b"\n").startswith(b":"):
                    old_mode, new_mode, old, new, status = field.decode("ascii").lstrip("\n:").split()
                    path = next(fields, b"")
                    if status.startswith("R"):
                        path = next(fields, b"")
                    if old_mode in _REGULAR and new_mode in _REGULAR and old != new:
                        files.append(ChangedFile(os.fsdecode(path), old, new))
                text = message.decode("utf-8", "replace")
                yield Commit(commit_id, _number(committed), _year(written), text, tuple(files))

    def commit_time(self, commit: str) -> int:
        """Return the time of a commit, in seconds since 1970. Raises D964 if git fails."""
        with self._output(["log", "-1", "--no-show-signature", "--format=%ct", commit, "--"]) as output:
            return _number(output.read(100).strip())

    def commit_at(self, time: int) -> str | None:
        """Return the last commit at a time or before it, in seconds since 1970; None if there is none.

        Raises D964 if git fails.
        """
        command = ["rev-list", "-1", f"--min-age={max(0, time)}", self.head, "--"]
        with self._output(command) as output:
            return output.read(200).decode("ascii").strip() or None

    def files(self, commit: str) -> Iterator[tuple[str, str]]:
        """Yield the path and the object name of each regular file in a commit. Raises D964 if git fails."""
        with self._output(["ls-tree", "-r", "-z", "--full-tree", commit]) as output:
            for field in _fields(output):
                properties, _, path = field.partition(b"\t")
                mode, kind, blob = properties.decode("ascii").split()
                if kind == "blob" and mode in _REGULAR:
                    yield os.fsdecode(path), blob

    @contextmanager
    def blobs(self) -> Iterator[BlobReader]:
        """Yield a reader of the contents of files. Raises D964 if git cannot be started."""
        process = self.repository.start(["cat-file", "--batch"])
        try:
            yield BlobReader(process, self.top)
        finally:
            _end(process)

    @contextmanager
    def _output(self, command: list[str]) -> Iterator[IO[bytes]]:
        """Yield the output of a git command; raise D964 if the output was read to its end and git failed."""
        process = self.repository.start(command)
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.close()
            yield process.stdout
            if not process.stdout.read(1) and process.wait():
                problem = (
                    f"`git {command[0]}` failed; if this is a partial clone, `git fetch --refetch "
                    "--no-filter` fetches the objects that are missing"
                )
                raise UserError("D964", path=self.top, problem=problem)
        finally:
            _end(process)


class BlobReader:
    """Reads the contents of files from one git process."""

    def __init__(self, process: subprocess.Popen[bytes], top: str) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._input, self._output, self._top = process.stdin, process.stdout, top

    def read(self, blob: str) -> bytes | None:
        """Return the contents of an object; None if it is missing or has more than `MAX_BLOB_BYTES` bytes.

        Raises D964 if git ends.
        """
        try:
            self._input.write(f"{blob}\n".encode("ascii"))
            self._input.flush()
        except OSError as problem:
            raise self._error() from problem
        header = self._output.readline(1_000).split()
        if not header:
            raise self._error()
        if len(header) < 3:
            return None  # "... missing"
        size = int(header[2])
        data = bytearray()
        for start in range(0, size, _BLOCK):  # a large file is read too, but not kept
            block = self._output.read(min(_BLOCK, size - start))
            if size <= MAX_BLOB_BYTES:
                data += block
        self._output.read(1)
        return bytes(data) if size <= MAX_BLOB_BYTES else None

    def _error(self) -> UserError:
        return UserError("D964", path=self._top, problem="`git cat-file` ended early")


def _fields(output: IO[bytes]) -> Iterator[bytes]:
    """Yield the fields of an output, each of which ends with a zero byte; long ones are cut."""
    start_of_field = bytearray()
    is_cut = False
    while block := output.read(_BLOCK):
        *ended, last = block.split(b"\0")
        for end_of_field in ended:
            yield bytes(start_of_field) + (b"" if is_cut else end_of_field)
            start_of_field.clear()
            is_cut = False
        if len(start_of_field) < _MAX_FIELD:
            start_of_field += last
        else:
            is_cut = True


def _number(field: bytes) -> int:
    """Return a time as a number; 0 for an invalid one."""
    try:
        return max(0, min(int(field), 1 << 40))
    except ValueError:
        return 0


def _year(field: bytes) -> int:
    try:
        return time.gmtime(_number(field)).tm_year
    except (OverflowError, ValueError, OSError):
        return 1970


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and close its pipes."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    if process.poll() is None:
        process.kill()
    process.wait()


UNTOUCHED_DAYS = 365
"""Minimum number of days since the last change of a clean paragraph."""
MAX_PER_COMMIT = 3
"""Maximum number of corrections of a pair of words that are kept from one commit."""
MAX_REPETITIONS = 10
"""Maximum number of changes of a pair in a commit; more are a renaming, unless they are certain mistakes."""
MAX_FILES = 1_000
"""Maximum number of files that a commit changes; with more, it is a reorganisation."""
SMALL_COMMIT = 10
"""Maximum number of changed lines of a small commit."""
TINY_COMMIT = 4
"""Maximum number of changed lines of a commit that probably changes only one word."""
MIN_COUNT = 10
"""Minimum count of a word in the table of the pack for the word to exist."""
MIN_KNOWN_SHARE = 0.7
"""Minimum share of existing words in a clean paragraph; others are code or in another language."""
_DAY = 86_400
_MAX_CACHED = 4_000_000
"""Maximum number of characters of paragraphs that are kept for later commits."""
_VENDORED = frozenset(("vendor", "third_party"))
"""Names of folders with files of other projects."""


class PackVocabulary:
    """The words in the count table of a pack, and the confusion sets of models.

    `models` are the installed models that correct words. Raises D543 if no pack with counts is installed for
    any of `LANGUAGES`.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        from disambig.counts import open_table

        installed = [pack for pack in packs().values() if pack.counts and pack.language in LANGUAGES]
        if not installed:
            check_packs_readable()
            raise UserError("D543", languages=", ".join(LANGUAGES))
        self.language = installed[0].language
        self._table = open_table(installed[0].name)
        self._exists = lru_cache(maxsize=100_000)(self._look_up)
        self._sets: dict[tuple[str, str], str] = {}
        for model in models:
            for group in model.task.groups:
                names = [name for name in group.candidates if name]
                if 2 <= len(names) == len(group.candidates):
                    self._sets.update({(a, b): group.name for a in names for b in names if a != b})

    def is_word(self, word: str) -> bool:
        """Return True if a word in lower case exists; a possessive exists if its noun does."""
        return self._exists(word.removesuffix("'s").removesuffix("'")) or self._exists(word)

    def _look_up(self, word: str) -> bool:
        return bool(self._table.counts_of_texts([word])[0] >= MIN_COUNT)

    def confusion_set(self, first: str, second: str) -> str:
        """Return the name of a confusion set that contains two words; "" if there is none."""
        return self._sets.get((first, second), "")


@dataclass(frozen=True, slots=True)
class MinedCorrection:
    """A correction of a mistake, with properties of its commit."""

    edit: WordEdit
    kind: CorrectionKind
    commit: str
    path: str
    # time of the commit in seconds since 1970, and the year in which the change was written
    time: int
    year: int
    # whether the message mentions a correction, and whether it mentions one of the language
    says_fix: bool
    says_language: bool
    n_lines: int  # number of changed lines of the commit

    @property
    def same(self) -> bool:
        """Whether the texts differ in nothing else, not even in capitals or punctuation."""
        return self.edit.n_edits > 1 or self.fix("").corrected().split() == self.edit.after.split()

    @property
    def tier(self) -> int:
        """1 if this is very likely the correction of a mistake, else 2."""
        if self.kind.certain or self.says_language:
            return 1
        if self.kind.sub == "pref" or self.edit.n_edits > 1 or self.n_lines > SMALL_COMMIT or not self.same:
            return 2
        return 1 if self.says_fix or self.n_lines <= TINY_COMMIT else 2

    def fix(self, repo: str) -> Fix:
        """Return the correction in the form that evaluation reads; its tier is always 1."""
        edit, kind = self.edit, self.kind
        place = edit.before, edit.start, edit.end, edit.old, edit.new
        return Fix(*place, kind.category, kind.sub, fix_kind(edit.old, edit.new), 1, repo)

    def record(self, repo: str) -> dict[str, Any]:
        """Return the correction as a JSON object (see `disambig.formats.read_fixes`)."""
        edit = self.edit
        name = f"{self.commit} {self.path} {edit.start} {edit.new} {edit.before}"
        return {
            "id": hashlib.sha256(name.encode("utf8", "surrogateescape")).hexdigest()[:12],
            "repo": repo,
            "licence": "",
            "commit": self.commit,
            "path": path_as_text(self.path),
            "year": self.year,
            "class": self.kind.category,
            "sub": self.kind.sub,
            "kind": fix_kind(edit.old, edit.new),
            "old": edit.old,
            "new": edit.new,
            "before": edit.before,
            "start": edit.start,
            "end": edit.end,
            "after": edit.after,
            "said_fix": self.says_fix,
            "said_strong": self.says_language,
            "small": self.n_lines <= SMALL_COMMIT,
            "same": self.same,
            "cut": False,
            "multi": 0 if edit.n_edits == 1 else edit.n_edits,
            "tier": self.tier,
        }


@dataclass(frozen=True, slots=True)
class CleanParagraph:
    """A paragraph that has not changed for a long time, and its file."""

    text: str
    path: str

    def record(self, repo: str) -> dict[str, Any]:
        """Return the paragraph as a JSON object (see `disambig.formats.read_clean`)."""
        return {"repo": repo, "path": path_as_text(self.path), "text": self.text, "licence": ""}


def path_as_text(path: str) -> str:
    """Return a path as text; bytes that are not UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@dataclass(slots=True)
class MinedProject:
    """The results of mining one repository."""

    name: str  # name of its folder
    head: str  # the commit of HEAD
    corrections: list[MinedCorrection] = field(default_factory=list)  # the oldest first
    clean: list[CleanParagraph] = field(default_factory=list)
    # number of commits, and of changed files that were compared
    commits: int = 0
    files: int = 0
    first: int = 0  # time of the oldest commit that changed a file, in seconds since 1970
    # number of files, commits and changes that were not used, by reason
    skipped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)  # remarks on the figures for readers


class Miner:
    """Mines one repository.

    Raises the errors of `History`.

    `folder`: the work tree, or a bare repository.
    `language`: ISO 639-1 code of the language of the texts.
    `settings`: settings that determine which files are read, by default those that `disambig check` uses in
    the work tree. Settings files in a bare repository are not read.
    `keep_code`: whether inline code is part of the texts (see `read_paragraphs`).
    """

    def __init__(
        self,
        folder: str,
        vocabulary: Vocabulary,
        language: str,
        *,
        settings: ProjectSettings | None = None,
        keep_code: bool = True,
    ) -> None:
        self.history = History(folder)
        self._vocabulary, self._words = vocabulary, LANGUAGES[language]
        self._settings = settings or ProjectSettings()
        self._keep_code = keep_code
        self._paragraphs: OrderedDict[tuple[str, str], list[Paragraph] | None] = OrderedDict()
        self._n_characters = 0

    def mine(self, *, days: int = UNTOUCHED_DAYS, progress: Progress = no_progress) -> MinedProject:
        """Return the corrections of the whole history, and the clean paragraphs of HEAD.

        Raises D964 if git fails, and the errors of an invalid settings file.

        `days`: minimum number of days between the last change of a clean paragraph and the last commit.
        `progress`: called with a stage, the amount of work that is done, and the total amount.
        """
        mined = MinedProject(self.history.name, self.history.head)
        if self.history.is_shallow:
            mined.notes.append("a shallow clone: older commits are missing (git fetch --unshallow)")
        total = self.history.n_commits()
        candidates: list[MinedCorrection] = []
        with self.history.blobs() as blobs:
            for commit in self.history.commits():
                mined.commits += 1
                mined.first = min(mined.first or commit.time, commit.time)
                progress("reading commits", mined.commits, total)
                candidates += self._mine_commit(commit, blobs, mined)
            progress("reading commits", total, total)
            mined.commits = total
            mined.corrections = select_corrections(candidates, mined.skipped)
            mined.clean = self.clean_paragraphs(blobs, self.history.head, days, mined, progress)
        if self.history.repository.is_partial and (n_not_read := mined.skipped[_NOT_READ]):
            versions = pluralize(n_not_read, "version")
            mined.notes.append(
                f"a partial clone: {versions} of files are missing (git fetch --refetch --no-filter)"
            )
        if not mined.clean:
            mined.notes.append(f"no paragraph is older than {pluralize(days, 'day')}")
        return mined

    def clean_paragraphs(
        self, blobs: BlobReader, commit: str, days: int, mined: MinedProject, progress: Progress = no_progress
    ) -> list[CleanParagraph]:
        """Return the paragraphs of a commit that were the same `days` before, without duplicates.

        Raises D964 if git fails.
        """
        earlier = self.history.commit_at(self.history.commit_time(commit) - days * _DAY)
        if earlier is None:
            return []
        old_texts = self.texts(blobs, earlier, Counter(), progress)
        texts = self.texts(blobs, commit, mined.skipped, progress)
        return [CleanParagraph(text, path) for text, path in texts.items() if text in old_texts]

    def texts(
        self, blobs: BlobReader, commit: str, skipped: Counter[str], progress: Progress = no_progress
    ) -> dict[str, str]:
        """Return the paragraphs of prose in a commit, and the first file that contains each of them."""
        texts: dict[str, str] = {}
        files = [entry for entry in self.history.files(commit) if self._takes(entry[0])]
        for number, (path, blob) in enumerate(files, 1):
            progress("reading paragraphs", number, len(files))
            for paragraph in self._read(blobs, blob, path, skipped) or ():
                if paragraph.text not in texts and self._is_prose(paragraph):
                    texts[paragraph.text] = path
        return texts

    def _is_prose(self, paragraph: Paragraph) -> bool:
        words = [token.word for token in paragraph.tokens if not token.is_code]
        if len(words) < MIN_WORDS:
            return False
        return sum(map(self._vocabulary.is_word, words)) >= MIN_KNOWN_SHARE * len(words)

    def _takes(self, path: str) -> bool:
        """Return True if a file of the repository is read."""
        *folders, name = path.split("/")
        skipped = PACKAGE_FOLDERS | _VENDORED
        if name.startswith(".") or any(folder.startswith(".") or folder in skipped for folder in folders):
            return False
        full_path = os.path.join(self.history.top, *path.split("/"))
        # `has_checked_suffix` would open files of the work tree.
        return self._settings.takes(full_path, lambda file: file.lower().endswith(SUFFIXES))

    def _mine_commit(self, commit: Commit, blobs: BlobReader, mined: MinedProject) -> list[MinedCorrection]:
        """Return the possible corrections in a commit."""
        files = [file for file in commit.files if self._takes(file.path)]
        mined.skipped["files of other formats"] += len(commit.files) - len(files)
        if not files:
            return []
        if commit.message.lstrip().lower().startswith("revert"):
            mined.skipped["commits that revert others"] += 1
            return []
        if len(files) > MAX_FILES:
            mined.skipped[f"commits of more than {MAX_FILES:,} files"] += 1
            return []
        says_language = bool(self._words.says_language.search(commit.message))
        says_fix = says_language or bool(self._words.says_fix.search(commit.message))
        n_lines = 2 * (len(commit.files) - len(files))
        edits: list[tuple[str, WordEdit, CorrectionKind]] = []
        for file in files:
            mined.files += 1
            n_lines += self._mine_file(file, blobs, mined.skipped, edits)
        return [
            MinedCorrection(
                edit, kind, commit.id, path, commit.time, commit.year, says_fix, says_language, n_lines
            )
            for path, edit, kind in edits
        ]

    def _mine_file(
        self,
        file: ChangedFile,
        blobs: BlobReader,
        skipped: Counter[str],
        edits: list[tuple[str, WordEdit, CorrectionKind]],
    ) -> int:
        """Add the possible corrections in a changed file to `edits`; return the number of changed lines."""
        old, new = blobs.read(file.old), blobs.read(file.new)
        if old is None or new is None:
            skipped[_NOT_READ] += 1
            return SMALL_COMMIT + 1  # the commit does not count as small
        lines = Counter(new.splitlines())
        lines.subtract(Counter(old.splitlines()))
        n_added, n_removed = (+lines).total(), (-lines).total()
        if not n_added or not n_removed:
            return n_added + n_removed
        old_paragraphs = self._read(blobs, file.old, file.path, skipped, old)
        new_paragraphs = self._read(blobs, file.new, file.path, skipped, new)
        if old_paragraphs is None or new_paragraphs is None:
            return n_added + n_removed
        try:
            for before, after in changed_paragraphs(old_paragraphs, new_paragraphs):
                for edit in word_edits(before, after):
                    kind = classify(edit, self._words, self._vocabulary)
                    if isinstance(kind, str):
                        skipped[f"changed words: {kind}"] += 1
                    else:
                        edits.append((file.path, edit, kind))
        except ValueError:
            skipped["files that were rewritten"] += 1
        return n_added + n_removed

    def _read(
        self, blobs: BlobReader, blob: str, path: str, skipped: Counter[str], data: bytes | None = None
    ) -> list[Paragraph] | None:
        """Return the paragraphs of a file, from the cache if possible; None if it cannot be read."""
        suffix = os.path.splitext(path)[1].lower()
        key = blob, suffix
        if key in self._paragraphs:
            self._paragraphs.move_to_end(key)
            return self._paragraphs[key]
        data = blobs.read(blob) if data is None else data
        paragraphs: list[Paragraph] | None = None
        if data is None:
            skipped[_NOT_READ] += 1
        else:
            try:
                text = data.decode("utf-8-sig")
            except ValueError:
                skipped["files that are not UTF-8"] += 1
            else:
                options = self._settings.for_file(os.path.join(self.history.top, path)).markup_options
                paragraphs = read_paragraphs(f"text{suffix}", text, options, keep_code=self._keep_code)
        self._cache(key, paragraphs)
        return paragraphs

    def _cache(self, key: tuple[str, str], paragraphs: list[Paragraph] | None) -> None:
        """Add the paragraphs of a file to the cache, and drop the least recently used ones."""
        self._paragraphs[key] = paragraphs
        self._n_characters += _size(paragraphs)
        while self._n_characters > _MAX_CACHED and len(self._paragraphs) > 1:
            self._n_characters -= _size(self._paragraphs.popitem(last=False)[1])


def _size(paragraphs: list[Paragraph] | None) -> int:
    """Return the number of characters in the cache, with about 100 for each object."""
    return 100 + sum(100 + len(paragraph.text) for paragraph in paragraphs or ())


def select_corrections(candidates: Iterable[MinedCorrection], skipped: Counter[str]) -> list[MinedCorrection]:
    """Return the corrections that were not undone, without duplicates, the oldest first.

    `skipped` counts the other candidates, by reason.
    """
    in_order = sorted(candidates, key=lambda correction: (correction.time, correction.commit))
    changed = {(*correction.edit.pair, correction.edit.context) for correction in in_order}
    n_in_commit = Counter((correction.commit, correction.edit.pair) for correction in in_order)
    kept: list[MinedCorrection] = []
    kept_edits: set[tuple[Any, ...]] = set()
    n_kept: Counter[tuple[str, tuple[str, str]]] = Counter()  # by commit and pair
    for correction in in_order:
        edit = correction.edit
        old, new = edit.pair
        key = correction.commit, edit.pair
        if (new, old, edit.context) in changed:
            skipped["changed words: undone, or changed back and forth"] += 1
        elif (old, new, edit.context) in kept_edits:
            skipped["changed words: the same correction elsewhere"] += 1
        elif n_in_commit[key] > MAX_REPETITIONS and not correction.kind.certain:
            skipped["changed words: renamed everywhere in a commit"] += 1
        elif n_kept[key] >= MAX_PER_COMMIT:
            skipped[f"changed words: more than {MAX_PER_COMMIT} of a pair in a commit"] += 1
        else:
            kept_edits.add((old, new, edit.context))
            n_kept[key] += 1
            kept.append(correction)
    return kept


def summarise(projects: Sequence[MinedProject]) -> dict[str, Any]:
    """Return the numbers of corrections by kind, the most frequent pairs, and the numbers of skipped items.

    The summary neither names a person nor quotes a text.
    """
    kinds: dict[str, dict[str, dict[str, int]]] = {}
    pairs: Counter[tuple[str, str]] = Counter()
    for project in projects:
        for correction in project.corrections:
            edit = correction.edit
            by_kind = kinds.setdefault(correction.kind.category, {})
            counts = by_kind.setdefault(fix_kind(edit.old, edit.new), {"tier_1": 0, "tier_2": 0})
            counts[f"tier_{correction.tier}"] += 1
            if correction.tier == 1:
                pairs[edit.pair] += 1
    return {
        "projects": [
            {
                "name": path_as_text(project.name),
                "head": project.head,
                "commits": project.commits,
                "compared_files": project.files,
                "corrections": len(project.corrections),
                "tier_1": sum(correction.tier == 1 for correction in project.corrections),
                "clean_paragraphs": len(project.clean),
                "clean_words": sum(len(paragraph.text.split()) for paragraph in project.clean),
                "skipped": dict(project.skipped.most_common()),
                "notes": project.notes,
            }
            for project in projects
        ],
        "kinds": {category: dict(sorted(by_kind.items())) for category, by_kind in sorted(kinds.items())},
        "pairs": [{"old": old, "new": new, "n": n} for (old, new), n in pairs.most_common(50)],
    }


FIXES, CLEAN, SUMMARY = "fixes.jsonl", "clean.jsonl", "summary.json"


def check_output(path: Path, *, force: bool = False) -> None:
    """Check that the results can be written to a folder.

    Raises D310 if it exists (with `force`, it may hold the results of an earlier run), D544 if it holds other
    files.
    """
    if not os.path.lexists(path):
        return
    if not path.is_dir() or set(os.listdir(path)) - {FIXES, CLEAN, SUMMARY}:
        raise UserError("D544", path=path)
    if not force and os.listdir(path):
        raise UserError("D310", path=path)


def write_mined(
    path: Path, projects: Sequence[MinedProject], summary: dict[str, Any], *, force: bool = False
) -> None:
    """Write the corrections and clean paragraphs of projects and a summary to a folder, all or nothing.

    Raises the errors of `check_output`; D309 if the folder cannot be written.
    """
    check_output(path, force=force)
    named = [(path_as_text(project.name), project) for project in projects]
    with saved_folder(path) as folder:
        fixes = (correction.record(name) for name, project in named for correction in project.corrections)
        clean = (paragraph.record(name) for name, project in named for paragraph in project.clean)
        _write_lines(folder / FIXES, fixes)
        _write_lines(folder / CLEAN, clean)
        (folder / SUMMARY).write_text(json_text(summary) + "\n", encoding="utf8")


def _write_lines(path: Path, records: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
