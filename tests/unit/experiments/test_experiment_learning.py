"""Learning curves of several systems, the cache, and counts with an example's own paragraph left out."""

from __future__ import annotations

import lzma

import numpy as np
import pytest

from disambig.counts import build_table
from disambig.data import Group
from disambig.errors import UserError
from disambig.experiments import (
    VARIABLE,
    Draw,
    LearningSystem,
    cache_directory,
    cached,
    count_hits,
    join_blocks,
    learn_all,
    text_lines,
    with_left_out,
)
from disambig.features import NgramCounts, transform_checked
from disambig.models import LinearScorer
from disambig.tasks import OwnCandidates
from disambig.testing import blocks
from disambig.text import Words, view_of_texts
from disambig.types import Fitted


class Remembering:
    """Notes what it was given, and scores by the first attribute."""

    def __init__(self, seen, C=None):
        self.seen, self.C = seen, C

    def __replace__(self, **changes):
        return Remembering(self.seen, **changes)

    def fit(self, batch, *, dev=None, rng=None):
        self.seen.append((len(batch.values), self.C, batch.values.copy()))
        return Fitted(LinearScorer(np.ones(len(batch.columns))), {"C": 10.0 / len(batch.values)})


def test_systems_learn_from_the_same_nested_samples():
    pool, dev, test = blocks(50, seed=1), blocks(10, seed=2), blocks(20, seed=3)
    seen: dict[str, list] = {"a": [], "b": []}
    systems = [LearningSystem(name, lambda size, name=name: Remembering(seen[name])) for name in seen]
    told = []
    outcomes = learn_all(
        systems,
        lambda number: Draw(pool, np.random.default_rng(number).permutation(50), dev, test),
        draws={5: 3, 20: 1, 80: 1},
        progress=lambda *said: told.append(said),
    )
    assert [n for n, _, _ in seen["a"]] == [5, 20, 5, 5]
    assert all(np.array_equal(a[2], b[2]) for a, b in zip(seen["a"], seen["b"], strict=True))
    assert np.array_equal(seen["a"][0][2], seen["a"][1][2][:5])
    assert len(outcomes["a", 5].hits) == 3
    assert outcomes["a", 5].spread() == pytest.approx(0.0, abs=1e-9)
    assert outcomes["a", 20].spread() is None
    assert outcomes["a", 80].accuracy() is None
    expected = count_hits(test.scores(np.ones(len(test.columns))), test)
    assert outcomes["b", 20].accuracy() == pytest.approx(100 * expected.mean())
    assert told[0] == ("learning", 0, 10)


def test_a_size_beyond_the_pool_of_one_draw_is_left_out_of_that_draw():
    pool = blocks(50, seed=1)
    outcomes = learn_all(
        [LearningSystem("a", lambda size: Remembering([]))],
        lambda number: Draw(pool, np.arange(20 - number), pool, pool),
        draws={5: 2, 20: 2},
        progress=lambda *said: None,
    )
    assert [len(outcomes["a", size].hits) for size in (5, 20)] == [2, 1]


def test_batches_are_joined_in_order():
    one, two = blocks(5, seed=1), blocks(7, seed=2)
    both = join_blocks([one, two])
    assert (both.values == np.concatenate([one.values, two.values])).all() and both.costs.shape == (12, 3)


def test_lines_of_a_text_are_those_between_line_ends_and_blank_ones_count(tmp_path):
    plain, packed = tmp_path / "a.txt", tmp_path / "a.txt.xz"
    text = "one\u2028still one\r\n\ntwo\n".encode()
    plain.write_bytes(text)
    packed.write_bytes(lzma.compress(text))
    assert list(text_lines(plain)) == list(text_lines(packed)) == ["one\u2028still one", "", "two"]


@pytest.mark.parametrize(
    ("spoilt", "code"),
    [
        (lzma.compress(b"a line of text\n" * 50)[:-20], "D308"),
        (b"\xfd7zXZ\x00", "D308"),
        (b"text", "D308"),
        (lzma.compress(b"caf\xe9\n"), "D304"),
        (lzma.compress(b"a\0b\n"), "D303"),
        (None, "D300"),
    ],
)
def test_a_text_that_cannot_be_read_is_named(tmp_path, spoilt, code):
    path = tmp_path / "a.txt.xz"
    if spoilt is not None:
        path.write_bytes(spoilt)
    with pytest.raises(UserError) as caught:
        list(text_lines(path))
    assert caught.value.code == code and str(path) in str(caught.value)
    (tmp_path / "b.txt").mkdir()
    with pytest.raises(UserError, match=r"D308.*b\.txt"):
        list(text_lines(tmp_path / "b.txt"))


def test_beyond_a_size_the_last_c_is_kept():
    from dataclasses import dataclass, field

    given = []

    @dataclass(frozen=True)
    class Noting:
        C: float | None = None
        seen: list = field(default_factory=lambda: given)

        def fit(self, batch, *, dev=None, rng=None):
            self.seen.append((len(batch.values), self.C))
            return Fitted(LinearScorer(np.ones(len(batch.columns))), {"C": self.C or 1.0 / len(batch.values)})

    pool = blocks(50, seed=1)
    learn_all(
        [LearningSystem("a", lambda size: Noting(), tuned_up_to=10)],
        lambda number: Draw(pool, np.arange(50), pool, pool),
        draws={5: 1, 10: 1, 20: 1, 50: 1},
        progress=lambda *said: None,
    )
    assert given == [(5, None), (10, None), (20, 0.1), (50, 0.1)]


def test_a_cached_file_is_made_once_for_the_same_sources(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    source = tmp_path / "text"
    source.write_text("one", encoding="utf8")
    made = []

    def make(path):
        made.append(path)
        path.write_text("made", encoding="utf8")

    first = cached("table", ".counts", sources=[source], about={"a": 1}, make=make)
    assert first.read_text(encoding="utf8") == "made"
    assert cached("table", ".counts", sources=[source], about={"a": 1}, make=make) == first
    assert len(made) == 1
    assert cached("table", ".counts", sources=[source], about={"a": 2}, make=make) != first
    source.write_text("other", encoding="utf8")
    assert cached("table", ".counts", sources=[source], about={"a": 1}, make=make) != first
    assert sorted(path.suffix for path in cache_directory().iterdir()) == [".counts"] * 3


def test_what_fails_or_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))

    def interrupted(path):
        path.write_text("half", encoding="utf8")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cached("table", ".x", sources=[], about={}, make=interrupted)
    assert list((tmp_path / "cache").iterdir()) == []
    (tmp_path / "file").write_text("", encoding="utf8")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    with pytest.raises(UserError) as caught:
        cached("table", ".x", sources=[], about={}, make=interrupted)
    assert caught.value.code == "D722"


PARAGRAPHS = [
    "a piece of cake and a piece of cake for a lasting peace .",
    "they want peace and a piece of land .",
    "a piece of cake for all .",
    "we ask for peace in our time , a piece of cake .",
]


@pytest.mark.parametrize("left_out", range(len(PARAGRAPHS)))
def test_left_out_counts_are_those_of_the_other_paragraphs(tmp_path, left_out):
    task = OwnCandidates(candidates=["peace", "piece"])
    everything = build_table(tmp_path / "all.counts", PARAGRAPHS, Words(), keep_words=["peace", "piece"])
    others = [text for number, text in enumerate(PARAGRAPHS) if number != left_out]
    rest = build_table(tmp_path / "rest.counts", others, Words(), keep_words=["peace", "piece"])
    group: Group = task.groups[0]
    view = view_of_texts(PARAGRAPHS, Words())
    instances = task.instances(view)
    found = with_left_out(NgramCounts(counts=everything), view, instances, group)
    expected = transform_checked(NgramCounts(counts=rest), view, instances, group).batch
    own = view.document_indices(instances.positions) == left_out
    assert own.any()
    np.testing.assert_allclose(found.values[own], expected.values[own], rtol=1e-6)
    assert np.array_equal(found.costs, expected.costs)
    full = transform_checked(NgramCounts(counts=everything), view, instances, group).batch
    assert (found.values <= full.values).all()
    assert (found.values[own] < full.values[own]).any()
