"""Ready counts: TSV and the layout of Web 1T."""

import gzip
import lzma

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disambig.counts import CountTable, count_files, import_table
from disambig.counts import importing as readers
from disambig.errors import UserError
from disambig.text import hash_words


def imported(path, *sources, tokenisation="web1t.v1", **options):
    return CountTable.open(
        import_table(path, count_files([str(source) for source in sources]), tokenisation, **options)
    )


def ask(table, *words):
    return int(table.counts_of_words(hash_words(words)[None])[0])


@pytest.fixture
def web1t(tmp_path):
    """A tiny collection in the layout of Web 1T."""
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
    table = imported(tmp_path / "x", web1t, licence="LDC")
    table.verify()
    assert table.n_ngrams == 9
    assert table.tokenisations == ("web1t.v1",)
    assert ask(table, "<S>") == 1000
    assert ask(table, "<UNK>") == 7
    assert ask(table, "The", "house") == 5
    assert ask(table, "the", "house") == 0
    assert ask(table, "house", ".") == 4
    assert ask(table, "<S>", "The", "house") == 3
    assert table.header["info"]["ngrams"]["kept"] == {"1": 4, "2": 3, "3": 2, "4": 0, "5": 0}
    assert [s["name"] for s in table.header["info"]["views"]["web1t.v1"]["sources"]] == [
        "vocab.gz",
        "2gm-0000.gz",
        "2gm-0001.xz",
        "3gm-0000",
    ]
    assert not (tmp_path / "x").with_suffix(".tmp").exists()
    small = imported(tmp_path / "y", web1t, orders=2, min_counts={1: 9, 2: 5}, keep_words=["The"])
    assert small.n_ngrams == 3
    assert ask(small, "The", "house") == 5


def test_repeated_ngrams_add_up_over_files(tmp_path):
    (tmp_path / "a.tsv").write_text("in the\t3\nthe\t5\n")
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(b"the\t2\r\nin the\t1\r\nthe\t1"))
    table = imported(
        tmp_path / "x", tmp_path / "a.tsv", tmp_path / "b.tsv.gz", tokenisation="disambig.words.v1"
    )
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
def test_malformed_lines_are_named(tmp_path, line, problem):
    (tmp_path / "a.tsv").write_text(f"fine\t1\nin the\t2\n{line}\nfine\t1\n")
    with pytest.raises(UserError, match=rf"D114.*a\.tsv, line 3: .*{problem}"):
        imported(tmp_path / "x", tmp_path / "a.tsv")
    assert not (tmp_path / "x").exists()


def test_line_numbers_in_later_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "_BLOCK", 50)
    (tmp_path / "a.tsv").write_text("fine word\t12\n" * 1000 + "bad\n")
    with pytest.raises(UserError, match="line 1,001"):
        imported(tmp_path / "x", tmp_path / "a.tsv")
    monkeypatch.setattr(readers, "_LONGEST_LINE", 500)
    (tmp_path / "b.tsv").write_text("fine word\t12\n" + "x" * 1000)
    with pytest.raises(UserError, match=r"line 2: it has no line end"):
        imported(tmp_path / "x", tmp_path / "b.tsv")


def test_other_bad_files(tmp_path, web1t):
    (web1t / "2gms" / "2gm-0000.gz").write_bytes(gzip.compress(b"one two three\t4\n"))
    with pytest.raises(UserError, match=r"D114.*2gm-0000.gz, line 1: .*folder"):
        imported(tmp_path / "x", web1t)
    for content, code in ((b"a\xffb\t3\n", "D304"), (b"a\0b\t3\n", "D303"), (b"", "D302")):
        (tmp_path / "a.tsv").write_bytes(content)
        with pytest.raises(UserError, match=code):
            imported(tmp_path / "x", tmp_path / "a.tsv")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"a\t3\n" * 100)[:-10])
    with pytest.raises(UserError, match="D308"):
        imported(tmp_path / "x", tmp_path / "a.gz")
    with pytest.raises(UserError, match="D300"):
        count_files([str(tmp_path / "none")])
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match="D115"):
        count_files([str(tmp_path / "folder")])


word = st.text(
    st.characters(exclude_characters=" \t\n\r\0", exclude_categories=["Cs"]), min_size=1, max_size=5
)
ngram = st.lists(word, min_size=1, max_size=5).map(tuple)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(ngram, st.integers(1, 10**17)), max_size=30), st.sampled_from([20, 10_000]))
def test_any_words_round_trip(tmp_path_factory, lines, block):
    folder = tmp_path_factory.mktemp("tsv")
    text = "".join(f"{' '.join(words)}\t{count}\n" for words, count in lines)
    (folder / "a.tsv").write_text(text or "x\t1\n", encoding="utf8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "_BLOCK", block)
        table = imported(folder / "x", folder / "a.tsv")
    true = {}
    for words, count in lines:
        true[words] = true.get(words, 0) + count
    for words, count in true.items():
        assert ask(table, *words) == count
