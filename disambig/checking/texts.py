"""Check or correct a text in one call: `disambig.check` and `disambig.correct`."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from disambig.checking.flags import (
    Flag,
    apply_corrections,
    find_flags,
    is_likely_right,
    plain_word,
    select_compatible,
)
from disambig.checking.loading import load_checker
from disambig.checking.stable_corrections import Recheck, fixed_point_flags
from disambig.configuration import CheckSettings
from disambig.errors import UserError
from disambig.files import file_stamp
from disambig.formats import Document
from disambig.markup import read_layout, read_markup
from disambig.models import Annotate, annotate_documents, annotator_languages
from disambig.text import describe_foreign

_TEXT = "text"
"""Name of a text without a name: it has no suffix, and so no markup."""
_Name = str | os.PathLike[str]


def check(
    text: str,
    *,
    name: _Name = _TEXT,
    models: _Name | Sequence[_Name] = (),
    flags_per_1000: float | Mapping[str, float] | None = None,
    rules: Collection[str] = (),
    ignore_rules: Collection[str] = (),
    writing: str | None = None,
    ignore: Collection[str] = (),
    detect_language: bool = True,
) -> list[Flag]:
    """Find wrong words in a text, as ``disambig check`` does in a file.

    Parameters
    ----------
    text : str
    name : str or path
        Name of the text in messages. Its suffix says which markup the text has: ``"notes.md"`` is Markdown,
        ``"thesis.tex"`` LaTeX, ``"app.py"`` code whose comments are checked; without a suffix, it has none.
    models : str, path or sequence of them
        Installed models, such as ``"spelling"``, and directories of models; by default all installed models
        that correct words.
    flags_per_1000 : float or mapping from task to float, optional
        False alarms to accept per 1,000 correct words, for all models together or for some tasks; by default
        the rate of each model.
    rules, ignore_rules : collection of str
        Rules, or tasks, whose flags are found, by default all, and those whose flags are left out.
    writing : str, optional
        How carefully the text was written: ``"published"``, ``"edited"``, ``"draft"`` or ``"learner"``, with
        one mistake in 2,000, 400, 100 or 15 words; by default what each model was fitted to.
    ignore : collection of str
        Words that are never flagged, and corrections that are never proposed, such as ``login -> log in``.
    detect_language : bool
        Whether paragraphs in another language than the models' are left alone.

    Returns
    -------
    list of Flag
        In the order of the text, without overlaps.

    Warns
    -----
    UserWarning
        D348 for paragraphs in another language, which are left alone; D954 if `writing` has no effect; D641
        for an invalid comment that should suppress flags.

    Raises
    ------
    UserError
        D323 if no model is installed, D404 for an unknown one, D401 for an invalid rate, D950 for the rate of
        an unknown task, D519 for an unknown rule, D953 for an unknown kind of writing; those of invalid files
        of their format.

    Examples
    --------
    >>> import disambig
    >>> disambig.check("It depends of the weather.")
    [<Flag 1:12 'of' -> 'on', wrong-preposition, 86 % right>]
    """
    settings = _settings(models, flags_per_1000, rules, ignore_rules, writing, detect_language)
    return _check(text, os.fspath(name), settings, ignore).flags


def correct(
    text: str,
    *,
    name: _Name = _TEXT,
    models: _Name | Sequence[_Name] = (),
    flags_per_1000: float | Mapping[str, float] | None = None,
    rules: Collection[str] = (),
    ignore_rules: Collection[str] = (),
    writing: str | None = None,
    ignore: Collection[str] = (),
    detect_language: bool = True,
) -> str:
    """Return a text with its wrong words corrected, as ``disambig check --fix`` does in a file.

    Parameters, warnings and errors are those of `check`. Corrections of a kind of which fewer than half were
    right are only made if `writing` is ``"draft"`` or ``"learner"``; nothing else is left to correct.

    Examples
    --------
    >>> import disambig
    >>> disambig.correct("It depends of the weather.")
    'It depends on the weather.'
    """
    settings = _settings(models, flags_per_1000, rules, ignore_rules, writing, detect_language)
    checked = _check(text, os.fspath(name), settings, ignore)

    def likely(flags: Sequence[Flag]) -> Sequence[Flag]:
        return [flag for flag in flags if is_likely_right(flag, writing)]

    taken, _ = select_compatible(likely(checked.flags))
    settled = fixed_point_flags(
        os.fspath(name),
        text,
        taken,
        Recheck(checked.annotate, checked.ignore),
        select=likely,
    )
    return apply_corrections(text, settled, read_layout(os.fspath(name), text))


@dataclass(frozen=True, slots=True)
class _Checked:
    """The flags of a text, what found them, and the words that it ignored."""

    flags: list[Flag]
    annotate: Annotate
    ignore: frozenset[str]


def _settings(
    models: _Name | Sequence[_Name],
    flags_per_1000: float | Mapping[str, float] | None,
    rules: Collection[str],
    ignore_rules: Collection[str],
    writing: str | None,
    detect_language: bool,
) -> CheckSettings:
    several = [models] if isinstance(models, str | os.PathLike) else models
    return CheckSettings(
        models=tuple(os.fspath(model) for model in several),
        flags_per_1000=dict(flags_per_1000) if isinstance(flags_per_1000, Mapping) else flags_per_1000,
        rules=_several(rules),
        ignore_rules=_several(ignore_rules),
        writing=writing,
        detect_language=detect_language,
    )


def _several(names: Collection[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(sorted(names))


def _check(text: str, name: str, settings: CheckSettings, ignore: Collection[str]) -> _Checked:
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    annotate = _load(_Settings(settings), tuple(map(_stamp, settings.models)))
    words = frozenset(map(plain_word, _several(ignore)))
    plain = read_markup(name, text)
    results, bad = annotate_documents([Document("1", plain.text, name, kind="line")], annotate)
    for failed in bad:
        raise failed.error
    (annotated,) = results
    checked = find_flags(name, text, plain, annotated.decisions, ignore=words)
    notes = [*getattr(annotate, "notes", ()), *checked.problems]
    if annotated.foreign:
        counts = Counter(paragraph.language for paragraph in annotated.foreign)
        what = describe_foreign(counts, annotator_languages(annotate))
        notes.append(UserError("D348", where=name, what=what))
    for note in notes:
        warnings.warn(str(note), stacklevel=3)
    return _Checked(list(checked.flags), annotate, words)


@dataclass(frozen=True, slots=True, eq=False)
class _Settings:
    """Settings that are equal to others which load the same models."""

    settings: CheckSettings

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Settings) and self.settings.checker == other.settings.checker

    def __hash__(self) -> int:
        return hash(self.settings.checker)


@lru_cache(maxsize=8)
def _load(settings: _Settings, stamps: tuple[tuple[int, ...], ...]) -> Annotate:
    """Load models; `stamps` change if a directory is written again."""
    return load_checker(settings.settings)


def _stamp(name: str) -> tuple[int, ...]:
    """Return the stamp of a model in a directory; an empty one for an installed model."""
    return file_stamp(Path(name, "model.json"))
