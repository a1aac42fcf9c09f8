"""Mine a git history: corrected words, and paragraphs that have not changed for a long time."""

from __future__ import annotations

import hashlib
import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from disambig.configuration import ProjectSettings
from disambig.errors import UserError
from disambig.formats import Fix, fix_kind
from disambig.mining.corrections import (
    CorrectionKind,
    Vocabulary,
    WordEdit,
    changed_paragraphs,
    classify,
    word_edits,
)
from disambig.mining.history import BlobReader, ChangedFile, Commit, History
from disambig.mining.languages import LANGUAGES
from disambig.mining.paragraphs import LEAST_WORDS, Paragraph, read_paragraphs
from disambig.models import Model
from disambig.packs import packs

UNTOUCHED_DAYS = 365
"""Minimum number of days since the last change of a clean paragraph."""
MOST_PER_COMMIT = 3
"""Maximum number of corrections of the same pair of words in a commit that are kept."""
BULK = 10
"""A pair that is exchanged more often in one commit is a renaming, unless it is certainly a mistake."""
MOST_FILES = 1_000
"""A commit that changes more files is a reorganisation."""
SMALL = 10
"""Maximum number of changed lines of a small commit."""
ALONE = 4
"""Maximum number of changed lines of a commit that changes one word."""
LEAST_COUNT = 10
"""How often a word that exists occurs in the counted text of the pack."""
KNOWN_WORDS = 0.7
"""Minimum share of words that exist in a clean paragraph: others are code or in another language."""
_DAY = 86_400
_CACHED = 4_000_000
"""Number of characters of paragraphs that are kept for the next commits."""
_VENDORED = frozenset(("vendor", "third_party"))
"""Folders with the texts of other projects."""
Progress = Callable[[str, int, int], object]


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Do nothing."""


class PackVocabulary:
    """The words that occur in the counted text of a pack, and the confusion sets of models.

    Parameters
    ----------
    models : sequence of Model
        The installed models that correct words.

    Raises
    ------
    UserError
        D543 if no pack with counts is installed for a language in which corrections can be found.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        from disambig.counts import open_table

        installed = [pack for pack in packs().values() if pack.counts and pack.language in LANGUAGES]
        if not installed:
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
        return bool(self._table.counts_of_texts([word])[0] >= LEAST_COUNT)

    def confusion_set(self, one: str, other: str) -> str:
        """Return the name of a confusion set that contains two words; "" if there is none."""
        return self._sets.get((one, other), "")


@dataclass(frozen=True, slots=True)
class MinedCorrection:
    """A correction of a mistake, with what is known of its commit.

    Attributes
    ----------
    edit : WordEdit
    kind : CorrectionKind
    commit, path : str
    time, year : int
        When it was committed, in seconds since 1970, and written.
    says_fix, says_language : bool
        Whether the message speaks of a correction, and of one of the language.
    n_lines : int
        Number of changed lines of the commit.
    """

    edit: WordEdit
    kind: CorrectionKind
    commit: str
    path: str
    time: int
    year: int
    says_fix: bool
    says_language: bool
    n_lines: int

    @property
    def same(self) -> bool:
        """Whether the texts of the edit differ only in this word; capitals and punctuation count as well."""
        return self.edit.n_edits > 1 or self.fix("").corrected().split() == self.edit.after.split()

    @property
    def tier(self) -> int:
        """1 if this is very likely the correction of a mistake, else 2."""
        if self.kind.certain or self.says_language:
            return 1
        if self.kind.sub == "pref" or self.edit.n_edits > 1 or self.n_lines > SMALL or not self.same:
            return 2
        return 1 if self.says_fix or self.n_lines <= ALONE else 2

    def fix(self, repo: str) -> Fix:
        """Return the correction as evaluation reads it; without a tier, which depends on the commit."""
        edit = self.edit
        return Fix(
            before=edit.before,
            start=edit.start,
            end=edit.end,
            old=edit.old,
            new=edit.new,
            category=self.kind.category,
            sub=self.kind.sub,
            kind=fix_kind(edit.old, edit.new),
            tier=1,
            repo=repo,
        )

    def record(self, repo: str) -> dict[str, Any]:
        """Return the correction as a JSON object (see `disambig.formats.read_fixes`)."""
        edit = self.edit
        name = f"{self.commit} {self.path} {edit.start} {edit.new} {edit.before}"
        return {
            "id": hashlib.sha256(name.encode("utf8", "surrogateescape")).hexdigest()[:12],
            "repo": repo,
            "licence": "",
            "commit": self.commit,
            "path": shown_path(self.path),
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
            "small": self.n_lines <= SMALL,
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
        return {"repo": repo, "path": shown_path(self.path), "text": self.text, "licence": ""}


def shown_path(path: str) -> str:
    """Return a path as text; bytes that are not UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@dataclass(slots=True)
class MinedProject:
    """What was found in one repository.

    Attributes
    ----------
    name : str
        Name of its folder.
    head : str
        The commit of HEAD.
    corrections : list of MinedCorrection
        The oldest first.
    clean : list of CleanParagraph
    commits, files : int
        Number of commits, and of changes of files that were compared.
    skipped : Counter
        What was not read or not taken for a correction, by reason.
    first : int
        Time of the oldest commit that changed a file, in seconds since 1970.
    notes : list of str
        What a reader of the figures should know.
    """

    name: str
    head: str
    corrections: list[MinedCorrection] = field(default_factory=list)
    clean: list[CleanParagraph] = field(default_factory=list)
    commits: int = 0
    files: int = 0
    first: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


class Miner:
    """Mines one repository.

    Parameters
    ----------
    folder : str
        The work tree.
    vocabulary : Vocabulary
    language : str
        ISO 639-1 code of the language of the texts.
    settings : ProjectSettings, optional
        Which files are read; by default those that `disambig check` reads in the work tree.
    keep_code : bool
        Whether inline code is part of the texts (see `read_paragraphs`).

    Raises
    ------
    UserError
        The errors of `History`.
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

    def mine(self, *, days: int = UNTOUCHED_DAYS, progress: Progress = ignore_progress) -> MinedProject:
        """Return the corrections of the whole history, and the clean paragraphs of HEAD.

        Parameters
        ----------
        days : int
            Minimum number of days between the last change of a clean paragraph and the last commit.
        progress : callable
            Called with the stage, what is done and how much there is.

        Raises
        ------
        UserError
            The errors of git (D964), and of an invalid settings file.
        """
        mined = MinedProject(os.path.basename(self.history.top), self.history.head)
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
            now = self.clean_paragraphs(blobs, self.history.head, days, mined, progress)
        mined.clean = now
        if not now:
            mined.notes.append(f"no paragraph is older than {days} days")
        return mined

    def clean_paragraphs(
        self,
        blobs: BlobReader,
        commit: str,
        days: int,
        mined: MinedProject,
        progress: Progress = ignore_progress,
    ) -> list[CleanParagraph]:
        """Return the paragraphs of a commit that were the same some days before, each text once.

        Raises
        ------
        UserError
            The errors of git (D964).
        """
        moment = self.history.commit_time(commit) - days * _DAY
        earlier = self.history.commit_at(moment)
        if earlier is None:
            return []
        old = self.texts(blobs, earlier, Counter(), progress)
        clean = []
        for text, path in self.texts(blobs, commit, mined.skipped, progress).items():
            if text in old:
                clean.append(CleanParagraph(text, path))
        return clean

    def texts(
        self, blobs: BlobReader, commit: str, skipped: Counter[str], progress: Progress = ignore_progress
    ) -> dict[str, str]:
        """Return the paragraphs of running text of a commit, and the first file of each."""
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
        if len(words) < LEAST_WORDS:
            return False
        return sum(map(self._vocabulary.is_word, words)) >= KNOWN_WORDS * len(words)

    def _takes(self, path: str) -> bool:
        """Return True if a file of the repository is read."""
        from disambig.checking import PACKAGE_FOLDERS, SUFFIXES

        *folders, name = path.split("/")
        left_out = PACKAGE_FOLDERS | _VENDORED
        if name.startswith(".") or any(part.startswith(".") or part in left_out for part in folders):
            return False
        full = os.path.join(self.history.top, *path.split("/"))
        # not `has_checked_suffix`, which opens files of the work tree
        return self._settings.takes(full, lambda other: other.lower().endswith(SUFFIXES))

    def _mine_commit(self, commit: Commit, blobs: BlobReader, mined: MinedProject) -> list[MinedCorrection]:
        """Return what looks like a correction in a commit."""
        files = [file for file in commit.files if self._takes(file.path)]
        mined.skipped["files of other formats"] += len(commit.files) - len(files)
        if not files:
            return []
        if commit.message.lstrip().lower().startswith("revert"):
            mined.skipped["commits that revert others"] += 1
            return []
        if len(files) > MOST_FILES:
            mined.skipped[f"commits of more than {MOST_FILES:,} files"] += 1
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
        """Add the corrections in a changed file to `edits`; return the number of changed lines."""
        old, new = blobs.read(file.old), blobs.read(file.new)
        if old is None or new is None:
            skipped["files that are too large, or missing in the clone"] += 1
            return SMALL + 1
        lines = Counter(new.splitlines())
        lines.subtract(Counter(old.splitlines()))
        added, removed = (+lines).total(), (-lines).total()
        if not added or not removed:
            return added + removed
        old_paragraphs = self._read(blobs, file.old, file.path, skipped, old)
        new_paragraphs = self._read(blobs, file.new, file.path, skipped, new)
        if old_paragraphs is None or new_paragraphs is None:
            return added + removed
        try:
            for before, after in changed_paragraphs(old_paragraphs, new_paragraphs):
                self._classify(file.path, word_edits(before, after), skipped, edits)
        except ValueError:
            skipped["files that were rewritten"] += 1
        return added + removed

    def _classify(
        self,
        path: str,
        found: Iterable[WordEdit],
        skipped: Counter[str],
        edits: list[tuple[str, WordEdit, CorrectionKind]],
    ) -> None:
        for edit in found:
            kind = classify(edit, self._words, self._vocabulary)
            if isinstance(kind, str):
                skipped[f"changed words: {kind}"] += 1
            else:
                edits.append((path, edit, kind))

    def _read(
        self, blobs: BlobReader, blob: str, path: str, skipped: Counter[str], data: bytes | None = None
    ) -> list[Paragraph] | None:
        """Return the paragraphs of a file, maybe from an earlier call; None if it cannot be read."""
        suffix = os.path.splitext(path)[1].lower()
        key = blob, suffix
        if key in self._paragraphs:
            self._paragraphs.move_to_end(key)
            return self._paragraphs[key]
        data = blobs.read(blob) if data is None else data
        paragraphs: list[Paragraph] | None = None
        if data is None:
            skipped["files that are too large, or missing in the clone"] += 1
        else:
            try:
                text = data.decode("utf-8-sig")
            except ValueError:
                skipped["files that are not UTF-8"] += 1
            else:
                options = self._settings.for_file(os.path.join(self.history.top, path)).markup_options
                paragraphs = read_paragraphs(f"text{suffix}", text, options, keep_code=self._keep_code)
        self._keep(key, paragraphs)
        return paragraphs

    def _keep(self, key: tuple[str, str], paragraphs: list[Paragraph] | None) -> None:
        self._paragraphs[key] = paragraphs
        self._n_characters += _size(paragraphs)
        while self._n_characters > _CACHED and len(self._paragraphs) > 1:
            self._n_characters -= _size(self._paragraphs.popitem(last=False)[1])


def _size(paragraphs: list[Paragraph] | None) -> int:
    return 100 + sum(100 + len(paragraph.text) for paragraph in paragraphs or ())


def select_corrections(candidates: Iterable[MinedCorrection], skipped: Counter[str]) -> list[MinedCorrection]:
    """Return the corrections that were not undone, each once, the oldest first.

    Parameters
    ----------
    candidates : iterable of MinedCorrection
    skipped : Counter
        The others are added to it, by reason.
    """
    in_order = sorted(candidates, key=lambda one: (one.time, one.commit))
    changed = {(*one.edit.pair, one.edit.context) for one in in_order}
    per_commit = Counter((one.commit, one.edit.pair) for one in in_order)
    kept: list[MinedCorrection] = []
    seen: set[tuple[Any, ...]] = set()
    taken: Counter[tuple[str, tuple[str, str]]] = Counter()
    for one in in_order:
        old, new = one.edit.pair
        place = one.commit, one.edit.pair
        if (new, old, one.edit.context) in changed:
            skipped["changed words: undone, or changed back and forth"] += 1
        elif (old, new, one.edit.context) in seen:
            skipped["changed words: the same correction elsewhere"] += 1
        elif per_commit[place] > BULK and not one.kind.certain:
            skipped["changed words: renamed everywhere in a commit"] += 1
        elif taken[place] >= MOST_PER_COMMIT:
            skipped[f"changed words: more than {MOST_PER_COMMIT} of a pair in a commit"] += 1
        else:
            seen.add((old, new, one.edit.context))
            taken[place] += 1
            kept.append(one)
    return kept


def summarise(projects: Sequence[MinedProject], *, most_pairs: int = 50) -> dict[str, Any]:
    """Return how many corrections of each kind were found, the most frequent pairs, and what was skipped.

    Nothing in it names a person or quotes a text.
    """
    kinds: dict[str, dict[str, dict[str, int]]] = {}
    pairs: Counter[tuple[str, str]] = Counter()
    for one in (one for project in projects for one in project.corrections):
        of_class = kinds.setdefault(one.kind.category, {})
        kind = of_class.setdefault(fix_kind(one.edit.old, one.edit.new), {"tier_1": 0, "tier_2": 0})
        kind[f"tier_{one.tier}"] += 1
        if one.tier == 1:
            pairs[one.edit.pair] += 1
    return {
        "projects": [
            {
                "name": shown_path(project.name),
                "head": project.head,
                "commits": project.commits,
                "compared_files": project.files,
                "corrections": len(project.corrections),
                "tier_1": sum(one.tier == 1 for one in project.corrections),
                "clean_paragraphs": len(project.clean),
                "clean_words": sum(len(paragraph.text.split()) for paragraph in project.clean),
                "skipped": dict(project.skipped.most_common()),
                "notes": project.notes,
            }
            for project in projects
        ],
        "kinds": {name: dict(sorted(of_class.items())) for name, of_class in sorted(kinds.items())},
        "pairs": [{"old": old, "new": new, "n": n} for (old, new), n in pairs.most_common(most_pairs)],
    }
