"""How far annotating is can be seen while one large file is worked on, and adds up to its size."""

from __future__ import annotations

import pytest
from fake_models import FakeSource

from disambig.formats import find_inputs, make_format, read_all
from disambig.jobs import annotate_stream, local_runner, run_job
from disambig.models import PIECE

SIZE = 4 * PIECE


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "large.txt"
    sentence = "There is a quite place by the river, and nobody knows it. "
    path.write_text((sentence * (SIZE // len(sentence) + 1))[:SIZE], encoding="utf8")
    return path


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stream_tells_of_the_parts_of_a_document(large, workers):
    told, inputs = [], find_inputs([str(large)])
    report = annotate_stream(
        read_all(inputs),
        source=FakeSource("a"),
        format=make_format("text"),
        write=lambda data: None,
        runner=local_runner(workers),
        listener=lambda amount, messages: told.append(amount),
    )
    assert report.totals.documents == 1
    assert sum(told) == SIZE
    assert len([amount for amount in told if amount]) >= 4


def test_a_job_tells_of_the_parts_of_a_shard(large, tmp_path):
    told = []
    run_job(
        tmp_path / "out",
        find_inputs([str(large)]),
        source=FakeSource("a"),
        format=make_format("jsonl"),
        listener=lambda amount, messages: told.append(amount),
    )
    assert sum(told) == SIZE
    assert len([amount for amount in told if amount]) >= 4
