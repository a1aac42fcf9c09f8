"""``disambig annotate`` and ``disambig job``, here and in a child process, with a fake annotator."""

from __future__ import annotations

import gzip
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import spacy
from commands import Done, here, process
from fake_models import install_fakes
from spacy.tokens import DocBin

import disambig

DRIVER = Path(__file__).parent / "fake_models.py"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(disambig.__file__).parents[1]), "PYTHONUTF8": "1"}

TOKENS = "# newdoc id = x\n" + "".join(
    f"{i}\t{word}" + "\t_" * 8 + "\n" for i, word in enumerate("A quite place".split(), 1)
)

GOOD = "I worked in Russia during 1997 to 2001.\r\nIt was a \U0001f600 Quite place.\n"


def begun(*arguments, folder: Path, **streams) -> subprocess.Popen:
    command = [sys.executable, DRIVER, "annotate", *map(str, arguments)]
    return subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, **streams)


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "good.txt").write_bytes(GOOD.encode())
    return tmp_path


@pytest.fixture
def annotate(models, folder):
    """``disambig annotate`` in the process of the test."""
    return partial(here, "annotate", folder=folder)


@pytest.fixture
def elsewhere(folder):
    """``disambig annotate`` in a child process."""
    return partial(process, "annotate", folder=folder, python=(str(DRIVER),), env=ENVIRONMENT)


def test_into_a_pipe_go_documents_as_jsonl_and_a_summary_beside(folder, elsewhere):
    done = elsewhere("good.txt", "-", given="In it.")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["id"], row["flags"]) for row in rows] == [("good.txt", 2), ("<stdin>", 0)]
    assert [GOOD[one["start"] : one["end"]] for one in rows[0]["decisions"] if one["flagged"]] == [
        "during",
        "Quite",
    ]
    summary = done.stderr.splitlines()
    assert summary[0] == "2 documents, 16 words"  # a single piece has no rate: it would be that of the start
    assert summary[1:] == [
        "preposition: 4 decisions, 1 flag (62.50 per 1,000 words)",
        "spelling: 1 decision, 1 flag (62.50 per 1,000 words)",
    ]
    assert done.returncode == 0


def test_a_terminal_gets_lines_for_people(folder):
    ours, theirs = pty.openpty()
    assert begun("good.txt", folder=folder, stdout=theirs, stderr=subprocess.DEVNULL).wait(60) == 0
    os.close(theirs)
    shown = os.read(ours, 10_000).decode().splitlines()
    os.close(ours)
    assert shown == [
        "good.txt:1:20: during -> from (preposition, 0.90)",
        "good.txt:2:12: Quite -> Quiet (spelling, 0.90)",
    ]


def test_spans_of_other_programs_that_are_replaced_are_named_in_one_line(folder, elsewhere):
    doc = spacy.blank("en")("It was a quite place.")
    doc.spans["spelling"] = [doc[0:1]]
    DocBin(docs=[doc]).to_disk(folder / "a.spacy")
    done = elsewhere("a.spacy", "--output", "b.spacy", "--quiet")
    assert done.stderr.startswith("disambig: [D522] spans in doc.spans['spelling'] that another")
    assert done.returncode == 0 and done.stderr.count("\n") == 1


def test_quiet_runs_name_unreadable_directories(folder, annotate, monkeypatch):
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    (folder / "locked").mkdir()
    monkeypatch.setattr(os, "scandir", refuse)
    done = annotate(".", "--quiet")
    assert done.returncode == 2 and "good.txt" in done.stdout
    assert done.stderr == f"disambig: [D308] cannot read {os.path.join('.', 'locked')}: Permission denied\n"


@pytest.mark.parametrize("workers", [1, 2])
def test_streams_keep_their_order_with_workers(folder, annotate, elsewhere, workers):
    lines = [f"Line {number} of a quite place. {'x' * (number % 7) * 30_000}" for number in range(60)]
    (folder / "lines.txt").write_text("\n".join(lines))
    command = annotate if workers == 1 else elsewhere
    done = command("lines.txt", "--lines", "--workers", workers, "--format", "corrected")
    assert done.stdout == "\n".join(lines).replace("quite", "quiet")
    assert done.returncode == 0


def test_jsonl_on_standard_input_with_its_own_field(annotate):
    data = '{"body": "a quite place", "id": "x", "n": 1}\n'
    done = annotate("-", "--field", "body", "--task", "spelling", "--no-text", given=data)
    row = json.loads(done.stdout)
    assert (row["id"], row["meta"], row["flags"], row["text"]) == ("x", '{"n": 1}', 1, None)
    assert {one["task"] for one in row["decisions"]} == {"spelling"}


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("empty.txt", b"", "D302"),
        ("wordless.txt", b"?! ...\n", "D307"),
        ("blank.jsonl", b"\n\n", "D307"),
        ("fails.txt", b"RAISE", "D313"),
        ("bad.spacy", b"word", "D325"),
    ],
)
@pytest.mark.parametrize("output", [None, "out.jsonl"])
def test_one_bad_input_alone_is_just_its_error(folder, annotate, name, data, code, output):
    (folder / name).write_bytes(data)
    done = annotate(name, *(["--output", output] if output else []))
    assert done.returncode == 2
    arguments = " is not a spaCy DocBin: " if code == "D325" else ": "
    assert done.stderr.startswith(f"disambig: [{code}] {name}{arguments}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(path.name for path in folder.iterdir()) == sorted(["good.txt", name])


def test_a_bad_document_is_reported_and_skipped(folder, annotate):
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    for output in ([], ["--output", "out"]):
        done = annotate("latin.txt", "good.txt", *output)
        lines = done.stderr.splitlines()
        assert lines[0] == (
            "disambig: [D304] latin.txt: not UTF-8: byte 0xe9 at offset 3; "
            "convert it (`iconv -f LATIN1 -t UTF-8`)"
        )
        assert "skipped, since they could not be annotated: 1 document" in lines
        assert done.returncode == 2
    assert json.loads((folder / "out" / "part-00000.jsonl").read_text())["flags"] == 2


def test_an_unknown_suffix_needs_a_format(folder, annotate):
    for name in ("new.docx", "new.xyz.gz", "new.md"):
        done = annotate("good.txt", "--quiet", "--output", name)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"[D351] {name}: the suffix " in done.stderr and "add --format" in done.stderr
        assert not (folder / name).exists()
    done = annotate("good.txt", "--output", "new.xyz.gz", "--format", "jsonl")
    assert done.stderr.endswith("written to new.xyz.gz\n")
    assert annotate("good.txt", "--output", "new.ndjson").stderr.endswith("written to new.ndjson\n")


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["none.txt"], "D300", "none.txt"),
        (["good.txt", "--format", "josn"], "D601", "available: jsonl"),
        (["good.txt", "--format", "html", "--only-flags"], "D650", "--only-flags"),
        (["good.txt", "--flags-per-1000", "-1"], "D602", "--flags-per-1000 -1.0"),
        (["good.txt", "--output", "good.txt", "--force"], "D316", "good.txt"),
        (["good.txt", "--output", "taken.jsonl"], "D310", "--force"),
        (["good.txt", "--format", "csv", "--output", "new.html"], "D330", "a file in .csv"),
        (
            ["good.txt", "--format", "corrected", "--output", "new.conllu.gz"],
            "D330",
            "new.conllu.gz ends in .conllu",
        ),
        (["tokens.conllu", "--format", "corrected"], "D321", "tokens.conllu"),
        (["good.txt", "--task", "spelling", "--model", "spelling"], "D333", "'spelling'"),
        (["good.txt", "--task", "it", "--task", "it", "--workers", "2"], "D333", "'it'"),
        (["good.txt", "--task", "it", "--task", "it", "--output", "out"], "D333", "'it'"),
        (["good.txt", "--task", "it", "--task", "it", "--output", "new.spacy"], "D333", "'it'"),
    ],
)
def test_errors_are_one_line(folder, annotate, arguments, code, part):
    (folder / "taken.jsonl").write_text("mine")
    (folder / "tokens.conllu").write_text(TOKENS)
    done = annotate(*arguments)
    assert done.returncode == 2
    message = done.stderr
    assert message.startswith(f"disambig: [{code}] ")
    assert message.count("\n") == 1
    assert part in message
    assert (folder / "taken.jsonl").read_text() == "mine"
    assert (folder / "good.txt").read_bytes() == GOOD.encode()
    assert not [path.name for path in folder.iterdir() if "out" in path.name or "new" in path.name]


def test_files_are_replaced_on_request_and_can_be_compressed(folder, annotate):
    (folder / "out.jsonl.gz").write_text("old")
    done = annotate("good.txt", "--output", "out.jsonl.gz", "--force")
    assert done.returncode == 0
    assert json.loads(gzip.decompress((folder / "out.jsonl.gz").read_bytes()))["flags"] == 2


@pytest.mark.parametrize(  # every two values of two parameters occur together
    ("output", "number", "workers"),
    [
        ("out.jsonl", signal.SIGTERM, "1"),
        ("out.jsonl", signal.SIGINT, "2"),
        ("out", signal.SIGTERM, "2"),
        ("out", signal.SIGINT, "1"),
    ],
)
def test_a_signal_leaves_no_unfinished_files(folder, output, number, workers):
    unfinished = "shards/.tmp-*" if output == "out" else ".tmp-*"
    (folder / "lines.txt").write_text("A SLOW quite place.\n" * 2_000)
    options = ("--lines", "--workers", workers, "--output", output)
    running = begun("lines.txt", *options, folder=folder, stderr=subprocess.PIPE)
    while not list(folder.rglob(unfinished)):
        assert running.poll() is None, running.communicate()
        time.sleep(0.01)
    running.send_signal(number)
    running.send_signal(number if number == signal.SIGTERM else 0)  # `timeout` does so
    message = running.communicate(timeout=30)[1].decode()
    assert running.returncode == 128 + number
    assert "Traceback" not in message and ("run the same command again" in message) == (output == "out")
    assert not list(folder.rglob(".tmp-*"))
    assert not (folder / "out.jsonl").exists()


def test_a_job_is_finished_once(annotate, elsewhere):
    assert elsewhere("good.txt", "--output", "out", "--workers", 2).returncode == 0
    done = annotate("good.txt", "--output", "out")
    assert "nothing left to do: an earlier run finished the job" in done.stderr
    done = annotate("good.txt", "--output", "out", "--flags-per-1000", "4")
    assert done.returncode == 2
    assert 'flags_per_1000 was not set, is {"preposition": 2.0, "spelling": 2.0}' in done.stderr


@pytest.mark.parametrize("output", [[], ["--output", "out"], ["--output", "out.jsonl"]])
def test_documents_that_cannot_be_read_are_counted_even_if_no_other_is_left(folder, annotate, output):
    (folder / "a.jsonl").write_text('{"body": "It was a quite place."}\n' * 60)
    done = annotate("a.jsonl", "-q", *output)
    assert done.returncode == 2
    message, others, skipped = done.stderr.splitlines()
    assert message.startswith("disambig: [D306] a.jsonl: line 1: the key 'text' is missing")
    assert others == "disambig: [D306] a.jsonl: the same in 59 more lines: 2, 3, 4, ..."
    assert skipped == "skipped, since they could not be annotated: 60 documents"


def test_a_pipe_or_a_device_without_a_suffix_is_a_file(folder, annotate):
    assert annotate("good.txt", "-q", "--output", os.devnull).returncode == 0
    os.mkfifo(folder / "pipe")
    with open(os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:
        assert annotate("good.txt", "-q", "--output", "pipe").returncode == 0
        assert pipe.read().decode() == annotate("good.txt", "-q").stdout


def test_one_wrong_field_does_not_hide_other_problems(folder, annotate):
    keys = [["body", *"cde"[: n % 4]] for n in range(60)]
    records = [json.dumps(dict.fromkeys(names, "It was a quite place.")) for names in keys]
    (folder / "a.jsonl").write_text("\n".join([*records, "{broken", '{"text": 5}']))
    messages = annotate("a.jsonl", "-q").stderr.splitlines()
    missing = [message for message in messages if "the key 'text' is missing" in message]
    assert len(missing) == 1 and "keys: 'body'; name another one with --field NAME" in missing[0]
    assert any("not JSON" in message for message in messages)
    assert any("a JSON number" in message for message in messages)
    assert "disambig: [D306] a.jsonl: the same in 59 more lines: 2, 3, 4, ..." in messages


def test_similar_messages_about_files_name_another_file(folder, annotate):
    for number in range(1, 4):
        (folder / f"{number}.spacy").write_bytes(b"no DocBin")
    messages = annotate("1.spacy", "2.spacy", "-q").stderr.splitlines()
    assert ["1.spacy" in messages[0], "2.spacy" in messages[1]] == [True, True]
    messages = annotate("1.spacy", "2.spacy", "3.spacy", "-q").stderr.splitlines()
    assert messages[1].startswith(
        "disambig: [D325] 2 more messages like the first one, such as: 2.spacy is not"
    )


def test_at_most_fifty_messages_are_shown(folder, annotate):
    words = [first + second for first in "abcdefgh" for second in "abcdefgh"]
    for word in words:
        (folder / f"{word}.jsonl").write_text("{broken")
    *messages, hidden, _ = annotate(*(f"{word}.jsonl" for word in words), "-q").stderr.splitlines()
    assert len(messages) == 50 and hidden == "14 more messages not shown"


def test_a_hyphen_as_output_is_standard_output(folder, annotate):
    to_pipe = annotate("good.txt", "-q").stdout
    assert to_pipe and annotate("good.txt", "-q", "--output", "-").stdout == to_pipe
    annotate("good.txt", "-q", "--output", "job")
    assert here("job", "merge", "job", "-q", "--output", "-", folder=folder).stdout == to_pipe
    assert not (folder / "-").exists()


def test_documents_that_kill_workers_are_reported(folder, elsewhere):
    (folder / "poison.txt").write_text("KILLME")
    options = ("--output", "out", "--workers", 2, "--shard-size", "1e-5")
    done = elsewhere("poison.txt", "good.txt", *options)
    message = done.stderr
    assert done.returncode == 2
    assert "disambig: [D314] shard 0 (poison.txt): it ended its worker process 2 times (SIGKILL" in message
    assert "skipped, since a worker failed: 1 part" in message
    assert "1 document, " in message


def test_a_closed_pipe_causes_no_messages(folder):
    (folder / "many.txt").write_text("a quite place\n" * 200_000)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = begun("many.txt", "--lines", folder=folder, **pipes)
    running.stdout.readline()
    running.stdout.close()
    assert running.stderr.read() == b""
    running.stderr.close()
    assert running.wait(60) == 141


def test_text_files_may_hold_any_kind(folder, annotate):
    (folder / "treebank.txt").write_text(TOKENS, encoding="utf8")
    done = annotate("treebank.txt", "--from", "conllu", "--format", "conllu")
    assert "Disambig=spelling:quite:quiet" in done.stdout and "D353" not in done.stderr
    assert "D353" not in annotate("treebank.txt", "--from", "text", "--lines").stderr
    (folder / "a.jsonl").write_text('{"text": "a quite place"}\n', encoding="utf8")
    done = annotate("a.jsonl", "--from", "conllu")
    assert "[D353] --from conllu has no effect" in done.stderr and json.loads(done.stdout)["flags"] == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_standard_output_on_a_full_disk_is_one_line(folder):
    with open("/dev/full", "wb") as full:
        running = begun("good.txt", folder=folder, stdout=full, stderr=subprocess.PIPE)
        message = running.communicate(timeout=60)[1]
    assert running.returncode == 2
    assert message == b"disambig: [D309] cannot write standard output: No space left on device\n"


def test_standard_input_may_hold_any_kind(annotate):
    done = annotate("-", "--from", "conllu", "--format", "conllu", given=TOKENS)
    lines = done.stdout.splitlines()
    assert lines[2] == "2\tquite" + "\t_" * 7 + "\tDisambig=spelling:quite:quiet:0.90:flag"
    assert [line for i, line in enumerate(lines) if i != 2] == [
        line for i, line in enumerate(TOKENS.splitlines()) if i != 2
    ]
    done = annotate("-", "--from", "csv", "--field", "body", given="id;body\nx;a quite place\n")
    row = json.loads(done.stdout)
    assert (row["id"], row["meta"], row["flags"]) == ("x", "{}", 1)
    done = annotate("-", "--from", "lines", "--format", "csv", given="a quite place\nin it\n")
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == [
        "document",
        "<stdin>:1",
        "<stdin>:2",
    ]


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("x.html", b"<!DOCTYPE html>"),
        ("x.csv", b"document,path,line"),
        ("x.tsv", b"document\tpath"),
        ("x.conllu", b"# newdoc id = good.txt"),
        ("x.parquet", b"PAR1"),
        ("x.txt", b"good.txt:1:20: during"),
        ("x.jsonl", b'{"schema"'),
    ],
)
def test_the_suffix_of_the_output_says_the_format(folder, annotate, name, begins):
    done = annotate("good.txt", "--output", name)
    assert done.returncode == 0, done.stderr
    assert (folder / name).read_bytes().startswith(begins)


def test_help_names_every_format_and_kind(annotate):
    from disambig.formats import FORMAT_NAMES, FORMATS, SUFFIXES

    message = annotate("--help").stdout
    assert all(name in message for name in (*FORMATS, *FORMAT_NAMES, *SUFFIXES))


def test_records_of_version_1(annotate):
    (new,) = map(json.loads, annotate("good.txt").stdout.splitlines())
    (old,) = map(json.loads, annotate("good.txt", "--records", "1").stdout.splitlines())
    assert new["schema"] == "disambig/records/2" and "schema" not in old
    assert old["decisions"][0]["candidates"][0] == list(new["decisions"][0]["candidates"][0].values())
    done = annotate("good.txt", "--records", "3")
    assert done.returncode == 2 and "D530] there are no records of version 3: choose from 1, 2" in done.stderr
    done = annotate("good.txt", "--records", "1", "--format", "csv")
    assert done.returncode == 2 and "[D532]" in done.stderr


def test_a_job_does_not_mix_versions_of_records(folder, annotate):
    assert annotate("good.txt", "--output", "job").returncode == 0
    done = annotate("good.txt", "--output", "job", "--records", "1")
    assert done.returncode == 2 and "D311" in done.stderr and "records" in done.stderr
    assert annotate("good.txt", "--output", "job", "--records", "2").returncode == 0
    assert annotate("good.txt", "--output", "job", "--records", "1", "--force").returncode == 0
    assert here("job", "merge", "job", folder=folder).stdout.startswith('{"id"')


def test_records_can_be_annotated_again(folder, annotate):
    (folder / "rows.jsonl").write_text('{"id": 7, "text": "a quite place", "meta": {"n": 1}}\n')
    assert annotate("rows.jsonl", "--output", "first.jsonl").returncode == 0
    (again,) = map(json.loads, annotate("first.jsonl").stdout.splitlines())
    (first,) = map(json.loads, (folder / "first.jsonl").read_text().splitlines())
    assert again == {**first, "path": "first.jsonl"}
    assert first["meta"] == '{"n": 1}'


def test_the_schema_is_printed(folder):
    done = here("schema", folder=folder)
    assert done.returncode == 0
    assert json.loads(done.stdout)["properties"]["schema"]["const"] == "disambig/records/2"


def test_quiet_leaves_no_summary(annotate):
    assert annotate("good.txt", "--quiet").stderr == ""


SHARDS = ("--shard-size", "0.0002")


@pytest.fixture(autouse=True)
def models(monkeypatch):
    install_fakes(monkeypatch)


def run(*arguments: str, cwd: Path, status: int = 0) -> Done:
    done = here(*arguments, folder=cwd)
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture
def corpus(tmp_path) -> Path:
    """Lines of text that a job divides into several shards."""
    lines = [f"Line {number} tells of a quite place, =1, during 1997." for number in range(30)]
    (tmp_path / "lines.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def annotate_corpus(corpus: Path, *more: str, status: int = 0):
    return run(
        "annotate", "lines.txt", "--lines", "--output", "out", *SHARDS, *more, cwd=corpus, status=status
    )


def read_status(corpus: Path, status: int = 0) -> dict:
    return json.loads(run("job", "status", "out", "--json", cwd=corpus, status=status).stdout)


def test_status_of_a_job(corpus):
    annotate_corpus(corpus)
    output = read_status(corpus)
    assert output["shards"] == output["finished"] > 3
    assert (output["documents"], output["damaged"], output["at_work"], output["bad"]) == (30, [], False, [])
    (corpus / "out" / "shards" / "00001.json").unlink()
    (corpus / "out" / "part-00002.jsonl").write_text("cut")
    output = read_status(corpus, status=1)
    assert (output["finished"], output["damaged"]) == (output["shards"] - 2, [2])
    text = run("job", "status", "out", cwd=corpus, status=1).stdout
    assert "to continue: disambig job resume out" in text
    (corpus / "out" / "shards" / "00002.json").unlink()
    verified = run("job", "verify", "out", cwd=corpus).stderr
    left = output["shards"] - 2
    assert f"{left} of {output['shards']} shards finished, {left} files read, 0 damaged" in verified


@pytest.mark.parametrize("cut", [True, False], ids=["cut in half", "of the same size"])
def test_a_changed_part_is_detected_and_done_again(corpus, cut):
    annotate_corpus(corpus)
    part = corpus / "out" / "part-00001.jsonl"
    whole = part.read_bytes()
    part.write_bytes(whole[: len(whole) // 2] if cut else whole.replace(b"quite", b"quiet", 1))
    problem = f"has {len(whole) // 2:,} bytes, not {len(whole):,}" if cut else "is not what the job wrote"
    output = run("job", "verify", "out", cwd=corpus, status=2).stdout
    assert f"shard 1: part-00001.jsonl: {problem}" in output
    assert "D877" in run("job", "merge", "out", cwd=corpus, status=2).stderr
    if cut:  # the next run sees that the size is another one
        annotate_corpus(corpus)
    else:
        run("job", "verify", "out", "--forget", cwd=corpus, status=2)
        run("job", "resume", "out", cwd=corpus)
    assert part.read_bytes() == whole
    run("job", "verify", "out", cwd=corpus)


def test_resume_finds_the_command_from_any_directory(corpus, tmp_path_factory):
    (corpus / "ignore").write_text("Russia\n")
    more = ("--format", "csv", "--only-flags", "--ignore", "ignore", "--workers", "2")
    command = ("annotate", "lines.txt", "--lines", "--output", "out", *SHARDS, *more)
    assert process(*command, folder=corpus, python=(str(DRIVER),)).returncode == 0
    before = {path.name: path.read_bytes() for path in (corpus / "out").glob("part-*")}
    for number in (0, 2):
        (corpus / "out" / "shards" / f"0000{number}.json").unlink()
        (corpus / "out" / f"part-0000{number}.csv").unlink()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    run("job", "resume", str(corpus / "out"), "--workers", "1", cwd=elsewhere)
    assert {path.name: path.read_bytes() for path in (corpus / "out").glob("part-*")} == before
    shutil.move(corpus / "out", elsewhere / "moved")
    (elsewhere / "moved" / "shards" / "00001.json").unlink()
    run("job", "resume", "moved", cwd=elsewhere)
    run("job", "verify", "moved", cwd=elsewhere)


def test_a_job_that_an_earlier_version_started_is_resumed(corpus):
    """Its manifest has `text` instead of today's `no_text`."""
    annotate_corpus(corpus, "--no-text")
    manifest = corpus / "out" / "manifest.json"
    record = json.loads(manifest.read_text())
    assert record["command"]["options"].pop("no_text") is True
    record["command"]["options"]["text"] = False
    manifest.write_text(json.dumps(record))
    part, shard = corpus / "out" / "part-00000.jsonl", corpus / "out" / "shards" / "00000.json"
    before = part.read_bytes()
    part.unlink()
    shard.unlink()
    run("job", "resume", "out", cwd=corpus)
    assert part.read_bytes() == before


@pytest.mark.parametrize("format", ["jsonl", "text", "corrected", "csv", "tsv", "conllu", "parquet", "spacy"])
def test_merged_parts_are_what_a_stream_writes(corpus, format):
    if format == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
    annotate_corpus(corpus, "--format", format)
    suffix = {"text": "txt", "corrected": "txt"}.get(format, format)
    run("annotate", "lines.txt", "--lines", "--format", format, "--output", f"one.{suffix}", cwd=corpus)
    run("job", "merge", "out", "--output", f"merged.{suffix}", cwd=corpus)
    one, merged = corpus / f"one.{suffix}", corpus / f"merged.{suffix}"
    if format == "parquet":
        assert parquet.read_table(merged).equals(parquet.read_table(one))
    elif format == "spacy":
        import spacy
        from spacy.tokens import DocBin

        texts = [
            [doc.text for doc in DocBin().from_disk(path).get_docs(spacy.blank("en").vocab)]
            for path in (one, merged)
        ]
        assert texts[0] == texts[1]
        assert len(texts[0]) == 30
    else:
        assert merged.read_bytes() == one.read_bytes()
        assert run("job", "merge", "out", cwd=corpus).stdout.encode() == one.read_bytes()
    run("job", "merge", "out", "--output", f"merged.{suffix}", cwd=corpus, status=2)


def test_errors_of_merging_parts(corpus):
    (corpus / "a.txt").write_text("a quite place")
    run("annotate", "a.txt", "--format", "corrected", "--output", "out", cwd=corpus)
    assert "D875" in run("job", "merge", "out", cwd=corpus, status=2).stderr
    annotate_corpus(corpus, "--force", "--format", "html")
    assert "D875" in run("job", "merge", "out", cwd=corpus, status=2).stderr
    (corpus / "out" / "shards" / "00000.json").unlink()
    assert "D874" in run("job", "merge", "out", cwd=corpus, status=2).stderr
    assert "D318" in run("job", "merge", ".", cwd=corpus, status=2).stderr


def test_jobs_of_an_older_disambig_are_refused_in_one_line(corpus):
    annotate_corpus(corpus)
    path = corpus / "out" / "manifest.json"
    path.write_text(path.read_text().replace("disambig.job.v4", "disambig.job.v3"))
    assert "D873" in annotate_corpus(corpus, status=2).stderr
    assert "D873" in run("job", "status", "out", cwd=corpus, status=2).stderr
    annotate_corpus(corpus, "--force")
    assert read_status(corpus)["finished"] > 3


def test_a_manifest_without_a_valid_command_is_a_message(corpus):
    annotate_corpus(corpus)
    path = corpus / "out" / "manifest.json"
    manifest = json.loads(path.read_text())
    command = manifest["command"]
    invalid = [None, 5, {}, {"options": {"no": 1}}, {**command, "directory": "/nowhere/at/all"}]
    options = [("shard_size", "x"), ("lines", "perhaps"), ("workers", 2.5), ("paths", "lines.txt")]
    invalid += [{**command, "options": {**command["options"], name: value}} for name, value in options]
    for other in invalid:
        path.write_text(json.dumps({**manifest, "command": other}))
        assert "D876" in run("job", "resume", "out", cwd=corpus, status=2).stderr, other


def test_the_index_page_of_an_html_job(corpus):
    (corpus / "b & c.txt").write_text("a quite place\n")
    run(*"annotate . --lines --output out --format html --shard-index".split(), *SHARDS, cwd=corpus)
    page = (corpus / "out" / "index.html").read_text()
    parts = sorted(path.name for path in (corpus / "out").glob("part-*.html"))
    assert len(parts) > 3
    assert [page.count(f'href="{name}"') for name in parts] == [1] * len(parts)
    assert "b &amp; c.txt" in page
    assert "31 documents" in page
    annotate_corpus(corpus, "--force")
    assert not (corpus / "out" / "index.html").exists()
    assert (
        "[D602] --shard-index: it requires a job" in annotate_corpus(corpus, "--shard-index", status=2).stderr
    )
