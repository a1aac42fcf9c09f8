"""Contributions of attributes to the scores of candidates, and the n-grams behind a flag."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    rank_alternatives,
)
from disambig.decision import Labels
from disambig.formatting import pluralize
from disambig.models import Model
from disambig.text import NOTHING, SENTENCE_END, SENTENCE_START, TokenView, view_of_texts
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
    candidates = instances.candidates(0, model.task.groups[group])
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
            name, kind = names(column)
            named, _, attribute = name.rpartition(": ")
            item = evidence.get((named or candidate, attribute))
            if value == 0 and item is None:
                continue
            attribute += kind
            shown = attribute if named in ("", candidate) else f"{named}: {attribute}"
            weight = float(weights[column])
            contributions.append(
                Contribution(
                    candidate=candidate,
                    evidence=item.text if item else shown,
                    value=float(value),
                    count=item.count if item else None,
                    weight=weight,
                    contribution=weight * float(value),
                    least=item.least if item else 1,
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


def _names(batch: CandidateBatch, original: CandidateBatch) -> Callable[[int], tuple[str, str]]:
    """Return a function that names columns of `batch`, which may be `original` with separate attributes.

    The name is that of the attribute or, if it has none, its number among the features of its group. The
    second text follows it if names could be ambiguous: the feature group in parentheses, or nothing.
    """
    if isinstance(batch, CrossedRows) and isinstance(original, DenseBlocks):
        return lambda column: _name(
            original.columns, int(original.column_of.flat[column % original.column_of.size])
        )
    return lambda column: _name(batch.columns, column)


def _name(columns: Columns, column: int) -> tuple[str, str]:
    """Return the name of a column, and what follows it (see `_names`)."""
    name = str(columns.names[column]) if len(columns.names) else ""
    several_groups = isinstance(columns, CrossedColumns) and len(columns.group_names) > 1
    if name and not several_groups:
        return name, ""
    if isinstance(columns, CrossedColumns):
        group = columns.group_names[columns.own.groups[column % len(columns.own)]]
    else:
        group = columns.group_names[columns.groups[column]]
    return (name, f" ({group})") if name else (f"feature {column} of {group} (it has no name)", "")


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


RuleTerms = tuple[tuple[str, float], ...]
"""Names and values of the terms of a decision rule for one candidate, in order.

The candidate with the greatest sum is chosen; its margin is its lead over the next one. The probabilities are
the softmax of the sums.
"""


def rule_terms(judge: DecisionRule, group: int, scores: dict[str, float]) -> dict[str, RuleTerms]:
    """Return the terms of the decision rule for each candidate of a group; empty if only the scores count.

    `judge`: only `Labels` adds terms to the scores.
    `scores`: scores of all candidates, in the order of the group.
    """
    if not isinstance(judge, Labels) or len(scores) < 2:  # a single candidate is always chosen
        return {}
    scale, bias, offset = float(judge.scale[group]), judge.bias[group].tolist(), judge.offset[group].tolist()
    if scale == 1.0 and not any(bias) and not any(offset):
        return {}
    if judge.sides is not None and len(scores) == 2:
        # of two labels, each has a factor of its own for the sums if it is the one with the greater sum
        totals = [scale * score + bias[i] + offset[i] for i, score in enumerate(scores.values())]
        factor = float(judge.sides[group, int(totals[1] >= totals[0])])
        scale, bias, offset = scale * factor, [factor * b for b in bias], [factor * o for o in offset]
    terms: dict[str, RuleTerms] = {}
    for i, (name, score) in enumerate(scores.items()):
        added = [(term, value) for term, value in ((BIAS, bias[i]), (OFFSET, offset[i])) if value]
        terms[name] = ((f"{SCALED}: {scale:.3g} times", scale * score), *added)
    return terms


ABSENT = "0"
UNKNOWN = "-"


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

    `reasons`: all contributions to the scores.
    `candidates`: the candidates to show, in this order.
    `what`: noun for one item of evidence.
    `judged`: see `rule_terms`.
    """
    rows: list[tuple[str, ...]] = []
    digits = decimals(reason.contribution for reason in reasons)

    def figure(value: float) -> str:
        return f"{round(value, digits) + 0.0:+.{digits}f}"

    for candidate in candidates:
        largest, others = _largest(reasons, candidate, top)
        terms = judged.get(candidate) if judged else None
        if not largest and not others and terms is None:
            continue
        name = show_candidate(candidate)
        for item in largest:
            value = f"{round(item.value, 3) + 0.0:+.3f}"
            weight, adds = figure(item.weight), figure(item.contribution)
            rows.append((name, item.evidence, format_count(item), value, weight, adds))
        rest = sum(item.contribution for item in others)
        if others:
            absent = sum(item.count == 0 for item in others)
            summary = pluralize(len(others), "other" if largest else "part")
            summary += f", {absent:,} of them absent" if absent else ""
            rows.append((name, summary, "", "", "", figure(rest)))
        total = sum(item.contribution for item in [*largest, *others])
        rows.append((name, "sum: the score", "", "", "", figure(total)))
        if terms is not None:
            rows += [(name, part, "", "", "", figure(value)) for part, value in terms]
            rows.append((name, SUM, "", "", "", figure(sum(value for _, value in terms))))
    if not rows:
        return None
    head = ("candidate", what, "count", "value", "weight", "adds")
    if any(reason.count is not None for reason in reasons):
        return ContributionTable(head, tuple(rows), 4)
    return ContributionTable((*head[:2], *head[3:]), tuple((*row[:2], *row[3:]) for row in rows), 3)


def _largest(
    reasons: Sequence[Contribution], candidate: str, top: int
) -> tuple[list[Contribution], list[Contribution]]:
    """Return the `top` largest contributions to a candidate, without those shown as zero, and the others."""
    least = 0.5 * 10.0 ** -decimals(reason.contribution for reason in reasons)
    parts = [reason for reason in reasons if reason.candidate == candidate]
    parts.sort(key=lambda reason: -abs(reason.contribution))
    n = sum(abs(reason.contribution) >= least for reason in parts[:top])
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
        omitted = "not in the table, which omits rarer n-grams; used as 0 (absence is evidence too)"
        lines.append(f"count {listed}: {omitted}")
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


def decimals(values: Iterable[float]) -> int:
    """Return how many decimals show the largest of some values with two digits, and at least three."""
    largest = max(map(abs, values), default=0.0)
    return 3 if largest >= 0.01 or not largest else 1 - math.floor(math.log10(largest))


NO_WORD = "_"
"""Shown for a place without a word."""


@dataclass(frozen=True, slots=True)
class NgramPair:
    """Two n-grams of the same place: with the written word and with the proposed one."""

    written: str
    # written_count, proposed_count: how often each was seen; 0 if it is not in the table
    written_count: int
    proposed: str
    proposed_count: int
    least: int | None = 1  # minimum count for the first n-gram to be in the table; None if unknown

    @property
    def log_ratio(self) -> float:
        """The logarithm of the ratio of their counts, positive if the counts favour the proposal."""
        # 0.5 is added so that an absent n-gram has a finite ratio
        return math.log((self.proposed_count + 0.5) / (self.written_count + 0.5))

    @property
    def at_most(self) -> int | None:
        """Upper bound of the count of the first n-gram; None if unknown."""
        return self.written_count or (None if self.least is None else max(self.least - 1, 0))


def compare_ngrams(model: Model, text: str, start: int, end: int, proposed: str) -> list[NgramPair]:
    """Return the n-grams of a place that were seen, shorter ones first; empty if the model uses no n-grams.

    `text`: the text around the place, without markup.
    `start` and `end`: offsets of the place in `text`.
    `proposed`: a candidate of the place.
    """
    view = view_of_texts([text], model.tokenisation, protected=True)
    instances = model.instances(view)
    starts, ends = instances.spans(view)
    rows = np.flatnonzero((starts == start) & (ends == end))
    if not len(rows):
        return []
    index = int(rows[0])
    names = instances.candidates(index, model.task.groups[instances.groups[index]])
    observed = int(instances.observed[index])
    reasons = explain_decision(model, view, index)
    if reasons is None or observed < 0:
        return []
    return ngram_pairs(reasons, names[observed], proposed)


def ngram_pairs(reasons: Sequence[Contribution], written: str, proposed: str) -> list[NgramPair]:
    """Return the n-grams of a place that were seen, from the contributions to its candidates' scores.

    `reasons`: as returned by `disambig.explain.contributions.explain_decision`.
    `written` and `proposed`: candidates of the place.
    """
    proposals = {ngram.attribute: ngram for ngram in counted_ngrams(reasons, proposed)}
    pairs = []
    for ngram in counted_ngrams(reasons, written):
        proposal = proposals.get(ngram.attribute)
        if proposal is not None and (ngram.count or proposal.count):
            counts = ngram.count or 0, proposal.count or 0
            pairs.append(NgramPair(ngram.evidence, counts[0], proposal.evidence, counts[1], ngram.least))
    return pairs


def strongest(pairs: Sequence[NgramPair], maximum: int) -> list[NgramPair]:
    """Return at most `maximum` n-gram pairs that favour the proposal, the strongest first.

    N-grams that cross a sentence boundary are left out, since their boundary symbols mean nothing to a
    reader.
    """
    boundaries = {SENTENCE_START, SENTENCE_END}
    supporting = [
        pair
        for pair in pairs
        if pair.proposed_count > pair.written_count
        and boundaries.isdisjoint((*pair.written.split(), *pair.proposed.split()))
    ]
    return sorted(supporting, key=lambda pair: -pair.log_ratio)[:maximum]


def ngram_sentence(pairs: Sequence[NgramPair]) -> str:
    """Return a sentence on the n-grams that most favour the proposal; "" if there are none."""
    pair = next(iter(strongest(pairs, 1)), None)
    if pair is None:
        return ""
    if pair.written_count:
        seen = f"only {pair.written_count:,} times" if pair.written_count > 1 else "only once"
    elif pair.least == 1:
        seen = "never"
    else:  # rare n-grams are not in the table
        seen = f"fewer than {pair.least} times" if pair.least else "is not stored"
    proposed = f'"{pair.proposed}" was seen {pair.proposed_count:,} times in the counted text'
    return f'{proposed}, "{pair.written}" {seen}.'


def counted_ngrams(reasons: Sequence[Contribution], candidate: str) -> list[Contribution]:
    """Return the contributions of a candidate that have counts, each n-gram once, from the first table.

    `NO_WORD` is shown in an n-gram for a place without a word.
    """
    ngrams: dict[str, Contribution] = {}
    for reason in reasons:
        if reason.candidate == candidate and reason.count is not None:
            shown = " ".join(NO_WORD if word == NOTHING else word for word in reason.evidence.split(" "))
            ngrams.setdefault(shown, replace(reason, evidence=shown))
    return list(ngrams.values())


MAX_CANDIDATES = 5
MAX_COUNTS = 6
"""Maximum number of n-grams per word: those that were seen come first, then the shortest."""


@dataclass(frozen=True, slots=True)
class LikelyCandidate:
    """A candidate other than the written word, with the probability that it is intended; "" for no word."""

    word: str
    probability: float


@dataclass(frozen=True, slots=True)
class NgramCount:
    """An n-gram with a candidate in its place, and how often it was seen in the counted text."""

    word: str
    ngram: str
    count: int


@dataclass(frozen=True, slots=True)
class FlagEvidence:
    """The evidence behind a flag."""

    candidates: tuple[LikelyCandidate, ...] = ()  # the candidates, the most probable first
    counts: tuple[NgramCount, ...] = ()  # counts of n-grams with the written word and with the proposed one


def flag_evidence(
    model: Model, text: str, start: int, end: int, proposed: str, probability: float = 1.0
) -> FlagEvidence:
    """Return the evidence of a model for a place; empty if it decides nothing there.

    `text`: the text around the place, without markup.
    `start` and `end`: offsets of the place in `text`.
    `proposed`: the proposed word, in any letter case.
    `probability`: probability that the written word is wrong, which is divided among the candidates.
    """
    view = view_of_texts([text], model.tokenisation, protected=True)
    model = with_names(model, view)
    decisions = model.decide(view)
    rows = np.flatnonzero((decisions.starts == start) & (decisions.ends == end))
    names = {int(row): decisions.candidate_texts(int(row)) for row in rows}
    matching = [row for row in names if proposed.lower().strip() in names[row]]
    if not matching:
        return FlagEvidence()
    row = matching[0]
    probabilities = model.candidate_probabilities(decisions)
    candidates: list[LikelyCandidate] = []
    observed = int(decisions.observed[row])
    if probabilities is not None:
        likely = rank_alternatives(decisions, row, probabilities)[:MAX_CANDIDATES]
        candidates = [LikelyCandidate(names[row][i], round(share * probability, 4)) for i, share in likely]
    words = [*([names[row][observed]] if observed >= 0 else []), proposed.lower().strip()]
    return FlagEvidence(tuple(candidates), tuple(_ngram_counts(model, view, row, words)))


def _ngram_counts(model: Model, view: TokenView, row: int, words: list[str]) -> list[NgramCount]:
    reasons = explain_decision(model, view, row) or []
    rows: list[NgramCount] = []
    for word in dict.fromkeys(words):
        counts = {ngram.evidence: ngram.count or 0 for ngram in counted_ngrams(reasons, word)}
        order = sorted(counts, key=lambda ngram: (counts[ngram] == 0, len(ngram.split()), ngram))
        rows += [NgramCount(word, ngram, counts[ngram]) for ngram in order[:MAX_COUNTS]]
    return rows
