"""A sample text: how many of the n-grams asked for the tables hold, and how fast decisions are."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from disambig.doctor.finding import OK, WARNING, Finding

if TYPE_CHECKING:
    from disambig.model.model import Model

SAMPLE = (
    "I have lived in this town since the winter of 1997, and it is still hard to find a quiet place to read. "
    "Last week we went to the library with our neighbours, who were on their way from the market. It was "
    "raining, so they stayed for an hour and talked about the weather, the price of bread and the school."
)
_LEAST_COVERED = 0.05
_SLOW = 20_000
_WORDS = 100_000


def check_sample(models: Sequence[Model], text: str | None) -> Iterator[Finding]:
    """Decide in a sample, or in the user's text, with every model."""
    from disambig.model.annotate import annotate

    words = text or SAMPLE
    start = time.perf_counter()
    decided = annotate([words], models)
    cold = time.perf_counter() - start
    for model, decisions in zip(models, decided, strict=True):
        found, asked = int(decisions.found.sum()), int(decisions.asked.sum())
        if not len(decisions):
            what = f"{model.name}: nothing to decide in the {'text' if text else 'sample'}"
            yield Finding("coverage", OK if text else WARNING, what)
            continue
        share = found / max(asked, 1)
        flags = f", {int(decisions.flagged.sum())} flagged" if model.labels is None else ""
        orders = _by_order(model, words)
        what = (
            f"{model.name}: {len(decisions)} decisions{flags}, {share:.0%} of {asked:,} n-grams found{orders}"
        )
        low = share < _LEAST_COVERED
        mend = "the table knows little of this language or field: count text of your own" if low else ""
        yield Finding("coverage", WARNING if low else OK, what, mend)
    yield from _speed(models, words, cold)


def _by_order(model: Model, text: str) -> str:
    """Return the share of n-grams of the text itself that the table holds, by order, for people."""
    tables = [extractor.table for extractor in model.extractors if hasattr(extractor, "table")]
    if not tables:
        return ""
    view = model.tokenisation([text])
    shares = []
    for order in range(2, tables[0].orders + 1):
        windows = np.lib.stride_tricks.sliding_window_view(view.hashes, order)
        inside = view.sentences[np.searchsorted(view.sentences, np.arange(len(windows)), side="right")]
        windows = windows[np.arange(len(windows)) + order <= inside]
        if len(windows):
            known = tables[0].counts_of_words(windows, tokenisation=view.tokenisation) > 0
            shares.append(f"{order}-grams {known.mean():.0%}")
    return f"; of the text's own: {', '.join(shares)}"


def _speed(models: Sequence[Model], text: str, cold: float) -> Iterator[Finding]:
    from disambig.model.annotate import annotate

    n_words = len(text.split())
    texts = [f"{text} {i}" for i in range(max(1, _WORDS // max(n_words, 1)))]
    annotate(texts[: len(texts) // 4 + 1], models)  # the kernels of large batches are compiled, or loaded
    start = time.perf_counter()
    annotate(texts, models)
    rate = n_words * len(texts) / (time.perf_counter() - start)
    what = (
        f"first {n_words} words in {cold:.2f} s, then {rate:,.0f} words/s with {len(models)} models, one core"
    )
    if rate < _SLOW:
        yield Finding("speed", WARNING, what, "is the machine busy, or DISAMBIG_ENGINE=numpy set?")
    else:
        yield Finding("speed", OK, what)
