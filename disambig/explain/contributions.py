"""Contributions of attributes to the scores of candidates, as values and as tables."""

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
from disambig.formatting import pluralize
from disambig.models import Model
from disambig.text import TokenView
from disambig.types import (
    CandidateBatch,
    DecisionRule,
    ExplainsFeatures,
    ExtractorTraits,
    FeatureEvidence,
    LinearScores,
    get_trait,
)


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one attribute to the score of one candidate."""

    candidate: str
    evidence: str  # what was looked up, such as an n-gram; otherwise the name of the attribute
    value: float  # the value of the attribute: log(count + 1), or another function of the evidence
    count: int | None  # how often the evidence was seen
    weight: float
    contribution: float  # ``weight * value``; the contributions to a candidate sum to its score
    least: int | None = 1  # for an attribute with a count, see `disambig.types.FeatureEvidence.least`
    # The name of the attribute without the candidate, equal for all candidates, such as ``". _"``
    attribute: str = ""


def show_candidate(candidate: str) -> str:
    """Return a candidate as it is displayed."""
    return candidate or "(no word)"


def with_names(model: Model, view: TokenView) -> Model:
    """Return a model whose extractors name the features of the places in a view, if they can."""
    if not any(hasattr(extractor, "with_names") for extractor in model.extractors):
        return model
    instances = model.instances(view)
    named = (get_trait(e, ExtractorTraits, "with_names")(view, instances) for e in model.extractors)
    return replace(model, extractors=tuple(named))


def explain_decision(model: Model, view: TokenView, index: int) -> list[Contribution] | None:
    """Return the contributions to the scores of decision `index` of ``model.instances(view)``, by candidate.

    Those of a candidate sum to its score. Attributes with value zero are left out, unless something was
    looked up for them. The result is None for scorers that are not `disambig.types.LinearScores`, whose
    scores are not sums.
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
    contributions = []
    for r, candidate in enumerate(candidates):
        for column, value in zip(*candidate_row(batch, r), strict=True):
            named, _, attribute = names(column).rpartition(": ")
            known_evidence = evidence.get((named or candidate, attribute))
            if value == 0 and known_evidence is None:
                continue
            shown = attribute if named in ("", candidate) else f"{named}: {attribute}"
            weight = float(weights[column])
            contributions.append(
                Contribution(
                    candidate=candidate,
                    evidence=shown if known_evidence is None else known_evidence.text,
                    value=float(value),
                    count=None if known_evidence is None else known_evidence.count,
                    weight=weight,
                    contribution=weight * float(value),
                    least=1 if known_evidence is None else known_evidence.least,
                    attribute=attribute,
                )
            )
    return contributions


def candidate_row(batch: CandidateBatch, r: int) -> tuple[list[int], list[float]]:
    """Return the columns and values of the attributes of candidate `r` of a batch with one instance."""
    if isinstance(batch, DenseBlocks):
        return batch.column_of[r].tolist(), batch.values[0, r].tolist()
    if isinstance(batch, CrossedRows):
        row, width, label = batch.rows[[0]], batch.rows.shape[1], int(batch.label_of_rows[r])
        if hasattr(row, "tocsr"):
            return (label * width + row.tocsr().indices).tolist(), row.tocsr().data.tolist()
        return (label * width + np.arange(width)).tolist(), np.asarray(row).ravel().tolist()
    if isinstance(batch, SparseRows):
        row = batch.rows[[r]].tocsr()
        return row.indices.tolist(), row.data.tolist()
    if isinstance(batch, DenseLists):
        return list(range(batch.values.shape[1])), batch.values[r].tolist()
    if isinstance(batch, JoinedRows):
        columns, values, width = [], [], 0
        for part in batch.parts:
            part_columns, part_values = candidate_row(part, r)
            columns += [width + column for column in part_columns]
            values += part_values
            width += len(part.columns)
        return columns, values
    mass = np.zeros(int(batch.offsets[-1]))
    mass[r] = 1.0
    row = batch.adjoint(mass)  # in any storage, the adjoint of a unit vector is the row itself
    used = np.flatnonzero(row)
    return used.tolist(), row[used].tolist()


def _names(batch: CandidateBatch, own: CandidateBatch) -> Callable[[int], str]:
    """Return a function that names columns of `batch`, which may be `own` with all attributes per candidate.

    The name is that of the attribute or, if it has none, its number among the features of its group.
    """
    if isinstance(batch, CrossedRows) and isinstance(own, DenseBlocks):
        return lambda column: _name(own.columns, int(own.column_of.flat[column % own.column_of.size]))
    return lambda column: _name(batch.columns, column)


def _name(columns: Columns, column: int) -> str:
    """Return the name of a column, with its feature group if names could be ambiguous."""
    name = str(columns.names[column]) if len(columns.names) else ""
    several_groups = isinstance(columns, CrossedColumns) and len(columns.group_names) > 1
    if name and not several_groups:
        return name
    if isinstance(columns, CrossedColumns):
        group = columns.group_names[columns.own.groups[column % len(columns.own)]]
    else:
        group = columns.group_names[columns.groups[column]]
    return f"{name} ({group})" if name else f"feature {column} of {group} (it has no name)"


def _find_evidence(
    model: Model, view: TokenView, instances: Instances, group: int
) -> dict[tuple[str, str], FeatureEvidence]:
    """Return the evidence by candidate and attribute; if extractors conflict, the first one is used."""
    evidence: dict[tuple[str, str], FeatureEvidence] = {}
    for extractor in model.extractors:
        if isinstance(extractor, ExplainsFeatures):
            evidence = {**extractor.evidence(view, instances, model.task.groups[group]), **evidence}
    return evidence


SCALED = "calibrated score"
BIAS = "bias of the label"
OFFSET = "offset for the best F1"
SUM = "sum: decides"


@dataclass(frozen=True, slots=True)
class RuleTerms:
    """The terms of a decision rule for one candidate.

    Attributes
    ----------
    parts : tuple of (str, float)
        Names and values of the terms, in order. The candidate with the greatest sum is chosen; its margin is
        its lead over the next one. The probabilities are the softmax of the sums.
    """

    parts: tuple[tuple[str, float], ...]

    @property
    def total(self) -> float:
        """The sum of the terms."""
        return sum(part for _, part in self.parts)


def rule_terms(judge: DecisionRule, group: int, scores: dict[str, float]) -> dict[str, RuleTerms]:
    """Return the terms of the decision rule for each candidate of a group; empty if only the scores count.

    Parameters
    ----------
    judge : DecisionRule
        Only `Labels` adds terms to the scores.
    scores : dict of str to float
        Scores of all candidates, in the order of the group.
    """
    if not isinstance(judge, Labels) or len(scores) < 2:  # a single candidate is always chosen
        return {}
    scale, bias, offset = float(judge.scale[group]), judge.bias[group].tolist(), judge.offset[group].tolist()
    if scale == 1.0 and not any(bias) and not any(offset):
        return {}
    if judge.sides is not None and len(scores) == 2:
        totals = [scale * score + bias[i] + offset[i] for i, score in enumerate(scores.values())]
        factor = float(judge.sides[group, int(totals[1] >= totals[0])])
        scale, bias, offset = scale * factor, [factor * b for b in bias], [factor * o for o in offset]
    terms = {}
    for i, (name, score) in enumerate(scores.items()):
        added = [(term, value) for term, value in ((BIAS, bias[i]), (OFFSET, offset[i])) if value]
        terms[name] = RuleTerms(((f"{SCALED}: {scale:.3g} times", scale * score), *added))
    return terms


ABSENT = "0"
UNKNOWN = "-"
LEAST_SHOWN = 0.0005
"""Smallest contribution that is shown: smaller ones would be displayed as zero."""


@dataclass(frozen=True, slots=True)
class ContributionTable:
    """A table to display; its last `numbers` columns are numeric."""

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
    """Tabulate the `top` largest contributions to each candidate's score, the sum of the rest, and the score.

    If the decision rule adds terms to the score, they follow. The result is None if there are no
    contributions to any of the candidates.

    Parameters
    ----------
    reasons : sequence of Contribution
        All contributions to the scores.
    candidates : sequence of str
        The candidates to show, in this order.
    what : str
        Noun for one item of evidence.
    judged : mapping of str to RuleTerms, optional
        See `rule_terms`.
    """
    rows: list[tuple[str, ...]] = []
    for candidate in candidates:
        largest, others = _largest(reasons, candidate, top)
        terms = judged.get(candidate) if judged else None
        if not largest and not others and terms is None:
            continue
        name = show_candidate(candidate)
        for item in largest:
            numbers = item.value, item.weight, item.contribution
            rows.append((name, item.evidence, format_count(item), *map(_figure, numbers)))
        rest = sum(item.contribution for item in others)
        if others:
            absent = sum(item.count == 0 for item in others)
            summary = pluralize(len(others), "other" if largest else "part")
            summary += f", {absent:,} of them absent" if absent else ""
            rows.append((name, summary, "", "", "", _figure(rest)))
        total = sum(item.contribution for item in [*largest, *others])
        rows.append((name, "sum: the score", "", "", "", _figure(total)))
        if terms is not None:
            rows += [(name, part, "", "", "", _figure(value)) for part, value in terms.parts]
            rows.append((name, SUM, "", "", "", _figure(terms.total)))
    if not rows:
        return None
    head = ("candidate", what, "count", "value", "weight", "adds")
    if any(reason.count is not None for reason in reasons):
        return ContributionTable(head, tuple(rows), 4)
    return ContributionTable((*head[:2], *head[3:]), tuple((*row[:2], *row[3:]) for row in rows), 3)


def _largest(
    reasons: Sequence[Contribution], candidate: str, top: int
) -> tuple[list[Contribution], list[Contribution]]:
    """Return the `top` largest contributions to a candidate that are shown, and the others."""
    parts = [reason for reason in reasons if reason.candidate == candidate]
    parts.sort(key=lambda reason: -abs(reason.contribution))
    n = sum(abs(reason.contribution) >= LEAST_SHOWN for reason in parts[:top])
    return parts[:n], parts[n:]


def absence_lines(reasons: Sequence[Contribution], candidates: Sequence[str], *, top: int) -> list[str]:
    """Return notes that explain the counts of absent items shown by `contribution_table`."""
    seen: set[str] = set()
    for candidate in candidates:
        largest, _ = _largest(reasons, candidate, top)
        seen.update(format_count(reason) for reason in largest if reason.count == 0)
    lines = []
    if ABSENT in seen:
        lines.append("count 0: does not occur in the counted text")
    limits = sorted((text for text in seen if text.startswith("<")), key=lambda text: int(text[1:]))
    if limits:
        listed = limits[0] if len(limits) == 1 else f"{', '.join(limits[:-1])} and {limits[-1]}"
        lines.append(
            f"count {listed}: not in the table, which omits rarer n-grams; "
            "used as 0 (absence is evidence too)"
        )
    if UNKNOWN in seen:
        lines.append("count -: not in the table, which does not store n-grams of this kind; used as 0")
    return lines


def format_count(reason: Contribution) -> str:
    """Return the count of a contribution; an upper bound if it is absent, empty if it has no count."""
    if reason.count is None:
        return ""
    if reason.count:
        return f"{reason.count:,}"
    if reason.least is None:
        return UNKNOWN
    return ABSENT if reason.least <= 1 else f"<{reason.least}"


def _figure(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"
