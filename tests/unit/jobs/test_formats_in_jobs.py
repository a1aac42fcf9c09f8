"""Jobs in every format: what is written, and resumed jobs lose and repeat nothing."""

from __future__ import annotations

import csv
import io
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_models import FakeSource
from job_helpers import ENVIRONMENT, job, rows

from disambig.errors import UserError
from disambig.formats import find_inputs, make_format, read_all
from disambig.jobs import annotate_stream, plan_shards


def sentence(*words: str, comment: str = "") -> str:
    lines = [f"{i}\t{word}" + "\t_" * 8 for i, word in enumerate(words, 1)]
    return "\n".join([*([comment] if comment else []), *lines]) + "\n\n"


def conllu(n: int, name: str) -> str:
    return "".join(
        sentence("It", "was", "a", "quite", "place", str(i), comment=f"# newdoc id = {name}{i}")
        for i in range(n)
    )


@pytest.fixture
def corpus(tmp_path) -> Path:
    pytest.importorskip("pyarrow")
    import pyarrow as arrow
    import pyarrow.parquet
    import spacy
    from spacy.tokens import DocBin

    folder = tmp_path / "corpus"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.conllu").write_text(conllu(20, "a"))
    (folder / "deep" / "b.conllu").write_text(conllu(3, "b"))
    lines = [("id", "text"), *((f"r{i}", f'a quite place\nof "{i}"') for i in range(30))]
    with open(folder / "c.csv", "w", newline="") as file:
        csv.writer(file).writerows(lines)
    nlp = spacy.blank("en")
    DocBin(docs=[nlp(f"in the quite place {i}") for i in range(5)]).to_disk(folder / "d.spacy")
    arrow.parquet.write_table(
        arrow.table({"text": [f"during 1997 {i}" for i in range(5)]}), folder / "e.parquet"
    )
    (folder / "f.txt").write_text("It was a quite place.")
    return folder


def test_reads_every_kind_and_each_document_once(corpus, tmp_path):
    report = job(corpus, tmp_path / "out", size=300)
    whole = list(read_all(find_inputs([str(corpus)])))
    assert len(whole) == 20 + 30 + 5 + 5 + 1 + 3
    assert [(row["id"], row["text"]) for row in rows(tmp_path / "out")] == [
        (one.id, one.text) for one in whole
    ]
    assert (report.bad, report.left_out) == ([], [])
    shards = plan_shards(find_inputs([str(corpus)]), shard_size=300).shards
    kinds = [shard.parts[0].kind for shard in shards]
    assert {kind: kinds.count(kind) for kind in kinds}["spacy"] == 1
    assert {kind: kinds.count(kind) for kind in kinds}["parquet"] == 1
    assert kinds.count("conllu") > 4
    assert kinds.count("csv") > 2


@pytest.mark.parametrize("size", [1, 10_000])
def test_token_files_keep_their_names(corpus, tmp_path, size):
    out = tmp_path / "out"
    (corpus / "deep" / "bad.conllu").write_text("no tokens\n")
    report = job(corpus, out, format="conllu", size=size)
    for name in ("a.conllu", "deep/b.conllu"):
        before, after = (corpus / name).read_text(), (out / name).read_text()
        assert after == before.replace(
            "quite" + "\t_" * 8, "quite" + "\t_" * 7 + "\tDisambig=spelling:quite:quiet:0.90:flag"
        )
    assert not (out / "deep" / "bad.conllu").exists()
    assert [message[1:5] for message in report.bad] == ["D324"]
    parts = "".join(part.read_text() for part in sorted(out.glob("part-*.conllu")))
    assert parts.count("# newdoc id") == 30 + 5 + 5 + 1
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.conllu")}
    (out / "deep" / "b.conllu").unlink()
    again = job(corpus, out, format="conllu", size=size)
    assert again.skipped == again.shards - 1
    after = {path: path.stat().st_mtime_ns for path in out.rglob("*.conllu")}
    assert set(after) == set(before)


def test_rejects_an_input_named_like_a_part(corpus, tmp_path):
    (corpus / "a.conllu").rename(corpus / "part-00001.conllu")
    with pytest.raises(UserError, match=r"D332.*part-00001.conllu"):
        job(corpus, tmp_path / "out", format="conllu", size=10_000)
    job(corpus, tmp_path / "out", format="jsonl", size=10_000)


def test_docbins_keep_their_names(corpus, tmp_path):
    from spacy.tokens import DocBin

    job(corpus, tmp_path / "out", format="spacy", size=300)
    assert len(DocBin().from_disk(tmp_path / "out" / "d.spacy")) == 5
    parts = [DocBin().from_disk(part) for part in (tmp_path / "out").glob("part-*.spacy")]
    assert sum(map(len, parts)) == 20 + 30 + 5 + 1 + 3


@pytest.mark.parametrize("format", ["csv", "parquet", "html"])
def test_other_formats_write_one_file_per_shard(corpus, tmp_path, format):
    report = job(corpus, tmp_path / "out", format=format, size=2_000)
    parts = sorted((tmp_path / "out").glob(f"part-*.{format}"))
    assert len(parts) == report.shards
    n = sum(decisions for decisions, _ in report.totals.tasks.values())
    if format == "csv":
        records = [row for part in parts for row in csv.DictReader(io.StringIO(part.read_text()))]
        assert len(records) == n
    elif format == "html":
        assert sum(part.read_text().count("<section id=") for part in parts) == report.totals.documents


def stream(path: Path, format: str = "jsonl"):
    """Return the report of a stream, and its output."""
    chunks: list[bytes] = []
    source, inputs = FakeSource(), read_all(find_inputs([str(path)]))
    report = annotate_stream(inputs, source=source, format=make_format(format), write=chunks.append)
    return report, chunks


def test_a_stream_and_a_job_give_the_same(corpus, tmp_path):
    _, chunks = stream(corpus)
    job(corpus, tmp_path / "out", size=500)
    assert [json.loads(line) for line in b"".join(chunks).splitlines()] == rows(tmp_path / "out")


@pytest.mark.parametrize("format", ["jsonl", "html", "csv", "spacy", "conllu"])
def test_writes_nothing_without_words(tmp_path, format):
    (tmp_path / "a.txt").write_text("?! ...")
    report, chunks = stream(tmp_path, format)
    assert (report.totals.documents, report.totals.words, chunks) == (1, 0, [])


def test_keeps_symbols_before_the_first_word(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "?!"}\n' * 4500 + '{"text": "in it"}\n')
    assert len(b"".join(stream(tmp_path)[1]).splitlines()) == 4501


@pytest.mark.parametrize("data", ["id,text\n1,\n2,in it\n3,  \n", '"text"\n""\n"in it"\n"  "\n'])
def test_rows_with_an_empty_text_have_records_in_a_stream_and_in_a_job(tmp_path, data):
    (tmp_path / "a.csv").write_text(data)
    report, chunks = stream(tmp_path / "a.csv")
    records = [json.loads(line) for line in b"".join(chunks).splitlines()]
    assert report.totals.documents == 3
    assert [(record["text"], bool(record["decisions"])) for record in records] == [
        ("", False),
        ("in it", True),
        ("  ", False),
    ]
    report = job(tmp_path / "a.csv", tmp_path / "out", size=10)
    assert report.totals.documents == 3
    assert rows(tmp_path / "out") == records
    corrected = b"".join(stream(tmp_path / "a.csv", "corrected")[1]).splitlines()
    assert [json.loads(line)["text"] for line in corrected] == ["", "in it", "  "]


DRIVER = """
import sys
from pathlib import Path
from fake_models import FakeSource
from disambig.formats import find_inputs, make_format
from disambig.jobs import run_job
if __name__ == "__main__":
    out, path, format = sys.argv[1:]
    run_job(Path(out), find_inputs([path]), source=FakeSource(), format=make_format(format), shard_size=400)
"""


@pytest.mark.parametrize(
    ("name", "format"),
    [
        pytest.param("a.conllu", "jsonl", marks=pytest.mark.slow),
        pytest.param("a.csv", "jsonl", marks=pytest.mark.slow),
        ("a.conllu", "conllu"),
    ],
)
def test_killed_jobs_resume_without_loss_or_duplicates(tmp_path, name, format):
    folder, out, driver = tmp_path / "corpus", tmp_path / "out", tmp_path / "driver.py"
    folder.mkdir()
    driver.write_text(DRIVER)
    texts = [f"SLOW quite place {i}" for i in range(80)]
    if name.endswith(".csv"):
        with open(folder / name, "w", newline="") as file:
            csv.writer(file).writerows([("text",), *((text.replace(" ", "\n"),) for text in texts)])
    else:
        for number in range(8):  # files of tokens that are rewritten are never split
            some = texts[10 * number : 10 * number + 10]
            data = "".join(sentence(*text.split(), comment="# newdoc") for text in some)
            (folder / f"{number}-{name}").write_text(data)
    command = [sys.executable, str(driver), str(out), str(folder), format]
    chance, finished = random.Random(name), 0
    for _ in range(3):
        process = subprocess.Popen(command, env=ENVIRONMENT)
        while process.poll() is None and len(list(out.glob("shards/[0-9]*.json"))) <= finished:
            time.sleep(0.005)
        time.sleep(chance.uniform(0.0, 0.1))
        process.kill()
        assert process.wait() == -signal.SIGKILL, "it finished too soon to be killed: make the test longer"
        finished = len(list(out.glob("shards/[0-9]*.json")))
    assert subprocess.run(command, env=ENVIRONMENT, check=False).returncode == 0
    if format == "jsonl":
        assert [" ".join(row["text"].split()) for row in rows(out)] == texts
    else:
        results = [(out / path.name).read_text() for path in sorted(folder.iterdir())]
        assert [text.count("Disambig=") for text in results] == [10] * 8
    assert not list(out.glob("**/.tmp-*"))
