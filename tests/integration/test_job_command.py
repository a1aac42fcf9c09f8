"""``disambig job``: status, verify, resume and merge, over the command line.

The commands run in the process of the test, with a fake annotator in place of the models; jobs that are
killed or have several workers are those of other tests, but for one.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from commands import Done, here, process
from fake_models import fakes

SCRIPT = Path(__file__).with_name("fake_models.py")


SHARDS = ("--shard-size", "0.0002")


@pytest.fixture(autouse=True)
def models(monkeypatch):
    for name, fake in fakes().items():
        monkeypatch.setitem(sys.modules, name, fake)


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


def annotate(corpus: Path, *more: str, status: int = 0):
    return run(
        "annotate", "lines.txt", "--lines", "--output", "out", *SHARDS, *more, cwd=corpus, status=status
    )


def told(corpus: Path, status: int = 0) -> dict:
    return json.loads(run("job", "status", "out", "--json", cwd=corpus, status=status).stdout)


def test_status_of_a_job(corpus):
    annotate(corpus)
    output = told(corpus)
    assert output["shards"] == output["finished"] > 3
    assert (output["documents"], output["damaged"], output["at_work"], output["bad"]) == (30, [], False, [])
    (corpus / "out" / "shards" / "00001.json").unlink()
    (corpus / "out" / "part-00002.jsonl").write_text("cut")
    output = told(corpus, status=1)
    assert (output["finished"], output["damaged"]) == (output["shards"] - 2, [2])
    text = run("job", "status", "out", cwd=corpus, status=1).stdout
    assert "to continue: disambig job resume out" in text


def test_a_finished_part_cut_in_half_is_done_again(corpus):
    annotate(corpus)
    part = corpus / "out" / "part-00001.jsonl"
    whole = part.read_bytes()
    part.write_bytes(whole[: len(whole) // 2])
    output = run("job", "verify", "out", cwd=corpus, status=2)
    assert f"shard 1: part-00001.jsonl: has {len(whole) // 2:,} bytes, not {len(whole):,}" in output.stdout
    assert "D877" in run("job", "merge", "out", cwd=corpus, status=2).stderr
    annotate(corpus)
    assert part.read_bytes() == whole


def test_a_changed_part_of_the_same_size_is_detected_and_repeated(corpus):
    annotate(corpus)
    part = corpus / "out" / "part-00001.jsonl"
    whole = part.read_bytes()
    part.write_bytes(whole.replace(b"quite", b"quiet", 1))
    assert (
        run("job", "verify", "out", cwd=corpus, status=2)
        .stdout.strip()
        .endswith("part-00001.jsonl: is not what the job wrote")
    )
    run("job", "merge", "out", cwd=corpus, status=2)
    run("job", "verify", "out", "--forget", cwd=corpus, status=2)
    run("job", "resume", "out", cwd=corpus)
    assert part.read_bytes() == whole
    run("job", "verify", "out", cwd=corpus)


def test_resume_finds_the_command_from_any_directory(corpus, tmp_path_factory):
    (corpus / "ignore").write_text("Russia\n")
    more = ("--format", "csv", "--only-flags", "--ignore", "ignore", "--workers", "2")
    command = ("annotate", "lines.txt", "--lines", "--output", "out", *SHARDS, *more)
    assert process(*command, folder=corpus, python=(str(SCRIPT),)).returncode == 0
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
    annotate(corpus, "--no-text")
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
    annotate(corpus, "--format", format)
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
    annotate(corpus, "--force", "--format", "html")
    assert "D875" in run("job", "merge", "out", cwd=corpus, status=2).stderr
    (corpus / "out" / "shards" / "00000.json").unlink()
    assert "D874" in run("job", "merge", "out", cwd=corpus, status=2).stderr
    assert "D318" in run("job", "merge", ".", cwd=corpus, status=2).stderr


def test_jobs_of_an_older_disambig_are_refused_in_one_line(corpus):
    annotate(corpus)
    path = corpus / "out" / "manifest.json"
    path.write_text(path.read_text().replace("disambig.job.v4", "disambig.job.v3"))
    assert "D873" in annotate(corpus, status=2).stderr
    assert "D873" in run("job", "status", "out", cwd=corpus, status=2).stderr
    annotate(corpus, "--force")
    assert told(corpus)["finished"] > 3


def test_a_manifest_without_its_command_is_a_message(corpus):
    annotate(corpus)
    path = corpus / "out" / "manifest.json"
    output = json.loads(path.read_text())
    for command in (
        None,
        5,
        {},
        {"options": {"no": 1}},
        {**output["command"], "directory": "/nowhere/at/all"},
    ):
        path.write_text(json.dumps({**output, "command": command}))
        assert "D876" in run("job", "resume", "out", cwd=corpus, status=2).stderr
    assert os.path.isdir(corpus)


def test_the_index_page_of_an_html_job(corpus):
    (corpus / "b & c.txt").write_text("a quite place\n")
    run(
        "annotate",
        ".",
        "--lines",
        "--output",
        "out",
        *SHARDS,
        "--format",
        "html",
        "--shard-index",
        cwd=corpus,
    )
    page = (corpus / "out" / "index.html").read_text()
    parts = sorted(path.name for path in (corpus / "out").glob("part-*.html"))
    assert len(parts) > 3
    assert [page.count(f'href="{name}"') for name in parts] == [1] * len(parts)
    assert "b &amp; c.txt" in page
    assert "31 documents" in page
    annotate(corpus, "--force")
    assert not (corpus / "out" / "index.html").exists()
    assert "D602" in annotate(corpus, "--shard-index", status=2).stderr


@pytest.mark.parametrize(
    ("name", "value"), [("shard_size", "x"), ("lines", "perhaps"), ("workers", 2.5), ("paths", "lines.txt")]
)
def test_options_of_other_types_in_a_manifest_are_a_message(corpus, name, value):
    annotate(corpus)
    path = corpus / "out" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["command"]["options"][name] = value
    path.write_text(json.dumps(manifest))
    assert "D876" in run("job", "resume", "out", cwd=corpus, status=2).stderr


def test_the_status_of_an_unfinished_job(corpus):
    annotate(corpus)
    (corpus / "out" / "shards" / "00000.json").unlink()
    output = run("job", "verify", "out", cwd=corpus).stderr
    n = told_shards(corpus)
    assert f"{n - 1} of {n} shards finished" in output


def told_shards(corpus):
    return json.loads((corpus / "out" / "manifest.json").read_text())["shards"]
