"""The dependency parser: what it learns, its folder, and folders that are not its own."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from disambig_dependencies import ParsedWords, load_parser, save_parser, train_parser
from hypothesis import given, settings
from hypothesis import strategies as st
from made_treebank import parser, sentences

from disambig.api.text import SpacyTokens, hash_words
from disambig.errors import UserError

FILE, HEADER = "weights.npz", "header.json"


@pytest.mark.parametrize("beam", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_it_learns_a_small_treebank(beam):
    parses = parser(beam).parse_tagged([(words, tags) for words, tags, *_ in sentences()])
    assert parses == [ParsedWords(*sentence) for sentence in sentences()]


def test_training_again_gives_the_same_parser():
    assert train_parser(sentences(), passes=20).digest() == parser().digest()
    assert train_parser(sentences(), passes=20, seed=1).digest() != parser().digest()


def test_a_wider_beam_finds_no_worse_trees_and_one_is_greedy():
    given_tags = [(words, tags) for words, tags, *_ in sentences()]
    greedy = parser().parse_tagged(given_tags)
    assert parser().with_beam(8).parse_tagged(given_tags) == greedy
    assert parser(4).with_beam(1).beam == 1


def test_no_sentences_and_sentences_of_no_or_one_word():
    assert parser().parse_tagged([]) == []
    empty, one = parser().parse_tagged([([], []), (["cat"], ["NN"])])
    assert (empty.heads, empty.relations) == ([], [])
    assert (one.heads, one.relations) == ([-1], ["root"])


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.lists(st.tuples(st.text(max_size=3), st.sampled_from(["NN", "VBD", "IN", ""]))), max_size=4)
)
def test_whatever_the_words_the_result_is_one_tree_per_sentence(rows):
    tagged = [([word for word, _ in row], [tag for _, tag in row]) for row in rows]
    for beam in (1, 3):
        for (words, _), parsed in zip(tagged, parser().with_beam(beam).parse_tagged(tagged), strict=True):
            assert len(parsed.heads) == len(words) == len(parsed.relations)
            assert parsed.heads.count(-1) == bool(words)
            for word in range(len(words)):
                steps = 0
                while word >= 0:
                    word, steps = parsed.heads[word], steps + 1
                assert steps <= len(words)


def test_both_backends_give_the_same_trees_and_scores(monkeypatch):
    words = [*sorted({word for words, *_ in sentences() for word in words}), "unseen"]
    tags = sorted({tag for _, tags, *_ in sentences() for tag in tags})
    random = np.random.default_rng(3)
    texts = [list(random.choice(words, size)) for size in (1, 2, 3, 5, 8, 13, 40, 7, 1)]
    view = SpacyTokens("en").of_sentences(texts)
    hashes = hash_words(tags)[random.integers(0, len(tags), len(view))]
    results = []
    for backend in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", backend)
        results.append(parser().parse_view_scored(view, hashes))
    for with_numpy, with_numba in zip(*results, strict=True):
        assert np.array_equal(with_numpy, with_numba)
    assert len(set(results[0][1].tolist())) > 2  # several relations


def test_very_long_sentences_are_parsed():
    words, tags = ["the", "cat", "saw"] * 1500, ["DT", "NN", "VBD"] * 1500
    (parsed,) = parser().with_beam(4).parse_tagged([(words, tags)])
    assert parsed.heads.count(-1) == 1


def test_fewer_weights_are_kept():
    small = train_parser(sentences(), passes=20, most=100)
    assert 0 < len(small.weights.weights) <= 110 < len(parser().weights.weights)


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        ((["a"], [], [-1], ["root"]), "not one tag"),
        (([], [], [], []), "one or more words"),
        ((["a", "b"], ["X", "X"], [-1, -1], ["root", "root"]), "one root"),
        ((["a", "b"], ["X", "X"], [-1, 2], ["root", "x"]), "outside the sentence"),
        ((["a", "b", "c"], ["X"] * 3, [-1, 2, 1], ["root", "x", "x"]), "cycle"),
    ],
)
def test_what_is_not_a_tree_is_refused(sentence, problem):
    with pytest.raises(UserError, match=f"D916.*sentence 2.*{problem}"):
        train_parser([sentences()[0], sentence])


def test_settings_and_words_that_are_refused():
    for setting in ({"passes": 0}, {"passes": 1.5}, {"beam": 0}, {"beam": 65}, {"beam": True}):
        with pytest.raises(UserError, match="D903"):
            train_parser(sentences(), **setting)
    with pytest.raises(UserError, match="D903"):
        parser().with_beam(0)
    with pytest.raises(UserError, match="D916"):
        parser().parse_tagged([(["a"], ["NN"]), (["a", "b"], ["NN"])])


@pytest.fixture
def folder(tmp_path):
    save_parser(parser(), tmp_path / "my", about={"sentences": 10})
    return tmp_path / "my"


def test_what_is_read_parses_as_what_was_written(folder):
    again = load_parser(folder)
    assert again.digest() == parser().digest()
    tagged = [(words, tags) for words, tags, *_ in sentences()]
    assert again.parse_tagged(tagged) == parser().parse_tagged(tagged)
    assert json.loads((folder / HEADER).read_text())["about"] == {"sentences": 10}
    save_parser(replace(parser(), beam=3), folder)
    assert load_parser(folder).beam == 3


def change_header(folder, **changes):
    path = folder / HEADER
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def change_array(folder, name, change):
    arrays = dict(np.load(folder / FILE))
    arrays[name] = change(arrays[name])
    np.savez(folder / FILE, **arrays)


BROKEN = {
    "no header": lambda folder: (folder / HEADER).unlink(),
    "no JSON": lambda folder: (folder / HEADER).write_text("{"),
    "a list": lambda folder: (folder / HEADER).write_text("[]"),
    "another format": lambda folder: change_header(folder, format="x.v9"),
    "another digest": lambda folder: change_header(folder, digest="0"),
    "no relations": lambda folder: change_header(folder, relations=[]),
    "relations that are numbers": lambda folder: change_header(folder, relations=[1, 2]),
    "another relation": lambda folder: change_header(folder, relations=["x"]),
    "a language that is none": lambda folder: change_header(folder, language=3),
    "cut short": lambda folder: (folder / FILE).write_bytes((folder / FILE).read_bytes()[:-300]),
    "no archive": lambda folder: (folder / FILE).write_bytes(b"x" * 100),
    "another weight": lambda folder: change_array(folder, "weights", lambda array: array + 1),
    "floats": lambda folder: change_array(folder, "weights", lambda array: array.astype(float)),
    "an action too many": lambda folder: change_array(folder, "actions", lambda array: array + 1000),
    "features twice": lambda folder: change_array(folder, "steps", lambda array: array * 0),
    "fewer sizes": lambda folder: change_array(folder, "sizes", lambda array: array[:-1]),
    "sizes of zero": lambda folder: change_array(folder, "sizes", lambda array: array * 0),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_parser_gives_one_coded_line(folder, what):
    BROKEN[what](folder)
    with pytest.raises(UserError) as caught:
        load_parser(folder)
    assert caught.value.code == "D900" and "\n" not in str(caught.value)


@pytest.mark.parametrize("beam", [0, 10**12, "wide", None, 1.0])
def test_a_beam_that_cannot_be_is_refused(folder, beam):
    change_header(folder, beam=beam)
    with pytest.raises(UserError, match=r"D90[03]"):
        load_parser(folder)


def test_names_that_are_not_a_parser(tmp_path):
    for name, code in (("no_such_pack", "D901"), (str(tmp_path), "D902"), (__file__, "D943")):
        with pytest.raises(UserError, match=code):
            load_parser(name)
