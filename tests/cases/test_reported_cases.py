"""What `disambig` reads, leaves out and says of it: cases after public reports on tools of these kinds."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import subprocess
import tarfile
import zipfile

import pytest
from commands import here, process

SLIP = "The bridge was better then the road.\n"
needs_git = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a function that writes files of an empty folder, the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path

    return write


def git(*arguments):
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def flagged(done):
    """Return the files of the flags."""
    return sorted(line.split(":")[0].removeprefix("./") for line in done.stdout.splitlines())


def test_suffixes_in_any_case(project):
    home = project(REPORT_dot_TXT=SLIP, notes_dot_Md=SLIP)
    assert flagged(here("check", ".", folder=home)) == ["REPORT.TXT", "notes.Md"]


def test_skipped_files_of_a_directory_are_reported(project):
    home = project(
        a_dot_md=SLIP,
        b_dot_png=b"\x89PNG",
        c_dot_PNG=b"\x89PNG",
        d_dot_rs="// " + SLIP,
        z_dot_txt=b"no text \0\1\2",
        node_modules__x__README_dot_md=SLIP,
        venv__lib__top_dot_txt=SLIP,
        mine__pyvenv_dot_cfg="home = /usr/bin\n",
        mine__x_dot_txt=SLIP,
        build__out_dot_md=SLIP,
    )
    done = here("check", ".", folder=home)
    assert (done.returncode, flagged(done)) == (1, ["a.md"])
    (line,) = [line for line in done.stderr.splitlines() if "[D342]" in line]
    assert "3 files by suffix (.png 2, .rs 1)" in line
    assert "4 folders (build, mine, node_modules, ...)" in line
    assert "1 binary (./z.txt)" in line
    (note,) = json.loads(here("check", ".", "--format", "json", folder=home).stdout)["notes"]
    assert note["code"] == "D342"
    assert "[D342]" not in here("check", ".", "-q", folder=home).stderr


def test_no_note_if_nothing_was_skipped(project):
    assert "D342" not in here("check", ".", folder=project(a_dot_md=SLIP)).stderr


def test_what_is_named_is_read(project):
    home = project(node_modules__x_dot_md=SLIP, build__b_dot_md=SLIP, d_dot_rs="// " + SLIP)
    done = here("check", "node_modules", "build/b.md", "d.rs", folder=home)
    assert flagged(done) == ["build/b.md", "d.rs", "node_modules/x.md"]


@pytest.mark.parametrize("name", ["notes.xyz", "notes.orig", "COPYING"])
def test_a_named_file_of_an_unknown_suffix_is_read_with_a_remark(project, name):
    home = project(**{name.replace(".", "_dot_"): SLIP})
    done = here("check", name, folder=home)
    assert (done.returncode, flagged(done)) == (1, [name])
    assert ("[D341]" in done.stderr) == ("." in name)


@pytest.mark.parametrize(
    ("name", "code", "hint"),
    [
        ("a.docx", "D339", "pandoc"),
        ("a.ODT", "D339", "pandoc"),
        ("a.pdf", "D339", "pdftotext"),
        ("a.eps", "D339", "ps2ascii"),
        ("a.json", "D340", ".json files"),
        ("a.conll", "D340", ".conll files"),
        ("a.tei", "D340", ".tei files"),
        ("a.geojson", "D340", ".geojson files"),
        ("a.VRT", "D340", ".vrt files"),
        ("a.JSONL.GZ", "D640", "annotate"),
        ("a.txt.bz2", "D640", "annotate"),
    ],
)
def test_values_other_than_texts_are_rejected(project, name, code, hint):
    home = project(**{name.replace(".", "_dot_"): SLIP, "b_dot_md": SLIP})
    done = here("check", name, "b.md", folder=home)
    assert (done.returncode, flagged(done)) == (2, ["b.md"])
    (line,) = [line for line in done.stderr.splitlines() if f"[{code}]" in line]
    assert hint in line


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("a.xml", "convert it to .txt, .jsonl or .conllu"),
        ("a.tei", "convert it to .txt, .jsonl or .conllu"),
        ("a.vrt.gz", "convert it to .txt, .jsonl or .conllu"),
        ("a.json", "--from jsonl"),
        ("a.conll", "--from conllu"),
        ("a.xlsx", "convert it to .csv or .jsonl"),
    ],
)
def test_annotate_refuses_data_and_says_how_to_convert_it(tmp_path, name, hint):
    tmp_path.joinpath(name).write_text(f"<p>{SLIP}</p>")
    done = here("annotate", name, "--task", "spelling", "--quiet", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"[D340] {name}: " in done.stderr and hint in done.stderr
    assert ("--from" in done.stderr) == ("--from" in hint)


@needs_git
def test_what_git_ignores_is_left_out(project):
    home = project(
        a_dot_md=SLIP,
        log_dot_txt=SLIP,
        out__x_dot_md=SLIP,
        docs__build__kept_dot_md=SLIP,
        build__gone_dot_md=SLIP,
        _dot_gitignore="/out/\nlog.txt\n",
    )
    git("init", "-q", ".")
    git("add", "docs")
    done = here("check", folder=home)
    assert flagged(done) == ["a.md", "docs/build/kept.md"]
    assert "2 ignored by git, 1 folder (build)" in done.stderr
    assert flagged(here("check", "log.txt", "out", folder=home)) == ["log.txt", "out/x.md"]
    git("add", "-f", "log.txt")  # git ignores no file that it tracks
    assert flagged(here("check", folder=home)) == ["a.md", "docs/build/kept.md", "log.txt"]


@needs_git
def test_ignoring_runs_nothing_of_the_repository(project, tmp_path_factory):
    home = project(a_dot_md=SLIP, b_dot_md=SLIP, _dot_gitignore="b.md\n")
    mark = tmp_path_factory.mktemp("trap") / "ran"
    trap = mark.with_name("trap")
    trap.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
    trap.chmod(0o755)
    git("init", "-q", ".")
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "filter.x.clean", "diff.external"):
        git("config", key, str(trap))
    hook = home / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    shutil.copy(trap, hook)
    (home / ".gitattributes").write_text("* filter=x\n")
    assert flagged(here("check", folder=home)) == ["a.md"]
    assert not mark.exists()


@needs_git
def test_a_folder_that_only_looks_like_a_repository(project):
    home = project(a_dot_md=SLIP, _dot_git__x="")
    done = here("check", folder=home)
    assert (done.returncode, flagged(done)) == (1, ["a.md"])


def test_without_a_path_the_current_directory_is_checked(project):
    home = project(a_dot_md=SLIP)
    assert flagged(here("check", folder=home)) == ["a.md"]


@needs_git
def test_staged_without_a_path(project):
    home = project(a_dot_md=SLIP, b_dot_md=SLIP)
    git("init", "-q", ".")
    git("add", "a.md")
    assert flagged(here("check", "--staged", folder=home)) == ["a.md"]


GERMAN = "Das ist better then nichts, und es wird auch nicht schlechter.\n"
FRENCH = "Ce n'est pas mieux then rien, mais il ne sera jamais pire.\n"


def test_a_text_in_another_language_says_so(project):
    home = project(a_dot_md=f"{GERMAN}\n{GERMAN}\n{FRENCH}")
    done = here("check", "a.md", folder=home)
    assert (done.returncode, done.stdout) == (0, "")
    message = "[D342] not read: 3 paragraphs that are not in English (most look like German)"
    assert done.stderr.count(message) == 1
    assert "D342" not in here("check", "-q", "a.md", folder=home).stderr
    (note,) = json.loads(here("check", "a.md", "--format", "json", folder=home).stdout)["notes"]
    assert note["code"] == "D342"


def test_paragraphs_in_another_language_are_left_alone(project):
    quoted = f"They wrote: {GERMAN.strip()} It was worse then that.\n"
    home = project(
        a_dot_md=f"{SLIP}\n{GERMAN}\n- {GERMAN}- {SLIP}\n{quoted}", b_dot_py=f"# {GERMAN}x = 1\n# {SLIP}"
    )
    done = here("check", "a.md", "b.py", folder=home)
    lines = [line.split(":")[:2] for line in done.stdout.splitlines()]
    assert lines == [["a.md", "1"], ["a.md", "6"], ["a.md", "8"], ["a.md", "8"], ["a.md", "8"], ["b.py", "3"]]
    assert "3 paragraphs that are not in English (they look like German)" in done.stderr


def test_all_languages_are_checked_on_request(project):
    home = project(a_dot_md=GERMAN)
    assert set(flagged(here("check", "a.md", "--no-detect-language", folder=home))) == {"a.md"}
    home = project(disambig_dot_toml="detect_language = false\n")
    assert set(flagged(here("check", "a.md", folder=home))) == {"a.md"}
    assert flagged(here("check", "a.md", "--detect-language", folder=home)) == []


@pytest.mark.parametrize("job", [False, True])
def test_annotate_counts_paragraphs_in_another_language(project, job):
    home = project(a_dot_md=f"{SLIP}\n{GERMAN}", b_dot_md=GERMAN)
    arguments = ["annotate", "a.md", "b.md", *(["--output", "out"] if job else [])]
    done = here(*arguments, folder=home)
    message = "[D342] not read: 2 paragraphs that are not in English (they look like German)"
    assert done.stderr.count(message) == 1
    if not job:
        first, second = map(json.loads, done.stdout.splitlines())
        assert (first["flags"], second["flags"]) == (1, 0)
        assert json.loads(first["other_languages"]) == [
            {"start": len(SLIP) + 1, "end": len(SLIP) + len(GERMAN) + 1, "language": "de"}
        ]
    assert message not in here(*arguments, "--no-detect-language", "--force", folder=home).stderr


def test_fields_of_yaml_are_text_if_settings_name_them(project):
    text = f"name: {SLIP}description: {SLIP}Summary: >\n  A name.\n  {SLIP}other: {{summary: 1}}\n"
    home = project(a_dot_yml=text)
    done = here("check", "a.yml", folder=home)
    assert [line.split(":")[1] for line in done.stdout.splitlines()] == ["2", "5"]
    home = project(disambig_dot_toml='yaml_fields = ["Name"]\n')
    done = here("check", "a.yml", folder=home)
    assert [line.split(":")[1] for line in done.stdout.splitlines()] == ["1"]
    home = project(disambig_dot_toml="yaml_fields = []\n")
    assert here("check", "a.yml", folder=home).returncode == 0
    home = project(disambig_dot_toml="")
    here("check", "--fix", "a.yml", folder=home)
    assert home.joinpath("a.yml").read_text().count("than") == 2


def test_explain_says_why_there_is_no_decision_of_it():
    done = here("explain", "It's life.", "--task", "it")
    assert """or only an "it's" that is probably meant as "its\"""" in done.stdout


@pytest.mark.parametrize("task", ["article", "form"])
def test_explain_finds_candidates_that_exist(task):
    done = here("explain", "It depends of the weather.", "--task", task)
    words = {"article": '"the": no other', "form": '"It", "depends", '}
    assert f"no decision: {words[task]}" in done.stdout


def test_explain_says_what_check_leaves_alone():
    done = here("explain", GERMAN, "--task", "spelling")
    assert "1 paragraph that is not in English (it looks like German): check leaves" in done.stdout
    assert "not in English" not in here("explain", SLIP, "--task", "spelling").stdout


# --- plugins ---------------------------------------------------------------------------------------------

PLUGIN = """
from disambig.hookspecs import hookimpl

{top}

class Learner:
    pass

@hookimpl
def disambig_register_learners(register):
    register("{name}.Learner.v1", Learner)
"""
ODD = {  # the first lines of a plugin, and the message about it
    "odd": ('raise BaseException("odd")', "could not be loaded: BaseException: odd"),
    "panics": ('class Panic(BaseException): pass\nraise Panic("no")', "could not be loaded: Panic: no"),
    "prints": ('print("hello from here")', "[D020] plugin 'prints' prints to standard output"),
    "writes": (
        'import sys; sys.stdout.buffer.write(b"hello from here\\n")',
        "[D020] plugin 'writes' prints to standard output",
    ),
    "mute": (
        "class Bad(Exception):\n    def __str__(self): raise ValueError\nraise Bad",
        "could not be loaded: Bad",
    ),
    "long": (
        r'raise ValueError("one\ntwo \x1b[31m three")',
        r"could not be loaded: ValueError: one two \x1b[31m three",
    ),
}
INVALID = {"spaces": "not a valid : thing ::", "dash": "odd-plugin", "colon": "colon:"}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a plugin for the commands of a test."""
    site = tmp_path / "site"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(site)]))

    def make(name, *, value="", top="", dist_info="", metadata=True):
        info = site / (dist_info or f"{name}-1.0.dist-info")
        info.mkdir(parents=True)
        info.joinpath("entry_points.txt").write_text(f"[disambig]\n{name} = {value or name}\n")
        if metadata:
            info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        site.joinpath(f"{name}.py").write_text(PLUGIN.format(name=name, top=top))
        return info

    return make


def check_goes_on(folder):
    """Check a text in a new process, which reports the expected flags; return its messages."""
    folder.joinpath("a.md").write_text("It was better then the rest.\n")
    done = process("check", "a.md", "--format", "jsonl", folder=folder)
    assert done.returncode == 1, done.stderr
    (flag,) = map(json.loads, done.stdout.splitlines())
    assert flag["observed"] == "then"
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()


def test_a_distribution_without_metadata_is_named(install, tmp_path):
    install("odd_plugin", dist_info="~dd_plugin-1.0.dist-info", metadata=False)
    assert any("~dd_plugin-1.0.dist-info is incomplete" in line for line in check_goes_on(tmp_path))
    listed = process("plugins", folder=tmp_path)
    assert "[D018]" in listed.stdout and "Traceback" not in listed.stderr
    code = "import spacy; spacy.blank('en').add_pipe('disambig_spelling'); print('made')"
    assert "made" in process("-c", code, python=(), folder=tmp_path).stdout


def test_plugins_that_fail_or_print_or_have_invalid_entry_points(install, tmp_path):
    """Each is named in a separate line; the other plugins and the results are unchanged."""
    for name, (top, _) in ODD.items():
        install(name, top=top)
    for name, value in INVALID.items():
        install(name, value=value)
    lines = check_goes_on(tmp_path)
    expected = {name: message for name, (_, message) in ODD.items()}
    expected |= dict.fromkeys(INVALID, "[D019] invalid entry point")
    for name, message in expected.items():
        assert len([line for line in lines if name in line and message in line]) == 1, (name, lines)


@pytest.mark.parametrize("text", [b"[disambig]\nodd_plugin\n", b"[disambig]\nodd = caf\xe9\n"])
def test_entry_points_that_cannot_be_read_are_named(install, tmp_path, text):
    folder = install("odd_plugin")
    folder.joinpath("entry_points.txt").write_bytes(text)
    tmp_path.joinpath("a.md").write_text("It was better then the rest.\n")
    done = process("check", "a.md", folder=tmp_path)
    assert done.returncode == 2
    assert "[D021] cannot read the entry points in" in done.stderr and str(folder) in done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1
    checked = process("doctor", "--quick", folder=tmp_path)
    assert "PROBLEM plugins: [D021]" in checked.stdout and "Traceback" not in checked.stderr


# --- counts ----------------------------------------------------------------------------------------------


def import_counts(folder, data, name="a.tsv"):
    folder.joinpath(name).write_bytes(data)
    return here("counts", "import", name, "-o", "a.counts", folder=folder)


def counted(folder, *ngrams):
    done = here("counts", "query", "a.counts", *ngrams, folder=folder)
    assert done.returncode == 0, done.stderr
    return [int(line.rsplit("\t", 1)[1]) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfof the\t120\nin a\t7\n",
        b"of the\t120\nin a\t7\n\n",
        b"\nof the\t120\n\r\n\nin a\t7",
        b"\xef\xbb\xbf\r\nof the\t120\r\nin a\t7\r\n\r\n",
    ],
)
@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.bz2"])
def test_counts_with_a_byte_order_mark_and_empty_lines(tmp_path, data, name):
    done = import_counts(tmp_path, bz2.compress(data) if name.endswith("bz2") else data, name)
    assert done.returncode == 0, done.stderr
    assert counted(tmp_path, "of the", "in a", "in of") == [120, 7, 0]


def test_a_wrong_line_after_empty_ones_is_named_by_its_number(tmp_path):
    done = import_counts(tmp_path, b"of the\t120\n\n\nno count\n")
    assert "[D114] a.tsv, line 4: there is no TAB" in done.stderr


def test_imported_words_are_queried_as_they_stand(tmp_path):
    lines = {"it 's": 70, "AT&T": 5, "C++": 4, "e-mail": 3, "e - mail": 9, "the AT&T": 2, "<S> C++": 6}
    import_counts(tmp_path, "".join(f"{ngram}\t{n}\n" for ngram, n in lines.items()).encode())
    assert counted(tmp_path, *lines) == [*lines.values()]
    assert counted(tmp_path, "it's", "e-mails") == [70, 0]


ARPA = "\\data\\\nngram 1=1\n\n\\1-grams:\n-1.2\tthe\t-0.3\n\\end\\\n"


@pytest.mark.parametrize("data", [ARPA, "\n" + ARPA, "\ufeff" + ARPA, "# made by hand\n" + ARPA])
def test_a_language_model_is_not_counts(tmp_path, data):
    done = import_counts(tmp_path, data.encode(), "lm.arpa")
    assert done.returncode == 2
    assert "[D124] lm.arpa is an ARPA language model" in done.stderr


# --- tables and other data -------------------------------------------------------------------------------


def annotated(folder, name, *options):
    """Return what `annotate` makes of a file: the texts, and what it says."""
    done = here("annotate", name, "--format", "jsonl", *options, folder=folder)
    return [json.loads(line)["text"] for line in done.stdout.splitlines()], done.stderr


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ('1\t"We went home.\n2\tThey stayed.\n', ['"We went home.', "They stayed."]),
        ('1\t"One" was read.\n2\t"Two\n3\tThree "four\n', ['"One" was read.', '"Two', 'Three "four']),
        ('1\t"A quoted ""word""."\n2\tAn end.\n', ['A quoted "word".', "An end."]),
        ('1\t"Of two\nlines."\n2\tAn end.\n', ["Of two\nlines.", "An end."]),
        ('1\t"With a\ttab."\n2\t5" wide\n', ["With a\ttab.", '5" wide']),
        ('"1\tIt is here.\n2"\tIt is there.\n', ["It is here.", "It is there."]),
        ('1\t"\n2\t"\n3\tIt ends.\n', ['"', '"', "It ends."]),
    ],
)
def test_a_quotation_mark_in_tsv_loses_no_row(tmp_path, rows, texts):
    tmp_path.joinpath("a.tsv").write_text("id\ttext\n" + rows)
    assert annotated(tmp_path, "a.tsv")[0] == texts


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"meta": {"text": "It is here."}}, "meta.text"),
        ({"a": {"b": {"c.d": "It is here."}}}, "a.b.c.d"),
        ({"meta.text": "It is here.", "meta": {"text": "no"}}, "meta.text"),
    ],
)
def test_nested_fields(tmp_path, row, field):
    tmp_path.joinpath("a.jsonl").write_text(json.dumps(row) + "\n")
    assert annotated(tmp_path, "a.jsonl", "--field", field)[0] == ["It is here."]
    assert "'meta.text'" in annotated(tmp_path, "a.jsonl", "--field", "meta.body")[1] or "a" in row


def test_nested_columns_of_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    rows = [{"id": "1", "meta": {"of": {"text": "It is here."}, "n": 1}}, {"id": "2", "meta": None}]
    arrow.parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    assert annotated(tmp_path, "a.parquet", "--field", "meta.of.text")[0] == ["It is here.", ""]
    assert "'meta.of.text'" in annotated(tmp_path, "a.parquet", "--field", "text")[1]
    assert "[D331]" in annotated(tmp_path, "a.parquet", "--field", "meta.n")[1]


TEN = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC"
PLUS = f"# global.columns = {TEN} PARSEME:MWE\n# text = It is.\n"
PLUS += "1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\t*\n2\tis\tbe\tAUX\t_\t_\t0\troot\t_\tSpaceAfter=No\t*\n"
PLUS += "3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\t*\n\n"


@pytest.mark.parametrize("name", ["a.conllu", "a.conllup", "a.cupt"])
def test_conllu_plus_is_named_with_what_converts_it(tmp_path, name):
    tmp_path.joinpath(name).write_text(PLUS + PLUS.replace("# global", "# newdoc id = b\n# other"))
    texts, message = annotated(tmp_path, name)
    assert not texts
    assert f"[D339] {name}: CoNLL-U Plus documents are not supported" in message and "`cut -f1-10`" in message
    assert "[D324]" not in message
    ten = "".join("\t".join(line.split("\t")[:10]).rstrip("\n") + "\n" for line in PLUS.splitlines())
    tmp_path.joinpath("b.conllu").write_text(ten)  # as `cut` writes it, with the comment on the columns
    assert annotated(tmp_path, "b.conllu")[0] == ["It is."]


def test_other_columns_than_those_of_conllu_are_named(tmp_path):
    tmp_path.joinpath("a.conllu").write_text(PLUS.replace("LEMMA UPOS", "UPOS LEMMA"))
    assert "[D324] a.conllu: line 1: columns 'ID FORM UPOS LEMMA" in annotated(tmp_path, "a.conllu")[1]


@pytest.mark.parametrize(
    ("text", "encoding", "hint"),
    [
        ("これは日本語の文章です。今日はいい天気です。\n", "shift_jis", "iconv -f SHIFT_JIS"),
        ("これは日本語の文章です。今日はいい天気です。\n", "euc_jp", "iconv -f EUC-JP"),
        ("Read the manual (マニュアル) first.\n", "shift_jis", "iconv -f SHIFT_JIS"),
        ("Une phrase très brève, écrite à Orléans.\n", "latin-1", "iconv -f LATIN1"),
        ("He said \u201cyes\u201d \u2013 twice.\n", "cp1252", "iconv -f WINDOWS-1252"),
        ("Une phrase \x81 avec \x93 caractères de contrôle.\n", "latin-1", "iconv -f LATIN1"),
        ("It was a quite place.\n", "utf-32", "iconv -f UTF-32"),
        ("Это предложение написано по-русски.\n", "koi8-r", "iconv -f ENCODING"),
    ],
)
def test_the_likely_encoding_is_named(tmp_path, text, encoding, hint):
    tmp_path.joinpath("a.txt").write_bytes(text.encode(encoding))
    assert hint in here("check", "a.txt", folder=tmp_path).stderr


def tar(data):
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        entry = tarfile.TarInfo("a.txt")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return sink.getvalue()


def zipped(data):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("a.txt", data)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("name", "pack", "what"),
    [
        ("a.zip", zipped, "a ZIP archive"),
        ("a.tar", tar, "a tar archive"),
        ("a.tar.gz", lambda data: gzip.compress(tar(data)), "a tar archive"),
        ("a.txt", gzip.compress, "a gzip file"),
        ("a.txt", bz2.compress, "a bzip2 file"),
        ("a.txt", lzma.compress, "an xz file"),
        ("a.txt.Z", lambda data: b"\x1f\x9d\x90" + data, "a file of compress"),
    ],
)
@pytest.mark.parametrize("command", [("check",), ("annotate",), ("counts", "import", "-o", "x.counts")])
def test_packed_files_are_named(tmp_path, name, pack, what, command):
    tmp_path.joinpath(name).write_bytes(pack(b"of the\t120\nin a\t7\n"))
    done = here(*command, name, folder=tmp_path)
    assert done.returncode == 2
    if command == ("check",) and name.endswith(".gz"):  # it reads no compressed file
        assert "[D640] a.tar.gz: .gz files are not checked" in done.stderr
    else:
        assert f"[D349] {name} is {what}, not text: unpack it" in done.stderr


# --- training and evaluation -----------------------------------------------------------------------------

WORDS = {"fish": ("net", "pike", "river", "trout", "bait"), "wood": ("saw", "oak", "plank", "plane", "nail")}


def topic_rows(labels=tuple(WORDS)):
    return [
        (f"Here is the {WORDS[label][i % 5]}, and a {WORDS[label][(2 * i + 1) % 5]}: number {i}.", label)
        for label in labels
        for i in range(20)
    ]


def write_table(path, rows, header="text\tlabel"):
    path.write_text("\n".join([header, *map("\t".join, rows)]) + "\n")


def test_a_label_that_the_model_does_not_know_counts_as_wrong(tmp_path):
    write_table(tmp_path / "a.tsv", topic_rows())
    write_table(tmp_path / "b.tsv", [*topic_rows(), *[(text, "song") for text, _ in topic_rows(["fish"])]])
    assert not here("train", "topic", "--labelled", "a.tsv", "-o", "topic", folder=tmp_path).returncode
    done = here("evaluate", "topic", "--labelled", "b.tsv", "--json", folder=tmp_path)
    result = json.loads(done.stdout)
    assert (result["overall"]["n"], result["overall_known"]["n"], result["unknown_labels"]) == (60, 40, 20)
    assert result["overall"]["accuracy"] == pytest.approx(result["overall_known"]["accuracy"] * 40 / 60)
    shown = here("evaluate", "topic", "--labelled", "b.tsv", folder=tmp_path).stdout
    assert "20 more examples with labels unknown to the model: counted as wrong" in shown
    assert "all with known labels: accuracy" in shown


def test_a_text_of_many_documents_does_not_join_them(tmp_path):
    rows = [(text, label, str(n)) for n, (text, label) in enumerate(topic_rows())]
    rows += [("Thank you, and goodbye.", "fish", row[2]) for row in rows]
    write_table(tmp_path / "a.tsv", rows, "text\tlabel\tdocument")
    done = here("evaluate", "topic", "--labelled", "a.tsv", "--folds", "5", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "80 examples in 40 documents, 5 folds" in done.stdout


# --- doctor and servers ----------------------------------------------------------------------------------


def test_the_sample_of_doctor_has_something_for_every_model(short_doctor):
    done = here("doctor")
    assert "coverage: disambig_en/doubled: 1 decision, 1 flagged" in done.stdout
    assert "nothing to decide" not in done.stdout


# --- spaCy -----------------------------------------------------------------------------------------------


def test_tags_that_are_there_may_be_kept():
    spacy = pytest.importorskip("spacy")
    from disambig.packs import available

    if "tag" not in available():
        pytest.skip("needs a tagger")
    for overwrite in (False, True):
        nlp = spacy.blank("en")
        tagger = nlp.add_pipe("disambig_tagger", config={"overwrite": overwrite})
        words, tags, pos = ["The", "river", "is", "here"], ["", "X", "", ""], ["", "", "NOUN", ""]
        doc = spacy.tokens.Doc(nlp.vocab, words, tags=tags, pos=pos)
        tagger(doc)
        assert [token.tag_ for token in doc][:3] == ["DT", "NN" if overwrite else "X", "VBZ"]
        assert [token.pos_ for token in doc][:3] == ["DET", "NOUN", "AUX" if overwrite else "NOUN"]
