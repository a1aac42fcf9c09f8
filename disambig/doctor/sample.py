"""Annotate a sample text: coverage of the count tables, and speed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from disambig.doctor.checks import OK, WARNING, CheckResultLine, guard_check
from disambig.formatting import pluralize

if TYPE_CHECKING:
    from disambig.models import Model

SAMPLE = (
    "I have lived in this town since the winter of 1997, and it is still hard to find a quiet place to read. "
    "Last week we went to the library with our neighbours, who were on their way from the market. It was "
    "raining, so they stayed for an hour and talked about the the weather, the price of bread and school."
)
LANGUAGE = "en"
MIN_COVERAGE = 0.05
SLOW_WORDS_PER_SECOND = 20_000
SPEED_WORDS = 100_000
_MIN_WORDS = 20
_INSTANCES_PER_BLOCK = 1024


def check_sample(models: Sequence[Model], text: str | None) -> Iterator[CheckResultLine]:
    """Annotate the sample, or the user's text, with every model."""
    from disambig.models import annotate

    timed_text = text if text and len(text.split()) >= _MIN_WORDS else SAMPLE
    speed: list[tuple[Model, float]] = []  # working models, and the seconds for the first words
    for model in models:

        def check(model: Model = model) -> Iterator[CheckResultLine]:
            start = time.perf_counter()
            annotate([timed_text], [model])
            cold = time.perf_counter() - start
            yield _coverage(model, text)
            speed.append((model, cold))

        mend = "train the model again, or install its pack again"
        yield from guard_check("coverage", check, mend=mend)
    if speed:
        cold = sum(seconds for _, seconds in speed)
        yield from guard_check("speed", lambda: [_speed([model for model, _ in speed], timed_text, cold)])


def _coverage(model: Model, text: str | None) -> CheckResultLine:
    """Check how many n-grams or words of a text the model knows."""
    from disambig.models import annotate, evidence_name
    from disambig.types import RaisesFlags

    (decisions,) = annotate([text or SAMPLE], [model])
    if not len(decisions):
        if text is None and model.language != LANGUAGE:
            what = f"{model.name}: the sample is in {LANGUAGE!r}, not in {model.language!r}: give a text"
            return CheckResultLine("coverage", OK, what)
        what = f"{model.name}: nothing to decide in the {'sample' if text is None else 'text'}"
        mend = "give a text in which the model has something to decide, or check it with `disambig explain`"
        if text:
            return CheckResultLine("coverage", OK, what)
        return CheckResultLine("coverage", WARNING, what, mend)
    n_hits, asked = int(decisions.found.sum()), int(decisions.asked.sum())
    numbers = {"decisions": len(decisions), "asked": asked, "found": n_hits}
    what = f"{model.name}: {pluralize(len(decisions), 'decision')}"
    if isinstance(model.judge, RaisesFlags):
        numbers["flagged"] = int(decisions.flagged.sum())
        what += f", {numbers['flagged']} flagged"
    if not asked:
        return CheckResultLine(
            "coverage", OK, f"{what}, no {evidence_name(model)} looked up", numbers=numbers
        )
    what += f", {n_hits:,} of {asked:,} {evidence_name(model)} found ({n_hits / asked:.0%})"
    orders = asked_by_order(model, text or SAMPLE)
    if orders:
        shares = [f"{order}-grams {n_found / total:.0%}" for order, (n_found, total) in orders.items()]
        what += f": {', '.join(shares)}"
        for order, (n_found, total) in orders.items():
            numbers |= {f"asked_{order}": total, f"found_{order}": n_found}
    if n_hits / asked >= MIN_COVERAGE:
        return CheckResultLine("coverage", OK, what, numbers=numbers)
    mend = "the table covers little of this language or domain: count text of your own"
    if evidence_name(model) == "words":
        mend = "the model covers little of this language or domain: train it on suitable text"
        if text is None and model.language != LANGUAGE:  # the sample can be in another language
            return CheckResultLine("coverage", OK, what, numbers=numbers)
    return CheckResultLine("coverage", WARNING, what, mend, numbers)


def asked_by_order(model: Model, text: str) -> dict[int, tuple[int, int]]:
    """Return the numbers of n-grams found and looked up, by their number of words.

    Only n-gram count extractors are considered. A candidate of two words counts as one word.
    """
    from disambig.features import BIAS, CONTEXTS, NgramCounts
    from disambig.text import view_of_texts

    extractors = [extractor for extractor in model.extractors if isinstance(extractor, NgramCounts)]
    view = view_of_texts([text], model.tokenisation, protected=True)
    instances = model.instances(view)
    asked, hits = np.zeros(BIAS, np.int64), np.zeros(BIAS, np.int64)
    for extractor in extractors:
        for index in np.unique(instances.groups).tolist():
            group = model.task.groups[index]
            rows = np.flatnonzero(instances.groups == index)
            for start in range(0, len(rows), _INSTANCES_PER_BLOCK):
                part = instances.take(rows[start : start + _INSTANCES_PER_BLOCK])
                ranks, usable = extractor.ranks_of_candidates(view, part, group)
                asked += usable.sum(axis=0)
                hits += np.count_nonzero(ranks, axis=0)
    sizes = np.array([1 + left + right for left, right in CONTEXTS])
    return {
        order: (int(hits[sizes == order].sum()), int(asked[sizes == order].sum()))
        for order in np.unique(sizes).tolist()
        if asked[sizes == order].sum()
    }


def _speed(models: Sequence[Model], text: str, cold: float) -> CheckResultLine:
    """Measure the speed of the models on copies of a text."""
    from disambig.models import annotate

    n_words = len(text.split())
    texts = [f"{text} {i}" for i in range(max(1, SPEED_WORDS // n_words))]
    # compile or load the functions for large batches before timing
    annotate(texts[: len(texts) // 4 + 1], models)
    start = time.perf_counter()
    annotate(texts, models)
    rate = n_words * len(texts) / (time.perf_counter() - start)
    fast = f"the first {n_words} words in {cold:.2f} s, then {rate:,.0f} words/s"
    what = f"{pluralize(len(models), 'model')}, one core: {fast}"
    numbers = {"first_words": n_words, "first_seconds": round(cold, 4), "words_per_second": round(rate)}
    mend = "is the machine busy, or DISAMBIG_ENGINE=numpy set?"
    slow = rate < SLOW_WORDS_PER_SECOND
    return CheckResultLine("speed", WARNING if slow else OK, what, mend if slow else "", numbers)
