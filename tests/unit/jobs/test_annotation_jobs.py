"""Jobs that annotate: batches, every output format, limits, and documents that fail."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import random
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fake_models import FakeSource, annotate_texts
from hypothesis import given, strategies as st
from job_helpers import ENVIRONMENT, job, rows

from disambig.data import Group
from disambig.errors import UserError
from disambig.formats import Document, count_words, find_inputs, make_format, read_all, records
from disambig.jobs import (
    EngineOptions,
    InProcessRunner,
    JobLimits,
    ProcessRunner,
    ShardWork,
    annotate_stream,
    bisect_failure,
    count_totals,
    local_runner,
    make_runner,
    memory_usage,
    plan_shards,
    totals_from_plain,
)
from disambig.models import (
    ModelSource,
    annotate_documents,
    annotation,
    batch_documents,
    cut_pieces,
    with_sets,
)
from disambig.rules import Correction, Rule, RuleSet
from disambig.runtime import DeadlineExceeded, pause_time_limit, resume_time_limit, time_limit


def document(text: str, name: str = "a") -> Document:
    return Document(name, text, name)


@given(text=st.text(st.sampled_from("ab. \n")), size=st.integers(1, 12), window=st.integers(0, 12))
def test_pieces_cover_a_text_and_respect_the_limit(text, size, window):
    cuts = cut_pieces(text, size=size, window=window)
    assert "".join(text[start:end] for start, end in cuts) == text
    assert [end for _, end in cuts[:-1]] == [start for start, _ in cuts[1:]]
    assert all(0 < end - start <= size + 2 for start, end in cuts) or not text


def test_pieces_end_at_paragraphs_or_lines():
    assert cut_pieces("aaa. b\n\nc\nd e f", size=11, window=9) == [(0, 8), (8, 15)]
    assert cut_pieces("a b\nc d e", size=6, window=6) == [(0, 4), (4, 9)]
    assert cut_pieces("x" * 9, size=4, window=2) == [(0, 4), (4, 8), (8, 9)]


def test_decisions_on_pieces_equal_those_on_the_whole(monkeypatch):
    text = "It was a quite place, during 1997\r\nto 2001. \U0001f600 In it!\n\n" * 30
    (whole,), _ = annotate_documents([document(text)], annotate_texts)
    monkeypatch.setattr(annotation, "cut_pieces", lambda text: cut_pieces(text, size=200, window=100))
    monkeypatch.setattr(annotation, "BATCH_CHARACTERS", 350)
    results, bad = annotate_documents([document("in"), document(text), document("")], annotate_texts)
    assert not bad
    assert list(records(results[1])) == list(records(whole))
    assert [len(list(records(result))) for result in results] == [1, 30 * 4, 0]
    for cut, full in zip(results[1].decisions, whole.decisions, strict=True):
        for field in dataclasses.fields(cut):
            one, other = getattr(cut, field.name), getattr(full, field.name)
            assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


def test_batches_hold_all_documents_in_order():
    documents = [document("x" * length) for length in (3, 3, 3, 20, 1)]
    assert [len(batch) for batch in batch_documents(documents, size=6)] == [2, 2, 1]
    assert [one for batch in batch_documents(documents, size=6) for one in batch] == documents


def test_one_bad_document_does_not_spoil_its_batch():
    good, bad = annotate_documents(
        [document("in", "a"), Document("b:2", "RAISE", "b", 2, "line"), document("of", "c")], annotate_texts
    )
    assert [result.document.id for result in good] == ["a", "c"]
    (error,) = [str(one.error) for one in bad]
    message = "[D313] b:2: could not be annotated: RuntimeError: the fake model was asked to fail"
    assert re.fullmatch(re.escape(message) + r" \(fake_models\.py:\d+, in annotate_texts\)", error)


def name_rule(correction: Correction) -> str:
    if correction.observed == "quite":
        raise KeyError("boom")
    return "any"


def test_rules_that_cannot_be_named_do_not_spoil_a_batch():
    def annotate(texts):
        rules = RuleSet((Rule("any", "Any."),), name_rule)
        return [replace(decisions, rules=rules) for decisions in annotate_texts(texts)]

    good, (bad,) = annotate_documents([document("during 1997"), document("a quite place", "b")], annotate)
    assert [result.document.text for result in good] == ["during 1997"] and good[0].decisions[0].flagged.any()
    assert re.match(r"\[D313\] b: could not be annotated: \[D414\].*boom", str(bad.error))


def test_totals_add_up_and_round_trip():
    results, _ = annotate_documents([document("a quite place in Rome"), document("?!")], annotate_texts)
    totals = count_totals(results)
    tasks = {"preposition": [1, 0], "spelling": [1, 1]}
    assert totals.plain() == {"documents": 2, "words": 5, "tasks": tasks}
    assert totals_from_plain(totals.plain()) == totals
    totals.add(count_totals(results[:1]))
    assert totals.tasks["spelling"] == (2, 2)


def test_labels_are_counted_without_flags():
    (result,), _ = annotate_documents([document("a quite place in Rome")], annotate_texts)
    _, spelling = result.decisions
    none = np.full(len(spelling), -1, np.int32)
    labels = replace(result, decisions=(replace(spelling, observed=none, flagged=none > 0),))
    nothing = replace(result, decisions=(spelling.slice(0, 0),))
    totals = count_totals([labels, nothing, labels])
    assert totals.tasks == {"spelling": (2, None)}
    assert totals_from_plain(json.loads(json.dumps(totals.plain()))) == totals
    totals.add(count_totals([nothing, result, labels]))
    assert totals.tasks["spelling"] == (4, 1)


@pytest.mark.parametrize(
    ("text", "words"), [("", 0), (" \n", 0), ("?! -- ...", 0), ("a - b", 3), ("\u3042", 1)]
)
def test_word_counts(text, words):
    assert count_words(text) == words


@pytest.mark.parametrize(("name", "n_flags"), [("a.md", 1), ("a.tex.gz", 2), ("a.txt", 3)])
def test_skips_markup_and_keeps_offsets(name, n_flags):
    text = r"` a quite place ` and \ref{ a quite place } and a quite place"
    ((result,), _) = annotate_documents([document(text, name)], annotate_texts)
    flags = [record for record in records(result) if record["flagged"]]
    assert len(flags) == n_flags
    assert all(text[record["start"] : record["end"]] == "quite" for record in flags)
    ((line,), _) = annotate_documents([dataclasses.replace(result.document, kind="line")], annotate_texts)
    assert len([record for record in records(line) if record["flagged"]]) == 3


def model(name):
    judge = SimpleNamespace(flags_per_1000=0.5, limit=lambda rate=None: 0.5)
    task = SimpleNamespace(name=name.rpartition("/")[2])
    return SimpleNamespace(name="fake", version="1", task=task, judge=judge)


@pytest.fixture
def installed(monkeypatch, tmp_path):
    (tmp_path / "weights").write_text("1")
    models = {"preposition": tmp_path, "pack/preposition": tmp_path}
    monkeypatch.setattr("disambig.packs.available", lambda: models)
    monkeypatch.setattr("disambig.packs.default_tasks", lambda: tuple(n for n in models if "/" not in n))
    monkeypatch.setattr("disambig.models.sources.load", model)
    return models


def test_default_is_all_installed_models(installed):
    assert ModelSource().names() == ("preposition",)
    assert ModelSource(("a", "b")).names() == ("a", "b")
    installed.clear()
    with pytest.raises(UserError, match="D323"):
        ModelSource().names()


def test_description_depends_on_settings_and_contents_of_models(installed, tmp_path):
    first = ModelSource().describe()
    assert first == ModelSource().describe()
    assert first != ModelSource(flags_per_1000=1.0).describe()
    assert ModelSource(flags_per_1000={"preposition": 1.0}).describe()["flags_per_1000"] == {
        "preposition": 1.0
    }
    with pytest.raises(UserError, match=r"D950.*'spelling'.*available: preposition"):
        ModelSource(flags_per_1000={"spelling": 1.0}).describe()
    assert first != ModelSource(ignore=("word",)).describe()
    assert first != ModelSource(sets=(Group("a/b", ("a", "b")),)).describe()
    (tmp_path / "weights").write_text("2")
    assert first != ModelSource().describe()


def test_rejects_two_models_of_one_task(installed, tmp_path):
    installed["a"] = tmp_path
    for twice in (("mine/preposition", "a", "preposition"), ("preposition", "preposition", "a")):
        for work in (ModelSource(twice).load, ModelSource(twice).describe):
            with pytest.raises(UserError, match=rf"D333.*{twice[0]}.* and preposition .*'preposition'"):
                work()
    ModelSource(("a", "preposition")).load()


def test_passes_sets_to_the_models_that_take_them():
    sets = (Group("a/b", ("a", "b")),)
    plain = SimpleNamespace(name="p", task=SimpleNamespace())
    taking = SimpleNamespace(
        name="s", task=SimpleNamespace(with_groups=list), with_groups=lambda groups: ("with", groups)
    )
    assert with_sets([plain, taking], sets) == [plain, ("with", sets)]
    with pytest.raises(UserError, match="D322"):
        with_sets([plain], sets)


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
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab

    folder = tmp_path / "corpus"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.conllu").write_text(conllu(20, "a"))
    (folder / "deep" / "b.conllu").write_text(conllu(3, "b"))
    lines = [("id", "text"), *((f"r{i}", f'a quite place\nof "{i}"') for i in range(30))]
    with open(folder / "c.csv", "w", newline="") as file:
        csv.writer(file).writerows(lines)
    vocab = Vocab()
    docs = [Doc(vocab, words=f"in the quite place {i}".split()) for i in range(5)]
    DocBin(docs=docs).to_disk(folder / "d.spacy")
    arrow.parquet.write_table(
        arrow.table({"text": [f"during 1997 {i}" for i in range(5)]}), folder / "e.parquet"
    )
    (folder / "f.txt").write_text("It was a quite place.")
    return folder


def test_reads_every_kind_and_each_document_once(corpus, tmp_path):
    report = job(corpus, tmp_path / "out", size=300)
    whole = list(read_all(find_inputs([str(corpus)])))
    assert len(whole) == 20 + 30 + 5 + 5 + 1 + 3
    written = rows(tmp_path / "out")
    assert [(row["id"], row["text"]) for row in written] == [(one.id, one.text) for one in whole]
    assert [json.loads(line) for line in b"".join(stream(corpus)[1]).splitlines()] == written
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
    decided = [(record["text"], bool(record["decisions"])) for record in records]
    assert decided == [("", False), ("in it", True), ("  ", False)]
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


def lines(tmp_path: Path, n: int, **bad: int) -> Path:
    """Write a file of lines, some of which contain a word that makes the fake model fail."""
    texts = [f"Line {number} tells of a quite place." for number in range(1, n + 1)]
    for word, number in bad.items():
        texts[number - 1] += f" {word}"
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(texts) + "\n")
    return path


class Fails:
    """A runner without processes in which items fail by a rule."""

    def __init__(self, fails):
        self.fails, self.runs = fails, 0

    def run(self, work, items, *, ordered=False, report_progress=lambda amount: None):
        def start():
            real = work.start()

            def function(probe, report_progress):
                self.runs += 1
                if probe.annotated and self.fails(probe.first, probe.last):
                    raise RuntimeError
                return real(probe, report_progress)

            return function

        class Work:
            pass

        Work.start = staticmethod(start)
        return InProcessRunner().run(Work(), items, ordered=ordered, report_progress=report_progress)


def bisect(tmp_path, n, fails):
    path = lines(tmp_path, n)
    (shard,) = plan_shards(find_inputs([str(path)], lines=True)).shards
    runner = Fails(fails)
    work = ShardWork(tmp_path / "out", FakeSource(), make_format("jsonl"), "text")
    return bisect_failure(shard, work, runner), runner.runs


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 1000])
def test_finds_a_failing_document_in_few_tries(tmp_path, n):
    for bad in sorted({0, n // 3, n - 1}):
        name, runs = bisect(tmp_path, n, lambda first, last, bad=bad: first <= bad < last)
        assert name == f"{tmp_path / 'lines.txt'}:{bad + 1}"
        assert runs <= 2 * n.bit_length() + 3


def test_finds_no_document_if_only_several_fail_together(tmp_path):
    assert bisect(tmp_path, 10, lambda first, last: last - first > 5)[0] is None
    assert bisect(tmp_path, 1, lambda first, last: False)[0] is None


def test_leaves_out_a_document_that_hangs(tmp_path):
    path = lines(tmp_path, 6, HANG=4)
    for runner in (None, ProcessRunner(1)):
        start = time.monotonic()
        out = tmp_path / f"out-{runner is None}"
        report = job(path, out, lines=True, size=10**6, runner=runner, limits=JobLimits(seconds=0.5))
        (message,) = report.bad
        assert "lines.txt:4" in message
        assert "longer than 0.5 seconds" in message
        assert report.totals.documents == 5
        assert time.monotonic() - start < 30


def test_time_limit_applies_per_document():
    documents = [Document(str(number), "SLOW", "a") for number in range(8)]

    def annotate(texts):
        time.sleep(0.1 * len(texts))
        return []

    results, bad = annotate_documents(documents, annotate, seconds=0.3)
    assert (len(results), bad) == (8, [])


def test_threads_have_no_time_limit():
    finished = []

    def run():
        with time_limit(0.01):
            time.sleep(0.1)
            finished.append("whole")

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert finished == ["whole"]


def test_time_limit_leaves_no_timer():
    with time_limit(5):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_memory_usage_of_a_process():
    # In a child process, since this one may have free memory, so that a new block does not make it grow.
    script = "import sys; block = bytearray(b'x') * int(sys.argv[1]); print(len(block), flush=True); input()"
    used = []
    for size in (1, 50 << 20):
        command = [sys.executable, "-c", script, str(size)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert int(process.stdout.readline()) == size
            used.append(memory_usage(process.pid))
            process.communicate(b"\n")
    assert used[0] > 0
    assert used[1] - used[0] > 40 << 20
    assert memory_usage(2**30) == 0


def test_ends_a_worker_above_the_memory_limit_and_names_its_document(tmp_path):
    path = lines(tmp_path, 2, HUGE=2)
    start = time.monotonic()
    report = job(path, tmp_path / "out", lines=True, size=10**6, runner=local_runner(1, memory=350 << 20))
    (message,) = report.left_out
    assert "used more than 367,001,600 bytes of memory" in message
    assert f"the cause is {path}:2" in message
    assert time.monotonic() - start < 120


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_rejects_an_invalid_time_limit(seconds):
    with pytest.raises(UserError, match="D859"):
        JobLimits(seconds=seconds)


def test_memory_limits_need_the_local_engine():
    assert make_runner("local", EngineOptions(memory=1 << 30)) == ProcessRunner(1, None, 1 << 30)
    with pytest.raises(UserError, match="D878"):
        make_runner("dask", EngineOptions(memory=1 << 30))


def test_time_limit_excludes_pauses():
    start = time.monotonic()
    with time_limit(0.2):
        pause_time_limit()
        pause_time_limit()
        while time.monotonic() < start + 0.4:
            pass
        resume_time_limit()
        resume_time_limit()
    with pytest.raises(DeadlineExceeded), time_limit(0.2):
        pause_time_limit()
        resume_time_limit()
        while time.monotonic() < start + 30:
            pass


def test_repeats_a_lost_alarm(monkeypatch):
    monkeypatch.setattr("disambig.runtime.ALARM_INTERVAL", 0.05)
    start, lost = time.monotonic(), 0
    with pytest.raises(DeadlineExceeded), time_limit(0.05):
        while time.monotonic() < start + 30:
            try:
                while time.monotonic() < start + 30:
                    pass
            except DeadlineExceeded:
                lost += 1
                if lost > 2:
                    raise
    assert lost == 3


def test_searches_for_faults_after_all_other_work(tmp_path, monkeypatch):
    """The limits of other workers are watched while they work, which an earlier search would delay."""
    order = []

    class Failing:
        def run(self, work, items, **settings):
            for number, outcome in enumerate(InProcessRunner().run(work, items, **settings)):
                order.append(number)
                yield replace(outcome, result=None, problem="it fell") if number == 0 else outcome

    monkeypatch.setattr("disambig.jobs.job.bisect_failure", lambda *_: order.append("search"))
    report = job(lines(tmp_path, 40), tmp_path / "out", lines=True, size=200, runner=Failing())
    assert order[-1] == "search" and len(order) > 3
    assert "it fell" in report.left_out[0]
