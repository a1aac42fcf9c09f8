"""Evaluate a model on unseen text, with synthetic errors; accuracy, precision and recall of decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    Decisions,
    Group,
    HashVocabulary,
    Instances,
    edited_text,
    record_edit,
    replacement,
    segments,
)
from disambig.decision import substitutes, variant_matrix
from disambig.errors import UserError
from disambig.features import CandidateHashes
from disambig.metrics import choice_reliability, mean_interval, wilson
from disambig.models import Model
from disambig.text import PROTECTED, Tokenisation, TokenView, view_of_texts
from disambig.type_aliases import Floats, Ints
from disambig.types import RaisesFlags, decides


def number_candidates(instances: Instances, group: Group) -> tuple[Sequence[str], Ints]:
    """Return the distinct candidate names of a group's instances, and the number of each candidate's name.

    Returns `names`: the distinct names.
    `numbers`: int64 (n_candidates,).
    """
    if instances.lists is None:
        return group.candidates, np.tile(np.arange(len(group.candidates)), len(instances))
    ids: dict[str, int] = {}
    texts = instances.lists.texts
    numbers = np.fromiter((ids.setdefault(text, len(ids)) for text in texts), np.int64, len(texts))
    return list(ids), numbers


def most_frequent_candidates(
    instances: Instances,
    group: Group,
    *,
    right: NDArray[np.bool_] | None = None,
    seen: Instances | None = None,
) -> Ints:
    """Return for each instance the candidate that is right most often; the first if there are several.

    Observed per-instance candidates that are right only once are not counted: many lists occur once, and
    would always be decided rightly.

    `right` (bool (n_candidates,)): which candidates of the instances are right; by default the observed ones.
    `seen`: instances in which right candidates are counted; by default `instances`.
    """
    names, numbers = number_candidates(instances, group)
    if seen is None:
        rows = _right(instances, group) if right is None else right
        counts = np.bincount(numbers[rows], minlength=len(names))
        if instances.lists is not None and right is None:
            counts[counts == 1] = 0
    else:
        seen_names, seen_numbers = number_candidates(seen, group)
        frequencies = np.bincount(seen_numbers[_right(seen, group)], minlength=len(seen_names)).tolist()
        totals = dict(zip(seen_names, frequencies, strict=True))
        counts = np.array([totals.get(name, 0) for name in names], np.int64)
    return segments.argmax(counts[numbers].astype(np.float64), instances.offsets(group))


def _right(instances: Instances, group: Group) -> Ints:
    """Return the rows of the observed candidates."""
    labelled = instances.observed >= 0
    return instances.offsets(group)[:-1][labelled] + instances.observed[labelled]


MAX_CONFUSED = 5
"""Number of most frequent errors that are listed."""
MAX_NAMED = 20
"""Maximum number of per-instance candidates with their own figures: those that are right most often."""


def figures(
    instances: Instances, group: Group, gold: NDArray[np.int32], chosen: Ints, logits: Floats | None = None
) -> dict[str, Any]:
    """Return accuracy (with a Wilson interval), balanced accuracy, each candidate's precision, recall and F1.

    A choice of -1 is an abstention: it counts as wrong, and ``attempted`` is the share of the others.
    ``confusions`` are the most frequent errors. Groups with two candidates also have ``auc``, the area under
    the ROC curve of the second candidate's logit. Per-instance candidates are identified by their texts.

    `gold` and `chosen` (int (n,)): indices of candidates in the group, or in the list of each instance.
    `logits`: float64 (n, K).
    """
    n, n_right = len(gold), int((gold == chosen).sum())
    names, numbers = number_candidates(instances, group)
    first = instances.offsets(group)[:-1]
    gold_numbers = numbers[first + gold]
    chosen_numbers = np.where(chosen >= 0, numbers[first + np.maximum(chosen, 0)], -1)
    is_hit = gold_numbers == chosen_numbers
    n_gold, n_hits, n_chosen = (
        np.bincount(numbers, minlength=len(names))
        for numbers in (gold_numbers, gold_numbers[is_hit], chosen_numbers[chosen_numbers >= 0])
    )
    listed = range(len(names))
    if instances.lists is not None:
        listed = np.argsort(-n_gold, kind="stable")[: min(MAX_NAMED, int((n_gold > 0).sum()))].tolist()
    result = {
        "n": n,
        "accuracy": n_right / n,
        "interval": wilson(n_right, n),
        "attempted": float((chosen >= 0).mean()),
        "balanced_accuracy": float(np.mean(n_hits[n_gold > 0] / n_gold[n_gold > 0])),
        "candidates": {names[c]: _rates(int(n_gold[c]), int(n_hits[c]), int(n_chosen[c])) for c in listed},
        "confusions": _confusions(names, gold_numbers, chosen_numbers),
    }
    if instances.lists is None and logits is not None and logits.shape[1] == 2 and 0 < int(n_gold[1]) < n:
        from sklearn.metrics import roc_auc_score

        result["auc"] = float(roc_auc_score(gold == 1, logits[:, 1] - logits[:, 0]))
    return result


def overall(
    groups: Mapping[str, Mapping[str, Any]], unknown: int = 0, unknown_labels: int = 0
) -> dict[str, Any]:
    """Combine the `figures` of all groups: n, accuracy, its interval and the share attempted.

    `unknown`: number of further examples, of words without a group, which count as not attempted.
    `unknown_labels`: number of further examples whose right candidate is in no group, so that each answer is
    wrong.
    """
    parts = list(groups.values())
    n = sum(part["n"] for part in parts) + unknown + unknown_labels
    n_right = round(sum(part["accuracy"] * part["n"] for part in parts))
    n_attempted = round(sum(part["attempted"] * part["n"] for part in parts))
    return {
        "n": n,
        "accuracy": n_right / n,
        "interval": wilson(n_right, n),
        "attempted": (n_attempted + unknown_labels) / n,
    }


def _rates(n_gold: int, n_hits: int, n_chosen: int) -> dict[str, Any]:
    return {
        "n": n_gold,
        "precision": n_hits / n_chosen if n_chosen else None,
        "recall": n_hits / n_gold if n_gold else None,
        "f1": 2 * n_hits / (n_chosen + n_gold) if n_chosen + n_gold else None,
    }


def _confusions(names: Sequence[str], gold: Ints, chosen: Ints) -> list[dict[str, Any]]:
    """Return the most frequent errors: the right candidate, the chosen one, and the count."""
    wrong = np.flatnonzero((gold != chosen) & (chosen >= 0))
    pairs, counts = np.unique(gold[wrong] * np.int64(len(names)) + chosen[wrong], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MAX_CONFUSED]
    return [
        {"right": names[right], "chosen": names[wrong_choice], "n": int(n)}
        for pair, n in zip(pairs[order].tolist(), counts[order], strict=True)
        for right, wrong_choice in [divmod(pair, len(names))]
    ]


@dataclass(frozen=True, slots=True, eq=False)
class TextWithErrors:
    """A view with synthetic errors, and their places."""

    view: TokenView  # if errors are made in the hashes only, its texts are unchanged
    rows: NDArray[np.int64]  # (m,): the instances whose words were replaced
    substituted: NDArray[np.int32]  # (m,): the candidate that replaces the observed one
    # int (m,): document and start of each replacement
    documents: NDArray[np.int64]
    starts: NDArray[np.int32]


def substitute(
    view: TokenView, instances: Instances, groups: Sequence[Group], *, share: float, rng: np.random.Generator
) -> TextWithErrors:
    """Replace a random `share` of the instances by random other candidates of their groups.

    Variants, which are not errors, and candidates with a different number of words are never chosen.
    """
    hashes = view.hashes.copy()
    chosen = rng.random(len(instances)) < share
    all_rows, all_substituted = [], []
    for g in np.unique(instances.groups[chosen]):
        rows = np.flatnonzero(chosen & (instances.groups == g))
        candidates = CandidateHashes.from_group(groups[g])
        excluded = variant_matrix(groups[g]) | (candidates.lengths[:, None] != candidates.lengths)
        substituted, possible = substitutes(excluded[instances.observed[rows]], rng)
        rows, substituted = rows[possible], substituted[possible]
        for place in range(candidates.longest):
            inside = candidates.lengths[substituted] > place
            hashes[instances.positions[rows[inside]] + place] = candidates.words[substituted[inside], place]
        all_rows.append(rows)
        all_substituted.append(substituted)
    none = np.empty(0, np.int64)
    rows = np.concatenate([none, *all_rows])
    positions = instances.positions[rows]
    return TextWithErrors(
        replace(view, hashes=hashes),
        rows,
        np.concatenate([none, *all_substituted]).astype(np.int32),
        view.document_indices(positions),
        view.starts[positions],
    )


Edit = tuple[int, int, str, int]
"""Start and end of the replaced characters, the replacement, and the start of the place afterwards."""


def rewrite(
    view: TokenView,
    instances: Instances,
    tokenisation: Tokenisation,
    *,
    share: float,
    rng: np.random.Generator,
) -> TextWithErrors:
    """Replace a random `share` of the instances by random other candidates of their own lists.

    Instances without an observed candidate are skipped, and of overlapping places only the first is replaced.
    """
    chosen = np.flatnonzero((rng.random(len(instances)) < share) & (instances.observed >= 0))
    instances = instances.take(chosen)
    lists = instances.lists
    assert lists is not None
    sizes = np.diff(lists.offsets)
    candidates = np.arange(int(sizes.max(initial=1)))
    excluded = (candidates >= sizes[:, None]) | (candidates == instances.observed[:, None])
    substituted, possible = substitutes(excluded, rng)
    starts, ends = instances.spans(view)
    documents = view.document_indices(instances.positions)
    edits: dict[int, list[Edit]] = {}
    shifts: dict[int, int] = {}  # by how much the edits of a text so far move what follows
    rows, places = [], []
    for i in possible.tolist():
        document, start, end = int(documents[i]), int(starts[i]), int(ends[i])
        done = edits.setdefault(document, [])
        edit = _edit(view.texts[document], start, end, lists.texts[lists.offsets[i] + substituted[i]])
        if edit is None or (done and edit[0] < done[-1][1]):
            continue
        done.append(edit)
        rows.append(i)
        places.append(edit[3] + shifts.get(document, 0))
        shifts[document] = shifts.get(document, 0) + len(edit[2]) - (edit[1] - edit[0])
    texts = [
        edited_text(text, [edit[:3] for edit in edits.get(document, ())])
        for document, text in enumerate(view.texts)
    ]
    return TextWithErrors(
        view_of_texts(texts, tokenisation, protected="protected" in view.layers),
        chosen[rows],
        substituted[rows],
        documents[rows],
        np.array(places, np.int32),
    )


def _edit(text: str, start: int, end: int, candidate: str) -> Edit | None:
    """Return the edit that puts a candidate into a place; None if it would not leave an empty place there."""
    record = {
        "start": start,
        "end": end,
        "observed": text[start:end],
        "replacement": replacement(candidate, text, start, end),
    }
    edit = record_edit(record, text)
    # removing a word may also remove blanks before it; then the place would not be where it is expected
    if edit["start"] < start or text[start:end] == edit["replacement"]:
        return None
    return edit["start"], edit["end"], edit["replacement"], start


def check_decides_words(model: Model) -> None:
    """Raise D338 for a model of lists, and D463 for a model of labels."""
    decided = decides(model.task)
    if decided.where == "items":
        raise UserError("D338", model=model.name)
    if decided.between == "labels":
        raise UserError("D463", task=model.task.name)


FALSE_ALARM_SHARES = (0.005,)
"""Shares of flagged correct words at which errors found are also reported, as in papers on spelling."""
MAX_FLAGS = 1000.0
"""A rate high enough that every possible flag is raised; thresholds are then applied afterwards."""
ROUNDS = 4
ERROR_SHARE = 0.05
"""Share of instances with an error per round: so low that errors rarely occur in each other's context."""


def evaluate(
    model: Model,
    texts: Sequence[str],
    *,
    rates: Sequence[float] = (0.3, 1.0, 4.0),
    seed: int = 0,
    groups: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Score a model on text whose words are taken as correct.

    `texts`: documents that were not used for training, tuning or counting.
    `rates`: operating points, in flags per 1,000 correct words.
    `groups`: groups to report; by default all.
    Returns ``documents``, ``words``, ``decisions``; ``accuracy`` pooled (with a Wilson interval);
    ``mean_accuracy`` over groups (with a bootstrap interval); ``groups`` with each group's figures;
    ``rates``: for each operating point the measured false alarms and the share of synthetic errors found;
    ``false_alarm_shares``: the same if that share of the correct words is flagged, with the threshold set on
    the same text; ``reliability``: the calibration of the probabilities of the chosen candidates (see
    `disambig.metrics.outcomes`), None for models without probabilities. A model whose decision rule raises no
    flags has no rates. Accuracy is over all instances, including protected ones, which are never flagged.
    """
    check_decides_words(model)
    view = view_of_texts(texts, model.tokenisation, protected=True)
    layers = {name: layer for name, layer in view.layers.items() if name != PROTECTED}
    # accuracy is measured on all instances, including protected ones, which are never flagged
    open_view = replace(view, layers=layers)
    words = int(np.count_nonzero(view.ends > view.starts))
    decided = model.decide(open_view)
    decided = decided.take(np.flatnonzero(decided.observed >= 0))  # otherwise the right candidate is unknown
    wanted = set(groups) if groups is not None else None
    figures: dict[str, Any] = {"documents": len(texts), "words": words, "decisions": len(decided)}
    figures |= _accuracy(decided, wanted)
    figures["reliability"] = _reliability(model, decided, wanted)
    if not isinstance(model.judge, RaisesFlags):
        return figures | {"rates": {}, "false_alarm_shares": {}}
    trial = _ErrorTrial.from_view(model, view, seed=seed)
    limits = {f"{rate:g}": model.judge.limit(rate) for rate in rates}
    figures["rates"] = {rate: trial.figures(model, limit, words, wanted) for rate, limit in limits.items()}
    figures["false_alarm_shares"] = {
        f"{share:g}": trial.figures(model, trial.limit(model, share, wanted), words, wanted)
        for share in FALSE_ALARM_SHARES
    }
    return figures


def _reliability(model: Model, decided: Decisions, wanted: set[str] | None) -> dict[str, Any] | None:
    """Return how well the probabilities of the candidates match the text, for the wanted groups."""
    if wanted is not None:
        inside = np.array([group.name in wanted for group in decided.table])
        decided = decided.take(np.flatnonzero(inside[decided.groups]))
    probabilities = model.candidate_probabilities(decided)
    if probabilities is None:
        return None
    return choice_reliability(probabilities, decided.offsets, decided.chosen, decided.observed)


def _accuracy(decided: Decisions, wanted: set[str] | None) -> dict[str, Any]:
    """Return the accuracy of each wanted group on text that is taken as correct."""
    right = decided.chosen == decided.observed
    by_group: dict[str, Any] = {}
    hits = []
    for g, group in enumerate(decided.table):
        group_hits = right[decided.groups == g]
        if len(group_hits) == 0 or (wanted is not None and group.name not in wanted):
            continue
        hits.append(group_hits)
        part = decided.take(np.flatnonzero(decided.groups == g))
        is_most_frequent = most_frequent_candidates(part.places(), group) == part.observed
        by_group[group.name] = {
            "n": len(group_hits),
            "majority": float(is_most_frequent.mean()),
            "accuracy": float(group_hits.mean()),
            "interval": wilson(int(group_hits.sum()), len(group_hits)),
        }
    if not hits:
        return {"accuracy": None, "mean_accuracy": None, "groups": {}}
    pooled = np.concatenate(hits)
    return {
        "accuracy": float(pooled.mean()),
        "interval": wilson(int(pooled.sum()), len(pooled)),
        "mean_accuracy": float(np.mean([h.mean() for h in hits])),
        "mean_interval": mean_interval([(int(h.sum()), len(h)) for h in hits]),
        "groups": by_group,
    }


@dataclass(frozen=True, slots=True, eq=False)
class _ErrorTrial:
    """Flags on a text, and on the same text with synthetic errors."""

    # group of each decision on the original text, and the probability of a flag there; 0 if none is possible
    groups: NDArray[np.int32]
    alarms: NDArray[np.float32]
    # the same at each synthetic error
    error_groups: NDArray[np.int32]
    error_probabilities: NDArray[np.float32]
    corrected: NDArray[np.bool_]  # whether the right word is suggested at each synthetic error

    @classmethod
    def from_view(cls, model: Model, view: TokenView, *, seed: int) -> _ErrorTrial:
        """Decide the text, then the text with errors, in `ROUNDS` rounds."""
        rng = np.random.default_rng(seed)
        original = model.decide(view, flags_per_1000=MAX_FLAGS)
        instances = model.instances(view)
        groups, probabilities, corrected = [], [], []
        for _ in range(ROUNDS):
            errors = _errors(model, view, instances, rng)
            decided = model.decide(errors.view, flags_per_1000=MAX_FLAGS)
            error_groups = instances.groups[errors.rows]
            index = _matching(decided, errors.documents, errors.starts, error_groups)
            is_decided = index >= 0
            flag_probabilities = np.zeros(len(index), np.float32)
            flag_probabilities[is_decided] = (decided.probabilities * decided.flagged)[index[is_decided]]
            is_corrected = np.zeros(len(index), bool)
            right = instances.take(errors.rows[is_decided])
            is_corrected[is_decided] = _are_chosen(decided, index[is_decided], right)
            groups.append(error_groups)
            probabilities.append(flag_probabilities)
            corrected.append(is_corrected)
        return cls(
            original.groups,
            original.probabilities * original.flagged,
            np.concatenate(groups),
            np.concatenate(probabilities),
            np.concatenate(corrected),
        )

    def limit(self, model: Model, share: float, wanted: set[str] | None) -> float:
        """Return the probability above which the given share of correct words is flagged."""
        descending = np.sort(self.alarms[self._is_wanted(self.groups, model, wanted)])[::-1]
        return float(descending[int(share * len(descending))]) if len(descending) else 1.0

    def figures(self, model: Model, limit: float, words: int, wanted: set[str] | None) -> dict[str, Any]:
        """Return the false alarms and the errors found by flags with a probability above `limit`."""
        alarms = self.alarms[self._is_wanted(self.groups, model, wanted)] > limit
        is_wanted = self._is_wanted(self.error_groups, model, wanted)
        groups, hits = self.error_groups[is_wanted], self.error_probabilities[is_wanted] > limit
        corrected = hits & self.corrected[is_wanted]
        by_group = {model.task.groups[g].name: float(hits[groups == g].mean()) for g in np.unique(groups)}
        return {
            "false_flags": int(alarms.sum()),
            "false_flags_per_1000": float(alarms.sum() / max(words, 1) * 1000),
            "errors_made": len(hits),
            "errors_found": float(hits.mean()) if len(hits) else None,
            "errors_found_interval": wilson(int(hits.sum()), len(hits)),
            "errors_mended": float(corrected.mean()) if len(hits) else None,
            "mean_found_over_groups": float(np.mean(list(by_group.values()))) if by_group else None,
            "groups": by_group,
        }

    def _is_wanted(
        self, groups: NDArray[np.int32], model: Model, wanted: set[str] | None
    ) -> NDArray[np.bool_]:
        if wanted is None:
            return np.ones(len(groups), bool)
        return np.array([group.name in wanted for group in model.task.groups])[groups]


def _errors(model: Model, view: TokenView, instances: Instances, rng: np.random.Generator) -> TextWithErrors:
    if instances.lists is not None:
        return rewrite(view, instances, model.tokenisation, share=ERROR_SHARE, rng=rng)
    return substitute(view, instances, model.task.groups, share=ERROR_SHARE, rng=rng)


def _are_chosen(decided: Decisions, index: NDArray[np.int64], right: Instances) -> NDArray[np.bool_]:
    """Return which decisions chose the original word; after an edit an instance may have another list."""
    chosen, lists = decided.chosen[index], decided.lists
    if lists is None or right.lists is None:
        return np.asarray(chosen == right.observed)
    chosen_rows, right_rows = lists.offsets[index] + chosen, right.lists.offsets[:-1] + right.observed
    pairs = zip(chosen_rows.tolist(), right_rows.tolist(), strict=True)
    return np.array([lists.texts[row] == right.lists.texts[right_row] for row, right_row in pairs], bool)


def _matching(
    decided: Decisions, documents: NDArray[np.int64], starts: NDArray[np.int32], groups: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return the index of the decision at each place and of each group; -1 if there is none."""
    columns = (
        np.concatenate([documents, decided.documents]),
        np.concatenate([starts, decided.starts]),
        np.concatenate([groups, decided.groups]),
    )
    shape = tuple(int(column.max(initial=0)) + 1 for column in columns)
    keys = np.ravel_multi_index(columns, shape).astype(np.uint64)  # one number per place, for the look-up
    wanted, present = keys[: len(documents)], keys[len(documents) :]
    order = np.argsort(present)
    return HashVocabulary(present[order]).get(wanted, order, -1)
