"""Very many inputs: lists that hold little of each, and what a job writes about them."""

from __future__ import annotations

import json
import os
import tracemalloc

import pytest
from fake_models import FakeSource

from disambig.errors import UserError
from disambig.formats import Input, find_inputs, make_format
from disambig.jobs import plan_shards, run_job


def job(inputs, out, **options):
    return run_job(out, inputs, source=FakeSource(), format=make_format("jsonl"), **options)


def test_inputs_are_found_with_their_names_and_kinds_each_once(tmp_path):
    corpus = tmp_path / "corpus"
    (corpus / "deep").mkdir(parents=True)
    (corpus / "a.txt").write_text("x")
    (corpus / "deep" / "b.jsonl").write_text("x")
    os.symlink(corpus / "a.txt", corpus / "deep" / "z.txt")
    around = os.path.join(corpus, "deep", "..", "a.txt")
    inputs = find_inputs([str(corpus), around, "-", "-"])
    assert list(inputs) == [
        Input(str(corpus / "a.txt"), "a.txt", "file"),
        Input(str(corpus / "deep" / "b.jsonl"), os.path.join("deep", "b.jsonl"), "json"),
        Input("-", "-", "file"),
    ]
    (first, second) = find_inputs([around, str(corpus)])
    assert (first.path, first.name, second.name) == (around, "a.txt", os.path.join("deep", "b.jsonl"))
    assert inputs[-1] == inputs[2] == inputs[1:][1]
    with pytest.raises(IndexError):
        inputs[3]


def test_a_name_that_is_no_text_is_kept(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.txt"
    try:
        with open(path, "wb") as file:
            file.write(b"x")
    except OSError:
        pytest.skip("the file system accepts only names in UTF-8")
    (inputs,) = find_inputs([str(tmp_path)])
    assert os.fsencode(inputs.path) == path
    assert os.fsencode(inputs.name) == b"\xff.txt"


def test_inputs_and_plan_take_little_memory_a_file(tmp_path):
    for number in range(2000):
        (tmp_path / f"{number}.txt").write_text("x")
    path_length = len(os.fsencode(tmp_path)) + len("/1000.txt")
    find_inputs([str(tmp_path)])  # caches of the first call
    tracemalloc.start()
    try:
        inputs = find_inputs([str(tmp_path)])
        plan = plan_shards(inputs, shard_size=100)
        held = tracemalloc.get_traced_memory()[0] / 2000
    finally:
        tracemalloc.stop()
    assert len(plan.inputs) == 2000
    assert len(plan.shards) == 20
    assert held < path_length + 100  # 750 with an object for each file


def test_the_list_of_inputs_is_written_and_written_again_if_it_is_damaged(tmp_path):
    (tmp_path / "texts").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "texts" / name).write_text("a quite place")
    inputs, out = find_inputs([str(tmp_path / "texts")]), tmp_path / "out"
    job(inputs, out)
    path = out / "shards" / "inputs.jsonl"
    written = path.read_bytes()
    assert [json.loads(line)["name"] for line in written.splitlines()] == ["a.txt", "b.txt"]
    for damage in (path.unlink, lambda: path.write_bytes(written[:20])):
        damage()
        assert job(inputs, out).skipped == 1
        assert path.read_bytes() == written


def test_it_is_said_which_inputs_differ(tmp_path):
    (tmp_path / "texts").mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / "texts" / name).write_text("a quite place")
    inputs, out = find_inputs([str(tmp_path / "texts")]), tmp_path / "out"
    job(inputs, out)
    with pytest.raises(UserError, match=r"D311.*inputs are in another order"):
        job(inputs[::-1], out)
    (tmp_path / "texts" / "a.txt").write_text("another text")
    (tmp_path / "texts" / "b.txt").rename(tmp_path / "texts" / "d.txt")
    with pytest.raises(UserError, match=r"D311.*inputs: 1 added, 1 gone, 1 changed"):
        job(find_inputs([str(tmp_path / "texts")]), out)
    (out / "shards" / "inputs.jsonl").write_text("not the list\n")
    with pytest.raises(UserError, match=r"D311.*inputs: others"):
        job(find_inputs([str(tmp_path / "texts")]), out)
