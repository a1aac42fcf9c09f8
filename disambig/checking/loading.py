"""Load the models that settings name, with their measured precision."""

from __future__ import annotations

import os
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from disambig.checking.flags import Flag, apply_corrections, find_flags, is_likely_right, select_compatible
from disambig.configuration import CheckSettings, unknown_task_error
from disambig.data import check_entry, plain_word
from disambig.errors import UserError
from disambig.files import file_stamp
from disambig.formats import Document
from disambig.markup import iterate_units, read_layout, read_markup
from disambig.models import Annotate, ModelSet, ModelSource, annotate_documents, annotator_languages
from disambig.text import HIDDEN, describe_foreign

if TYPE_CHECKING:
    from disambig.data import PrecisionTable
    from disambig.explain import FlagEvidence

_MAX_CONTEXT = 5_000
"""Maximum number of characters on each side of a flag that are annotated again for its evidence."""


@dataclass(frozen=True, slots=True, eq=False)
class CorrectingAnnotator(ModelSet):
    """Models that correct words, with their measured precision (`trust`) and its minimum (`least`)."""

    # Notes to show once: models that raise no flags because their precision was not measured (D863), a kind
    # of writing without effect (D954), words of confusion sets that a model has not seen (D955)
    notes: tuple[UserError, ...] = ()

    def evidence(self, plain: str, flag: Flag) -> FlagEvidence:
        """Return the evidence for a flag.

        The model of the flag annotates the paragraph of the flag again.

        `plain`: the whole text without markup.
        """
        from disambig.explain import FlagEvidence, flag_evidence

        model = next((model for model in self.models if model.task.name == flag.task), None)
        context_start = max(0, flag.start - _MAX_CONTEXT)
        word_end = flag.start + len(plain[flag.start : flag.end].rstrip(HIDDEN))
        context = plain[context_start : word_end + _MAX_CONTEXT]
        start, end = flag.start - context_start, word_end - context_start
        units = [(first, last) for first, last in iterate_units(context) if first <= start <= end <= last]
        if model is None or not units:
            return FlagEvidence()
        first, last = units[-1]
        return flag_evidence(
            model, context[first:last], start - first, end - first, flag.replacement, flag.probability
        )


def load_checker(settings: CheckSettings) -> CorrectingAnnotator:
    """Load the models that settings name, with the rules that they select.

    Raises D4xx for an unknown name or a damaged model; D322 if no model accepts confusion sets; D644 for a
    model that chooses labels; D861 if a minimum precision is set and no model was measured, D864 if no model
    reaches it; D862 for a damaged measurement; D519 for an unknown rule; the errors of an invalid file of
    confusion sets. D322, D404, D519 and D950 mention the settings file that contains the wrong value; D974
    for a model that a settings file names and that does not exist.
    """
    source = correcting_source(settings)
    try:
        annotate = source.load_correcting()
    except UserError as problem:
        raise _with_origin(problem, settings) from None
    trust = annotate.trust
    if settings.trust is not None:
        annotator = _with_precision(annotate, trust, settings.trust)
    else:
        annotator = CorrectingAnnotator(annotate.models, annotate.rates, trust=trust)
    notes = (*annotator.notes, *source.notes(annotator.models))
    selection = settings.rule_selection
    if selection:
        try:
            selection.check(selectable_names(annotator))
        except UserError as problem:
            raise _with_origin(problem, settings) from None
    return replace(annotator, detect_language=settings.detect_language, notes=notes, selection=selection)


def _with_origin(problem: UserError, settings: CheckSettings) -> UserError:
    """Add the settings file that contains a wrong name, rate or set to the error, if there is one."""
    keys, value = _wrong_value(problem, settings)
    for key in keys:
        origins = settings.origins.get(key, ())
        if not any(map(os.path.isabs, origins)):
            continue  # it comes from an option
        if value is not None and value not in getattr(settings, key):
            continue
        where = " or ".join(origins)
        if key == "tasks":
            return unknown_task_error(str(value), where)
        if key == "models":
            source = f"{where}, models"
            return UserError("D974", path=value, problem="does not exist", source=source)
        return UserError(problem.code, **{**problem.values, "where": f"{where}, {key}: "})
    return problem


def _wrong_value(problem: UserError, settings: CheckSettings) -> tuple[tuple[str, ...], object]:
    """Return the keys of settings that an error may be about, and the value; None for any value."""
    if problem.code == "D404":
        return ("tasks", "models"), problem.values["name"]
    if problem.code == "D519":
        return ("ignore_rules", "rules"), problem.values["name"]
    if problem.code == "D950" and isinstance(settings.flags_per_1000, Mapping):
        return ("flags_per_1000",), problem.values["task"]
    if problem.code == "D322":
        return ("sets", "sets_files"), None
    return (), None


def selectable_names(annotate: Annotate) -> set[str]:
    """Return the names of rules and tasks that are valid in settings and directives.

    These are the names of the models of `annotate` and of all plugins.
    """
    from disambig.rules import installed_rules
    from disambig.types import task_rules

    tasks = [model.task for model in annotate.models] if isinstance(annotate, ModelSet) else []
    rules = (rule.name for task in tasks for rule in task_rules(task).rules)
    return {*(task.name for task in tasks), *rules, *installed_rules()}


def correcting_source(settings: CheckSettings) -> ModelSource:
    """Return the source of the models that settings name.

    Raises the errors of an invalid file of confusion sets.
    """
    return ModelSource(
        models=(*settings.tasks, *settings.models),
        flags_per_1000=settings.flags_per_1000,
        sets=settings.confusion_sets(),
        writing=settings.writing,
    )


def _with_precision(
    annotate: ModelSet, trust: Mapping[str, PrecisionTable], minimum: float
) -> CorrectingAnnotator:
    """Return the models limited to flags with a measured precision of at least `minimum`."""
    from disambig.models import rates_for_precision

    models = annotate.models
    unmeasured = [model for model in models if model.task.name not in trust]
    if len(unmeasured) == len(models):
        raise UserError("D861", models=", ".join(model.name for model in models))
    rates = rates_for_precision(models, trust, minimum)
    if not any(rates.values()):
        highest = max(
            points[-1].share for table in trust.values() for points in (table.points, *table.pairs.values())
        )
        raise UserError("D864", share=f"{minimum:.0%}", most=f"{highest:.0%}")
    notes = tuple(UserError("D863", model=model.name, task=model.task.name) for model in unmeasured)
    return CorrectingAnnotator(models, rates | dict(annotate.rates), trust=trust, least=minimum, notes=notes)


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
    text's format; ValueError for a pattern in `ignore`.

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
    return _check(text, os.fspath(name), settings, ignore)[0]


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
    raised, annotate, words = _check(text, name, settings, ignore)

    def likely(flags: Sequence[Flag]) -> Sequence[Flag]:
        return [flag for flag in flags if is_likely_right(flag, writing)]

    flags = select_compatible(likely(raised))
    recheck = Recheck(annotate, words)
    flags = fixed_point_flags(name, text, flags, recheck, select=likely)
    return apply_corrections(text, flags, read_layout(name, text))


_MAX_NAME = 255
"""Maximum number of characters of a text that may be the name of a file."""


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


def _check(
    text: str, name: str, settings: CheckSettings, ignore: Collection[str]
) -> tuple[list[Flag], Annotate, frozenset[str]]:
    """Return the flags of a text, the models that raised them, and the words that were ignored."""
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    annotate = _CHECKERS.get(settings)
    words = frozenset(plain_word(check_entry(entry)) for entry in _as_tuple(ignore))
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
    return list(checked.flags), annotate, words


_MAX_LOADED = 16


class CheckerCache:
    """Loaded models, by the settings that name them; the least recently used ones are dropped.

    A model in a directory is loaded again after it was rewritten. Several threads may use a cache.

    `load`: loads the models of settings, as `load_checker` does.
    """

    def __init__(self, load: Callable[[CheckSettings], Annotate] = load_checker) -> None:
        self._load = load
        self._loaded: dict[object, Annotate] = {}
        self._lock = threading.Lock()

    def get(self, settings: CheckSettings) -> Annotate:
        """Return the models that settings name; raise the errors of `load`."""
        stamps = tuple(file_stamp(Path(name, "model.json")) for name in settings.models)
        key = settings.checker, stamps
        with self._lock:
            annotate = self._loaded.pop(key, None) or self._load(settings)
            self._loaded[key] = annotate  # the last one is the most recently used
            if len(self._loaded) > _MAX_LOADED:
                del self._loaded[next(iter(self._loaded))]
        return annotate


_CHECKERS = CheckerCache()
