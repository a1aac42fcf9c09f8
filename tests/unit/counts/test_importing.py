"""Imported counts: TSV, Web 1T, Google Books in versions 2 and 3; text files read as paragraphs."""

from __future__ import annotations

import gzip
import lzma
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from disambig.counts import (
    CountTable,
    TextFiles,
    count_files,
    count_format,
    describe_table,
    import_table,
    importing as readers,
    inputs as forms,
    merge_tables,
)
from disambig.errors import UserError
from disambig.files import open_bytes, pack as pack_into
from disambig.text import Words, hash_word, hash_words, ngram_keys


def import_counts(path, *sources, tokenisation="web1t.v1", **options):
    files = count_files([str(source) for source in sources])
    return CountTable.open(import_table(path, files, tokenisation, **options))


def get_count(table, *words):
    return int(table.counts_of_words(hash_words(words)[None])[0])


@pytest.fixture
def web1t(tmp_path):
    """A tiny collection of counts in the layout of Web 1T."""
    root = tmp_path / "web1t"
    files = {
        "1gms/vocab.gz": "<S>\t1000\n<UNK>\t7\nThe\t40\nhouse\t9\n",
        "1gms/total": "1056\n",
        "2gms/2gm-0000.gz": "<S> The\t30\nThe house\t5\n",
        "2gms/2gm-0001.xz": "house .\t4\n",
        "2gms/2gm.idx": "2gm-0000.gz\t<S> The\n",
        "3gms/3gm-0000": "<S> The house\t3\nThe house .\t2\n",
        "doc/readme.txt": "not counts\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(path.suffix, bytes)
        path.write_bytes(pack(text.encode()))
    return root


def test_web1t_layout(tmp_path, web1t):
    table = import_counts(tmp_path / "x", web1t, licence="LDC")
    table.verify()
    assert table.n_ngrams == 9
    assert table.tokenisations == ("web1t.v1",)
    counts = {"<S>": 1000, "<UNK>": 7, "The house": 5, "the house": 0, "house .": 4, "<S> The house": 3}
    assert {ngram: get_count(table, *ngram.split()) for ngram in counts} == counts
    assert table.header["info"]["ngrams"]["kept"] == {"1": 4, "2": 3, "3": 2, "4": 0, "5": 0}
    names = [source["name"] for source in table.header["info"]["views"]["web1t.v1"]["sources"]]
    assert names == ["vocab.gz", "2gm-0000.gz", "2gm-0001.xz", "3gm-0000"]
    assert not (tmp_path / "x").with_suffix(".tmp").exists()
    small = import_counts(tmp_path / "y", web1t, orders=2, min_counts={1: 9, 2: 5}, keep_words=["The"])
    assert small.n_ngrams == 3
    assert get_count(small, "The", "house") == 5


def test_repeated_ngrams_add_up_over_files(tmp_path):
    (tmp_path / "a.tsv").write_text("in the\t3\nthe\t5\n")
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(b"the\t2\r\nin the\t1\r\nthe\t1"))
    files = tmp_path / "a.tsv", tmp_path / "b.tsv.gz"
    table = import_counts(tmp_path / "x", *files, tokenisation="disambig.words.v1")
    assert table.count("in the") == 4
    assert table.count("the") == 8
    assert table.n_ngrams == 2


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("the house 5", "no TAB"),
        (" ", "no TAB"),
        ("the house\t", "whole number"),
        ("the house\t0", "whole number"),
        ("the house\t-3", "whole number"),
        ("the house\t3.5", "whole number"),
        ("the house\t" + "9" * 19, "whole number"),
        ("the  house\t3", "single spaces"),
        (" the\t3", "single spaces"),
        ("the \t3", "single spaces"),
        ("\t3", "single spaces"),
        ("the\thouse\t3", "single spaces"),
        ("a b c d e f\t3", "more than 5"),
    ],
)
def test_names_malformed_lines(tmp_path, line, problem):
    (tmp_path / "a.tsv").write_text(f"fine\t1\nin the\t2\n{line}\nfine\t1\n")
    with pytest.raises(UserError, match=rf"D114.*a\.tsv, line 3: .*{problem}"):
        import_counts(tmp_path / "x", tmp_path / "a.tsv")
    assert not (tmp_path / "x").exists()


def test_line_numbers_in_later_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "_BLOCK", 50)
    (tmp_path / "a.tsv").write_text("fine word\t12\n" * 1000 + "bad\n")
    with pytest.raises(UserError, match="line 1,001"):
        import_counts(tmp_path / "x", tmp_path / "a.tsv")
    monkeypatch.setattr(readers, "_LONGEST_LINE", 500)
    (tmp_path / "b.tsv").write_text("fine word\t12\n" + "x" * 1000)
    with pytest.raises(UserError, match=r"line 2: it has no line end"):
        import_counts(tmp_path / "x", tmp_path / "b.tsv")


def test_rejects_other_invalid_files(tmp_path, web1t):
    (web1t / "2gms" / "2gm-0000.gz").write_bytes(gzip.compress(b"one two three\t4\n"))
    with pytest.raises(UserError, match=r"D114.*2gm-0000.gz, line 1: .*folder"):
        import_counts(tmp_path / "x", web1t)
    bad = {"a.tsv": (b"a\xffb\t3\n", "D304"), "b.tsv": (b"a\0b\t3\n", "D303"), "c.tsv": (b"", "D302")}
    bad["a.gz"] = (gzip.compress(b"a\t3\n" * 100)[:-10], "D308")
    for name, (content, code) in bad.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError, match=code):
            import_counts(tmp_path / "x", tmp_path / name)
    (tmp_path / "folder").mkdir()
    for name, code in (("none", "D300"), ("folder", "D115")):
        with pytest.raises(UserError, match=code):
            count_files([str(tmp_path / name)])


letters = st.characters(exclude_characters=" \t\n\r\0", exclude_categories=["Cs"])
word = st.text(letters, min_size=1, max_size=5)
ngram = st.lists(word, min_size=1, max_size=5).map(tuple)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(ngram, st.integers(1, 10**17)), max_size=30), st.sampled_from([20, 10_000]))
def test_any_words_round_trip(tmp_path_factory, lines, block):
    folder = tmp_path_factory.mktemp("tsv")
    text = "".join(f"{' '.join(words)}\t{count}\n" for words, count in lines)
    (folder / "a.tsv").write_text(text or "x\t1\n", encoding="utf8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "_BLOCK", block)
        table = import_counts(folder / "x", folder / "a.tsv")
    true = {}
    for words, count in lines:
        true[words] = true.get(words, 0) + count
    for words, count in true.items():
        assert get_count(table, *words) == count


NAME = Words.name
VERSION_2 = """\
In the House\t1950\t3\t2
In the House\t1951\t4\t1
In the_DET House\t1951\t4\t1
_START_ In the\t1951\t5\t5
in the house\t1950\t1\t1
the _NOUN_ of\t1950\t9\t9
well-known . _END_\t1950\t2\t1
"""
VERSION_3 = """\
In the House\t1950,3,2\t1951,4,1
In the_DET House\t1951,4,1
_START_ In the\t1951,5,5
in the house\t1950,1,1
the _NOUN_ of\t1950,9,9
well-known . _END_\t1950,2,1
"""


@pytest.mark.parametrize(("text", "number"), [(VERSION_2, 1), (VERSION_3, 2)])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_years_are_summed_and_tags_left_out(tmp_path, text, number, ending):
    path = tmp_path / "googlebooks.gz"
    path.write_bytes(gzip.compress(text.replace("\n", ending).encode()))
    assert count_format(str(path)) == number
    table = import_counts(tmp_path / "x", path)
    table.verify()
    counts = {"In the House": 7, "in the house": 1, "<S> In the": 5, "well-known . </S>": 2}
    assert {ngram: get_count(table, *ngram.split()) for ngram in counts} == counts
    assert table.n_ngrams == 4
    assert table.header["info"]["views"]["web1t.v1"]["left_out"] == {"tagged": 2, "cut": 0}
    table = import_counts(tmp_path / "y", path, tokenisation=NAME)
    assert table.count("in the house") == 8
    assert table.count("<S> in the") == 5
    assert table.n_ngrams == 2
    assert table.header["info"]["views"][NAME]["left_out"] == {"tagged": 2, "cut": 1}
    output = "\n".join(describe_table(table))
    assert "lines with a part-of-speech tag: 2" in output
    assert "a word that disambig.words.v1 splits: 1" in output
    table = import_counts(tmp_path / "z", path, tokenisation=NAME, tagged=True, years=(1951, 1951))
    assert table.count("in the house") == 4
    assert get_count(table, "in", "the_DET", "house") == 4
    table = import_counts(tmp_path / "t", path, tagged=True)
    assert get_count(table, "In", "the_DET", "House") == 4
    assert get_count(table, "the", "_NOUN_", "of") == 9


def test_words_in_normal_form(tmp_path):
    lines = {
        "The house": 5,
        "the house": 1,
        "It\u2019s 1984": 2,
        "<S> The": 3,
        "house </S>": 4,
        "the well-known": 7,
        "<UNK> the": 8,
        "the U.S.": 9,
        "don't !": 6,
        "\u200b the": 1,
        "x" * 300 + " the": 1,
    }
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{ngram}\t{count}\n" for ngram, count in lines.items()), encoding="utf8")
    table = import_counts(tmp_path / "x", path, tokenisation=NAME)
    queried = ["the house", "it's 1999", "<S> the", "house </S>", "don't !"]
    assert table.counts_of_texts(queried) == [6, 2, 3, 4, 6]
    assert table.n_ngrams == len(queried)
    assert table.header["info"]["views"][NAME]["left_out"] == {"tagged": 0, "cut": 5}
    kept = import_counts(tmp_path / "k", path, tokenisation=NAME, keep_words=["house"])
    assert kept.n_ngrams == 2
    stands = import_counts(tmp_path / "y", path)
    assert stands.n_ngrams == len(lines)
    assert get_count(stands, "the", "well-known") == 7
    assert "left_out" not in stands.header["info"]["views"]["web1t.v1"]


TAGS = ["a_NOUN", "_._", "x_."]
any_letters = st.text(st.sampled_from("aAé7\u2019.-猫ſ"), min_size=1, max_size=12)
any_word = any_letters | st.sampled_from(["<S>", "_START_", *TAGS])
any_ngrams = st.dictionaries(
    st.lists(any_word, min_size=1, max_size=5).map(tuple),
    st.lists(st.tuples(st.integers(1500, 2019), st.integers(1, 10**6)), min_size=1, max_size=4),
    min_size=1,
    max_size=25,
)


@settings(max_examples=50, deadline=None)
@given(
    any_ngrams,
    st.sampled_from([NAME, "web1t.v1"]),
    st.sampled_from([40, 1 << 22]),
    st.sampled_from([1, 1 << 16]),
)
def test_the_two_versions_and_tsv_agree(tmp_path_factory, counted, name, block, missing):
    folder = tmp_path_factory.mktemp("google")
    rows = {" ".join(words): years for words, years in counted.items()}
    v2 = [f"{n}\t{y}\t{c}\t1\n" for n, years in rows.items() for y, c in years]
    v3 = ["\t".join([n, *(f"{y},{c},1" for y, c in years)]) + "\n" for n, years in rows.items()]
    texts = {"google-v2": "".join(v2), "google-v3": "".join(v3)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "_BLOCK", block)
        patch.setattr(readers, "_MISSING", missing)
        tables = []
        for form, text in texts.items():
            (folder / form).write_text(text, encoding="utf8", newline="")
            options = {"tokenisation": name, "format": form}
            tables.append(import_counts(folder / f"{form}.counts", folder / form, **options))
    assert tables[0].n_ngrams == tables[1].n_ngrams
    true, cut = {}, Words()
    for words, years in counted.items():
        normal = []
        for one in words:
            form = cut.words(one) if name == NAME else ["", one, ""]
            if one in ("<S>", "_START_"):
                normal.append("<S>")
            elif one in TAGS or len(form) != 3:
                break
            else:
                normal.append(form[1])
        else:
            true[tuple(normal)] = true.get(tuple(normal), 0) + sum(c for _, c in years)
    for table in tables:
        assert table.n_ngrams == len(true)
        for words, count in true.items():
            assert get_count(table, *words) == count
    keys = [ngram_keys(hash_words(words)[None], hash_word(name))[0] for words in true]
    assert tables[0].n_ngrams == 0 or (tables[0].ranks(np.array(keys)) > 0).all()


def test_a_short_line_after_a_long_one_and_zstd(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    text = "a" * 90 + " b\t1950\t2\t1\n" + "a\t1950\t3\t1\na\t1951\t3\t1"
    (tmp_path / "a.zst").write_bytes(zstandard.ZstdCompressor().compress(text.encode()))
    table = import_counts(tmp_path / "x", tmp_path / "a.zst")
    assert (get_count(table, "a"), get_count(table, "a" * 90, "b"), table.n_ngrams) == (6, 2, 2)
    (tmp_path / "cut.zst").write_bytes((tmp_path / "a.zst").read_bytes()[:-3])
    with pytest.raises(UserError, match=r"D308.*cut\.zst"):
        import_counts(tmp_path / "y", tmp_path / "cut.zst")


def test_directories(tmp_path):
    folder = tmp_path / "google"
    folder.mkdir()
    for name, text in (
        ("googlebooks-eng-all-2gram-20120701-th.gz", "the house\t1950\t3\t2\n"),
        ("googlebooks-eng-all-1gram-20120701-a", "a\t1950\t3\t2\n"),
        ("3-00001-of-00002.xz", "the old house\t1950,3,2\n"),
        ("googlebooks-eng-all-totalcounts-20120701.txt", "1950,1,1,1\n"),
        ("readme", "no counts"),
    ):
        pack = {"gz": gzip.compress, "xz": lzma.compress}.get(name.rpartition(".")[2], bytes)
        (folder / name).write_bytes(pack(text.encode()))
    assert [order for _, order in count_files([str(folder)])] == [3, 1, 2]
    assert import_counts(tmp_path / "x", folder).n_ngrams == 3
    assert import_counts(tmp_path / "y", folder, orders=2).n_ngrams == 2
    (folder / "3-00001-of-00002.xz").write_bytes(lzma.compress(b"the house\t1950,3,2\n"))
    with pytest.raises(UserError, match=r"D114.*3-00001.*line 1: there are more or fewer"):
        import_counts(tmp_path / "z", folder)


@pytest.mark.parametrize(
    ("form", "line", "problem"),
    [
        ("google-v2", "the house\t1950\t3", "cannot be read; a line is an n-gram, year, match"),
        ("google-v2", "the house\t1950\t3\t2\t1", "cannot be read"),
        ("google-v2", "the house\tyear\t3\t2", "cannot be read"),
        ("google-v2", "the house\t1950\t\t2", "cannot be read"),
        ("google-v2", "the house\t1950\t-3\t2", "cannot be read"),
        ("google-v2", "the house\t1950\t" + "9" * 19 + "\t2", "cannot be read"),
        ("google-v2", "the house 1950", "no TAB"),
        ("google-v2", "the  house\t1950\t3\t2", "single spaces"),
        ("google-v2", "a b c d e f\t1950\t3\t2", "more than 5"),
        ("google-v3", "the house\t1950,3", "cannot be read; a line is an n-gram and, each"),
        ("google-v3", "the house\t1950,3,2,1", "cannot be read"),
        ("google-v3", "the house\t1950,3,2\t", "cannot be read"),
        ("google-v3", "the house\t", "cannot be read"),
        ("google-v3", "the house\t1950,3,2 1951,3,2", "cannot be read"),
        ("google-v3", "the house" + "\t1950,999999999999999999,2" * 3, "more than a text can contain"),
        ("google-v3", "\t1950,3,2", "single spaces"),
    ],
)
def test_malformed_google_lines_are_named(tmp_path, form, line, problem):
    good = "fine word\t1950\t1\t1\n" if form == "google-v2" else "fine word\t1950,1,1\n"
    (tmp_path / "a").write_text(f"{good}{good}{line}\n{good}")
    for options in ({}, {"format": form}):
        with pytest.raises(UserError, match=rf"D114.*a, line 3: .*{problem}"):
            import_counts(tmp_path / "x", tmp_path / "a", **options)
    assert not (tmp_path / "x").exists()


def test_errors_of_formats_and_of_sums(tmp_path):
    most = 999_999_999_999_999_999
    one = "the house\t1950\t3\t2\n"
    sums = "a\t1\t1\t1\n" + f"the house\t1950\t{most}\t1\n" * 3
    cut = gzip.compress(b"the house\t1950,3,2\n" * 100)[:-10]
    for name, content, options, message in (
        ("a", one, {"format": "google-v9"}, "D601.*google-v2"),
        ("a", one, {"format": "tsv"}, "D114"),
        ("b", sums, {}, "D114.*line 3: .*more than a text"),
        ("c", f"the house\t{most}\n" * 3, {}, "D118"),
        ("cut.gz", cut, {}, "D308"),
    ):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(UserError, match=message):
            import_counts(tmp_path / "x", tmp_path / name, **options)
    (tmp_path / "long").write_bytes(b"x" * (3 << 20))
    assert forms.FORMATS[count_format(str(tmp_path / "long"))] == "tsv"


def test_imports_are_merged(tmp_path):
    (tmp_path / "a").write_text(VERSION_2)
    (tmp_path / "b").write_text(VERSION_3)
    for name in (NAME, "web1t.v1"):
        options = {"tokenisation": name, "keys": True}
        parts = [import_counts(tmp_path / f"{x}-{name}", tmp_path / x, **options) for x in "ab"]
        once = import_counts(tmp_path / f"once-{name}", tmp_path / "a", tmp_path / "b", tokenisation=name)
        merged = merge_tables(tmp_path / f"merged-{name}", parts)
        assert merged.read_bytes() == once.path.read_bytes()
        assert CountTable.open(merged).n_ngrams


def read(*paths):
    return list(TextFiles([str(path) for path in paths]))


def test_reads_files_directories_and_compressed_files(tmp_path):
    (tmp_path / "b.txt").write_text("one\r\ntwo\rthree\n\n\nfour", encoding="utf8", newline="")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt.gz").write_bytes(gzip.compress("fünf\n".encode()))
    (tmp_path / "sub" / "c.xz").write_bytes(lzma.compress("\ufeffsix".encode()))
    (tmp_path / "sub" / ".hidden.txt").write_text("no")
    (tmp_path / "sub" / "other.md").write_text("no")
    (tmp_path / "sub" / "empty.txt").write_text("")
    assert read(tmp_path) == ["one", "two", "three", "four", "fünf", "six"]
    assert read(tmp_path / "sub" / "other.md", tmp_path / "b.txt")[0] == "no"
    files = TextFiles([str(tmp_path)])
    assert [source["name"] for source in files.sources] == ["b.txt", "a.txt.gz", "c.xz"]
    assert files.total == sum(source["bytes"] for source in files.sources)
    list(files)
    assert files.done == files.total


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("latin.txt", "ein caf\xe9".encode("latin1"), "D304.*latin.txt.*0xe9 at offset 7"),
        ("nul.txt", b"abc\0def", "D303.*nul.txt.*offset 3"),
        ("late.txt", b"fine\n" * 1000 + b"\xff", "D304.*offset 5,000"),
        ("wide.txt", "abc".encode("utf-16"), "D304.*UTF-16"),
        ("cut.gz", gzip.compress(b"text " * 100, mtime=0)[:-9], "D308.*cut.gz"),
        ("not.gz", b"plain text", "D308.*not.gz"),
        ("cut.xz", lzma.compress(bytes(range(256)) * 100)[:60], "D308.*cut.xz"),
        ("not.xz", b"plain text", "D308.*not.xz"),
        ("empty.txt", b"", "D302.*empty.txt"),
    ],
)
def test_names_invalid_files(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message):
        read(tmp_path / name)


def test_missing_files_and_offsets_in_later_blocks(tmp_path, monkeypatch):
    with pytest.raises(UserError, match="D300"):
        read(tmp_path / "none")
    with pytest.raises(UserError, match=r"D301.*\.txt"):
        read(tmp_path)
    monkeypatch.setattr(forms, "_BLOCK", 7)
    (tmp_path / "x.txt").write_bytes("ä\nbcd\r\n".encode() * 20 + b"abc\xe9\n")
    with pytest.raises(UserError, match=r"D304.*offset 163"):
        read(tmp_path / "x.txt")
    (tmp_path / "y.txt").write_bytes("ä\nbcd\r\n".encode() * 20)
    assert read(tmp_path / "y.txt") == ["ä", "bcd"] * 20


@pytest.mark.parametrize("piece", ["One two, three. ", "one two ", "猫", "é", "x"])
def test_long_lines_are_cut_and_nothing_is_lost(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(forms, "_BLOCK", 64)
    monkeypatch.setattr(forms, "LONGEST", 256)
    text = piece * 500
    (tmp_path / "x.txt").write_text(text, encoding="utf8")
    lines = read(tmp_path / "x.txt")
    assert "".join(lines) == text
    assert len(lines) > 1
    assert max(len(line.encode()) for line in lines) <= 256 + 64
    if len(piece) > 3:
        assert all(line.endswith(piece[-2:]) for line in lines)


def test_zstd(tmp_path, monkeypatch):
    zstandard = pytest.importorskip("zstandard")
    pack = zstandard.ZstdCompressor(write_checksum=True).compress
    text = "".join(f"Line {i} of the text, näively.\n" for i in range(30_000))
    (tmp_path / "a.txt.zst").write_bytes(pack(text[:1000].encode()) + pack(text[1000:].encode()))
    assert read(tmp_path) == text.splitlines()
    with open_bytes(str(tmp_path / "a.txt.zst")) as file:
        assert file.read(5) + file.read() == text.encode()
    with open(tmp_path / "b.zst", "wb") as sink, pack_into(sink, "b.zst") as packed:
        packed.write(text.encode())
    assert read(tmp_path / "b.zst") == text.splitlines()
    whole = (tmp_path / "a.txt.zst").read_bytes()
    changed = whole.replace(whole[50:60], b"0" * 10)
    for damage in (whole[:-9], whole[:3], b"plain text", whole + b"more", changed):
        (tmp_path / "c.zst").write_bytes(damage)
        with pytest.raises(UserError, match=r"D308.*c\.zst"):
            read(tmp_path / "c.zst")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(UserError, match=r"D123.*pip install 'zstandard>=0.22'"):
        read(tmp_path / "b.zst")
