"""From any text to a table and back: the counts are those of a plain Counter over the readable words."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from disambig.counts import (
    COMPACT,
    RECORD_FORMS,
    SMALL,
    CountTable,
    NgramCounter,
    rounded_ranks,
    rounded_values,
    write_counter,
)
from disambig.text import Words, hash_word, hash_words, ngram_keys

pieces = st.sampled_from(
    ["in", "the", "House", "it's", " ", " ", ". ", "! ", "\n\n", "3.14", "-", "né", "猫。", "'"]
)
texts = st.lists(st.lists(pieces, max_size=30).map("".join) | st.text(max_size=30), max_size=6)


@settings(max_examples=60, deadline=None)
@given(
    texts,
    st.integers(1, 5),
    st.sampled_from(["exact", "compact", "small"]),
    st.sampled_from([3, 50, 5000]),
    st.integers(1, 3),
    st.sampled_from(["numpy", "numba"]),
)
def test_text_to_table_and_back(tmp_path_factory, texts, orders, record, capacity, least, backend):
    path = tmp_path_factory.mktemp("tables") / "x"
    with NgramCounter(Words.name, orders=orders, capacity=capacity) as counter:
        for text in texts:
            counter.add(Words()([text]))
        write_counter(path, counter, record=record, min_counts={orders: least})
    table = CountTable.open(path)
    table.verify()
    true = Counter()
    for text in texts:
        sentence = []
        for word in Words().words(text):
            sentence = ["<S>"] if word == "<S>" else [*sentence, word]
            true.update(tuple(sentence[-n:]) for n in range(1, min(orders, len(sentence)) + 1))
    values = rounded_values(RECORD_FORMS[record]) if record != "exact" else None
    kept = 0
    for ngram, count in true.items():
        wanted = count if len(ngram) < orders or count >= least else 0
        kept += wanted > 0
        if record == "small" and not wanted:
            continue  # a thousandth of the absent n-grams is found there
        if record != "exact":
            wanted = int(values[rounded_ranks(np.array([wanted], dtype=np.uint64), values)[0]])
        assert table.counts_of_words(hash_words(ngram)[None], backend=backend).tolist() == [wanted], ngram
    assert table.n_ngrams == kept
    if record != "small":
        absent = ngram_keys(hash_words(["zebra", "quagga"])[None], hash_word(Words.name))
        assert not table.counts(absent, backend=backend).any()


@given(
    st.lists(st.integers(0, 2**62), min_size=1, max_size=50),
    st.sampled_from([(COMPACT, 0.06, 256, 10), (SMALL, 0.14, 64, 7)]),
)
def test_rounded_counts_are_near_and_in_order(counts, form):
    record, error, n_ranks, exact = form
    values = rounded_values(record)
    assert values[: exact + 1].tolist() == list(range(exact + 1))
    assert values[-1] > 10**6
    asked = np.array(sorted(counts), dtype=np.uint64)
    ranks = rounded_ranks(asked, values)
    assert np.all(np.diff(ranks.astype(int)) >= 0)
    assert np.array_equal(ranks == 0, asked == 0)
    inside = (asked > 0) & (asked <= values[-1])
    assert np.all(np.abs(values[ranks][inside] / asked[inside].astype(float) - 1) < error)
    assert np.array_equal(rounded_ranks(values, values), np.arange(n_ranks))
