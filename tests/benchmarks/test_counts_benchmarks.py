"""The count store against others, in one run: lookups, size, opening, counting, memory, shared pages, import.

    DISAMBIG_DATA=... DISAMBIG_LMPLZ=.../lmplz pytest -m benchmark tests/benchmarks/test_counts_benchmarks.py

Real text where `DISAMBIG_DATA` is set, else made text with Zipf's frequencies. Nothing here fails for
being slow: the figures are printed, and kept by pytest-benchmark (``--benchmark-json``). Import: lines parsed
a second on one core, which is all between unpacked blocks of bytes and keys with counts.
"""

from __future__ import annotations

import collections
import lzma
import multiprocessing
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pytest

from disambig.counts import (
    CountReader,
    CountTable,
    NgramCounter,
    TextFiles,
    build_table,
    count_files,
    import_table,
    write_table,
)
from disambig.text import Words, hash_word, ngram_keys

pytestmark = pytest.mark.benchmark
LOOKUP_WORDS = 4_500_000  # their 1-5-grams, all kept, are some ten million
COUNT_WORDS = 12_000_000
ASKED = 2_000_000
MIN_COUNTS = {2: 2, 3: 2, 4: 2, 5: 2}
LMPLZ_OPTIONS = ("-o", "5", "--prune", "0", "1", "1", "1", "1", "-S", "2G", "--discount_fallback")
LARGEST = {"exact": 6.8, "compact": 4.7, "small": 2.5}  # bytes an n-gram may take
DOMAINS = ("science", "speeches", "textbooks", "health", "fiction")


def real_paragraphs(folder):
    for domain in DOMAINS:
        with lzma.open(Path(folder, "english", f"{domain}.train.txt.xz"), "rt", encoding="utf8") as lines:
            yield from (line.rstrip("\n") for line in lines)


def made_paragraphs():
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwygpbvk"))
    words = ["".join(rng.choice(letters, rng.integers(1, 9))) for _ in range(200_000)]
    while True:
        ids = np.minimum(rng.zipf(1.15, 120), len(words)) - 1
        yield " ".join(words[i] for i in ids).capitalize() + "."


def some_text(n_words):
    paragraphs = real_paragraphs(os.environ["DISAMBIG_DATA"]) if "DISAMBIG_DATA" in os.environ else ()
    texts, seen = [], 0
    for text in chain(paragraphs, made_paragraphs()):
        texts.append(text)
        seen += text.count(" ") + 1
        if seen >= n_words:
            return texts
    raise AssertionError("unreachable")


def normal_words(view):
    """Return the words of a view as strings, by token."""
    words = []
    for d, text in enumerate(view.texts):
        first, last = view.documents[d], view.documents[d + 1]
        low = text.lower()
        pairs = zip(view.starts[first:last].tolist(), view.ends[first:last].tolist(), strict=True)
        words += [low[a:b] if b > a else "<>" for a, b in pairs]
    return words


@dataclass
class Ngrams:
    keys: np.ndarray  # (n,) of all n-grams
    counts: np.ndarray
    texts: list  # (ASKED,) some of them as text, in random order
    rows: np.ndarray  # their places in keys
    all_texts: list


@pytest.fixture(scope="module")
def ngrams():
    """About ten million n-grams of text, as keys and as strings."""
    view = Words()(some_text(LOOKUP_WORDS))
    words, seed = normal_words(view), hash_word(Words.name)
    left = np.repeat(view.sentences[1:], np.diff(view.sentences)) - np.arange(len(view))
    keys, counts, texts = [], [], []
    for n in range(1, 6):
        starts = np.flatnonzero(left >= n)
        windows = np.lib.stride_tricks.sliding_window_view(view.hashes, n)[starts]
        distinct, first, count = np.unique(ngram_keys(windows, seed), return_index=True, return_counts=True)
        keys.append(distinct)
        counts.append(count)
        texts += [" ".join(words[i : i + n]) for i in starts[first].tolist()]
    keys, counts = np.concatenate(keys), np.concatenate(counts).astype(np.uint64)
    rows = np.random.default_rng(0).integers(0, len(keys), ASKED)
    return Ngrams(keys, counts, [texts[i] for i in rows.tolist()], rows, texts)


@pytest.fixture(scope="module")
def tables(ngrams, tmp_path_factory):
    """Count tables of these n-grams, by record format."""
    folder, order, by_record = tmp_path_factory.mktemp("tables"), np.argsort(ngrams.keys), {}
    chunks = [(ngrams.keys[order], ngrams.counts[order])]
    for record in LARGEST:
        path = write_table(folder / record, chunks, tokenisations=[Words.name], record=record)
        by_record[record] = CountTable.open(path)
    return by_record


@pytest.fixture(scope="module")
def table(tables):
    """The count table of these n-grams with exact counts."""
    return tables["exact"]


@pytest.fixture
def tell(capsys, benchmark):
    """Print a figure in spite of captured output, and store it with the benchmark."""

    def say(**figures):
        benchmark.extra_info.update(figures)
        with capsys.disabled():
            print("\n  " + "; ".join(f"{name} {value:,.4g}" for name, value in figures.items()), end=" ")

    return say


def best(function, rounds=3):
    """Return the seconds of the fastest of some rounds."""
    took = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        took.append(time.perf_counter() - start)
    return min(took)


def ours_per_second(ngrams, table):
    keys = np.ascontiguousarray(np.tile(ngrams.keys[ngrams.rows], 5))
    table.ranks(keys[:1000], backend="numba")
    return len(keys) / best(lambda: table.ranks(keys, backend="numba"), 7)


@pytest.mark.parametrize("record", LARGEST)
@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_lookup(benchmark, ngrams, tables, tell, backend, record):
    table = tables[record]
    keys = ngrams.keys[np.random.default_rng(1).permutation(len(ngrams.keys))]
    table.ranks(keys[:1000], backend=backend)
    benchmark.pedantic(table.ranks, args=(keys,), kwargs={"backend": backend}, rounds=7)
    few = ngrams.counts <= 7
    assert np.array_equal(table.counts(ngrams.keys[few], backend=backend), ngrams.counts[few])
    tell(ngrams=len(keys), million_per_second=len(keys) / benchmark.stats["min"] / 1e6)


@pytest.mark.parametrize(("record", "most"), LARGEST.items())
def test_size(benchmark, ngrams, tables, tell, record, most):
    size = tables[record].path.stat().st_size / len(ngrams.keys)
    benchmark.pedantic(tables[record].verify, rounds=1)
    tell(bytes_per_ngram=size)
    assert size <= most


def test_open(benchmark, table, tell):
    benchmark.pedantic(CountTable.open, args=(table.path,), rounds=20)
    tell(milliseconds=benchmark.stats["median"] * 1e3)


def test_sqlite(benchmark, ngrams, table, tmp_path, tell):
    queries = ngrams.texts[: ASKED // 8]
    with sqlite3.connect(tmp_path / "x.sqlite") as base:
        base.execute("PRAGMA mmap_size = 8000000000")
        base.execute("CREATE TABLE ngrams (ngram TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID")
        rows = sorted(zip(ngrams.all_texts, ngrams.counts.tolist(), strict=True))
        base.executemany("INSERT OR IGNORE INTO ngrams VALUES (?, ?)", rows)
        base.commit()

        def ask():
            execute = base.execute
            for ngram in queries:
                execute("SELECT count FROM ngrams WHERE ngram = ?", (ngram,)).fetchone()

        benchmark.pedantic(ask, rounds=2)
    theirs = len(queries) / benchmark.stats["min"]
    tell(sqlite_per_second=theirs, times=ours_per_second(ngrams, table) / theirs)


def test_lmdb(benchmark, ngrams, table, tmp_path, tell):
    lmdb = pytest.importorskip("lmdb")
    with lmdb.open(str(tmp_path / "x.lmdb"), map_size=1 << 33, lock=False) as base:
        items = sorted(
            (text.encode()[:500], int(count).to_bytes(4, "little"))
            for text, count in zip(ngrams.all_texts, ngrams.counts, strict=True)
        )
        with base.begin(write=True) as writing, writing.cursor() as cursor:
            cursor.putmulti(items, append=False)
        queries = [text.encode()[:500] for text in ngrams.texts]
        with base.begin(buffers=True) as reading:

            def ask():
                get = reading.get
                for ngram in queries:
                    int.from_bytes(get(ngram), "little")

            benchmark.pedantic(ask, rounds=3)
    theirs = len(queries) / benchmark.stats["min"]
    tell(lmdb_per_second=theirs, times=ours_per_second(ngrams, table) / theirs)


def test_marisa_trie(benchmark, ngrams, table, tmp_path, tell):
    marisa_trie = pytest.importorskip("marisa_trie")
    counts = ngrams.counts.tolist()
    trie = marisa_trie.RecordTrie(
        "<I", ((text, (count,)) for text, count in zip(ngrams.all_texts, counts, strict=True))
    )
    trie.save(str(tmp_path / "x.marisa"))

    def ask():
        get = trie.get
        for ngram in ngrams.texts:
            get(ngram)

    benchmark.pedantic(ask, rounds=2)
    theirs = len(ngrams.texts) / benchmark.stats["min"]
    size = (tmp_path / "x.marisa").stat().st_size / len(counts)
    tell(marisa_per_second=theirs, times=ours_per_second(ngrams, table) / theirs, marisa_bytes=size)


@pytest.fixture(scope="module")
def text_file(tmp_path_factory):
    """A text to count, one paragraph per line."""
    path = tmp_path_factory.mktemp("text") / "x.txt"
    path.write_text("\n".join(some_text(COUNT_WORDS)), encoding="utf8")
    return path


def pin():
    """Restrict this process to one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def count(path, output):
    build_table(output, TextFiles([str(path)]), Words(), min_counts=MIN_COUNTS, force=True)


def timed_counting(path, output):
    """Return counted words, wall time and processor time from file to table, on one core."""
    before = os.sched_getaffinity(0)
    pin()
    try:
        took = []
        for _ in range(3):
            wall, processor = time.perf_counter(), time.process_time()
            count(path, output)
            took.append((time.perf_counter() - wall, time.process_time() - processor))
    finally:
        os.sched_setaffinity(0, before)
    words = int(CountTable.open(output).header["info"]["ngrams"]["seen"]["1"])
    return words, *(min(column) for column in zip(*took, strict=True))


def test_counting_against_counter(benchmark, text_file, tmp_path, tell):
    with open(text_file, encoding="utf8") as lines:
        texts = list(islice(lines, 6000))
    view = Words()(texts)
    words = normal_words(view)
    sentences = [
        words[a:b] for a, b in zip(view.sentences.tolist(), view.sentences[1:].tolist(), strict=False)
    ]

    def plain():
        ngram_counts = collections.Counter()
        for sentence in sentences:
            for n in range(1, 6):
                ngram_counts.update(zip(*(sentence[i:] for i in range(n)), strict=False))
        return {
            ngram: count for ngram, count in ngram_counts.items() if count >= MIN_COUNTS.get(len(ngram), 1)
        }

    benchmark.pedantic(plain, rounds=1)
    theirs = len(words) / benchmark.stats["min"]
    ours, wall, processor = timed_counting(text_file, tmp_path / "x")
    tell(words=ours, words_per_second=ours / wall, counter=theirs, times=ours / wall / theirs, cpu=processor)


def test_counting_against_kenlm(benchmark, text_file, tmp_path, tell):
    lmplz = os.environ.get("DISAMBIG_LMPLZ") or shutil.which("lmplz")
    if lmplz is None:
        pytest.skip("KenLM's lmplz is not installed; DISAMBIG_LMPLZ may say where it is")
    with open(text_file, encoding="utf8") as lines, open(tmp_path / "cut.txt", "w", encoding="utf8") as out:
        while texts := [line.rstrip("\n") for line in islice(lines, 20_000)]:
            view = Words()(texts)
            words = normal_words(view)
            for a, b in zip(view.sentences.tolist(), view.sentences[1:].tolist(), strict=False):
                out.write(" ".join(words[a + 1 : b - 1]) + "\n")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)

    def run():
        with open(tmp_path / "cut.txt", "rb") as source, open(tmp_path / "x.arpa", "wb") as target:
            streams = {"stdin": source, "stdout": target, "stderr": subprocess.DEVNULL}
            command = [lmplz, *LMPLZ_OPTIONS, "-T", str(tmp_path)]
            subprocess.run(command, **streams, preexec_fn=pin, check=True)

    benchmark.pedantic(run, rounds=1)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    theirs = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    words, wall, processor = timed_counting(text_file, tmp_path / "x")
    lmplz_seconds = benchmark.stats["min"]
    times = {"times": lmplz_seconds / wall, "times_by_cpu": theirs / processor}
    tell(words=words, seconds=wall, lmplz_seconds=lmplz_seconds, **times)


def test_memory_bound(benchmark, text_file, tmp_path, tell):
    code = (
        "import sys; from tests.benchmarks.test_counts_benchmarks import *;"
        "build_table(sys.argv[2], TextFiles([sys.argv[1]]), Words(), min_counts=MIN_COUNTS,"
        "            memory=600 << 20);"
        "print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
    )

    def run():
        command = [sys.executable, "-c", code, str(text_file), str(tmp_path / "x")]
        root = Path(__file__).parents[2]
        return subprocess.run(command, capture_output=True, check=True, cwd=root).stdout

    peak = int(benchmark.pedantic(run, rounds=1)) / 1024
    tell(bound_mb=600, peak_mb=peak)
    assert peak <= 600


def touch_all(path, done, go_on):
    table = CountTable.open(path)
    int(table.arrays.words.sum(dtype=np.int64))
    done.set()
    go_on.wait(60)


def mapped(pid, name):
    """Return the resident and proportional size, in kB, of a mapped file in a process."""
    sizes, inside = collections.Counter(), False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        field = line.split()
        if not field[0].endswith(":"):
            inside = line.endswith(name)
        elif inside and field[0] in ("Rss:", "Pss:"):
            sizes[field[0]] += int(field[1])
    return sizes["Rss:"], sizes["Pss:"]


def test_shared_pages(benchmark, table, tell):
    if not Path("/proc/self/smaps").exists():
        pytest.skip("no /proc/self/smaps on this system")
    context = multiprocessing.get_context("spawn")
    go_on, ready = context.Event(), [context.Event(), context.Event()]
    workers = [context.Process(target=touch_all, args=(table.path, event, go_on)) for event in ready]
    for worker in workers:
        worker.start()
    try:
        assert all(event.wait(60) for event in ready)
        resident, proportional = benchmark.pedantic(mapped, args=(workers[0].pid, table.path.name), rounds=1)
    finally:
        go_on.set()
        for worker in workers:
            worker.join()
    tell(resident_kb=resident, proportional_kb=proportional)
    assert 0 < proportional < 0.7 * resident


def test_counter_alone(benchmark, text_file, tell):
    """Keys and sorting without files and tokenisation: the heart of counting."""
    with open(text_file, encoding="utf8") as lines:
        view = Words()([line.rstrip("\n") for line in islice(lines, 50_000)])

    def run():
        with NgramCounter(Words.name) as counter:
            counter.add(view)
            return sum(len(keys) for keys, _, _ in counter.partitions(min_counts=MIN_COUNTS))

    benchmark.pedantic(run, rounds=3)
    tell(words=len(view), million_per_second=len(view) / benchmark.stats["min"] / 1e6)


WORDS = 1_500_000


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


def parsed(path, text, form, name="web1t.v1"):
    """Lines, seconds and n-grams of reading a file in which all words have been met."""
    path.write_text(text, encoding="utf8")
    with Counting(name) as counter:
        reader = CountReader(counter)

        def run():
            for _ in reader.read(str(path), 5, form):
                pass

        run()
        counter.totals[4] = 0
        seconds = best(run, 5)
        return text.count("\n"), seconds, counter.totals[4] // 5


def test_tsv(benchmark, lines, tmp_path, tell):
    pin()
    text = "".join(f"{ngram}\t{count}\n" for ngram, count in lines)
    n, seconds, ngrams = benchmark.pedantic(parsed, args=(tmp_path / "x", text, 0), rounds=1)
    assert ngrams == n
    million, size = n / seconds / 1e6, (tmp_path / "x").stat().st_size / n
    n, seconds, _ = parsed(tmp_path / "x", text, 0, Words.name)
    tell(million_lines_per_second=million, bytes_a_line=size, in_normal_form=n / seconds / 1e6)


def test_google_2(benchmark, lines, tmp_path, tell):
    pin()
    text = "".join(
        f"{ngram}\t{year}\t{year - 1960}\t2\n" for ngram, _ in lines[::20] for year in range(1970, 2009)
    )
    n, seconds, ngrams = benchmark.pedantic(parsed, args=(tmp_path / "x", text, 1), rounds=1)
    tell(million_lines_per_second=n / seconds / 1e6, million_ngrams_per_second=ngrams / seconds / 1e6)


def test_google_3(benchmark, lines, tmp_path, tell):
    pin()
    years = "".join(f"\t{year},{year - 1960},2" for year in range(1970, 2009))
    text = "".join(f"{ngram}{years}\n" for ngram, _ in lines[::20])
    n, seconds, _ = benchmark.pedantic(parsed, args=(tmp_path / "x", text, 2), rounds=1)
    tell(million_ngrams_per_second=n / seconds / 1e6, million_years_per_second=39 * n / seconds / 1e6)


def test_python(benchmark, lines, tell):
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


def test_pandas(benchmark, lines, tmp_path, tell):
    pandas = pytest.importorskip("pandas")
    pin()
    (tmp_path / "x").write_text("".join(f"{ngram}\t{count}\n" for ngram, count in lines), encoding="utf8")
    frame = benchmark.pedantic(
        pandas.read_csv, args=(tmp_path / "x",), kwargs={"sep": "\t", "header": None, "quoting": 3}, rounds=3
    )
    assert len(frame) == len(lines)
    tell(million_lines_per_second=len(lines) / benchmark.stats["min"] / 1e6)


def test_whole_import(benchmark, lines, tmp_path, tell):
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
