"""Measures by name: short names of those of the core, and registered names."""

from __future__ import annotations

from collections.abc import Callable

from disambig import registry
from disambig.errors import UserError, nearest_first
from disambig.measures.baselines import FirstCandidate, Oracle
from disambig.measures.choices import F1, Accuracy, MacroF1, MeanCost
from disambig.measures.contract import Measure, is_for_lists
from disambig.measures.ranking import AUC
from disambig.measures.texts import ErrorRate, ExactMatch

PLAIN: dict[str, Callable[[], Measure]] = {
    "accuracy": Accuracy,
    "auc": AUC,
    "cer": ErrorRate,
    "cost": MeanCost,
    "exact": ExactMatch,
    "macro_f1": MacroF1,
    "wer": lambda: ErrorRate("words"),
}
OF_CANDIDATE: dict[str, Callable[[str], Measure]] = {"auc": AUC, "f1": F1}
OF_MEASURE: dict[str, Callable[[Measure], Measure]] = {"first": FirstCandidate, "oracle": Oracle}


def measure_named(name: str) -> Measure:
    """Return a measure by its name.

    Parameters
    ----------
    name : str
        One of `short_names`: ``"cer"``, ``"f1:to"`` (of a candidate), ``"oracle:cer"`` (of a measure); or a
        registered name whose parameters all have defaults, such as ``"disambig.MacroF1.v1"``.

    Raises
    ------
    UserError
        D431 for an unknown name, D434 for a measure that has no baselines, D435 for one that lacks something.
    """
    plain, colon, of = name.partition(":")
    if not colon and name in PLAIN:
        return PLAIN[name]()
    if colon and plain in OF_CANDIDATE:
        return OF_CANDIDATE[plain](of)
    if colon and plain in OF_MEASURE:
        return OF_MEASURE[plain](measure_named(of))
    registered = registry.everything("measures")
    if name in registered:
        try:
            return registered[name]()
        except TypeError as problem:
            raise UserError("D435", name=name, problem=problem) from problem
    raise UserError("D431", name=name, names=nearest_first(name, [*short_names(), *registered]))


def measure_of_lists(name: str) -> Measure:
    """Return a measure by its name, one that says something of lists of candidates (see `measure_named`).

    Raises
    ------
    UserError
        D437 for one that does not, and those of `measure_named`.
    """
    measure = measure_named(name)
    if not is_for_lists(measure):
        names = ", ".join(sorted(plain for plain, make in PLAIN.items() if is_for_lists(make())))
        raise UserError("D437", name=measure.name, names=names)
    return measure


def short_names() -> tuple[str, ...]:
    """Return the short names, with what stands behind a colon in capitals."""
    return tuple(
        sorted(
            [
                *PLAIN,
                *(f"{name}:CANDIDATE" for name in OF_CANDIDATE),
                *(f"{name}:MEASURE" for name in OF_MEASURE),
            ]
        )
    )
