from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from disambig.formats import Input, read
from disambig.jobs import manifest as planning
from disambig.jobs import plan_shards


@given(
    lengths=st.lists(st.integers(0, 30), min_size=1),
    size=st.integers(1, 60),
    block=st.integers(1, 40),
    final=st.booleans(),
)
def test_a_file_of_lines_is_cut_without_loss(tmp_path_factory, lengths, size, block, final):
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    text = "\n".join("x" * length for length in lengths) + "\n" * final
    assume(text)
    path.write_bytes(text.encode())
    planning._BLOCK, before = block, planning._BLOCK
    try:
        source = Input(str(path), "lines.txt", "line")
        made = plan_shards([source], shard_size=size)
    finally:
        planning._BLOCK = before
    whole = [document for document in read(source)]
    parts = [part for shard in made.shards for part in shard.parts]
    found = [
        document
        for part in parts
        for document in read(part.input, start=part.start, end=part.end, line=part.line)
    ]
    assert found == whole
    assert all(shard.size >= size for shard in made.shards[:-1])
    assert sum(shard.size for shard in made.shards) == len(text)
    assert list(made.sizes) == [shard.size for shard in made.shards]


def test_files_are_grouped_by_size_and_kind(tmp_path):
    sources = []
    for name, kind in (
        ("a", "file"),
        ("b", "file"),
        ("c", "file"),
        ("d", "json"),
        ("e.gz", "file"),
        ("f", "file"),
    ):
        (tmp_path / name).write_bytes(b"x" * 40)
        sources.append(Input(str(tmp_path / name), name, kind))
    made = plan_shards([*sources, Input(str(tmp_path / "none"), "none", "file")], shard_size=100)
    assert [[part.name for part in shard.parts] for shard in made.shards] == [
        ["a", "b"],
        ["c"],
        ["d"],
        ["e.gz"],
        ["f", "none"],
    ]
    assert made.inputs[0]["sha256"] == made.inputs[1]["sha256"]
    assert made.inputs[-1]["sha256"] == ""
