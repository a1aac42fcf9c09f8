"""Check or correct a text in one call: `disambig.check` and `disambig.correct`."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from disambig.checking.flags import Flag, choose, corrected, find_flags, plain_word
from disambig.checking.loading import load_checker
from disambig.checking.stable_corrections import settled_flags
from disambig.configuration import CheckSettings
from disambig.errors import UserError
from disambig.files import file_stamp
from disambig.formats import Document
from disambig.markup import read_markup
from disambig.models import Annotate, annotate_documents, annotator_languages
from disambig.text import describe_foreign

_NAME = "text"
"""Name of the text in messages; without a suffix, it has no markup."""
_Names = str | os.PathLike[str]


def check(
    text: str,
    *,
    models: _Names | Sequence[_Names] = (),
    flags_per_1000: float | Mapping[str, float] | None = None,
    writing: str | None = None,
    ignore: Collection[str] = (),
    detect_language: bool = True,
) -> list[Flag]:
    """Find wrong words in a text, as ``disambig check`` does in a file.

    Parameters
    ----------
    text : str
        Text without markup.
    models : str, path or sequence of them
        Installed models, such as ``"spelling"``, and directories of models; by default all installed models
        that correct words.
    flags_per_1000 : float or mapping from task to float, optional
        False alarms to accept per 1,000 correct words, for all models together or for some tasks; by default
        the rate of each model.
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
        an unknown task, D953 for an unknown kind of writing.

    Examples
    --------
    >>> import disambig
    >>> disambig.check("It depends of the weather.")
    [<Flag 1:12 'of' -> 'on', wrong-preposition, 88 % right>]
    """
    return _check(text, models, flags_per_1000, writing, ignore, detect_language).flags


def correct(
    text: str,
    *,
    models: _Names | Sequence[_Names] = (),
    flags_per_1000: float | Mapping[str, float] | None = None,
    writing: str | None = None,
    ignore: Collection[str] = (),
    detect_language: bool = True,
) -> str:
    """Return a text with its wrong words corrected, as ``disambig check --fix`` does in a file.

    Parameters, warnings and errors are those of `check`. The corrected text has nothing left to correct.

    Examples
    --------
    >>> import disambig
    >>> disambig.correct("It depends of the weather.")
    'It depends on the weather.'
    """
    checked = _check(text, models, flags_per_1000, writing, ignore, detect_language)
    taken, _ = choose(checked.flags, text)
    return corrected(text, settled_flags(_NAME, text, taken, checked.annotate, checked.ignore))


@dataclass(frozen=True, slots=True)
class _Checked:
    """The flags of a text, what found them, and the words that it ignored."""

    flags: list[Flag]
    annotate: Annotate
    ignore: frozenset[str]


def _check(
    text: str,
    models: _Names | Sequence[_Names],
    flags_per_1000: float | Mapping[str, float] | None,
    writing: str | None,
    ignore: Collection[str],
    detect_language: bool,
) -> _Checked:
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    several = [models] if isinstance(models, str | os.PathLike) else models
    names = tuple(os.fspath(name) for name in several)
    rates = tuple(flags_per_1000.items()) if isinstance(flags_per_1000, Mapping) else flags_per_1000
    annotate = _load(names, rates, writing, detect_language, tuple(map(_stamp, names)))
    words = frozenset(map(plain_word, [ignore] if isinstance(ignore, str) else ignore))
    plain = read_markup(_NAME, text)
    results, bad = annotate_documents([Document("1", plain.text, _NAME, kind="line")], annotate)
    for failed in bad:
        raise failed.error
    (annotated,) = results
    checked = find_flags(_NAME, text, plain, annotated.decisions, ignore=words)
    notes = [*getattr(annotate, "notes", ()), *checked.problems]
    if annotated.foreign:
        counts = Counter(paragraph.language for paragraph in annotated.foreign)
        what = describe_foreign(counts, annotator_languages(annotate))
        notes.append(UserError("D348", where=_NAME, what=what))
    for note in notes:
        warnings.warn(str(note), stacklevel=3)
    return _Checked(list(checked.flags), annotate, words)


@lru_cache(maxsize=8)
def _load(
    names: tuple[str, ...],
    rates: float | tuple[tuple[str, float], ...] | None,
    writing: str | None,
    detect_language: bool,
    stamps: tuple[tuple[int, ...], ...],
) -> Annotate:
    """Load models; `stamps` change if a directory is written again."""
    settings = CheckSettings(
        models=names,
        flags_per_1000=dict(rates) if isinstance(rates, tuple) else rates,
        writing=writing,
        detect_language=detect_language,
    )
    return load_checker(settings)


def _stamp(name: str) -> tuple[int, ...]:
    """Return the stamp of a model in a directory; an empty one for an installed model."""
    return file_stamp(Path(name, "model.json"))
