"""Diagnostics of training: a sanity check against a cheap baseline, warnings about examples and groups."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import CrossedRows, Instances, convert, normalised
from disambig.errors import UserError
from disambig.features import ExtractorChoice
from disambig.formats import Labelled
from disambig.formatting import pluralize
from disambig.metrics import mcnemar, wilson
from disambig.packs import language_of_counts
from disambig.text import Tokenisation, hash_words
from disambig.training.fitting import ResolvedConfig
from disambig.training.labelled_dataset import LabelledDataset
from disambig.types import (
    CandidateBatch,
    DecisionRule,
    RaisesFlags,
    ReadsCountTable,
    Scorer,
    Task,
    decides,
    metric,
)

MIN_BASELINE_EXAMPLES = 300
"""Minimum number of examples of a group for the sanity check: with fewer, a difference means little."""
_MAX_BASELINE_EXAMPLES, _BASELINE_FOLDS = 1500, 2
"""Maximum number of examples for the cheap baseline (a random sample), and folds that it is scored on."""
_MIN_GAIN, _MAX_P_VALUE = 0.02, 0.001
"""Minimum improvement, and its maximum p-value, for a warning to the user."""


def sanity_baseline(
    batch: CandidateBatch, right: NDArray[np.bool_], folds: NDArray[np.int64], held_out: NDArray[np.float64]
) -> tuple[float, float] | None:
    """Return the accuracies of a learner and of a linear SVM if the SVM is far better; else None.

    `batch`: the examples of a group.
    `right` (bool (n, K)): which candidates are right.
    `folds`: int (n,).
    `held_out` (float64 (n, K)): scores by scorers that did not see the example.
    """
    n = min(len(right), _MAX_BASELINE_EXAMPLES)
    if len(right) < MIN_BASELINE_EXAMPLES or right.shape[1] < 2:
        return None
    # examples are often sorted by label, so that the first ones would have one label
    rows = np.sort(np.random.default_rng(0).choice(len(right), n, replace=False))
    try:
        crossed: Any = convert(batch.take(rows), CrossedRows)
    except UserError:  # candidates have different features: one linear SVM does not apply
        return None
    right, folds = right[rows], folds[rows]
    hits = right[np.arange(n), held_out[rows].argmax(axis=1)]
    chosen = _linear_svm_choices(crossed, right.argmax(axis=1), folds)
    predicted = np.flatnonzero(chosen >= 0)
    hits, baseline_hits = hits[predicted], right[predicted, chosen[predicted]]
    accuracy, baseline_accuracy = float(hits.mean()), float(baseline_hits.mean())
    is_far_better = baseline_accuracy - accuracy > _MIN_GAIN and mcnemar(baseline_hits, hits) < _MAX_P_VALUE
    return (accuracy, baseline_accuracy) if is_far_better else None


def _linear_svm_choices(
    crossed: CrossedRows, gold: NDArray[np.int64], folds: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the out-of-fold choices of a linear SVM for examples of the first folds; -1 for the others."""
    from scipy.sparse import csr_array
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    rows = csr_array(normalised(CrossedRows(csr_array(crossed.rows), crossed.costs, crossed.columns)).rows)
    # liblinear reads 32-bit indices only
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    chosen = np.full(len(gold), -1, np.int64)
    for fold in np.unique(folds)[:_BASELINE_FOLDS].tolist():
        learn, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if len(np.unique(gold[learn])) < 2:
            chosen[held_out] = gold[learn[0]] if len(learn) else 0
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            learned = LinearSVC(max_iter=200, random_state=0).fit(rows[learn], gold[learn])
        chosen[held_out] = learned.predict(rows[held_out])
    return chosen


_MAX_NOTES = 3
"""Maximum number of notes of one kind: there may be hundreds of groups."""
_FEW_EXAMPLES = 100
"""Number of examples below which a note warns that they are few."""

ON_FITTED = "on the scores that calibration was fitted to"
"""Marks the note with an optimistic accuracy, which is removed if there is a cross-validated one."""
NO_GAIN = "no better than always choosing"
"""Marks the note on a group that is not better than its most frequent label."""


def example_warnings(dataset: LabelledDataset) -> list[str]:
    """Warn of examples that were left out, with reasons, that contradict each other, or are too few."""
    notes = []
    if dataset.problems:
        problems = [f"{where}: {reason}" for where, reason in dataset.problems]
        notes.append(f"not used: {_shortened(problems, 3, '; ')}")
    n = len(dataset.labelled)
    n_different = len({(e.text, e.start, e.end, e.word) for e in dataset.labelled})
    if 2 * n_different < n:
        examples = pluralize(n, "labelled example")
        notes.append(f"only {n_different:,} of {examples} differ: equal texts are in one fold")
    notes += _contradictions(dataset.labelled)
    if (n := len(dataset.documents)) < _FEW_EXAMPLES:
        few = "is little" if n == 1 else "are few"
        notes.append(f"{pluralize(n, 'labelled example')} {few}: do not rely on this model yet")
    return notes


def unwritten_candidates(task: Task, rule: DecisionRule, dataset: LabelledDataset) -> list[str]:
    """Warn of a rule that flags mistakes if no candidate is in the text at any labelled place."""
    is_written = (dataset.written >= 0).any()
    if decides(task).between != "lists" or is_written or not isinstance(rule, RaisesFlags):
        return []
    return [
        "no labelled place has one of its candidates in the text, so the decision rule "
        f"{type(rule).__name__} flags nothing, and its probabilities are 0: name disambig.BestOfList.v1 in "
        "[judge] or, if the task corrects words, return the index of the written candidate as `observed`"
    ]


_MIN_KNOWN_WORDS = 0.8
"""Minimum share of the words of a text that its count table knows; of English text, English counts know 97 %
and more, of German, French and Dutch text, 55 to 70 %."""
_LOOKED_UP = (100, 20_000)
"""Minimum and maximum number of words that are looked up."""
_CHARACTERS_PER_TEXT = 2_000


def count_table_warnings(parts: ResolvedConfig, texts: Sequence[str]) -> list[str]:
    """Warn of count tables of another language than the task (D441) or than the text (D442).

    `texts` are the texts to learn from; words are taken from all of it.
    """
    options = [
        option
        for extractor in parts.extractors.values()
        for option in (extractor.options.values() if isinstance(extractor, ExtractorChoice) else [extractor])
    ]
    tables = {option.table.path: option.table for option in options if isinstance(option, ReadsCountTable)}
    task, tokenisation, words = parts.task, parts.tokenisation, None
    notes = []
    for path, table in tables.items():
        table_language, language = language_of_counts(path), task.language
        if table_language and language and table_language != language:
            values = {"known": table_language, "seen": language, "task": task.name}
            notes.append(UserError("D441", table=path.name, **values).text)
            continue
        words = Counter(_sample_words(tokenisation, texts)) if words is None else words
        n = words.total()
        if tokenisation.name in table.tokenisations and n >= _LOOKED_UP[0]:
            counts = table.counts_of_texts(list(words), tokenisation=tokenisation.name)
            share = sum(words[word] for word, count in zip(words, counts, strict=True) if count) / n
            if share < _MIN_KNOWN_WORDS:
                notes.append(UserError("D442", share=share, n=n, table=path.name).text)
    return first_warnings(notes)


def unfindable_candidates(parts: ResolvedConfig, instances: Instances) -> list[str]:
    """Warn of candidates that do not occur in a text because the tokenisation turns them into others (D444).

    `instances`: the instances of the text to learn from.
    """
    if parts.decides.between != "words":
        return []
    seen = set(zip(instances.groups.tolist(), instances.observed.tolist(), strict=True))
    missing = [
        name
        for g, group in enumerate(parts.task.groups)
        for c, name in enumerate(group.candidates)
        if name and (g, c) not in seen
    ]
    view = parts.tokenisation(missing)
    changed = []
    for number, name in enumerate(missing):
        tokens = np.arange(view.documents[number], view.documents[number + 1])
        words = tokens[view.ends[tokens] > view.starts[tokens]]
        if not np.array_equal(view.hashes[words], hash_words(name.split(" "))):
            rewritten = parts.tokenisation.words(name)
            changed.append(f"{name!r} ({' '.join(rewritten[int(word - tokens[0])] for word in words)!r})")
    if not changed:
        return []
    names = _shortened(changed, 3)
    return [UserError("D444", candidates=names, tokenisation=parts.tokenisation.name).text]


def _sample_words(tokenisation: Tokenisation, texts: Sequence[str]) -> list[str]:
    """Return words from the beginnings of texts that are spread over all texts."""
    step = max(1, len(texts) // 100)
    words = [word for text in texts[::step] for word in tokenisation.words(text[:_CHARACTERS_PER_TEXT])]
    return words[: _LOOKED_UP[1]]


def _contradictions(labelled: Sequence[Labelled]) -> list[str]:
    """Warn of equal places whose examples have no label in common."""
    examples: dict[tuple[str, int, int, str], list[Labelled]] = {}
    for example in labelled:
        examples.setdefault((example.text, example.start, example.end, example.word), []).append(example)
    contradicting = []
    for same in examples.values():
        first = {same[0].label, *same[0].also}
        other = next((e for e in same if first.isdisjoint({e.label, *e.also})), None)
        if other is not None:
            contradicting.append((same[0], other))
    if not contradicting:
        return []
    shown = " and ".join(f"{example.label!r} ({example.where})" for example in contradicting[0])
    return [f"{pluralize(len(contradicting), 'place')} labelled in different ways; the first: {shown}"]


def accuracy_line(hits: NDArray[np.bool_], n_folds: int) -> str:
    """Return the accuracy on the training examples as a note."""
    n, n_right = len(hits), int(hits.sum())
    if n_folds < 2 and not n_right:
        return f"{pluralize(n, 'labelled example')} of one document: accuracy cannot be estimated"
    low, high = wilson(n_right, n)
    return (
        f"{pluralize(n, 'labelled example')}: accuracy {n_right / n:.1%} {ON_FITTED} (lower on new text), "
        f"95 % interval {low:.1%} to {high:.1%}" + (": more examples are needed" if high - low > 0.1 else "")
    )


def rare_warnings(
    task: Task, gold: Sequence[NDArray[np.int32]], scorers: Sequence[Scorer | None], n_folds: int
) -> list[str]:
    """Warn of groups with too few examples to learn, labels too rare for every fold, and single labels."""
    unlearned, rarer, single = [], [], []
    for group, right, scorer in zip(task.groups, gold, scorers, strict=True):
        if not group.learned:
            continue
        if len(group.candidates) == 1:
            single.append(f"{group.name}: only one label ({group.candidates[0]}), which is always chosen")
            continue
        counts = np.bincount(right, minlength=len(group.candidates))
        named = zip(group.candidates, counts.tolist(), strict=True)
        rare = [f"{name!r} ({n})" for name, n in named if n < n_folds]
        if scorer is None:
            few = "documents" if (counts > 0).sum() > 1 and len(right) >= 2 * n_folds else "examples"
            unlearned.append(f"{group.name}: too few {few} to learn from; add more of each label")
        elif rare:
            rarer.append(f"{group.name}: labels with fewer examples than folds: {_shortened(rare, 10)}")
    return [*first_warnings(single), *first_warnings(unlearned), *first_warnings(rarer)]


def no_gain_warnings(
    task: Task,
    hits: Sequence[NDArray[np.bool_]],
    right: Sequence[NDArray[np.bool_]],
    scorers: Sequence[Scorer | None],
) -> list[str]:
    """Warn of groups that are no better than their most frequent label on held-out examples."""
    if metric(task)[0] != "accuracy":
        return []
    notes = []
    for group, hit, candidates, scorer in zip(task.groups, hits, right, scorers, strict=True):
        label_counts = candidates.sum(axis=0)
        if scorer is not None and hit.sum() <= label_counts.max():
            label = group.candidates[int(label_counts.argmax())]
            notes.append(f"{group.name}: in cross-validation {NO_GAIN} {label!r}")
    return first_warnings(notes)


def baseline_warnings(task: Task, accuracies: Sequence[tuple[float, float] | None]) -> list[str]:
    """Warn of groups for which a plain linear SVM was far better (see `sanity_baseline`)."""
    return first_warnings(
        [
            f"{group.name}: in cross-validation {pair[0]:.1%} are correct, with a plain "
            f"linear SVM {pair[1]:.1%}: change the learner's settings, first of all its regularisation"
            for group, pair in zip(task.groups, accuracies, strict=True)
            if pair is not None
        ]
    )


def first_warnings(notes: list[str]) -> list[str]:
    """Return the first notes of one kind, and a last one with the number of further groups."""
    more = len(notes) - _MAX_NOTES
    if more <= 0:
        return notes
    return [*notes[:_MAX_NOTES], f"... and {pluralize(more, 'more group')} like these"]


def _shortened(names: list[str], maximum: int, between: str = ", ") -> str:
    more = f" and {len(names) - maximum:,} more" if len(names) > maximum else ""
    return between.join(names[:maximum]) + more
