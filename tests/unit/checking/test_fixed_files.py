"""Files that are checked and corrected: a second run changes nothing; no other byte changes; diffs."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import here
from examples import fewer_examples
from hypothesis import example, given, settings, strategies as st
from made_decisions import make_decisions

from disambig.checking import (
    Recheck,
    apply_corrections,
    files,
    find_files,
    find_flags,
    flag_candidates,
    read_text,
    select_compatible,
    stable_decisions,
    stable_flags,
    unified_diff,
    write_text,
)
from disambig.data import Group
from disambig.errors import UserError
from disambig.formats import SkippedFiles
from disambig.markup import read_layout, read_markup
from disambig.models import ModelSource

EXAMPLES = int(os.environ.get("DISAMBIG_STABLE_EXAMPLES", "5"))


def replacing(pairs: dict[str, str]):
    """Return an annotator that replaces words by a table, whatever their context."""
    groups, numbers = [Group(f"{old}/{new}", (old, new)) for old, new in pairs.items()], list(pairs)

    def annotate(texts):
        words = [(i, word) for i, text in enumerate(texts) for word in re.finditer(r"[\w'\u2019]+", text)]
        rows = [(i, *word.span(), numbers.index(word[0]), 0, 1) for i, word in words if word[0] in pairs]
        return [make_decisions(groups, rows)]

    return annotate


def flags_in(name: str, text: str, annotate):
    plain = read_markup(name, text)
    return find_flags(name, text, plain, [item.in_document(0) for item in annotate([plain.text])]).flags


def fix_text(name: str, text: str, annotate) -> tuple[str, list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the text as ``--fix`` writes it, the replaced spans, and the written spans."""
    taken = select_compatible(flags_in(name, text, annotate))
    kept = stable_flags(name, text, taken, Recheck(annotate))
    write_places, length, at = [], 0, 0
    for start, end, new in (flag.edit for flag in kept):
        length += start - at
        write_places.append((length, length + len(new)))
        length, at = length + len(new), end
    return apply_corrections(text, kept), [flag.edit[:2] for flag in kept], write_places


THERE_AND_BACK = replacing({"your": "you're", "you're": "your", "quite": "quiet"})


def test_corrections_that_would_be_reverted_are_not_made():
    text = "Is it your turn?\n\nIt was a quite place, and you're late.\n"
    assert fix_text("a.md", text, THERE_AND_BACK)[0] == text.replace("quite", "quiet")
    chain = replacing({"one": "two", "two": "three", "three": "four"})
    assert fix_text("a.txt", "one, then three.", chain)[0] == "one, then four."


def test_stable_decisions_of_a_corpus():
    texts = ["your quite", "nothing", "a quite place, your turn"]
    (result,) = stable_decisions(texts, THERE_AND_BACK(texts), THERE_AND_BACK)
    places = zip(result.documents, result.starts, result.ends, result.flagged, strict=True)
    assert [texts[d][s:e] for d, s, e, is_flagged in places if is_flagged] == ["quite"] * 2


def test_only_corrected_paragraphs_are_decided_again():
    requests: list[int] = []
    inner = replacing({"quite": "quiet"})

    def spying(texts):
        requests.append(sum(map(len, texts)))
        return inner(texts)

    text = "\n\n".join(f"Paragraph {number} has some words of its own in it." for number in range(2000))
    fix_text("a.md", text + "\n\nA quite place.\n", spying)
    assert requests[0] > 90_000 and sum(requests[1:]) < 1_000


SENTENCES = [
    "It was better {then} we had hoped.", "Thank you for {you're} call.", "{Your} late again, said my aunt.",
    "She has {went} home already.", "We were asked {too} bring the keys.", "This depends {of} the weather.",
    "He is {a} honest man.", "The cat chased {it's} tail around {the the} garden.", "Nobody {new} about it.",
    "They {was} waiting for {there} friends.", "I {seen} him {their} last week.", "You can't {loose} it.",
    "The {affect} of the rain was small.", "She {begun} to {sings}.",
    "He gave it {to to} me and {you're} sister.",
    "A {peace} of cake is on the {a} table.", "My {to} brothers {is} here, and {its} late.",
]  # fmt: skip
RIGHT = {"then": "than", "you're": "your", "Your": "You're", "went": "gone", "too": "to", "of": "on"}
PLAIN = ["The train was late.", "Nobody had seen the letter.", "It rained all day.", ""]
GLUE = st.sampled_from([" ", "\n", "\n\n", "\n- ", "\n\n# ", " <b>", "** "])


@st.composite
def texts_with_mistakes(draw):
    """Texts of sentences, some of them with mistakes."""
    parts = []
    for sentence in draw(st.lists(st.sampled_from(SENTENCES + PLAIN), min_size=1, max_size=10)):
        keep = lambda match: match[1] if draw(st.booleans()) else RIGHT.get(match[1], match[1])  # noqa: E731
        parts += [re.sub(r"\{([^}]*)\}", keep, sentence), draw(GLUE)]
    return "".join(parts)


@cache
def models():
    return ModelSource(flags_per_1000=6.0).load_correcting()


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
@given(texts_with_mistakes())
@settings(max_examples=EXAMPLES, deadline=None)
def test_a_second_run_does_not_flag_corrections_of_the_first(name, text):
    new, replaced, write_places = fix_text(name, text, models())
    again = flags_in(name, new, models())
    assert [
        flag for flag in again for start, end in write_places if flag.start < end and start < flag.end
    ] == []
    assert outside(text, replaced) == outside(new, write_places)


def outside(text: str, places: list[tuple[int, int]]) -> list[str]:
    ends = [0, *(end for _, end in places)]
    return [text[end:start] for end, start in zip(ends, [*(start for start, _ in places), None], strict=True)]


TABLE = """\
Its a long title
================

+--------------------+-----------------+
| It depends of you. | This is a hour. |
+--------------------+-----------------+
|It was a hour later.| All is well.    |
+--------------------+-----------------+
"""
TABLE_CORRECTED = """\
It's a long title
=================

+--------------------+-----------------+
| It depends on you. | This is an hour.|
+--------------------+-----------------+
|It was a hour later.| All is well.    |
+--------------------+-----------------+
"""


def test_no_apostrophe_into_a_value_between_apostrophes(tmp_path):
    value = "'Its hard to find it'"
    values = f"---\ntitle: {value}\n---\n<img alt={value}>\n\n![x](a {value})\n"
    (tmp_path / "a.md").write_text(values + "\nIts hard to find it = 'here'.\n")
    done = here("check", "--no-backup", "--fix", "a.md", folder=tmp_path)
    assert (
        done.stdout.count("left: too long for its cell of the table, or in a value between apostrophes") == 3
    )
    assert (tmp_path / "a.md").read_text() == values + "\nIt's hard to find it = 'here'.\n"


def test_markup_between_the_words_of_a_phrase_stays(tmp_path):
    text = "You *should* of known it.\n\nHe [could](x) of went home.\n\nIt may *be* it.\n"
    (tmp_path / "a.md").write_text(text)
    done = here("check", "a.md", folder=tmp_path)
    assert "a.md:1:14: of -> have (confused-words" in done.stdout
    here("check", "--no-backup", "--fix", "a.md", folder=tmp_path)
    fixed = text.replace("of went", "have gone").replace(" of", " have")
    assert (tmp_path / "a.md").read_text() == fixed


def test_tables_and_titles_keep_their_layout(tmp_path):
    path = tmp_path / "a.rst"
    path.write_text(TABLE, newline="")
    done = here("check", "--no-backup", "--diff", "a.rst", folder=tmp_path)
    assert "a.rst: 1 flag not in the diff: 7:9 a (too long for its cell of the table)" in done.stderr
    sarif = json.loads(here("check", "--format", "sarif", "a.rst", folder=tmp_path).stdout)
    fixes = [result.get("fixes") for result in sarif["runs"][0]["results"]]
    (change,) = fixes[0][0]["artifactChanges"][0]["replacements"]
    assert change["insertedContent"]["text"] == "It's a long title\n================="
    assert change["deletedRegion"] == {"startLine": 1, "startColumn": 1, "endLine": 2, "endColumn": 17}
    assert [fix is None for fix in fixes] == [False, False, False, True]
    done = here("check", "--no-backup", "--fix", "--format", "jsonl", "a.rst", folder=tmp_path)
    assert path.read_text() == TABLE_CORRECTED
    flags = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(flag["outcome"], flag["edit"]) for flag in flags][2:] == [
        ("fixed", [TABLE.index("a hour. |"), TABLE.index("a hour. |") + 8, "an hour."]),
        ("left", None),
    ]


def test_words_with_references_are_corrected_as_a_whole(tmp_path):
    texts = {
        "a.html": "<p>The dog wagged it&#39;s tail.</p>\n",
        "b.md": "The dog **wagged** it&rsquo;s tail.\n",
        "c.1": ".TH A\n.SH B\nThe dog wagged it\\(aqs tail.\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    command = ("check", "--no-backup", *texts)
    done = here(*command, "--fix", folder=tmp_path)
    assert done.stdout.count("it's -> its") + done.stdout.count("it\u2019s -> its") == 3
    for name, text in texts.items():
        new = re.sub(r"it(?:&#39;|&rsquo;|\\\(aq)s", "its", text)
        assert (tmp_path / name).read_text() == new
    (tmp_path / "b.md").write_text(texts["b.md"])
    assert here("annotate", "b.md", "--format", "corrected", folder=tmp_path).stdout == (
        texts["b.md"].replace("it&rsquo;s", "its")
    )


def test_a_correction_keeps_the_reference():
    text = "<p>You don&rsquo;t and we&#39;re.</p>"
    wanted = replacing({"don\u2019t": "won't", "we're": "were"})
    assert fix_text("a.html", text, wanted)[0] == "<p>You won&rsquo;t and were.</p>"


def test_candidates_keep_the_layout():
    text = "Its a title\n===========\n"
    flags = flags_in("a.rst", text, replacing({"Its": "It's"}))
    (candidates,) = flag_candidates(flags, [], text, replacing({}), read_layout("a.rst", text))
    assert [candidate.edit for candidate in candidates] == [(0, 23, "It's a title\n============")]
    full = "+-----+\n|Its a|\n+-----+\n"
    flags = flags_in("a.rst", full, replacing({"Its": "It's"}))
    assert flag_candidates(flags, [], full, replacing({}), read_layout("a.rst", full)) == [[]]


def fix_folder(folder: Path, *options: str) -> list[dict]:
    ended = here("check", "--fix", "--no-backup", "--quiet", "--format", "json", *options, ".", folder=folder)
    assert ended.returncode in (0, 1), ended.stderr
    return json.loads(ended.stdout)["flags"]


@pytest.mark.parametrize("rate", [None, "6"])
def test_a_second_run_changes_nothing(tmp_path: Path, rate: str | None):
    """15 paragraphs with several mistakes each, each in its own file."""
    random_state = random.Random(20)
    paragraphs = [" ".join(random_state.sample(SENTENCES, 3)) for _ in range(15)]
    texts = {f"{number}.md": re.sub("[{}]", "", text) + "\n" for number, text in enumerate(paragraphs)}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode())
    options = () if rate is None else ("--flags-per-1000", rate)
    first = fix_folder(tmp_path, *options)
    once = {name: (tmp_path / name).read_bytes().decode() for name in texts}
    fix_folder(tmp_path, *options)
    twice = {name: (tmp_path / name).read_bytes().decode() for name in texts}
    assert sum(once[name] != texts[name] for name in texts) > 5
    assert {name: once[name] for name in texts if once[name] != twice[name]} == {}
    for name, text in texts.items():  # the edits of the report make the text
        fixed = [flag for flag in first if Path(flag["path"]).name == name and flag["outcome"] == "fixed"]
        built, at = "", 0
        for start, end, new in sorted(flag["edit"] for flag in fixed):
            assert start >= at or built == ""
            built, at = built + text[at:start] + new, end
        assert built + text[at:] == once[name]


DOCUMENT = (
    "\ufeff# Notes \U0001f600 on on the trip\r\n\r\nThey must of left.  You might of seen it. "
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\r\n\r\n"
    "* `the the` stays, and a a word goes\r\n* Its a [link](http://a.b/of-of) to to it.\r\n\r\n"
    "```\r\nyou could of of\r\n```\r\n\r\n| a | then |\r\n|---|---|\r\n| x | y |\r\n\r\n"
    "Give my the chance. caf\u00e9\tand   na\u00efve\r\nI'd of gone home, it's better then nothing.\r\n"
)


def test_a_document_keeps_every_other_byte(tmp_path: Path):
    path = tmp_path / "notes.md"
    path.write_bytes(DOCUMENT.encode())
    fix_folder(tmp_path)
    once = path.read_bytes().decode()
    fix_folder(tmp_path)
    assert path.read_bytes().decode() == once
    for old, new in [
        ("must of", "must have"), ("might of", "might have"), ("on on", "on"), ("a a word", "a word"),
        ("to to it", "to it"), ("my the", "me the"), ("I'd of", "I'd have"), ("better then", "better than"),
        ("Its a", "It's a"),
    ]:  # fmt: skip
        once = once.replace(new, old, 1) if old not in once else once
    assert once == DOCUMENT


ROUNDS = 200


def write(path, data=b"old\r\ntext"):
    path.write_bytes(data)
    return read_text(str(path))


def get_error_code(call, *arguments, **settings):
    with pytest.raises(UserError) as caught:
        call(*arguments, **settings)
    return caught.value.code


def test_files_of_a_directory(tmp_path):
    for name in ("b.txt", "a.MD", "c.tex", "d.py", ".e.md", "f.md.bak", ".git/g.md", "sub/h.markdown"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    given = [str(tmp_path), str(tmp_path / "b.txt")]
    inside = [os.path.relpath(path, tmp_path) for path in find_files(given)]
    assert inside == ["a.MD", "b.txt", "c.tex", os.path.join("sub", "h.markdown")]
    (tmp_path / "z.txt").symlink_to(tmp_path / "b.txt")
    assert len(list(find_files([str(tmp_path)]))) == len(inside)  # the link is the same file
    assert list(find_files(["nowhere", "-", "-"])) == ["nowhere", "-"]


def test_a_file_is_read_instead_of_a_link_to_it(tmp_path):
    """Git and --fix work on the file, not on links to it."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.md").write_text("x")
    (tmp_path / "a.md").symlink_to(tmp_path / "docs" / "b.md")
    (tmp_path / "c.md").symlink_to(tmp_path / "docs" / "b.md")
    for paths in ([tmp_path], [tmp_path / "a.md", tmp_path]):
        assert list(find_files(map(str, paths))) == [str(tmp_path / "docs" / "b.md")]
    links = [str(tmp_path / "c.md"), str(tmp_path / "a.md")]
    assert list(find_files(links)) == links[:1]


def test_skipped_files_of_a_directory_are_counted(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "out.md").write_text("x")
    (home / "out.md").symlink_to(tmp_path / "out.md")
    (home / "up").symlink_to(tmp_path)
    (home / "again").symlink_to(home)
    os.mkfifo(home / "pipe.md")
    for name in (".github", ".cache"):
        (home / name).mkdir()
    git = SimpleNamespace(tracks=lambda folder: folder.endswith(".github"), ignores=lambda path: False)
    left_out = SkippedFiles()
    assert list(find_files([str(home)], left_out=left_out, git=git)) == []
    assert left_out.describe() == (
        f"1 folder (.github), 2 links out of the directory ({home / 'up'}, {home / 'out.md'}), "
        f"1 special file ({home / 'pipe.md'})"
    )


def test_unreadable_files(tmp_path, monkeypatch):
    assert get_error_code(read_text, str(tmp_path / "a.md")) == "D300"
    for missing in ("a.json", "a.docx", "a.csv"):  # whatever the suffix
        assert get_error_code(read_text, str(tmp_path / missing)) == "D300"
    assert get_error_code(read_text, str(tmp_path)) == "D308"
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 3)
    unreadable = [("a.md", b"\xff", "D304"), ("a.md", b"a\0", "D303"), ("a.md", b"long", "D320")]
    unreadable += [("a.json", b"{}", "D340"), ("a.plist", b"", "D340"), ("a.bib", b"", "D340")]
    unreadable += [("a.jsonl", b"", "D640"), ("a.txt.gz", b"", "D640")]
    for name, data, code in unreadable:
        (tmp_path / name).write_bytes(data)
        assert get_error_code(read_text, str(tmp_path / name)) == code


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_read_and_written(tmp_path, encoding):
    data = "\ufeffIt is old.\r\nCaf\u00e9 \U0001f600".encode(encoding)
    file = write(tmp_path / "a.md", data)
    assert file.text.encode(encoding) == data
    write_text(file, file.text.replace("old", "new"), backup=None)
    assert (tmp_path / "a.md").read_bytes() == data.decode(encoding).replace("old", "new").encode(encoding)
    for broken, code in ((data[:-1], "D308"), (data + b"\0\0", "D303"), (b"\xff\xfe\0\0a\0\0\0", "D304")):
        (tmp_path / "b.md").write_bytes(broken)
        assert get_error_code(read_text, str(tmp_path / "b.md")) == code


def test_a_written_file_keeps_its_mode_and_gets_a_backup(tmp_path):
    path = tmp_path / "a.md"
    file = write(path, b"\xef\xbb\xbfold\r\ntext")
    path.chmod(0o640)
    copy = write_text(file, file.text.replace("old", "new"), backup=".bak")
    assert path.read_bytes() == b"\xef\xbb\xbfnew\r\ntext"
    assert (tmp_path / "a.md.bak").read_bytes() == file.data
    assert copy == str(tmp_path / "a.md.bak")
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["a.md", "a.md.bak"]


def test_older_backups_are_kept_and_backups_are_optional(tmp_path):
    path = tmp_path / "a.md"
    assert write_text(write(path), "new", backup=None) is None
    assert os.listdir(tmp_path) == ["a.md"]
    for number in range(3):
        write_text(write(path, b"old %d" % number), "new", backup=".bak")
    copies = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path) if name != "a.md"}
    assert copies == {"a.md.bak": b"old 0", "a.md.bak2": b"old 1", "a.md.bak3": b"old 2"}


def test_links_and_read_only_files_are_not_written(tmp_path):
    real, link, twin = (tmp_path / f"{name}.md" for name in ("real", "link", "twin"))
    write(real)

    def refused(path):
        return get_error_code(write_text, read_text(str(path)), "new", backup=".bak") == "D642"

    link.symlink_to(real)
    assert refused(link)
    os.link(real, twin)
    assert refused(real)
    twin.unlink()
    real.chmod(0o444)
    assert refused(real)
    real.chmod(0o644)
    tmp_path.chmod(0o555)
    assert refused(real)
    tmp_path.chmod(0o755)
    assert real.read_bytes() == b"old\r\ntext"
    assert sorted(os.listdir(tmp_path)) == ["link.md", "real.md"]


def test_a_file_that_changed_since_it_was_read_is_not_written(tmp_path):
    path = tmp_path / "a.md"
    file = write(path)
    path.write_bytes(b"newer text")
    assert get_error_code(write_text, file, "new", backup=".bak") == "D643"
    state = path.stat()
    file = read_text(str(path))
    path.write_bytes(b"NEWER TEXT")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert get_error_code(write_text, file, "new", backup=".bak") == "D643"
    assert path.read_bytes() == b"NEWER TEXT"
    assert os.listdir(tmp_path) == ["a.md"]


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.md"
    file = write(path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    assert get_error_code(write_text, file, "new", backup=".bak") == "D309"
    assert path.read_bytes() == file.data
    assert os.listdir(tmp_path) == ["a.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
@pytest.mark.parametrize("mode", ["ab", "r+b"])
@pytest.mark.parametrize("backup", [".bak", None])
def test_an_editor_that_has_the_file_open_keeps_it(tmp_path, mode, backup):
    path = tmp_path / "a.md"
    file = write(path)
    with open(path, mode) as editor:
        assert get_error_code(write_text, file, "new", backup=backup) == "D643"
        editor.write(b"by hand")
    assert b"by hand" in path.read_bytes()
    assert os.listdir(tmp_path) == ["a.md"]


def write_in_place(path, text):
    with open(path, "w") as file:
        file.write(text)


def write_and_rename(path, text):
    draft = path.with_suffix(".new")
    draft.write_text(text)
    os.replace(draft, path)


@pytest.mark.parametrize("save", [write_in_place, write_and_rename])
def test_concurrent_writes_of_an_editor_are_kept(tmp_path, save):
    """After both, the file has the text of the editor, corrected or not, but never an older one."""
    path = tmp_path / "a.md"
    path.write_text("0 quite\n")
    together = threading.Barrier(2, timeout=60)

    def edit():
        for number in range(1, ROUNDS):
            together.wait()
            time.sleep(number % 20 / 20_000)
            save(path, f"{number} quite\n")
            together.wait()

    editor = threading.Thread(target=edit)
    editor.start()
    outcomes, texts = [], []
    for _ in range(1, ROUNDS):
        together.wait()
        try:
            file = read_text(str(path))
            write_text(file, file.text.replace("quite", "quiet"), backup=None)
            outcomes.append("")
        except UserError as problem:
            outcomes.append(problem.code)
        together.wait()
        texts.append(path.read_text())
    editor.join()
    written = [(f"{number} quite\n", f"{number} quiet\n") for number in range(1, ROUNDS)]
    assert [pair for pair in zip(texts, written, strict=True) if pair[0] not in pair[1]] == []
    assert set(outcomes) <= {"", "D643"}
    assert os.listdir(tmp_path) == ["a.md"]


def test_unified_diff():
    old = "".join(f"{i}\n" for i in range(20))
    new = old.replace("\n2\n", "\nx\n").replace("\n15\n", "\ny\n")
    assert unified_diff("a b", old, new) == (
        "--- a b\t\n+++ a b\t\n@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+x\n 3\n 4\n 5\n"
        "@@ -13,7 +13,7 @@\n 12\n 13\n 14\n-15\n+y\n 16\n 17\n 18\n"
    )
    assert unified_diff("a", old, old) == ""
    no_end = "\\ No newline at end of file\n"
    assert unified_diff("a", "b", "c").endswith(f"-b\n{no_end}+c\n{no_end}")


LINES = st.lists(st.sampled_from(["a", "b", "a\r", "", "\ufeffc", "é"]), min_size=1, max_size=30)
TOOLS = (["patch", "-p0", "-s", "--binary"], ["git", "apply", "-p0", "--whitespace=nowarn"])
needs_tools = pytest.mark.skipif(
    not shutil.which("patch") or not shutil.which("git"), reason="needs patch and git"
)


@needs_tools
@fewer_examples
@given(LINES, st.data())
def test_a_diff_can_be_applied(tmp_path_factory, lines, data):
    old = "\n".join(lines)
    new = "\n".join(data.draw(st.sampled_from([line, line and line + "x"])) for line in lines)
    diff = unified_diff("a.md", old, new)
    for command in TOOLS:
        home = tmp_path_factory.mktemp("diff")
        (home / "a.md").write_bytes(old.encode())
        if diff:
            subprocess.run(command, input=diff.encode(), cwd=home, check=True, capture_output=True)
        assert (home / "a.md").read_bytes() == new.encode()


@needs_tools
@pytest.mark.parametrize("tool", TOOLS, ids=["patch", "git apply"])
def test_a_diff_of_a_file_in_the_current_directory_can_be_applied(tool, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("old\n")
    diff = unified_diff(os.path.join(".", "docs", "a.md"), "old\n", "new\n")
    subprocess.run(tool, input=diff.encode(), cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "docs" / "a.md").read_text() == "new\n"


EVIL = "\n--- evil.md\n+++ evil.md\n@@ -1 +1 @@\n-old\n+evil\n"
PIECES = [
    " ", "\t", '"', "\\", "\n", "\r", "\x1b[31m", "\u202e", "\u200f", "\xa0", "\udcff", "é", "日", "a",
    "b.md", "--- ", "+++ ", "@@ -1,1 +1,1 @@", EVIL,
    "evil.md", "\tevil.md", "2026-01-01 00:00:00.000000000 +0000", "\\n", "\\303", "'", "%", "..", "-",
    "\x7f",
]  # fmt: skip
FILE_NAMES = (
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6)
    .map("".join)
    .filter(lambda name: name not in (".", "..") and len(os.fsencode(name)) < 200)
)


@needs_tools
@pytest.mark.parametrize("tool", TOOLS, ids=["patch", "git apply"])
@example(f"x{EVIL}")
@given(FILE_NAMES)
def test_a_diff_changes_only_its_own_file(tool, tmp_path_factory, name):
    home = tmp_path_factory.mktemp("named")
    others = {"evil.md", "a", "b.md", "a b.md", *name.split(), *name.split("\n"), *name.split("\t")}
    others -= {name, "", ".", ".."}
    for other in others:
        (home / other).write_text("old\n")
    (home / name).write_text("old\n")
    diff = unified_diff(name, "old\n", "new\n").encode("utf-8", "surrogateescape")
    assert diff.count(b"\n") == 5
    done = subprocess.run(tool, input=diff, cwd=home, capture_output=True, timeout=60).returncode == 0
    if "\n" not in name:  # which patch never takes
        assert done
    assert (home / name).read_text() == ("new\n" if done else "old\n")
    assert {other for other in others if (home / other).read_text() != "old\n"} == set()
    assert set(os.listdir(home)) == {name, *others}
