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
    select_compatible,
)
from disambig.checking.loading import load_checker
from disambig.configuration import CheckSettings
from disambig.data import plain_word
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

    Raises D323 if no model is installed, D404 for an unknown one, D401 for an invalid rate, D950 for the rate
    of an unknown task, D519 for an unknown rule, D953 for an unknown kind of writing; the errors of the
    text's format.

    Parameters
    ----------
    name : str or path
        Name of the text in messages. The suffix determines the markup: ``"notes.md"`` is Markdown,
        ``"thesis.tex"`` is LaTeX, ``"app.py"`` is code whose comments are checked. A text without a suffix
        has no markup.
    models : str, path or sequence of them
        Installed models, such as ``"spelling"``, and directories of models; by default all installed models
        that correct words.
    flags_per_1000 : float or mapping from task to float, optional
        Accepted number of false alarms per 1,000 correct words, for all models together or by task; by
        default each model's own rate.
    rules, ignore_rules : collection of str
        Rules or tasks to check, by default all, and rules or tasks to skip.
    writing : str, optional
        How carefully the text was written: ``"published"``, ``"edited"``, ``"draft"`` or ``"learner"``, with
        one mistake in 2,000, 400, 100 or 15 words; by default the rate that each model was fitted to.
    ignore : collection of str
        Words that are never flagged, and corrections that are never proposed, such as ``login -> log in``.
    detect_language : bool
        Whether to skip paragraphs in a language that the models do not support.

    Returns
    -------
    list of Flag
        In text order, without overlaps.

    Warns
    -----
    UserWarning
        D348 for skipped paragraphs in another language; D352 for a text that is the name of a file; D954 if
        `writing` has no effect; D641 for an invalid directive.

    Examples
    --------
    >>> import disambig
    >>> disambig.check("It depends of the weather.")
    [<Flag 1:12 'of' -> 'on', wrong-preposition, 85 % right>]
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

    Parameters, warnings and errors are those of `check`. Corrections of a kind that is right less than half
    of the time are made only if `writing` is ``"draft"`` or ``"learner"``.

    Examples
    --------
    >>> import disambig
    >>> disambig.correct("It depends of the weather.")
    'It depends on the weather.'
    """
    from disambig.checking.stable_corrections import Recheck, fixed_point_flags

    name = os.fspath(name)
    settings = _settings(models, flags_per_1000, rules, ignore_rules, writing, detect_language)
    checked = _check(text, name, settings, ignore)

    def likely(flags: Sequence[Flag]) -> Sequence[Flag]:
        return [flag for flag in flags if is_likely_right(flag, writing)]

    flags = select_compatible(likely(checked.flags))
    recheck = Recheck(checked.annotate, checked.ignore)
    flags = fixed_point_flags(name, text, flags, recheck, select=likely)
    return apply_corrections(text, flags, read_layout(name, text))


_MAX_NAME = 255
"""Maximum number of characters of a text that may be the name of a file."""


@dataclass(frozen=True, slots=True)
class _Checked:
    """The flags of a text, the models that raised them, and the words that were ignored."""

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
    model_names = [models] if isinstance(models, str | os.PathLike) else models
    return CheckSettings(
        models=tuple(os.fspath(model) for model in model_names),
        flags_per_1000=dict(flags_per_1000) if isinstance(flags_per_1000, Mapping) else flags_per_1000,
        rules=_as_tuple(rules),
        ignore_rules=_as_tuple(ignore_rules),
        writing=writing,
        detect_language=detect_language,
    )


def _as_tuple(names: Collection[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(sorted(names))


def _check(text: str, name: str, settings: CheckSettings, ignore: Collection[str]) -> _Checked:
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    annotate = _load(_Settings(settings), tuple(map(_stamp, settings.models)))
    words = frozenset(map(plain_word, _as_tuple(ignore)))
    plain = read_markup(name, text)
    results, failed = annotate_documents([Document("1", plain.text, name, kind="line")], annotate)
    if failed:
        raise failed[0].error
    (annotated,) = results
    checked = find_flags(name, text, plain, annotated.decisions, ignore=words)
    notes = [*getattr(annotate, "notes", ()), *checked.problems]
    if annotated.foreign:
        counts = Counter(paragraph.language for paragraph in annotated.foreign)
        what = describe_foreign(counts, annotator_languages(annotate))
        notes.append(UserError("D348", where=name, what=what))
    if len(text) <= _MAX_NAME and not any(map(str.isspace, text)) and os.path.isfile(text):
        notes.append(
            UserError("D352", name=text, how=f"disambig.check(Path({text!r}).read_text(), name={text!r})")
        )
    for note in notes:
        warnings.warn(str(note), stacklevel=3)
    return _Checked(list(checked.flags), annotate, words)


@dataclass(frozen=True, slots=True, eq=False)
class _Settings:
    """Settings as a cache key: two are equal if they load the same models."""

    settings: CheckSettings

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Settings) and self.settings.checker == other.settings.checker

    def __hash__(self) -> int:
        return hash(self.settings.checker)


@lru_cache(maxsize=8)
def _load(settings: _Settings, stamps: tuple[tuple[int, ...], ...]) -> Annotate:
    """Load models; `stamps` invalidate the cached result once a model directory is rewritten."""
    return load_checker(settings.settings)


def _stamp(name: str) -> tuple[int, ...]:
    """Return the file stamp of a model in a directory; an empty tuple for an installed model."""
    return file_stamp(Path(name, "model.json"))
