"""Parsing with a pruned grammar of a treebank's size, on one core.

    pytest -s -m benchmark tests/benchmarks/test_chart_benchmarks.py

The grammar is made (`made_grammar`): 2,000 symbols, some 15,000 rules of two children, 90 coarse symbols. The
whole way is timed: the coarse pass, the pruned chart, the best parse.
"""

from __future__ import annotations

import time

import numpy as np
import pytest
from made_grammar import MadeGrammar

from disambig.decode import ChartParser, Hypergraph

pytestmark = pytest.mark.benchmark
WORDS, SENTENCES, LEAST = 20, 60, 50.0


@pytest.fixture(scope="module")
def made():
    source = MadeGrammar()
    return source.grammar, [source.sentence(WORDS) for _ in range(SENTENCES)]


def rate(work, n, rounds=3):
    """Return how many of `n` a second are done, in the best of some rounds."""
    best = np.inf
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return n / best


def test_sentences_a_second(made):
    grammar, sentences = made
    size = f"{len(grammar.symbols):,} symbols, {len(grammar.binary):,} rules of two children"
    print(f"\n{size}, {len(grammar.coarser.binary):,} coarse ones; sentences of {WORDS} words, one core")
    decoder, rates = Hypergraph(), {}
    for threshold in (1e-3, 1e-4, 1e-5):
        parser = ChartParser(grammar, threshold=threshold)
        parser.best(sentences[:1])
        charts = parser.charts(sentences)
        assert not len(charts.without_parse) and not len(charts.too_large)
        rates[threshold] = rate(lambda parser=parser: parser.best(sentences), SENTENCES)
        decoder.top(charts.scores, charts.graphs, 2)
        others = {
            "charts": lambda parser=parser: parser.charts(sentences),
            "best of a chart": lambda charts=charts: decoder.best(charts.scores, charts.graphs),
            "marginals": lambda charts=charts: decoder.marginals(charts.scores, charts.graphs),
            "50 best": lambda charts=charts: decoder.top(charts.scores, charts.graphs, 50),
        }
        said = ", ".join(f"{name} {rate(work, SENTENCES):,.0f}" for name, work in others.items())
        edges, retried = len(charts.scores) / SENTENCES, int((charts.thresholds < threshold).sum())
        print(f"{threshold:g}: {edges:,.0f} edges a chart, {retried} retried; a second: ", end="")
        print(f"best parses {rates[threshold]:,.0f}, {said}")
    assert rates[ChartParser.__dataclass_fields__["threshold"].default] >= LEAST
