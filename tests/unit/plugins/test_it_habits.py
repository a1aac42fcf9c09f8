"""Frames and habits of "it": what is seen over little words, weights kept whole, bad folders refused."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm.pronoun_it import (
    FRAME_MODEL,
    FrameModel,
    It,
    ItHabits,
    NormalisedWords,
    PatternExample,
    frame_keys,
    learn_frame_model,
)
from disambig_variance_svm.pronoun_it.frame_model import FILE
from hypothesis import given, settings
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.features import transform_checked


def frames(*texts):
    view = NormalisedWords()(texts)
    return frame_keys(view, It().instances(view))


def shared(first, second):
    """Return how many features two sentences with one "it" each have in common."""
    a, b = frames(first, second)
    return len((set(a.tolist()) & set(b.tolist())) - {0})


def test_little_words_do_not_hide_what_is_said():
    plain = "It rained."
    assert shared(plain, "It had not really rained.") > shared(plain, "It had not really started.")
    assert shared("It is raining now.", "It had been raining.") > shared("It is raining now.", "It is red.")


def test_numbers_days_and_units_are_classes():
    assert shared("It is Tuesday.", "It is Friday.") > shared("It is Tuesday.", "It is mine.")
    same = "It has been three years since the fire."
    assert shared(same, "It has been seven weeks since the party.") > shared(same, "It has been painted.")


def test_stems_are_no_words_here():
    assert shared("It rains.", "It rains.") > shared("It rains.", "It raids.")


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("it is Tuesday rained,.\n who that since"), max_size=40), max_size=5))
def test_frames_do_not_depend_on_the_batch(texts):
    together = frames(*texts)
    alone = [frames(text) for text in texts]
    assert np.array_equal(together, np.concatenate([frames(), *alone]))


def told(*sentences, kind):
    return [PatternExample(text, text.lower().index("it"), kind, text) for text in sentences]


@pytest.fixture(scope="module")
def learned():
    clear = (f"It is {a} that the {b} is." for a in ("clear", "true") for b in "abcdefg")
    clauses = told(*clear, kind="clause")
    weather = told(*(f"It {a} in the {b}." for a in ("rained", "snowed") for b in "abcdefg"), kind="weather")
    things = told(*(f"It {a} in the {b}." for a in ("broke", "opened") for b in "abcdefg"), kind="thing")
    return learn_frame_model([*weather, *clauses, *things], sources=["made"])


def test_habits_are_learned_from_what_the_patterns_tell(learned):
    clause, rare = learned.log_odds(
        frames("It is clear that we are late.", "It had rained all night.", "It broke at once.")
    )
    assert clause[0] > 0 > clause[2]
    assert rare[1] > 0 > rare[0] and rare[2] < 0


def test_habits_are_kept_whole(learned, tmp_path):
    learned.save(tmp_path / "habits")
    again = FrameModel.load(tmp_path / "habits")
    assert np.array_equal(again.keys, learned.keys) and np.array_equal(again.weights, learned.weights)
    assert again.biases == learned.biases and again.header["sources"] == ["made"]


@pytest.mark.parametrize("broken", ["nothing", "cut", "descending", "types", "header"])
def test_folders_that_hold_no_habits_are_refused(learned, tmp_path, broken):
    folder = tmp_path / "habits"
    if broken == "descending":
        learned = FrameModel(learned.keys[::-1], learned.weights, (0.0, 0.0), {})
    if broken == "types":
        learned = FrameModel(learned.keys, learned.weights.astype(np.float64), (0.0, 0.0), {})
    if broken != "nothing":
        learned.save(folder)
    if broken == "cut":
        (folder / FILE).write_bytes((folder / FILE).read_bytes()[:100])
    if broken == "header":
        (folder / "header.json").write_text("[]")
    with pytest.raises(UserError, match="D498"):
        FrameModel.load(folder)


def test_what_ships_knows_the_weather():
    view = NormalisedWords()(["It was raining.", "She put it on the table."])
    instances = It().instances(view)
    values = transform_checked(ItHabits(), view, instances, It.groups[0]).batch.values
    assert values[0, 1, 1] > 0 > values[1, 1, 1]  # by the set of rare kinds
    assert np.array_equal(values[:, 0], -values[:, 1])
    assert FRAME_MODEL.is_dir()
