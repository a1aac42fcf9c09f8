"""The contributions of attributes to the scores of candidates, as values and as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from disambig.data import (
    Columns,
    CrossedColumns,
    CrossedRows,
    DenseBlocks,
    DenseLists,
    Instances,
    JoinedRows,
    SparseRows,
)
from disambig.decision import Labels
from disambig.explain.verdicts import show_candidate
from disambig.formatting import pluralize
from disambig.models import Model
from disambig.text import TokenView
from disambig.types import (
    CandidateBatch,
    DecisionRule,
    ExplainsFeatures,
    FeatureEvidence,
    LinearScores,
    NamesFeatures,
)


@dataclass(frozen=True, slots=True)
class Contribution:
    """One attribute of one candidate.

    Attributes
    ----------
    candidate : str
    evidence : str
        What was looked up, such as an n-gram, or the attribute's name.
    value : float
        The attribute: log(count + 1), or whatever the extractor makes of what it found.
    count : int or None
        How often what was looked up was seen.
    weight : float
    contribution : float
        ``weight * value``; a candidate's contributions sum to its score.
    least : int or None
        What `disambig.types.FeatureEvidence.least` says of an attribute with a count.
    attribute : str
        The attribute's name without the candidate: the same of all candidates, such as ``". _"``.
    """

    candidate: str
    evidence: str
    value: float
    count: int | None
    weight: float
    contribution: float
    least: int | None = 1
    attribute: str = ""


def with_names(model: Model, view: TokenView) -> Model:
    """Return a model whose extractors name the features of its places in a view, where they can."""
    if not any(isinstance(extractor, NamesFeatures) for extractor in model.extractors):
        return model
    instances = model.instances(view)
    named = [
        extractor.with_names(view, instances) if isinstance(extractor, NamesFeatures) else extractor
        for extractor in model.extractors
    ]
    return replace(model, extractors=tuple(named))


def explain_decision(model: Model, view: TokenView, index: int) -> list[Contribution] | None:
    """Return the parts of the scores of decision `index` of ``model.instances(view)``, by candidate.

    Those of a candidate sum to its score. Attributes of value zero are left out, unless something was looked
    up for them. None for scorers that are not `disambig.types.LinearScores`: their scores are no sums.
    """
    instances = model.instances(view).take(np.array([index]))
    group = int(instances.groups[0])
    own = instances.own
    candidates = model.task.groups[group].candidates if own is None else own.instance_candidates(0)
    features = model.features(view, instances, group)
    scorer = model.scorer(group, features)
    if not isinstance(scorer, LinearScores):
        return None
    batch, weights = scorer.linear(features.batch)
    names = _names(batch, features.batch)
    evidence = _find_evidence(model, view, instances, group)
    reasons = []
    for r, candidate in enumerate(candidates):
        for column, value in zip(*_row(batch, r), strict=True):
            name = names(column)
            about, _, what = name.rpartition(": ")
            behind = evidence.get((about or candidate, what))
            if value == 0 and behind is None:
                continue
            shown = what if about in ("", candidate) else f"{about}: {what}"
            weight = float(weights[column])
            reasons.append(
                Contribution(
                    candidate,
                    shown if behind is None else behind.text,
                    float(value),
                    None if behind is None else behind.count,
                    weight,
                    weight * float(value),
                    1 if behind is None else behind.least,
                    what,
                )
            )
    return reasons


def _row(batch: CandidateBatch, r: int) -> tuple[list[int], list[float]]:
    """Return columns and values of the attributes of candidate `r` of the only instance."""
    if isinstance(batch, DenseBlocks):
        return batch.column_of[r].tolist(), batch.values[0, r].tolist()
    if isinstance(batch, CrossedRows):
        row, width = batch.rows[[0]], batch.rows.shape[1]
        if hasattr(row, "tocsr"):
            return (r * width + row.tocsr().indices).tolist(), row.tocsr().data.tolist()
        return (r * width + np.arange(width)).tolist(), np.asarray(row).ravel().tolist()
    if isinstance(batch, SparseRows):
        row = batch.rows[[r]].tocsr()
        return row.indices.tolist(), row.data.tolist()
    if isinstance(batch, DenseLists):
        return list(range(batch.values.shape[1])), batch.values[r].tolist()
    if isinstance(batch, JoinedRows):
        columns, values, width = [], [], 0
        for part in batch.parts:
            own, theirs = _row(part, r)
            columns += [width + column for column in own]
            values += theirs
            width += len(part.columns)
        return columns, values
    mass = np.zeros(int(batch.offsets[-1]))
    mass[r] = 1.0
    row = batch.adjoint(mass)  # whatever the storage: the features of this row alone
    used = np.flatnonzero(row)
    return used.tolist(), row[used].tolist()


def _names(batch: CandidateBatch, own: CandidateBatch) -> Callable[[int], str]:
    """Return what names a column of `batch`, which may be `own` with all attributes for each candidate.

    A name is that of its attribute; where it has none, its number among the features of its group.
    """
    if isinstance(batch, CrossedRows) and isinstance(own, DenseBlocks):
        return lambda column: _name(own.columns, int(own.column_of.flat[column % own.column_of.size]))
    return lambda column: _name(batch.columns, column)


def _name(columns: Columns, column: int) -> str:
    named = str(columns.names[column]) if len(columns.names) else ""
    if isinstance(columns, CrossedColumns) and len(columns.group_names) > 1:  # "river" of which extractor?
        group = columns.group_names[columns.own.groups[column % len(columns.own)]]
        return f"{named} ({group})" if named else _unnamed(group, column)
    return named or _unnamed(columns.group_names[columns.groups[column]], column)


def _unnamed(group: str, column: int) -> str:
    return f"feature {column} of {group} (it has no name)"


def _find_evidence(
    model: Model, view: TokenView, instances: Instances, group: int
) -> dict[tuple[str, str], FeatureEvidence]:
    """Return what the extractors say of their columns; of two of one name what the first extractor says."""
    evidence: dict[tuple[str, str], FeatureEvidence] = {}
    for extractor in model.extractors:
        if isinstance(extractor, ExplainsFeatures):
            evidence = {**extractor.evidence(view, instances, model.task.groups[group]), **evidence}
    return evidence


SCALED = "the score, calibrated"
BIAS = "bias of the label"
OFFSET = "for the best F1"
SUM = "sum: what decides"


@dataclass(frozen=True, slots=True)
class RuleTerms:
    """What decides for one candidate.

    Attributes
    ----------
    parts : tuple of (str, float)
        What is added, in order. The candidate of the greatest sum is chosen; its margin is its lead on the
        next one. The probabilities are the softmax of the sums.
    """

    parts: tuple[tuple[str, float], ...]

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return sum(part for _, part in self.parts)


def rule_terms(judge: DecisionRule, group: int, scores: dict[str, float]) -> dict[str, RuleTerms]:
    """Return what decides for each candidate of a group; nothing where the scores alone do.

    Parameters
    ----------
    judge : Judge
        Only `Labels` makes more of scores than their order.
    group : int
    scores : dict of str to float
        Of all candidates, in the order of the group.
    """
    if not isinstance(judge, Labels) or len(scores) < 2:  # an only candidate is always given
        return {}
    scale, bias, offset = float(judge.scale[group]), judge.bias[group].tolist(), judge.offset[group].tolist()
    if scale == 1.0 and not any(bias) and not any(offset):
        return {}
    terms = {}
    for number, (name, score) in enumerate(scores.items()):
        more = [(BIAS, bias[number]), (OFFSET, offset[number])]
        parts = ((f"{SCALED}: {scale:.3g} times", scale * score), *(part for part in more if part[1]))
        terms[name] = RuleTerms(parts)
    return terms


ABSENT = "0"
UNKNOWN = "-"
LEAST_SHOWN = 0.0005
"""What a smaller part adds would be shown as nothing."""


@dataclass(frozen=True, slots=True)
class ContributionTable:
    """A table for people; its last `numbers` columns are figures."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: int


def contribution_table(
    reasons: Sequence[Contribution],
    candidates: Sequence[str],
    *,
    top: int,
    what: str,
    judged: Mapping[str, RuleTerms] | None = None,
) -> ContributionTable | None:
    """Return the heaviest `top` parts of each candidate's score, the sum of the others, and the sum of all.

    Behind the score stands what the judge makes of it, where it makes more of it.

    None where nothing is known of any of these candidates.

    Parameters
    ----------
    reasons : sequence of Reason
        All parts of the scores.
    candidates : sequence of str
        Those that are shown, in this order.
    what : str
        What one thing that was looked up is called.
    judged : mapping of str to Weighed, optional
        See `disambig.explain.contributions.rule_terms`.
    """
    rows: list[tuple[str, ...]] = []
    for candidate in candidates:
        own = [reason for reason in reasons if reason.candidate == candidate]
        own.sort(key=lambda reason: -abs(reason.contribution))
        heavy = [reason for reason in own[:top] if _weight_of_size(reason)]
        others = own[len(heavy) :]
        decisive = judged.get(candidate) if judged else None
        if not own and decisive is None:
            continue
        name = show_candidate(candidate)
        rows += [(name, item.evidence, format_count(item), *map(_figure, _numbers(item))) for item in heavy]
        if others:
            absent = sum(reason.count == 0 for reason in others)
            summary = f"{pluralize(len(others), 'other')}" if heavy else pluralize(len(others), "part")
            summary += f", {absent:,} of them absent" if absent else ""
            rows.append((name, summary, "", "", "", _figure(sum(item.contribution for item in others))))
        rows.append((name, "sum: the score", "", "", "", _figure(sum(item.contribution for item in own))))
        if decisive is not None:
            rows += [(name, part, "", "", "", _figure(adds)) for part, adds in decisive.parts]
            rows.append((name, SUM, "", "", "", _figure(decisive.total)))
    if not rows:
        return None
    counted = any(reason.count is not None for reason in reasons)
    head = ("candidate", what, "count", "value", "weight", "adds")
    if counted:
        return ContributionTable(head, tuple(rows), 4)
    return ContributionTable((*head[:2], *head[3:]), tuple((*row[:2], *row[3:]) for row in rows), 3)


def absence_lines(reasons: Sequence[Contribution], candidates: Sequence[str], *, top: int) -> list[str]:
    """Return what the counts of the absent say that `contribution_table` shows, a line each."""
    seen: set[str] = set()
    for candidate in candidates:
        own = [reason for reason in reasons if reason.candidate == candidate and _weight_of_size(reason)]
        own.sort(key=lambda reason: -abs(reason.contribution))
        seen.update(format_count(reason) for reason in own[:top] if reason.count == 0)
    lines = []
    if ABSENT in seen:
        lines.append("count 0: nowhere in the counted text")
    limits = sorted((text for text in seen if text.startswith("<")), key=lambda text: int(text[1:]))
    if limits:
        one = limits[0] if len(limits) == 1 else f"{', '.join(limits[:-1])} and {limits[-1]}"
        lines.append(
            f"count {one}: not in the table, which leaves out what was seen less often; counted as 0 (that "
            "nothing is known of it is evidence, too)"
        )
    if UNKNOWN in seen:
        lines.append("count -: not in the table, which does not keep n-grams like this one; counted as 0")
    return lines


def format_count(reason: Contribution) -> str:
    """Return the count of a reason: of the absent, below which number it must be; of others nothing."""
    if reason.count is None:
        return ""
    if reason.count:
        return f"{reason.count:,}"
    if reason.least is None:
        return UNKNOWN
    return ABSENT if reason.least <= 1 else f"<{reason.least}"


def _weight_of_size(reason: Contribution) -> bool:
    return abs(reason.contribution) >= LEAST_SHOWN


def _numbers(reason: Contribution) -> tuple[float, float, float]:
    return reason.value, reason.weight, reason.contribution


def _figure(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"
