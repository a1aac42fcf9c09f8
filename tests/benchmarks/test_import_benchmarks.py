"""Import of ready counts: lines parsed a second on one core, beside what a user would write in Python.

    DISAMBIG_DATA=... pytest -m benchmark tests/benchmarks/test_import_benchmarks.py -s

Parsing is all between unpacked blocks of bytes and keys with counts: the check that they are UTF-8, words
cut and hashed, numbers read. Lines are real 5-grams where `DISAMBIG_DATA` is set, else made ones.
"""

import collections
import re

import pytest
from test_counts_benchmarks import best, pin, some_text, tell  # noqa: F401

from disambig.counts import (
    CountReader,
    CountTable,
    NgramCounter,
    count_files,
    import_table,
    importing as readers,
)
from disambig.text import Words

pytestmark = pytest.mark.benchmark
WORDS = 1_500_000
BLOCK = readers._BLOCK


class Counting(NgramCounter):
    """A counter that only records the number of n-grams."""

    def add_counts(self, keys, counts, kind):
        self.totals[kind - 1] += len(keys)


@pytest.fixture(scope="module")
def lines():
    """Distinct 5-grams in order, with counts, as Web 1T has them."""
    words = [word for text in some_text(WORDS) for word in re.findall(r"\w+|[^\w\s]", text)]
    counted = collections.Counter(zip(*(words[i:] for i in range(5)), strict=False))
    return sorted((" ".join(words), 41 * count) for words, count in counted.items())


def blocks(text):
    """Whole lines together, about as much as is read at a time."""
    data, found = text.encode(), []
    while data:
        cut = data.rfind(b"\n", 0, BLOCK) + 1
        found.append(data[:cut])
        data = data[cut:]
    return found


def parsed(found, form, name="web1t.v1"):
    """Lines, seconds and n-grams of a parse in which all words have been met."""
    with Counting(name) as counter:
        reader = CountReader(counter)

        def run():
            for block in found:
                readers._check(block, "x", 0)
                reader._parse(block, 5, form)

        run()
        counter.totals[4] = 0
        seconds = best(run, 5)
        return sum(block.count(b"\n") for block in found), seconds, counter.totals[4] // 5


def test_tsv(benchmark, lines, tell):  # noqa: F811
    pin()
    found = blocks("".join(f"{ngram}\t{count}\n" for ngram, count in lines))
    n, seconds, ngrams = benchmark.pedantic(parsed, args=(found, 0), rounds=1)
    assert ngrams == n
    million, size = n / seconds / 1e6, sum(map(len, found)) / n
    n, seconds, _ = parsed(found, 0, Words.name)
    tell(million_lines_per_second=million, bytes_a_line=size, in_normal_form=n / seconds / 1e6)


def test_google_2(benchmark, lines, tell):  # noqa: F811
    pin()
    text = "".join(
        f"{ngram}\t{year}\t{year - 1960}\t2\n" for ngram, _ in lines[::20] for year in range(1970, 2009)
    )
    n, seconds, ngrams = benchmark.pedantic(parsed, args=(blocks(text), 1), rounds=1)
    tell(million_lines_per_second=n / seconds / 1e6, million_ngrams_per_second=ngrams / seconds / 1e6)


def test_google_3(benchmark, lines, tell):  # noqa: F811
    pin()
    years = "".join(f"\t{year},{year - 1960},2" for year in range(1970, 2009))
    found = blocks("".join(f"{ngram}{years}\n" for ngram, _ in lines[::20]))
    n, seconds, _ = benchmark.pedantic(parsed, args=(found, 2), rounds=1)
    tell(million_ngrams_per_second=n / seconds / 1e6, million_years_per_second=39 * n / seconds / 1e6)


def test_python(benchmark, lines, tell):  # noqa: F811
    """A plain loop that splits lines and fills a dictionary."""
    pin()
    some = lines[:500_000]
    data = "".join(f"{ngram}\t{count}\n" for ngram, count in some).encode()

    def run():
        counts = {}
        for line in data.decode().splitlines():
            ngram, count = line.split("\t")
            counts[tuple(ngram.split(" "))] = int(count)
        return counts

    assert len(benchmark.pedantic(run, rounds=3)) == len(some)
    tell(million_lines_per_second=len(some) / benchmark.stats["min"] / 1e6)


def test_pandas(benchmark, lines, tmp_path, tell):  # noqa: F811
    pandas = pytest.importorskip("pandas")
    pin()
    (tmp_path / "x").write_text("".join(f"{ngram}\t{count}\n" for ngram, count in lines), encoding="utf8")
    frame = benchmark.pedantic(
        pandas.read_csv, args=(tmp_path / "x",), kwargs={"sep": "\t", "header": None, "quoting": 3}, rounds=3
    )
    assert len(frame) == len(lines)
    tell(million_lines_per_second=len(lines) / benchmark.stats["min"] / 1e6)


def test_whole_import(benchmark, lines, tmp_path, tell):  # noqa: F811
    """From a plain file to a finished table."""
    pin()
    (tmp_path / "x").write_text("".join(f"{ngram}\t{count}\n" for ngram, count in lines), encoding="utf8")

    def run():
        return import_table(tmp_path / "t", count_files([str(tmp_path / "x")]), "web1t.v1", force=True)

    run()
    benchmark.pedantic(run, rounds=3)
    table = CountTable.open(tmp_path / "t")
    assert table.n_ngrams == len(lines)
    tell(million_lines_per_second=len(lines) / benchmark.stats["min"] / 1e6)
