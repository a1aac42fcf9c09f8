"""Fit a second look to what a trained model proposes in text whose mistakes are known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.config import resolve
from disambig.data import Decisions, minibatch, record_edit, row_owners
from disambig.decision import LabelledProposals, SecondLook, passage_paragraphs
from disambig.errors import UserError
from disambig.formats import Clean, Fix
from disambig.models import Model
from disambig.text import passage_offsets, view_of_texts
from disambig.type_aliases import Progress, no_progress
from disambig.types import DecisionRule, RaisesFlags, decides

_WORDS = re.compile(r"\w+|[^\w\s]")
_BATCH_CHARACTERS = 200_000
"""Number of characters of the texts that are decided together."""


def fit_second_look(
    model: Model,
    section: Mapping[str, Any],
    mistakes: Sequence[Fix],
    clean: Sequence[Clean],
    *,
    progress: Progress | None = None,
) -> Model:
    """Return the model with a second look at its proposals (see `SecondLook`).

    Parameters
    ----------
    model : Model
        A model that flags words. Neither it nor the extractors of the evidence may have been trained on the
        texts: evidence that has seen a mistake looks better than it is.
    section : mapping
        Settings of `SecondLook` as in a config, such as ``{"evidence": {"syntax": {"@disambig_extractors":
        "dependencies.Agreement.v1"}}}``.
    mistakes, clean : sequences of Fix and of Clean
        Texts with one mistake each, and texts without.

    Raises
    ------
    UserError
        D427 for a model whose decision rule raises no flags; D428 if it proposes nothing in these texts.
    """
    report = progress or no_progress
    if not isinstance(model.judge, RaisesFlags):
        raise UserError("D427", task=model.task.name, seen=decides(model.task).between)
    first_config = model.config["judge"]
    first: DecisionRule = model.judge
    if isinstance(model.judge, SecondLook):
        first, first_config = model.judge.first, first_config["first"]
    settings = {"flags_per_1000": model.flags_per_1000, **section}
    config = {"@disambig_judges": "disambig.SecondLook.v1", "first": first_config, **settings}
    rule: SecondLook = replace(resolve({"judge": config})["judge"], first=first)
    proposals = label_proposals(model, rule, mistakes, clean, progress=report)
    if not proposals.right.any() or not proposals.clean.any():
        raise UserError(
            "D428", task=model.task.name, problem="the model proposes nothing right, or nothing in clean text"
        )
    return replace(model, judge=rule.fit_proposals(proposals), config={**model.config, "judge": config})


def label_proposals(
    model: Model,
    rule: SecondLook,
    mistakes: Sequence[Fix],
    clean: Sequence[Clean],
    *,
    progress: Progress | None = None,
) -> LabelledProposals:
    """Return what the first decision rule proposes in the texts, with the evidence for it.

    Raises D428 if nothing is proposed.

    Parameters
    ----------
    rule : SecondLook
        With the fitted first rule.
    """
    report = progress or no_progress
    proposing = replace(model, judge=rule.as_proposer())
    texts = [*(fix.before for fix in mistakes), *(paragraph.text for paragraph in clean)]
    corrected = [_words(fix.before[: fix.start] + fix.new + " " + fix.before[fix.end :]) for fix in mistakes]
    features, right, text_numbers, passages, n_tokens, paragraphs, margins = [], [], [], [], [], [], []
    n_passages = n_paragraphs = n_clean_tokens = 0
    for first, batch in _batches(texts):
        report("looking again", first, len(texts))
        view = view_of_texts(batch, model.tokenisation, protected=True)
        offsets = passage_offsets(view)
        n_tokens.append(np.diff(offsets))
        paragraphs.append(n_paragraphs + passage_paragraphs(view, offsets))
        n_paragraphs = int(paragraphs[-1][-1]) + 1 if len(offsets) > 1 else n_paragraphs
        n_clean_tokens += len(view) - int(view.documents[min(max(len(mistakes) - first, 0), len(batch))])
        first_passage, n_passages = n_passages, n_passages + len(offsets) - 1
        instances = proposing.instances(view)
        decisions = proposing.decide_at(instances, view)
        if not decisions.flagged.any():
            continue
        rows, columns = rule.features(view, instances, decisions)
        documents = decisions.documents[rows].astype(np.int64)
        features.append(columns)
        text_numbers.append(first + documents)
        positions = instances.positions[rows]
        passages.append(first_passage + np.searchsorted(offsets, positions, side="right") - 1)
        margins.append(_margins(decisions.take(rows)))
        for row, document in zip(rows.tolist(), documents.tolist(), strict=True):
            number = first + document
            edit = record_edit(decisions.record(row, texts[number]), texts[number])
            right.append(number < len(mistakes) and _edited(texts[number], edit) == corrected[number])
    if not features:
        raise UserError("D428", task=model.task.name, problem="the model proposes nothing")
    number = np.concatenate(text_numbers)
    names = [*(fix.repo or fix.before for fix in mistakes), *(paragraph.repo for paragraph in clean)]
    units = np.unique(np.array(names, object).astype(str), return_inverse=True)[1]
    n_words = sum(len(paragraph.text.split()) for paragraph in clean)
    return LabelledProposals(
        np.concatenate(features),
        np.array(right, bool),
        number >= len(mistakes),
        units[number],
        np.concatenate(passages).astype(np.int64),
        np.concatenate(n_tokens),
        np.concatenate(paragraphs).astype(np.int64),
        len(mistakes),
        n_words,
        n_clean_tokens,
        np.concatenate(margins),
    )


def _margins(decisions: Decisions) -> NDArray[np.float64]:
    """Return how much higher the best score of another candidate is than that of the observed one."""
    n, offsets = len(decisions.observed), decisions.offsets
    owner = row_owners(offsets)
    scores = decisions.scores.astype(np.float64)
    observed_rows = offsets[:-1] + np.maximum(decisions.observed, 0)
    observed = scores[observed_rows]
    scores[observed_rows] = -np.inf
    best = np.full(n, -np.inf)
    np.maximum.at(best, owner, scores)
    return best - observed


def _edited(text: str, edit: Mapping[str, Any]) -> list[str]:
    return _words(text[: edit["start"]] + edit["replacement"] + text[edit["end"] :])


def _words(text: str) -> list[str]:
    return _WORDS.findall(text)


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first text of each batch, and its texts."""
    first = 0
    for batch in minibatch(texts, _BATCH_CHARACTERS, len):
        yield first, batch
        first += len(batch)
