"""How words begin to the ear: keys, the file, the English one, the task and the extractor."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from disambig_real_words import (
    ENGLISH_SOUNDS,
    SURE,
    SUREST,
    Article,
    ArticleSound,
    log_odds,
    log_odds_after,
    read_sounds,
    sound_keys,
)
from hypothesis import given
from hypothesis import strategies as st
from toy_cloze import articles

from disambig.data import Group
from disambig.errors import UserError
from disambig.features import transform_checked
from disambig.testing import check_extractor
from disambig.text import HIDDEN, Words

AN = (
    "hour honest heir apple umbrella unknown egg 8 18 11 80 800 1800 18,000 8-bit MRI HTTP LSTM RBAC X-ray "
    "ExecutorJob unblurred iPhone e-mail eBPF XMLParser A4 ssl svg usher "
    "onerous includes annotations appears URI-less"
).split()[:-1]
A = (
    "house European user unicorn university one once 1 10 110 180 1,800 1,100,000 URL UUID NASA JSON YAML 2D "
    "UserInterface hypothesis website word_count station knot gnome psalm schema"
).split()


@pytest.mark.parametrize("word", AN)
def test_an(word):
    assert read_sounds(ENGLISH_SOUNDS).article_log_odds(f"is a {word} here", 4) > 1


@pytest.mark.parametrize("word", A)
def test_a(word):
    assert read_sounds(ENGLISH_SOUNDS).article_log_odds(f"is a {word} here", 4) < -1


@pytest.mark.parametrize("word", ["lru", "lzma", "mbox", "mkdir", "rsync", "SQL", "sql", "and", "is"])
def test_what_may_be_spoken_in_two_ways(word):
    assert math.isnan(read_sounds(ENGLISH_SOUNDS).article_log_odds(f"is a {word} here", 4))


@pytest.mark.parametrize(
    "between", [' "', " \N{LEFT DOUBLE QUOTATION MARK}", " (", " `", " *", "\n", " [", " .", " **_"]
)
def test_what_opens_a_quotation_has_no_sound(between):
    assert (
        read_sounds(ENGLISH_SOUNDS).article_log_odds(f"a{between}hour", 1)
        == read_sounds(ENGLISH_SOUNDS).article_log_odds("a hour", 1)
        > 1
    )


@pytest.mark.parametrize(
    "text", ["a", "a.", "a, hour", "a - hour", "a) hour", "a  \N{EM DASH}", "a '", "a ..."]
)
def test_nothing_is_known_without_a_word_behind(text):
    assert read_sounds(ENGLISH_SOUNDS).article_log_odds(text, 1) == 0


@pytest.mark.parametrize(
    ("word", "keys"),
    [
        ("Hours", ["=hours", "hours-", "hour-", "hou-", "ho-", "h-"]),
        ("ExecutorJob", ["=executor", "execu-", "exec-", "exe-", "ex-", "e-"]),
        ("max_size", ["=max", "max-", "ma-", "m-"]),
        ("HTTPServer", ["=HTTP", "+h."]),
        ("FAQ", ["=FAQ", "+f"]),
        ("l2", ["+l", "=l", "+l", "l-"]),
        ("x", ["=x", "+x", "x-"]),
        ("Is", ["=is", "is-", "i-"]),
        ("1,800", ["#1"]),
        ("18,000", ["#18"]),
        ("1800", ["#1800"]),
        ("118", ["#1"]),
        ("80", ["#8"]),
        ("__init__", ["=init", "init-", "ini-", "in-", "i-"]),
        ("_", ["=_", "+_", "_-"]),
    ],
)
def test_keys_from_the_most_particular_on(word, keys):
    assert list(sound_keys(word)) == keys


@given(st.from_regex(r"\w+", fullmatch=True))
def test_every_word_has_keys(word):
    keys = list(sound_keys(word))
    assert keys and all("\t" not in key and "\n" not in key for key in keys)


def test_counts_are_smoothed_and_cut():
    assert log_odds(3, 3) == 0
    assert log_odds(0, 4) == pytest.approx(np.log(4.25 / 0.25))
    assert log_odds(10**6, 0) == -SURE


def test_what_is_read_out_is_surer_than_its_counts(tmp_path):
    """A number, beside, is told from all numbers: that these begin with "a" is known without it."""
    (tmp_path / "xx.tsv").write_text("m-\t4\t8\n+m.\t4\t8\n#8\t10\t40\n#2\t90\t10\n", encoding="utf8")
    sounds, once = read_sounds(tmp_path / "xx.tsv"), log_odds(4, 8)
    assert sounds.article_log_odds("a mile", 1) == pytest.approx(once)
    assert sounds.article_log_odds("a MRI", 1) == pytest.approx(2 * once)
    assert sounds.article_log_odds("a 8", 1) == pytest.approx(3 * log_odds(10, 40) - log_odds(100, 50))
    assert sounds.article_log_odds("a 2", 1) == pytest.approx(3 * log_odds(90, 10) - log_odds(100, 50))
    assert -SUREST < sounds.article_log_odds("a 2", 1) < -1 < 1 < sounds.article_log_odds("a 8", 1) < SUREST


def test_the_most_particular_key_decides(tmp_path):
    (tmp_path / "xx.tsv").write_text("// said\n\nu-\t5\t5\nuni-\t90\t1\n=unit\t1\t90\n", encoding="utf8")
    sounds = read_sounds(tmp_path / "xx.tsv")
    assert len(sounds) == 3
    assert sounds.article_log_odds("a unicorn", 1) < 0 < sounds.article_log_odds("a unit", 1)
    assert sounds.article_log_odds("a user", 1) == sounds.article_log_odds("a pear", 1) == 0


@pytest.mark.parametrize(
    "line", ["u-\t5", "u-\t5\t-1", "\t5\t5", "u-\t5\t5\t5", "u-\t5\t\N{SUPERSCRIPT TWO}"]
)
def test_lines_that_are_none(tmp_path, line):
    (tmp_path / "xx.tsv").write_text(f"e-\t1\t2\n{line}\n", encoding="utf8")
    with pytest.raises(UserError, match=r"D998.*xx\.tsv.*line 2"):
        read_sounds(tmp_path / "xx.tsv")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match=r"D998.*gone\.tsv"):
        read_sounds(tmp_path / "gone.tsv")


# The task and the extractor


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    home = tmp_path_factory.mktemp("sounds")
    articles().save(home / "words")
    return Article(words=home / "words", least=50.0, least_missing=50.0)


def test_what_sounds_wrong_is_decided_whatever_the_model_says(task):
    view = Words()(["She saw a hour, an hour, a house, an house, the hour, and a 8-core XMLParser."])
    found = task.instances(view)
    shown = [view.texts[0][view.starts[p] : view.ends[p] + 6] for p in found.positions]
    assert shown == ["a hour,", "an house", "a 8-cor"]
    assert [found.own.instance_candidates(i) for i in range(3)] == [("a", "an"), ("an", "a"), ("a", "an")]


def test_an_article_that_stands_there_twice_is_none_of_its_affairs(task):
    view = Words()(["She saw a a hour and the the house."])
    assert not len(task.instances(view)) and not (task.examples(view).lengths > 0).any()


def test_scores_are_of_a_and_an_alone(task):
    view = Words()(["We know that a hour is long."])
    place = task.examples(view)
    place = place.take(np.flatnonzero(place.lengths > 0))
    values = dict(
        zip(
            place.own.texts,
            transform_checked(ArticleSound(), view, place, Group("article", ())).batch.values[:, 0],
            strict=True,
        )
    )
    odds = log_odds_after(read_sounds(ENGLISH_SOUNDS), view, place.positions)[0]
    assert values == {"a": np.float32(-odds / 2), "an": np.float32(odds / 2), "the": 0, "": 0}


def test_what_stands_in_an_empty_place_is_heard_with_what_follows(task):
    view = Words()(["She saw hour."])
    place = task.examples(view)
    place = place.take(np.flatnonzero(view.starts[place.positions] == 8))
    texts, values = (
        place.own.texts,
        transform_checked(ArticleSound(), view, place, Group("article", ())).batch.values[:, 0],
    )
    assert values[texts.index("an")] > 1 > -1 > values[texts.index("a")]


def test_the_contract_is_kept(task):
    for check in check_extractor(
        ArticleSound(), task, ["She saw a hour. He ate an apple and a pear.", "It was a day."]
    ):
        check()
    assert pickle.loads(pickle.dumps(ArticleSound())).sounds is None


def test_a_lowercase_word_without_vowels_is_spelt_out():
    sounds = read_sounds(ENGLISH_SOUNDS)
    assert sounds.article_log_odds("an sftp server", 2) > 0 > sounds.article_log_odds("a pkg file", 1)
    assert sounds.article_log_odds("a step", 1) < -3


def test_the_word_after_a_long_hidden_link_is_found():
    sounds = read_sounds(ENGLISH_SOUNDS)
    hidden = HIDDEN * 200
    assert sounds.article_log_odds(f"an {hidden}\ufffc is known", 2) != 0.0  # unknown, but not no word
    assert sounds.article_log_odds(f"an {hidden}hour", 2) > 3
