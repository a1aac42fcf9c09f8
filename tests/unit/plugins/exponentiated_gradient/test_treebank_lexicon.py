"""Tags of words: seen, rare and new ones."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_exponentiated_gradient.grammar import LexiconSettings, TagLexicon, word_classes
from hypothesis import given, strategies as st

from disambig.errors import UserError

NOUNS = [(f"{stem}ness", "NN^NP") for stem in ("kind", "sad", "glad", "ill", "weak", "dark")]
VERBS = [(f"{stem}ing", "VBG^VP") for stem in ("walk", "sing", "jump", "read", "fall", "hold")]
NAMES = [(name, "NNP^NP") for name in ("Anna", "Berta", "Carla", "Dora", "Emma", "Fritz")]
THE = [("the", "DT^NP")] * 40
SENTENCES = [[*THE, each] for each in (*NOUNS, *VERBS, *NAMES)]


def best(lexicon, word, place=1):
    """Return the likeliest symbol of a word, P(symbol | word) up to a constant."""
    scores = lexicon.scores(["x"] * place + [word])[-1]
    usual = {symbol: len([1 for s in SENTENCES for _, t in s if t == symbol]) for symbol in scores}
    return max(scores, key=lambda symbol: scores[symbol] + np.log(usual[symbol]))


def test_new_words_by_their_looks():
    lexicon = TagLexicon.from_sentences(SENTENCES)
    assert best(lexicon, "fondness") == "NN^NP"
    assert best(lexicon, "glorping") == "VBG^VP"
    assert best(lexicon, "Gerda") == "NNP^NP"


def test_closed_tags_stay_closed():
    lexicon = TagLexicon.from_sentences(SENTENCES)
    for word in ("fondness", "glorping", "thee", "3", "Gerda"):
        assert "DT^NP" not in lexicon.scores([word])[0]
    assert list(lexicon.scores(["a", "the"])[1]) == ["DT^NP"]


def test_rare_words_get_what_their_looks_have():
    lexicon = TagLexicon.from_sentences([*SENTENCES, [("walking", "NN^NP"), ("kindness", "NN^NP")]])
    assert {"VBG^VP", "NN^NP"} <= set(lexicon.scores(["a", "walking"])[1])


def test_seen_words_by_hand():
    """P(word | symbol) = P(symbol | word) P(word) / P(symbol), the share of looks included."""
    settings = LexiconSettings(prior=1.0, least=1e-9)
    lexicon = TagLexicon.from_sentences([[("a", "DT"), ("a", "DT"), ("a", "NN"), ("b", "NN")]], settings)
    scores = lexicon.scores(["x", "a"])[1]
    # no kind is open: any has one share for each kind a word has, DT 1 of 3, NN 2 of 3
    assert scores["DT"] == pytest.approx(np.log((2 + 1 / 3) / 4) + np.log(3) - np.log(2))
    assert scores["NN"] == pytest.approx(np.log((1 + 2 / 3) / 4) + np.log(3) - np.log(2))


def test_symbols_of_a_kind_lean_on_its_others():
    seen = [[("walk", "NN^NP")] * 2 + [(f"w{i}", "NN^NX") for i in range(2)]]
    scores = TagLexicon.from_sentences(seen, LexiconSettings(parents=2.0)).scores(["a", "walk"])[1]
    # (2 + 2 * 1/2) and (0 + 2 * 1/2) of 4; both symbols have been seen twice
    assert scores["NN^NP"] - scores["NN^NX"] == pytest.approx(np.log(3.0))


def test_a_capital_at_the_start_says_less():
    lexicon = TagLexicon.from_sentences([[("dogs", "NNS"), ("bark", "VBP")]] * 5)
    assert lexicon.scores(["Dogs"])[0]["NNS"] == lexicon.scores(["x", "dogs"])[1]["NNS"]
    assert lexicon.scores(["x", "Dogs"])[1] != lexicon.scores(["Dogs"])[0]


def test_known_tags():
    lexicon = TagLexicon.from_sentences(SENTENCES)
    assert set(lexicon.scores(["fondness"], ["NN"])[0]) == {"NN^NP"}
    assert set(lexicon.scores(["glorp"], ["DT"])[0]) == {"DT^NP"}
    assert lexicon.scores(["glorp"], ["XYZ"]) == lexicon.scores(["glorp"])
    assert lexicon.tags == {"DT", "NN", "NNP", "VBG"}


def test_plain_tags():
    plain = TagLexicon.from_sentences(SENTENCES).coarse()
    assert set(plain.scores(["the", "walking"])[1]) <= {"NN", "NNP", "VBG"}
    assert plain.words["the"] == {"DT": 40 * 18}


@pytest.mark.parametrize(
    ("word", "is_first", "classes"),
    [
        ("walking", False, ("a", "a g", "a ng", "a ing")),
        ("Walking", True, ("Aa<", "Aa< g", "Aa< ng", "Aa< ing")),
        ("IBM", False, ("A", "A m", "A bm")),
        ("McDonald", False, ("AaA", "AaA d", "AaA ld", "AaA ald")),
        ("co-op", False, ("-a", "-a p", "-a op", "-a -op")),
        ("1,000", False, ("number",)),
        ("-5", False, ("signed number",)),
        ("20th", False, ("da", "da h", "da th", "da 0th")),
        ("--", False, ("signs",)),
        ("a", False, ("a", "a a")),
        ("eBay", False, ("aA", "aA y", "aA ay", "aA bay")),
    ],
)
def test_classes_of_words(word, is_first, classes):
    assert word_classes(word, is_first) == classes


@given(st.text(min_size=1, max_size=12), st.booleans())
def test_each_class_is_a_part_of_the_one_before(word, is_first):
    found = word_classes(word, is_first)
    assert found
    assert len(set(found)) == len(found)


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=5))
def test_every_word_may_be_something(words):
    lexicon = TagLexicon.from_sentences(SENTENCES)
    for scores in lexicon.scores(words):
        assert scores
        assert all(np.isfinite(list(scores.values())))


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"prior": 0}, "prior is 0"), ({"rare": "3"}, "rare is '3'"), ({"least": 0.5}, "least is 0.5: .*0.01")],
)
def test_settings_that_cannot_be(settings, said):
    with pytest.raises(UserError, match=rf"D633.*{said}"):
        LexiconSettings(**settings)


MARKED = [
    [("dogs", "NNS^NP"), ("bark", "VBP^VP"), (mark, tag)] for mark, tag in ((".", ".^S"), (";", ":^S"))
] * 150


@pytest.mark.parametrize(
    ("sign", "tag"),
    [("!", "."), ("?!", "."), ("\N{INTERROBANG}", "."), ("\N{EM DASH}", ":"), ("...", ":"), ("--", ":")],
)
def test_unseen_punctuation_has_the_tags_of_its_kind(sign, tag):
    lexicon = TagLexicon.from_sentences(MARKED)
    assert list(lexicon.scores(["bark", sign])[1]) == [f"{tag}^S"]
    assert lexicon.scores(["bark", "\N{PILCROW SIGN}"])[1].keys() >= {"NNS^NP"}  # of no kind: any tag


def test_a_tag_that_a_frequent_word_or_a_mark_never_has_is_of_another_convention():
    lexicon = TagLexicon.from_sentences([*MARKED, [("odd", "JJ^NP"), (",", ",^S")]])
    words = ["bark", ";", "!", "odd"]
    assert lexicon.scores(words, ["NNS", ",", ",", "NNS"])[:3] == lexicon.scores(words)[:3]
    assert list(lexicon.scores(words, ["NNS", ",", ",", "NNS"])[3]) == ["NNS^NP"]  # a rare word
    assert lexicon.scores(words, ["ZZ"] * 4) == lexicon.scores(words)
