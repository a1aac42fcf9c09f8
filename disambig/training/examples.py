"""Training examples from text and from mistakes that people made; splits by document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Instances, find_instances
from disambig.errors import UserError
from disambig.features import transform_union
from disambig.formats import Clean, Fix
from disambig.formatting import pluralize
from disambig.text import Tokenisation, TokenView, hash_word, view_of_texts
from disambig.types import FeatureExtractor, Features, Task

_MAX_REASONS = 5
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def dataset_report(used: int, reasons: Sequence[str] = (), what: str = "examples") -> dict[str, Any]:
    """Count the examples that are used and left out, with reasons, as plain values.

    Parameters
    ----------
    reasons : sequence of str
        The reason for each example that was left out.
    what : str
        Noun for the examples, such as ``"lists"`` or ``"documents"``.
    """
    # without quotations, equal reasons are counted together
    left_out = dict(Counter(_QUOTED.sub("...", reason) for reason in reasons).most_common())
    return {"what": what, "read": used + len(reasons), "used": used, "left_out": left_out}


def report_line(report: Mapping[str, Any]) -> str:
    """Format a dataset report as one line: ``read 3,097 examples: 3,090 used, 7 left out (...)``."""
    reasons = list(report["left_out"].items())
    n = sum(count for _, count in reasons)
    shown = "; ".join(f"{count:,}: {reason}" for reason, count in reasons[:_MAX_REASONS])
    more = f"; {pluralize(len(reasons) - _MAX_REASONS, 'more reason')}" if len(reasons) > _MAX_REASONS else ""
    left = f"{n:,} left out ({shown}{more})" if n else "none left out"
    read = pluralize(report["read"], report["what"].removesuffix("s"))
    return f"read {read}: {report['used']:,} used, {left}"


HASH_FOLDS = 10
PARTS = {"train": range(6), "dev": range(6, 8), "test": range(8, 10)}
_PURPOSES = {"train": "to learn from", "dev": "to tune on", "test": "to test on"}


def document_fold(text: str) -> int:
    """Return the fold (0 to 9) of a document by its text, ignoring white space at the ends."""
    # by content, not at random or by order: equal documents are never split, and adding documents moves none
    return hash_word(text.strip()) % HASH_FOLDS


def split(texts: Iterable[str]) -> dict[str, list[str]]:
    """Split documents into train (60 %), dev (20 %) and test (20 %)."""
    parts: dict[str, list[str]] = {name: [] for name in PARTS}
    part_of_fold = {fold: parts[name] for name, folds in PARTS.items() for fold in folds}
    for text in texts:
        part_of_fold[document_fold(text)].append(text)
    return parts


def explain_empty_part(texts: Mapping[str, Sequence[str]], part: str, task: str) -> str:
    """Explain why a part of a split has no examples for a task, although another part may have some.

    Parameters
    ----------
    texts : mapping of str to sequence of str
        See `split`.
    part : str
        One of `_PURPOSES`.
    task : str
        Name of the task.
    """
    all_texts = [text.strip() for name in _PURPOSES for text in texts.get(name, ()) if text.strip()]
    n, n_different = len(all_texts), len(set(all_texts))
    problem = f"none of the documents kept {_PURPOSES[part]} contains a candidate of the task {task}"
    if n_different < n:
        verb = "is" if n_different == 1 else "are"
        different = f"only {n_different:,} of {pluralize(n, 'document')} {verb} different"
        return f"{problem}; {different}, and equal documents are never split: add more distinct documents"
    return f"{problem}; {pluralize(n, 'document')} in all: add more (with --lines, each line is one)"


@dataclass(frozen=True, slots=True, eq=False)
class TextExamples:
    """A view of some text and the instances in it."""

    view: TokenView
    instances: Instances
    n_words: int  # number of words in the text, without sentence ends

    @classmethod
    def from_view(cls, view: TokenView, instances: Instances) -> TextExamples:
        """Build examples from a view and its instances, counting the words."""
        return cls(view, instances, int(np.count_nonzero(view.ends > view.starts)))

    def rows(
        self, group: int, *, most: int | None = None, rng: np.random.Generator | None = None
    ) -> NDArray[np.int64]:
        """Return the rows of a group's instances: all of them, or a random sample of `most`."""
        rows = np.flatnonzero(self.instances.groups == group)
        if most is not None and len(rows) > most:
            assert rng is not None
            rows = np.sort(rng.choice(rows, most, replace=False))
        return rows

    def features(
        self, rows: NDArray[np.int64], group: int, task: Task, extractors: Sequence[FeatureExtractor]
    ) -> Features:
        """Return the features of the instances in `rows`, all of one group."""
        return transform_union(extractors, self.view, self.instances.take(rows), task.groups[group])


_MAX_TIER = 1
"""Highest tier that is learned from: mistakes of higher tiers are a matter of wording or taste."""
UNSURE, ELSEWHERE, OTHER, SHIELDED = (
    f"tier above {_MAX_TIER}",
    "the task decides nothing there",
    "the task does not decide between these words",
    "protected text, such as code, a quotation or a name",
)
"""Reasons for leaving out a mistake."""


@dataclass(frozen=True, slots=True, eq=False)
class ErrorCorpus:
    """Mistakes that people made, and clean text, as instances of a task."""

    wrong: TextExamples  # the places of mistakes; the observed candidate is the intended one
    written: NDArray[np.int32]  # (n,): the candidate that was written at each place
    right: TextExamples  # places without a mistake
    report: dict[str, Any]  # number of mistakes used and left out, with reasons (see `dataset_report`)
    n_mistakes: int  # number of all given mistakes, used or not

    @classmethod
    def from_texts(
        cls, task: Task, tokenisation: Tokenisation, mistakes: Sequence[Fix], clean: Sequence[Clean]
    ) -> ErrorCorpus:
        """Find the instances of a task at mistakes and in clean paragraphs.

        Raises D426 if only one of mistakes and clean paragraphs is given, D428 if the task decides no
        mistake, or nothing in the clean paragraphs.
        """
        if not (mistakes and clean):
            raise UserError("D426", problem=f"{'clean' if mistakes else 'fixes'} is missing")
        sure = [fix for fix in mistakes if fix.tier <= _MAX_TIER]
        view = view_of_texts([fix.before for fix in sure], tokenisation, protected=True)
        instances = find_instances(task, view)
        matches, intended, reasons = _match_places(task, view, instances, sure)
        left_out = [*filter(None, reasons), *[UNSURE] * (len(mistakes) - len(sure))]
        report = dataset_report(len(mistakes) - len(left_out), left_out, "mistakes")
        if not len(matches):
            raise UserError("D428", task=task.name, problem=report_line(report))
        places = instances.take(matches)
        paragraphs = view_of_texts([paragraph.text for paragraph in clean], tokenisation, protected=True)
        right = find_instances(task, paragraphs)
        right = right.take((right.observed >= 0) & ~protected_instances(paragraphs, right))
        if not len(right):
            raise UserError("D428", task=task.name, problem="it decides nothing in the clean paragraphs")
        return cls(
            TextExamples.from_view(view, replace(places, observed=intended)),
            places.observed,
            TextExamples.from_view(paragraphs, right),
            report,
            len(mistakes),
        )


def protected_instances(view: TokenView, instances: Instances) -> NDArray[np.bool_]:
    """Return which instances begin or end with a protected token."""
    protected: NDArray[np.bool_] = view.layers["protected"].astype(bool)
    return protected[instances.positions] | protected[instances.positions + instances.lengths - 1]


def _match_places(
    task: Task, view: TokenView, instances: Instances, mistakes: Sequence[Fix]
) -> tuple[NDArray[np.int64], NDArray[np.int32], list[str]]:
    """Match mistakes with instances that decide between the written and the intended word.

    Return the matching instances, the intended candidate of each, and for every mistake the reason for
    leaving it out ("" if it is used).
    """
    starts, ends = instances.spans(view)
    documents = view.document_indices(instances.positions)
    spans = np.array([(fix.start, fix.end) for fix in mistakes], np.int64).reshape(-1, 2)
    at_mistakes = np.flatnonzero((starts == spans[documents, 0]) & (ends == spans[documents, 1]))
    protected = protected_instances(view, instances)
    matches, intended = [], []
    reasons = [ELSEWHERE] * len(mistakes)
    for i in at_mistakes.tolist():
        number, observed = int(documents[i]), int(instances.observed[i])
        fix, candidates = mistakes[number], instances.candidates(i, task.groups[int(instances.groups[i])])
        old, new = _normalised(fix.old), _normalised(fix.new)
        if observed < 0 or candidates[observed] != old or new not in candidates or new == old:
            reasons[number] = OTHER if reasons[number] == ELSEWHERE else reasons[number]
        elif protected[i]:
            reasons[number] = SHIELDED
        else:
            reasons[number] = ""
            matches.append(i)
            intended.append(candidates.index(new))
    return np.array(matches, np.int64), np.array(intended, np.int32), reasons


def _normalised(words: str) -> str:
    """Return words in lower case, with plain apostrophes and single spaces."""
    return " ".join(words.lower().replace("\u2019", "'").split())
