"""``disambig counts``, in this process and in a child process, and errors for invalid input."""

from __future__ import annotations

import bz2
import errno
import gzip
import itertools
import json
import lzma
import os
import resource
from functools import partial

import commands
import pytest

from disambig.api import Words, hookimpl
from disambig.counts import inputs as options
from disambig.errors import UserError

TEXT = "It is in the house. In the house of cards, in the big house.\nThe house in the woods.\n"
disambig = partial(commands.here, "counts")
process = partial(commands.process, "counts")


def reports_written(notes):
    """Return True if the output has exactly one line for each table that was written."""
    lines = notes.splitlines()
    return bool(lines) and all(": written, " in line and "n-gram" in line for line in lines)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table that the command has built from one small file."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "a.txt").write_text(TEXT)
    output = ("-o", folder / "x.counts", "--licence", "CC0", "--min-count", "5:2")
    done = disambig("build", folder / "a.txt", *output)
    assert (done.returncode, done.stdout) == (0, "") and reports_written(done.stderr)
    return folder / "x.counts"


def test_query_info_and_verify(table):
    done = disambig("query", table, "in the house", "In  the", "<S> in the", "house . </S>", "zebra", "")
    assert done.stdout == "in the house\t2\nIn  the\t4\n<S> in the\t1\nhouse . </S>\t2\nzebra\t0\n\t0\n"
    done = disambig("query", table, given="the house\nof\n")
    assert done.stdout == "the house\t3\nof\t1\n"
    done = disambig("info", table)
    for part in ("disambig.words.v1", "CC0", "a.txt", "5 words", "seen 2 times"):
        assert part in done.stdout
    header = json.loads(disambig("info", table, "--json").stdout)
    assert header["info"]["licence"] == "CC0"
    assert "intact" in disambig("verify", table).stdout


@pytest.mark.parametrize("job", [[], ["--job", "job"]])
def test_a_table_without_ngrams_is_not_written(tmp_path, job):
    (tmp_path / "a.txt").write_text(TEXT)
    done = disambig("build", "a.txt", "-o", "x.counts", "--min-count", "1:99", *job, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("disambig: [D125] no count table is written: each n-gram")
    assert not (tmp_path / "x.counts").exists()


class Renamed(Words):
    """A tokenisation whose name is not the registered one."""

    name = "renaming.Other.v1"


@hookimpl
def disambig_register_tokenisations(register):
    register("renaming.Renamed.v1", Renamed)


def test_a_tokenisation_with_another_name_is_refused(tmp_path, load_with):
    load_with(renaming=__name__)
    (tmp_path / "a.txt").write_text(TEXT)
    options = ("-o", "x.counts", "--tokenisation", "renaming.Renamed.v1")
    done = disambig("build", "a.txt", *options, folder=tmp_path)
    assert done.returncode == 2 and "expected the registered name, renaming.Renamed.v1" in done.stderr
    assert not (tmp_path / "x.counts").exists()


def test_ngrams_that_are_longer_than_those_of_the_table_are_noted(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    disambig("build", "a.txt", "-o", "x.counts", "--orders", "2", folder=tmp_path)
    done = disambig("query", "x.counts", "in the house", "in the", "a zebra", "<S> in the", folder=tmp_path)
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "in the house\t0"
    assert done.stderr == "note: 2 n-grams longer than those of the table, which have up to 2 words\n"
    done = disambig("query", "x.counts", "a zebra", folder=tmp_path)
    assert (done.stdout, done.stderr) == ("a zebra\t0\n", "")


@pytest.mark.parametrize("job", [[], ["--job", "job"]])
def test_kept_words_that_are_not_in_the_text_are_an_error(tmp_path, job):
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "words.txt").write_text("zebra\nquagga\nokapi\nkudu\n")
    done = disambig("build", "a.txt", "-o", "x.counts", "--keep-words", "words.txt", *job, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    seen = "no n-gram contains a word of --keep-words (kudu, okapi, quagga, 1 more)"
    assert done.stderr.splitlines()[-1].startswith(f"disambig: [D126] no count table is written: {seen}")
    assert not (tmp_path / "x.counts").exists()


def test_kept_words_that_are_not_in_imported_counts_are_an_error(tmp_path):
    (tmp_path / "a.tsv").write_text("the house\t3\n")
    (tmp_path / "words.txt").write_text("zebra\n")
    done = disambig("import", "a.tsv", "-o", "x.counts", "--keep-words", "words.txt", folder=tmp_path)
    assert done.returncode == 2 and "[D126]" in done.stderr and "(zebra)" in done.stderr
    assert not (tmp_path / "x.counts").exists()


@pytest.mark.parametrize("job", [[], ["--job", "job"]])
def test_files_of_a_directory_that_are_not_counted_are_named(tmp_path, job):
    folder = tmp_path / "texts"
    (folder / "more").mkdir(parents=True)
    for name in ("a.txt", "b.md", "c.md", "more/d.jsonl", "more/.hidden"):
        (folder / name).write_text(TEXT)
    (folder / "e.txt").touch()
    (folder / "f.txt").symlink_to(folder / "nowhere.txt")
    done = disambig("build", "texts", "-o", "x.counts", *job, folder=tmp_path)
    note, _ = done.stderr.splitlines()
    counted = ".md 2, .jsonl 1, .txt (empty) 1, .txt (not a file) 1"
    assert done.returncode == 0 and note == f"disambig: [D342] not read: 5 files by suffix ({counted})"
    assert not disambig("build", "texts", "-o", "y.counts", "-q", folder=tmp_path).stderr


def test_compressed_files_of_structured_formats_in_a_directory_are_named_not_counted(tmp_path):
    """As without the compression: the names of keys would be counted as words."""
    texts = tmp_path / "texts"
    texts.mkdir()
    rows = '{"id": "a", "text": "in the house"}\n'
    for name in ("x.jsonl.gz", "Y.JSON.GZ", "z.csv.bz2", "w.md.xz"):
        packer = {"gz": gzip, "bz": bz2, "xz": lzma}[name.lower().rpartition(".")[2][:2]]
        (texts / name).write_bytes(packer.compress(rows.encode()))
    refused = disambig("build", "texts", "-o", "x.counts", folder=tmp_path)
    assert refused.returncode == 2 and "D301" in refused.stderr
    for name in ("a.txt.gz", "b.gz", "c.en.gz", "d.json.dir/e.gz"):
        (texts / name).parent.mkdir(exist_ok=True)
        (texts / name).write_bytes(gzip.compress(TEXT.encode()))
    done = disambig("build", "texts", "-o", "x.counts", folder=tmp_path)
    note, _ = done.stderr.splitlines()
    left_out = ".csv.bz2 1, .json.gz 1, .jsonl.gz 1, .md.xz 1"
    assert note == f"disambig: [D342] not read: 4 files by suffix ({left_out})"
    assert disambig("query", tmp_path / "x.counts", "in the", "id").stdout == "in the\t16\nid\t0\n"


def test_named_files_of_data_are_refused_and_markup_is_noted(tmp_path):
    for name in ("a.csv", "B.TSV", "c.jsonl", "d.conllu"):
        (tmp_path / name).write_text(TEXT)
        done = disambig("build", name, "-o", "x.counts", folder=tmp_path)
        suffix = name[1:].lower()
        assert done.returncode == 2 and f"[D127] {name}: {suffix} files are not counted" in done.stderr
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    assert "[D127] a.csv.gz: .csv files" in disambig("build", "a.csv.gz", "-o", "x", folder=tmp_path).stderr
    assert not list(tmp_path.glob("x*"))
    (tmp_path / "e.md").write_text(TEXT)
    done = disambig("build", "e.md", "-o", "x.counts", folder=tmp_path)
    assert done.returncode == 0 and "[D128] counted with their markup: e.md;" in done.stderr


def test_directories_that_are_not_read_are_named(tmp_path):
    texts = tmp_path / "texts"
    (texts / "more").mkdir(parents=True)
    (texts / "a.txt").write_text(TEXT)
    (tmp_path / "other").mkdir()
    (texts / "linked").symlink_to(tmp_path / "other")
    (texts / "loop").symlink_to(texts)
    done = disambig("build", "texts", "-o", "x.counts", folder=tmp_path)
    assert "[D342] not read: 2 files by suffix (links to directories 2)" in done.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", denied(os.scandir, texts / "more"))
        done = disambig("build", "texts", "-o", "y.counts", folder=tmp_path)
    assert done.returncode == 2 and not (tmp_path / "y.counts").exists()
    assert f"[D308] cannot read texts{os.sep}more: Permission denied" in done.stderr


@pytest.mark.parametrize("command", ["build", "import"])
def test_no_input_is_replaced(tmp_path, command):
    (tmp_path / "a.txt").write_text("the house\t3\n")
    (tmp_path / "link.txt").symlink_to("a.txt")
    for output in ("a.txt", "link.txt"):
        done = disambig(command, "a.txt", "-o", output, "--force", folder=tmp_path)
        assert done.returncode == 2 and f"[D316] {output} is one of the inputs" in done.stderr
    assert (tmp_path / "a.txt").read_text() == "the house\t3\n"


def denied(scan, folder):
    """Return `os.scandir` that may not list a folder: tests may run with all rights."""

    def scandir(path="."):
        if os.path.realpath(path) == os.path.realpath(folder):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scan(path)

    return scandir


def test_stdin_keep_words_and_compact(tmp_path):
    (tmp_path / "words").write_text("House\n\nit's\n")
    options = "--keep-words words --record compact --orders 2 --memory 512M".split()
    done = process("build", "-", "-o", "y", *options, given=TEXT, folder=tmp_path)
    assert done.returncode == 0 and reports_written(done.stderr)
    done = disambig("query", tmp_path / "y", "the house", "in the", "house")
    assert done.stdout == "the house\t3\nin the\t0\nhouse\t4\n"
    header = json.loads(disambig("info", tmp_path / "y", "--json").stdout)
    assert header["info"]["keep_words"] == ["house", "it's"]


def test_several_views_and_gaps(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    views = ("--tokenisation", "disambig.words.v1", "--tokenisation", "web1t.v1")
    done = disambig("build", tmp_path / "a.txt", "-o", tmp_path / "x", "--gaps", "--record", "small", *views)
    assert done.returncode == 0 and reports_written(done.stderr)
    queried = ("in * house", "The house")
    assert disambig("query", tmp_path / "x", *queried).stdout.split("\t")[1:] == ["2\nThe house", "3\n"]
    done = disambig("query", tmp_path / "x", *queried, "--tokenisation", "web1t.v1")
    assert done.stdout.split("\t")[1:] == ["1\nThe house", "1\n"]
    output = disambig("info", tmp_path / "x").stdout
    for part in ("disambig.words.v1", "web1t.v1", "with a gap", "once in 1,024", "small"):
        assert part in output
    assert "[D110]" in disambig("query", tmp_path / "x", "a", "--tokenisation", "other.v1").stderr


def test_merge_and_prune(tmp_path):
    for name, text in (("a.txt", TEXT), ("b.txt", "In the old house.")):
        (tmp_path / name).write_text(text)
        done = disambig("build", name, "-o", name[0], "--keys", folder=tmp_path)
        assert done.returncode == 0 and reports_written(done.stderr)
    done = disambig("merge", "a", "b", "-o", "m", "--keys", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "") and reports_written(done.stderr)
    assert disambig("query", "m", "in the", "the old house", folder=tmp_path).stdout == (
        "in the\t5\nthe old house\t1\n"
    )
    assert "b.txt" in disambig("info", "m", folder=tmp_path).stdout
    prune = ("prune", "m", "-o", "p", "--min-count", "2:2", "--orders", "2", "--record", "small")
    assert disambig(*prune, folder=tmp_path).returncode == 0
    queried = disambig("query", "p", "in the", "the woods", "the", "in the house", folder=tmp_path).stdout
    assert queried.split("\n")[:3] == ["in the\t5", "the woods\t0", "the\t6"]
    for arguments, code in (
        (("merge", "a", "p", "-o", "x"), "D120"),
        (("merge", "a", "b", "-o", "m"), "D106"),
        (("prune", "a", "-o", "x", "--orders", "2", "--min-count", "3:2"), "D602"),
        (("merge", "-o", "x"), "D600"),
    ):
        done = disambig(*arguments, folder=tmp_path)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith(f"disambig: [{code}]"), done.stderr
        assert not (tmp_path / "x").exists()


def test_import(tmp_path):
    (tmp_path / "a.tsv").write_text("in the\t5\nthe\t7\n")
    done = disambig("import", "a.tsv", "-o", "x", "--tokenisation", "disambig.words.v1", folder=tmp_path)
    assert done.returncode == 0 and reports_written(done.stderr)
    assert disambig("query", tmp_path / "x", "In the").stdout == "In the\t5\n"
    (tmp_path / "a").write_text("In the house\t1950,3,2\t1960,4,1\nthe house_NOUN\t1950,3,2\n")
    (tmp_path / "words").write_text("House\n")
    options = "--tokenisation disambig.words.v1 --from-year 1955 --tagged --keep-words words --to-year 2000"
    done = disambig("import", "a", "-o", "y", *options.split(), "--format", "google-v3", folder=tmp_path)
    assert done.returncode == 0 and reports_written(done.stderr)
    assert disambig("query", "y", "in the house", folder=tmp_path).stdout == "in the house\t4\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("build missing.txt -o new", "D300"),
        ("build empty.txt -o new", "D302"),
        ("build latin.txt -o new", "D304"),
        ("build blank.txt -o new", "D113"),
        ("build a.txt -o there", "D106"),
        ("build a.txt -o no/new", "D107"),
        ("build a.txt -o new --tokenisation disambig.word.v1", "D001"),
        ("build a.txt -o new --memory lots", "D116"),
        ("build a.txt -o new --min-count 2", "D116"),
        ("build a.txt -o new --min-count 4:2 --orders 3", "D602"),
        ("import a.tsv -o new --min-count 6:2", "D602"),
        ("import a.tsv -o new --tokenisation web1t.v2", "D001"),
        ("build a.txt -o new --keep-words empty.txt", "D302"),
        ("build a.txt -o new --temporary missing", "D107"),
        ("build a.txt", "D600"),
        ("import a.txt -o new", "D114"),
        ("import a.tsv -o new --format google", "D601"),
        ("import a.tsv -o new --from-year soon", "D600"),
        ("query a.txt x", "D102"),
        ("info missing.counts", "D100"),
        ("info missing", "D402"),
        ("verify empty.txt", "D101"),
    ],
)
def test_invalid_input_is_a_one_line_error(tmp_path, arguments, code):
    files = {
        "a.txt": b"in the house\n" * 3,
        "a.tsv": b"in the house\t3\n",
        "empty.txt": b"",
        "latin.txt": b"caf\xe9",
        "blank.txt": b"\n \n",
        "there": b"mine",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    done = disambig(*arguments.split(), folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"disambig: [{code}]"), done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


@pytest.mark.slow
def test_a_full_disk_leaves_nothing_behind(tmp_path):
    names = ["".join(letters) for letters in itertools.product("abcdefghijklmnop", repeat=4)]
    (tmp_path / "a.tsv").write_text("".join(f"{name}\t{i + 1}\n" for i, name in enumerate(names)))
    (tmp_path / "a.txt").write_text("\n".join(names))
    (tmp_path / "out").mkdir()

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    assert disambig("import", "a.tsv", "-o", "keys", "--keys", folder=tmp_path).returncode == 0
    # Python ignores SIGXFSZ, so a write past the limit fails as on a full disk
    for arguments in (
        ("import", "a.tsv", "-o", "out/x", "--temporary", "out"),
        ("build", "a.txt", "-o", "out/x", "--temporary", "out"),
        ("import", "a.tsv", "-o", "out/x", "--temporary", "out", "--keys"),
        ("merge", "keys", "keys", "-o", "out/x"),
        ("prune", "keys", "-o", "out/x", "--keys"),
    ):
        done = process(*arguments, folder=tmp_path, preexec_fn=limit)
        assert done.returncode == 2
        assert "[D107]" in done.stderr, done.stderr
        assert not list((tmp_path / "out").iterdir())


def test_sizes_and_thresholds():
    sizes = {"2G": 2 << 30, " 1.5 mb": 3 << 19, "700MiB": 700 << 20, "100": 100}
    assert {text: options.parse_size(text) for text in sizes} == sizes
    assert options.parse_thresholds(["3:2", " 5:10 "]) == {3: 2, 5: 10}
    for bad in ("", "G", "2X", "-1G"):
        with pytest.raises(UserError, match="D116"):
            options.parse_size(bad)
    with pytest.raises(UserError, match=r"D602.*3 words already have a minimum count"):
        options.parse_thresholds(["3:2", "3:5"])
    for bad in ("3", "0:2", "a:2", "3:-1"):
        with pytest.raises(UserError, match="D116"):
            options.parse_thresholds([bad])
