from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from disambig.counts import (
    CountTable,
    build_table,
    count_files,
    describe_least_counts,
    describe_table,
    import_table,
    least_counts,
    merge_tables,
    prune_table,
)
from disambig.text import Words

TEXTS = ["The house of cards of the house.", "The house of the rising sun.", "The house of the cards."]


def test_a_threshold_holds_for_longer_ngrams_too():
    assert least_counts(None, orders=3) == {1: 1, 2: 1, 3: 1}
    assert least_counts({3: 2}, orders=5) == {1: 1, 2: 1, 3: 2, 4: 2, 5: 2}
    assert least_counts({1: 200, 2: 40}, orders=4) == {1: 200, 2: 40, 3: 40, 4: 40}
    assert least_counts({3: 2, 5: 1}, orders=5) == {1: 1, 2: 1, 3: 2, 4: 2, 5: 1}
    assert least_counts({4: 9}, orders=3) == {1: 1, 2: 1, 3: 1}


def test_thresholds_in_words():
    assert describe_least_counts(least_counts(None, orders=5)) == ""
    assert (
        describe_least_counts(least_counts({3: 2}, orders=5))
        == "n-grams of 3 to 5 words seen less than 2 times"
    )
    assert (
        describe_least_counts({1: 1, 2: 1, 3: 2, 4: 1, 5: 1}) == "n-grams of 3 words seen less than 2 times"
    )
    assert describe_least_counts({1: 200, 2: 40}) == (
        "n-grams of 1 word seen less than 200 times, n-grams of 2 words seen less than 40 times"
    )


def longest(table: CountTable) -> set[int]:
    """Return the lengths of n-grams in the table that were seen once."""
    found = set()
    for text in TEXTS:
        words = Words().words(text)
        for n in range(1, 6):
            for start in range(len(words) - n + 1):
                ngram = words[start : start + n]
                inside = all(one != ("</S>", "<S>") for one in pairwise(ngram))
                if inside and table.count(" ".join(ngram)) == 1:
                    found.add(n)
    return found


@pytest.mark.parametrize("way", ["build", "merge", "prune", "import"])
def test_every_way_to_a_table_has_one_rule(way, tmp_path):
    path, least = tmp_path / "x", {3: 2}
    if way == "build":
        build_table(path, TEXTS, Words(), min_counts=least)
    elif way == "import":
        counts = Counter()
        for text in TEXTS:
            words = text.lower().rstrip(".").split()
            counts.update(" ".join(words[i : i + n]) for n in range(1, 6) for i in range(len(words) - n + 1))
        (tmp_path / "a.tsv").write_text("".join(f"{ngram}\t{n}\n" for ngram, n in counts.items()))
        import_table(path, count_files([str(tmp_path / "a.tsv")]), Words.name, min_counts=least)
    else:
        parts = [
            CountTable.open(build_table(tmp_path / f"{i}", texts, Words(), keys=True))
            for i, texts in enumerate((TEXTS[:1], TEXTS[1:]))
        ]
        if way == "merge":
            merge_tables(path, parts, min_counts=least)
        else:
            prune_table(
                path, CountTable.open(merge_tables(tmp_path / "m", parts, keys=True)), min_counts=least
            )
    table = CountTable.open(path)
    assert longest(table) == {1, 2}
    assert table.header["info"]["min_counts"] == {"1": 1, "2": 1, "3": 2, "4": 2, "5": 2}
    assert "left out      n-grams of 3 to 5 words seen less than 2 times" in list(describe_table(table))
    assert table.count("house of the") == 2
