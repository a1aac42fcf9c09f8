"""Explain each decision in a text: its place, verdict, candidates and contributions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from disambig.data import Decisions, find_certain_mistakes, find_examples, find_right_words, replacement
from disambig.explain.contributions import (
    Contribution,
    ContributionTable,
    absence_lines,
    contribution_table,
    decimals,
    explain_decision,
    rule_terms,
    show_candidate,
    with_names,
)
from disambig.formatting import first_names
from disambig.models import DroppedFlag, Model, ModelSet, decide_together, evidence_name, is_corrector
from disambig.text import TokenView, protected_spans, view_of_texts
from disambig.type_aliases import Floats
from disambig.types import DecisionRuleTraits, HasExamples, RaisesFlags, Task, get_trait


@dataclass(frozen=True, slots=True)
class DecisionAccount:
    """The explanation of one decision, or of a protected place: lines, tables, and notes on the tables."""

    place: str
    lines: tuple[str, ...]
    flagged: bool = False
    tables: tuple[ContributionTable, ...] = ()
    notes: tuple[str, ...] = ()


def title(model: Model, *, flags_per_1000: float | None = None) -> str:
    """Return a title with the task, the model and the rate of flags."""
    rate = model.flags_per_1000 if flags_per_1000 is None else flags_per_1000
    at_rate = f"{rate:g} flags per 1,000 words" if isinstance(model.judge, RaisesFlags) else "labels"
    return f"{model.task.name} ({model.name} {model.version}, {at_rate})"


def accounts(
    text: str,
    model: Model,
    *,
    flags_per_1000: float | None = None,
    top: int = 5,
    checked: CheckedDecisions | None = None,
) -> Iterator[DecisionAccount]:
    """Yield an explanation of each decision of `model` in a text, then of each place that is protected.

    `top`: number of candidates, and of contributions to a score, that are shown.
    `checked`: what the model decides together with others (see `check_together`); by default it decides
    alone.
    """
    view = view_of_texts([text], model.tokenisation, protected=True)
    least_margin = get_trait(model.judge, DecisionRuleTraits, "least_margin") or 0.0
    if least_margin:  # explain decisions below the least margin too
        model = model.with_least_margin(0.0)
    model = with_names(model, view)
    if checked is None:
        checked = _decided_alone(model, view, flags_per_1000)
    decisions, probabilities, threshold = checked.decisions, None, 1.0
    certain: Collection[int] = ()
    if isinstance(model.judge, RaisesFlags):
        certain = find_certain_mistakes(model.task, view, model.instances(view))[0].tolist()
        threshold = model.judge.limit(flags_per_1000)
    else:
        probabilities = model.candidate_probabilities(decisions)
    explainer = _Explainer(
        text,
        model,
        view,
        decisions,
        probabilities,
        threshold,
        _proposals(checked.unlimited),
        least_margin,
        top,
        checked.remarks,
        checked.right,
        certain,
    )
    for index in decisions.shown.nonzero()[0].tolist():
        yield explainer.account(index)
    for start, end in _protected_places(text, model, decisions):
        yield DecisionAccount(_quote_place(text, start, end), (f"protected: {_kind(text, start, end)}",))


def _decided_alone(model: Model, view: TokenView, flags_per_1000: float | None) -> CheckedDecisions:
    """Return what a model decides by itself."""
    decisions = model.decide(view, flags_per_1000=flags_per_1000)
    if not isinstance(model.judge, RaisesFlags):  # nothing is flagged at any rate
        return CheckedDecisions(decisions, decisions, {}, ())
    # at its own rate a rule may skip the probabilities of places that it will not flag
    unlimited = model.decide(view, flags_per_1000=float("inf"))
    return CheckedDecisions(replace(decisions, probabilities=unlimited.probabilities), unlimited, {}, ())


@dataclass(frozen=True, slots=True)
class _Explainer:
    """Explains the decisions of a model in a text."""

    text: str
    model: Model
    view: TokenView
    decisions: Decisions
    probabilities: Floats | None  # probability of each candidate; None for models that flag words
    threshold: float  # minimum probability of a flag
    # the candidate that a decision would propose at an unlimited rate, by the index of the decision
    proposals: dict[int, int]
    least_margin: float  # below this margin, the model gives no label
    top: int  # number of candidates, and of contributions to a score, that are shown
    remarks: Mapping[int, str]  # why a check does not raise a flag, by the index of the decision
    right: Collection[int]  # decisions about words that a task knows to be right
    certain: Collection[int]  # decisions about mistakes that the task knows without the model

    def account(self, index: int) -> DecisionAccount:
        """Return the explanation of a decision."""
        record = self.decisions.record(index, self.text)
        reasons = explain_decision(self.model, self.view, index)
        lines = self._lines(index, record, reasons)
        tables, notes = self._tables(index, record, reasons)
        is_suggestion = not isinstance(self.model.judge, RaisesFlags) or bool(record["flagged"])
        proposes = is_suggestion or _observed(self.decisions, index) is None
        place = _headline(record, self.text, proposes=proposes)
        flagged = bool(record["flagged"]) and index not in self.remarks
        return DecisionAccount(place, tuple(lines), flagged, tuple(tables), tuple(notes))

    def _lines(self, index: int, record: dict[str, Any], reasons: Sequence[Contribution] | None) -> list[str]:
        """Return the verdict, and notes on the intended word and the margin."""
        best, proposed = record["candidates"][0][0], self.proposals.get(index)
        has_evidence = not reasons or any(reason.candidate == best and reason.count for reason in reasons)
        line = verdict(
            self.decisions,
            index,
            self.text,
            threshold=self.threshold,
            proposed=proposed,
            evidence=has_evidence,
            what=evidence_name(self.model),
        )
        if index in self.right and best != _observed(self.decisions, index):
            line = "not flagged: a task knows that these words are right here"
        lines = [line]
        if remark := self.remarks.get(index):
            lines = [line.replace("flagged", "flagged by this task", 1), remark]
        if record["flagged"] and index in self.certain:
            lines.append("the task knows this mistake by a rule of its own, whatever the scores")
        elif proposed is not None and (note := intended_word(self.decisions, index, proposed)):
            lines.append(note)
        if record["margin"] < self.least_margin:
            lines.append(f"no label: the margin, {record['margin']:.2f}, is below {self.least_margin:g}")
        return lines

    def _tables(
        self, index: int, record: dict[str, Any], reasons: Sequence[Contribution] | None
    ) -> tuple[list[ContributionTable], list[str]]:
        """Return tables of the candidates and of contributions to the scores of two, and notes on them."""
        decisions = self.decisions
        best, chosen = record["candidates"][0][0], record["chosen"]
        texts, observed = decisions.candidate_texts(index), _observed(decisions, index)
        proposed = self.proposals.get(index)
        suggestion = chosen if proposed is None else texts[proposed]
        names = _ranked(record, shares := _shares(decisions, index, self.probabilities))
        always_shown = observed, chosen, suggestion
        shown = [name for rank, name in enumerate(names) if rank < self.top or name in always_shown]
        tables = [_candidates(decisions, index, record, shown, shares)]
        if reasons is None:
            return tables, ["the scores are not sums of weights: there are no contributions to show"]
        first = chosen if shares else best if proposed is None else suggestion
        others = [name for name in names if name != first]
        compared = (first, *([observed] if observed is not None and observed != first else others[:1]))
        scores = dict(zip(texts, _scores(decisions, index), strict=True))
        terms = rule_terms(self.model.judge, int(decisions.groups[index]), scores)
        item = evidence_name(self.model).removesuffix("s")
        table = contribution_table(reasons, compared, top=self.top, what=item, judged=terms)
        tables += [table] if table else []
        return tables, absence_lines(reasons, compared, top=self.top)


def format_probability(value: float) -> str:
    """Format a probability with three decimals, or two significant digits if it is below 0.01."""
    return f"{value:.3f}" if value >= 0.01 else f"{value:.2g}"


def verdict(
    decisions: Decisions,
    index: int,
    text: str,
    *,
    threshold: float,
    proposed: int | None = None,
    evidence: bool = True,
    what: str = "n-grams",
) -> str:
    """Explain in one line why a decision is flagged or not.

    `threshold`: the minimum probability for a flag.
    `proposed`: the candidate that the decision rule would propose at some rate of flags; None if at none.
    `evidence`: whether any n-gram with the chosen candidate was seen.
    `what`: kind of evidence (see `disambig.models.model.evidence_name`).
    """
    record = decisions.record(index, text)
    group, names = decisions.table[decisions.groups[index]], decisions.candidate_texts(index)
    observed, chosen = int(decisions.observed[index]), int(decisions.chosen[index])
    state = "are in the table" if what == "n-grams" else "occurred in training"
    # without look-ups, a count of those that found something would say nothing
    coverage = f"; {record['found']:,} of {record['asked']:,} {what} {state}" if record["asked"] else ""
    sure = float(decisions.probabilities[index])
    probability = f"probability {format_probability(sure)} of an error"
    if record["flagged"]:
        return f"flagged: {probability}, threshold {format_probability(threshold)}{coverage}"
    if observed < 0 and record["probability"] > 0:
        return f"{show_candidate(record['chosen'])}, with probability {record['probability']:.3f}{coverage}"
    if observed < 0:
        return f"decided; the text contains none of the candidates{coverage}"
    below = f"not flagged: {probability} is below the threshold {format_probability(threshold)}{coverage}"
    if proposed is not None:
        return below
    if record["asked"] and record["found"] == 0:
        return f"not flagged: no evidence, none of {record['asked']:,} {what} {state}"
    if chosen == observed:
        return f"not flagged: the word in the text has the highest score{coverage}"
    if decisions.lists is None and group.same(observed, chosen):
        pair = f"{show_candidate(names[observed])} and {show_candidate(names[chosen])}"
        return f"not flagged: {pair} are variants{coverage}"
    if not evidence:
        return f"not flagged: no evidence for {show_candidate(names[chosen])}{coverage}"
    if sure <= threshold:
        return below
    return f"not flagged: this model proposes nothing here{coverage}"


def intended_word(decisions: Decisions, index: int, proposed: int) -> str:
    """Return a note on the intended word; empty if the scores of the candidates already show it.

    There is a note if the proposal is to insert or delete a word, or if another candidate has a higher score,
    since a decision rule may use more than the scores. For a word that is not flagged, the note names the
    word that was intended if it is a mistake: the most probable of the other candidates, which need not be
    probable.
    """
    low, high = decisions.offsets[index : index + 2]
    names, best = decisions.candidate_texts(index), int(decisions.scores[low:high].argmax())
    written, word = names[decisions.observed[index]], names[proposed]
    flagged, observed = bool(decisions.flagged[index]), int(decisions.observed[index])
    as_written = best == observed and not flagged
    if written and word and (best == proposed or as_written):
        return ""
    lead = "most probably meant" if flagged else "if it is a mistake, most probably meant"
    if written and word:
        message = f'"{word}", not "{written}"'
    else:
        message = f'no word, not "{written}"' if written else f'"{word}" inserted'
    if best == proposed or as_written:
        return f"{lead}: {message}"
    highest = f'"{names[best]}"' if names[best] else show_candidate("")
    return f"{lead}: {message}, though {highest} has the highest score"


def reason_for_no_decision(text: str, model: Model, *, protected: bool) -> str:
    """Return why a model decides nothing in a text.

    `protected` says whether the model would decide a place if no text were protected.
    """
    words = _candidate_words(text, model, protected=True)
    if words:
        could = f"{first_names(words, 8)}: no other candidate fits nearly as well"
        return f"{could}, or the task leaves such a place alone"
    if protected or _candidate_words(text, model, protected=False):
        return "all candidate words are protected"
    layer = view_of_texts([text], model.tokenisation, protected=True).layers["protected"]
    word = "unprotected word" if layer.any() else "word"
    # A task may know better why it is silent.
    return getattr(model.task, "no_decision", f"the text contains no {word} that this task decides")


def _candidate_words(text: str, model: Model, *, protected: bool) -> list[str]:
    """Return the words of a text that the task learns from, each once, in quotation marks.

    A task with examples of its own decides only some of these places.

    `protected` says whether protected words are omitted.
    """
    if not isinstance(model.task, HasExamples):
        return []
    view = view_of_texts([text], model.tokenisation, protected=protected)
    places = find_examples(model.task, view)
    tokens = places.positions[places.lengths > 0]
    if protected:
        tokens = tokens[~view.layers["protected"][tokens].astype(bool)]
    starts, ends = view.starts[tokens].tolist(), view.ends[tokens].tolist()
    words = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    return [f'"{word}"' for word in dict.fromkeys(words) if word]


def _proposals(decisions: Decisions) -> dict[int, int]:
    """Return the proposed candidate of each decision that proposes one, by the index of the decision."""
    rows = decisions.flagged.nonzero()[0]
    return dict(zip(rows.tolist(), decisions.chosen[rows].tolist(), strict=True))


def _shares(decisions: Decisions, index: int, probabilities: Floats | None) -> dict[str, float]:
    """Return the probability of each candidate of a decision; empty for models that choose words."""
    if probabilities is None:
        return {}
    rows = slice(*decisions.offsets[index : index + 2].tolist())
    return dict(zip(decisions.candidate_texts(index), probabilities[rows].tolist(), strict=True))


def _scores(decisions: Decisions, index: int) -> list[float]:
    first, last = decisions.offsets[index : index + 2].tolist()
    return [float(score) for score in decisions.scores[first:last]]


def _ranked(record: dict[str, Any], shares: dict[str, float]) -> list[str]:
    """Return the candidates in display order: by probability or, for models that choose words, by score."""
    names = [name for name, _ in record["candidates"]]
    if not shares:
        return names
    return sorted(names, key=lambda name: (-round(shares[name], 6), name != record["chosen"]))


def _candidates(
    decisions: Decisions, index: int, record: dict[str, Any], names: Sequence[str], shares: dict[str, float]
) -> ContributionTable:
    """Return a table of the given candidates of a decision."""
    group = decisions.table[decisions.groups[index]]
    # those of the record are rounded
    scores = dict(zip(decisions.candidate_texts(index), _scores(decisions, index), strict=True))
    columns = {"candidate": [show_candidate(name) for name in names]}
    if group.glosses:
        glosses = dict(zip(group.candidates, group.glosses, strict=True))
        columns["gloss"] = [glosses[name] for name in names]
    if shares:
        columns["probability"] = [f"{shares[name]:.3f}" for name in names]
    digits = decimals(scores.values())
    columns["score"] = [f"{round(scores[name], digits) + 0.0:.{digits}f}" for name in names]
    return ContributionTable(tuple(columns), tuple(zip(*columns.values(), strict=True)), 2 if shares else 1)


def _observed(decisions: Decisions, index: int) -> str | None:
    """Return the candidate in the text; None if there is none."""
    observed = int(decisions.observed[index])
    return decisions.candidate_texts(index)[observed] if observed >= 0 else None


def _headline(record: dict[str, Any], text: str, *, proposes: bool) -> str:
    """Return the place of a decision and the suggestion, if there is one."""
    new = show_candidate(record["replacement"].strip())
    arrow = f" -> {new}" if proposes and record["replacement"] != record["observed"] else ""
    return _quote_place(text, record["start"], record["end"]) + arrow


_QUOTED_AROUND = 30
"""Number of characters that are quoted on each side of a place."""


def _quote_place(text: str, start: int, end: int) -> str:
    """Return the offsets of a place, and the place in brackets with some text around it."""
    place = text[start:end]
    if len(place) > 4 * _QUOTED_AROUND:  # a whole document
        place = f"{place[: 2 * _QUOTED_AROUND]} ... {place[-_QUOTED_AROUND:]}"
    place = f"[{place}]" if place else "[] "  # an empty place is at the start of the next word
    before, after = text[max(0, start - _QUOTED_AROUND) : start], text[end : end + _QUOTED_AROUND]
    context = f"{before}{place}{after}"
    return f"{start}-{end}: {' '.join(context.split())}"


def _protected_places(text: str, model: Model, decisions: Decisions) -> list[tuple[int, int]]:
    """Return the places that would be decided if no text were protected."""
    view = view_of_texts([text], model.tokenisation, protected=False)
    everything = model.decide(view).without_empty()
    decided = set(zip(decisions.starts.tolist(), decisions.ends.tolist(), strict=True))
    places = zip(everything.starts.tolist(), everything.ends.tolist(), strict=True)
    return [place for place in places if place not in decided]


def _kind(text: str, start: int, end: int) -> str:
    """Return the kind of the protected span at a place."""
    for first, last, kind in protected_spans(text):
        if first < end and start < last:
            return kind
    return "name"


@dataclass(frozen=True, slots=True, eq=False)
class CheckedDecisions:
    """The decisions of one of several models that decide a text together."""

    decisions: Decisions  # at the rate of the model, before overlaps are resolved and flags are verified
    unlimited: Decisions  # at an unlimited rate
    # for each flag of `decisions` that a check does not raise as it is, by its row: the reason, as a sentence
    remarks: Mapping[int, str]
    right: Collection[int]  # rows of words that the task of a model knows to be right


def check_together(
    text: str, models: Sequence[Model], rates: Mapping[str, float]
) -> dict[int, CheckedDecisions]:
    """Return what models decide together, as `disambig check` does, by the index of the model.

    Models that do not correct words are left out.

    `rates`: see `disambig.models.ModelSet`.
    """
    numbers = [i for i, model in enumerate(models) if is_corrector(model)]
    correcting = tuple(models[i] for i in numbers)
    model_set = ModelSet(correcting, rates, detect_language=False)
    tokenisations = {model.tokenisation.name: model.tokenisation for model in correcting}
    views = {name: view_of_texts([text], kind, protected=True) for name, kind in tokenisations.items()}
    model_views = [views[model.tokenisation.name] for model in correcting]
    decided = decide_together(correcting, model_views, [rates.get(model.task.name) for model in correcting])
    # at its own rate a rule may skip the probabilities of places that it will not flag
    unlimited = decide_together(correcting, model_views, [float("inf")] * len(correcting))
    dropped: dict[tuple[int, int], DroppedFlag] = {}
    raised = model_set.verify(decided, [text], neighbours=True, dropped=dropped)
    checked = {}
    for i, number in enumerate(numbers):
        flagged = decided[i].flagged.nonzero()[0].tolist()
        view = model_views[i]
        tasks = [model.task for model, other in zip(correcting, model_views, strict=True) if other is view]
        remarks = {row: _remark(text, raised, i, row, decided[i], dropped.get((i, row))) for row in flagged}
        checked[number] = CheckedDecisions(
            replace(decided[i], probabilities=unlimited[i].probabilities),
            unlimited[i],
            {row: remark for row, remark in remarks.items() if remark},
            _right_rows(decided[i], view, tasks),
        )
    return checked


def _right_rows(decisions: Decisions, view: TokenView, tasks: Sequence[Task]) -> frozenset[int]:
    """Return the decisions about words of one text that a task knows to be right."""
    first, last = (np.searchsorted(view.starts, decisions.starts, side) for side in ("left", "right"))
    tokens = np.where(decisions.ends > decisions.starts, last - 1, np.minimum(first, len(view) - 1))
    masks = [mask[tokens] for task in tasks if (mask := find_right_words(task, view)) is not None]
    return frozenset(np.flatnonzero(np.any(masks, axis=0)).tolist()) if masks else frozenset()


def _remark(
    text: str,
    raised: Sequence[Decisions],
    task: int,
    row: int,
    decided: Decisions,
    reason: DroppedFlag | None,
) -> str:
    """Return why a check does not raise a flag as it was decided; empty if it does."""
    verified, proposed = raised[task], int(decided.chosen[row])
    if verified.flagged[row]:
        if int(verified.chosen[row]) == proposed:
            return ""
        return f"check proposes {_correction(text, verified, row)}, on which all tasks agree"
    if winner := _winner(raised, task, row):
        other, other_row = winner
        correction = _correction(text, raised[other], other_row)
        name = raised[other].task
        if correction == _correction(text, decided, row):
            return f"check raises this flag once, for the task {name}, which is more certain"
        return f"check raises a more certain flag here: {correction}, of the task {name}"
    if reason and reason.explained_by:
        corrected = _join(reason.explained_by)
        return f"check drops this flag: with the surer {corrected} corrected, nothing is wrong here"
    if reason and reason.corrected_again:
        again = _join(reason.corrected_again)
        return f"check drops this flag: in the corrected text, the models would correct {again}"
    return "check drops this flag: the models do not agree with the corrected text"


def _winner(raised: Sequence[Decisions], task: int, row: int) -> tuple[int, int] | None:
    """Return the task and row of the flag against which another one lost; None if it did not lose."""
    lost = raised[task]
    place = lost.task, int(lost.starts[row]), int(lost.ends[row])
    for number, decisions in enumerate(raised):
        settled = decisions.settled
        for winner, other in zip(settled.won.tolist(), settled.alternatives, strict=True) if settled else ():
            if (other.task, other.start, other.end) == place:
                return number, winner
    return None


def _correction(text: str, decisions: Decisions, row: int) -> str:
    start, end = int(decisions.starts[row]), int(decisions.ends[row])
    chosen = decisions.candidate_texts(row)[decisions.chosen[row]]
    return _join([(text[start:end], replacement(chosen, text, start, end).strip())])


def _join(corrections: Sequence[tuple[str, str]]) -> str:
    return " and ".join(f"{_quoted(written)} -> {_quoted(new)}" for written, new in corrections)


def _quoted(word: str) -> str:
    return f'"{word}"' if word else show_candidate("")
