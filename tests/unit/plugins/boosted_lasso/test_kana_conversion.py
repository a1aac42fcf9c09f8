"""From kana to kanji: chosen words, the k best paths and class bigrams against exhaustive search."""

from __future__ import annotations

import copy
import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from disambig_boosted_lasso.kana import (
    HIRAGANA,
    KATAKANA,
    LETTERS,
    LONGEST,
    TOKEN,
    ClassBigram,
    Converter,
    ConverterSettings,
    KanaLexicon,
    LatticeDecoder,
    SegmentedText,
    build_lexicon_tables,
    build_ngram_tables,
    converter_fingerprint,
    decoding as pieces,
    hiragana_number,
    learn_spelling,
    letter,
    load_in_domain,
    save_domain,
    to_katakana,
)
from hypothesis import given, settings, strategies as st
from kana_words import converter, segmented, sentences

from disambig.errors import UserError
from disambig.language_models import Mixture, Sentences, WordVocabulary, estimate, score_word, start_state


@pytest.fixture(scope="module")
def small():
    return converter()


@pytest.mark.parametrize("unit", ["spelling", "pair"])
def test_words_are_chosen_by_those_beside_them(unit):
    kana = "わたしははしをわたる。 わたしははしでたべる。 とりはにわでなく。 かれはなく。"
    written = "私は橋を渡る。 私は箸で食べる。 鳥は庭で鳴く。 彼は泣く。"
    assert converter(unit=unit).best(kana.split()) == written.split()


def test_signs_of_other_scripts(small):
    lines = "1999ねんにはしができる。 XYZはかいしゃだ。 ABCはかいしゃだ!? 橋をわたる。 1,234.5ねん"
    written = "1999年に橋ができる。 XYZは会社だ。 ABCは会社だ!? 橋を渡る。 1,234.5年"
    assert small.best(lines.split()) == written.split()  # what is no kana stands for itself
    assert small.best("ぱんをたべる。 ﾊﾟﾝｦﾀﾍﾞﾙ｡ パンヲタベル。".split()) == ["パンを食べる。"] * 3
    nbest = small.nbest(["1987ぬゎX※"], 1)
    tags = dict(zip(nbest.words.candidate_words(0), nbest.words.candidate_tags(0), strict=True))
    assert tags["1987"] == "名詞-数詞"
    assert tags["X"] == "名詞-普通名詞"
    assert tags["※"] == "補助記号-一般"
    names = small.lexicon.tag_names
    lacking = tuple(name for name in ("名詞-普通名詞", "名詞-数詞", "補助記号-一般") if name not in names)
    assert len(lacking) > 1  # they come in a fixed order
    assert small.nbest(["はし"]).words.tag_names == names + lacking


def test_lines_without_an_entry(small):
    nbest = small.nbest(["", "はし", ""], 3)
    assert nbest.instance_candidates(0) == nbest.instance_candidates(2) == ("",)
    assert len(nbest.instance_candidates(1)) == 3
    assert nbest.words.candidate_words(0) == ()
    assert small.nbest([], 3).texts == []
    nbest = small.nbest(["ぬゎ"], 20)
    assert {"ぬゎ", "ヌヮ"} <= {*nbest.texts}
    assert all(text for text in nbest.texts)


def test_lists_have_all_columns(small):
    lists = small.nbest(["はしをわたる。", "とりがなく。"], 5, references=["橋を渡る。", "鳥が泣く。"])
    assert lists.offsets.tolist() == [0, 5, 10]
    assert lists.ranks.tolist() == [0, 1, 2, 3, 4] * 2
    for i in range(2):
        rows = slice(*lists.offsets[i : i + 2])
        assert (np.diff(lists.scores[rows]) <= 0).all()
        assert len({*lists.texts[rows]}) == 5
    assert lists.costs[0] == 0
    assert lists.costs[lists.texts.index("鳥が鳴く。")] == 1
    for row, text in enumerate(lists.texts):
        assert "".join(lists.words.candidate_words(row)) == text
    assert lists.words.candidate_words(0) == ("橋", "を", "渡る", "。")
    assert lists.words.candidate_tags(0) == ("名詞", "助詞", "動詞", "補助記号")
    assert np.isnan(small.nbest(["はし"]).costs).all()


def test_scores_are_those_of_the_language_model():
    plain = converter(unit="spelling", weighed=False)
    lists = plain.nbest(["わたしははしをわたる。"], 1)
    words, model = ["<s>", *lists.words.candidate_words(0), "</s>"], plain.model
    wanted = sum(model.log_probability(words[i], words[:i]) for i in range(1, len(words)))
    assert lists.scores[0] == pytest.approx(wanted, abs=1e-5)


def test_text_of_another_kind_brings_its_words_and_its_taste():
    plain = converter()
    other = "彼/かれ/代名詞 は/は/助詞 端/はし/名詞-普通名詞 を/を/助詞 渡る/わたる/動詞 。/。/補助記号\n"
    other *= 12
    adapted = plain.adapted(segmented(other))
    assert isinstance(adapted.model, Mixture)
    assert plain.best(["かれははしをわたる。"]) == ["彼は橋を渡る。"]
    assert adapted.best(["かれははしをわたる。"]) == ["彼は端を渡る。"]
    lines = ["わたしははしでたべる。", "ねこはにわにいる。"]
    all_old = plain.adapted(segmented(other), weight=1.0)
    assert all_old.best(lines) == plain.best(lines)
    np.testing.assert_allclose(all_old.nbest(lines, 1).scores, plain.nbest(lines, 1).scores)
    again = adapted.adapted(segmented(other), weight=0.3)
    assert again.model.background is plain.model


def test_words_of_a_dictionary():
    more = KanaLexicon.counted([("麒麟", "きりん", "名詞-普通名詞"), ("橋", "はし", "名詞-普通名詞")], [0, 0])
    learned = Converter.learn(segmented(), dictionary=more, settings=ConverterSettings(least=1))
    assert learned.best(["きりんがなく。"])[0].startswith("麒麟が")
    assert "麒麟" not in converter().nbest(["きりん"], 1000).texts
    assert learned.best(["はしをわたる。"]) == ["橋を渡る。"]
    # text has one reading of it, which a program chose; the spelling is the likely one all the same
    more = KanaLexicon.counted([("橋", "きょう", "名詞"), ("経", "きょう", "名詞")], [0, 0])
    settings = (ConverterSettings(least=1, unit=unit) for unit in (ConverterSettings().unit, "spelling"))
    made, alone = (Converter.learn(segmented(), settings=item, dictionary=more) for item in settings)
    assert made.best(["きょうをわたる。", "はしをわたる。"]) == ["橋を渡る。", "橋を渡る。"]
    assert "橋を渡る。" in alone.nbest(["きょうをわたる。"]).instance_candidates(0)


def test_long_lines_are_converted_in_pieces(small, monkeypatch):
    line = "わたしははしをわたる。" * 1000
    assert small.best([line]) == ["私は橋を渡る。" * 1000]
    lists = small.nbest([line, "はしをわたる。", "ん" * 1000 + "はし"], 20)
    assert np.diff(lists.offsets).tolist() == [20, 20, 20]
    for i in range(3):
        assert len({*lists.instance_candidates(i)}) == 20
    assert "".join(lists.words.candidate_words(0)) == lists.texts[0]
    monkeypatch.setattr(pieces, "LONGEST", 6)
    short = small.nbest(["はしをたべる。にわでなく。ABCだ。"], 20)
    assert short.texts[0].endswith("庭で鳴く。ABCだ。")
    assert len({*short.texts}) == 20
    expected = [("ABC", "だ", "。"), "補助記号"]
    assert [short.words.candidate_words(0)[-3:], short.words.candidate_tags(0)[-1]] == expected


def test_bad_arguments_are_named(small):
    for code, call in (
        ("D677", lambda: small.nbest("はし")),
        *(("D675", lambda k=k: small.nbest(["はし"], k)) for k in (0, 1001, 2.5, True)),
        ("D676", lambda: Converter.learn(SegmentedText.from_sentences([[]]))),
        ("D676", lambda: small.adapted(SegmentedText.from_sentences([]))),
        ("D676", lambda: small.adapted(segmented()[:3])),
        ("D675", lambda: ConverterSettings(least=0)),
        ("D675", lambda: ConverterSettings(unknown=(1, 2))),
        ("D675", lambda: ConverterSettings(unknown=(0.5, 0.5, 0.5, 0.5))),
        ("D671", lambda: ConverterSettings(unit="character")),
    ):
        with pytest.raises(UserError, match=code):
            call()
    with pytest.raises(ValueError, match="2 references"):
        small.nbest(["はし"], references=["橋", "箸"])
    made = converter(numbers="digits")  # numbers that are spelt out have no score of another converter
    with pytest.raises(ValueError, match="not 'words'"):
        made.nbest_and_scores(made, ["さんねん"])


LINES = ["わたしははしをわたる。", "3ねんのはし", "ぬゎABC", "とりはにわでなく。" * 40, ""]


@pytest.mark.parametrize("unit", ["pair", "spelling"])
def test_candidates_are_scored_by_another_converter(unit):
    made = converter(unit=unit, numbers="words")
    lists, scores = made.nbest_and_scores(made, LINES, 8)
    assert lists.texts == made.nbest(LINES, 8).texts
    np.testing.assert_allclose(scores, lists.scores, atol=1e-4)  # its own scores
    other = made.adapted(segmented("箸/はし/名詞 を/を/助詞 渡る/わたる/動詞 端/はし/名詞"), weight=0.3)
    lists, scores = made.nbest_and_scores(other, LINES[:3], 8)
    others = other.nbest(LINES[:3], 1000)
    for line in range(3):
        theirs = slice(others.offsets[line], others.offsets[line + 1])
        best = dict(zip(others.texts[theirs], others.scores[theirs], strict=True))
        ours = range(lists.offsets[line], lists.offsets[line + 1])
        gaps = [best[lists.texts[row]] - scores[row] for row in ours]
        assert min(gaps) > -1e-4 and min(gaps) < 1e-4  # a text may have other words that are more probable


THREAD_LINES = ["わたしははしをわたる。" * 3, "とりはにわでなく。", "2008ねんにはしができる。", "ぬゎABC"]


def nbest_columns(lists):
    return [lists.texts, lists.scores.tolist(), lists.offsets.tolist()]


def test_threads_and_copies_find_what_one_alone_finds():
    made = converter()
    every = nbest_columns(made.nbest(THREAD_LINES, 20))
    wanted = [nbest_columns(made.nbest([line] * 5, 20)) for line in THREAD_LINES]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            results = pool.map(lambda line: made.nbest([line] * 5, 20), THREAD_LINES)
            assert [nbest_columns(lists) for lists in results] == wanted
    for copied in (copy.deepcopy(made), copy.copy(made)):
        assert nbest_columns(copied.nbest(THREAD_LINES, 20)) == every


LETTERS_OF_LINES, SIGN = "かきく", "。"
SPELLING = learn_spelling(["かき", "カキクク"], shares=(0.3, 0.3))

spellings = st.text("山川木", min_size=1, max_size=2)
kana_words = st.text(LETTERS_OF_LINES, min_size=1, max_size=3)
entry = st.tuples(spellings, kana_words, st.sampled_from("NV"), st.integers(0, 3))
entries = st.lists(entry, min_size=1, max_size=8)
texts = st.lists(st.lists(spellings, min_size=1, max_size=5), min_size=2, max_size=8)


def every_path(line, lexicon, tables, order, arrays):
    """Return the best ln P of each possible conversion of a line, by trying all paths."""
    counts = {}
    for place, entry in enumerate(order.tolist()):
        word = int(tables.entries["word"][place]), float(tables.entries["extra"][place])
        counts.setdefault(lexicon.readings[entry], []).append((lexicon.surfaces[entry], *word))
    scores = {}

    def follow(place, text, score, state):
        if place == len(line):
            score += score_word(arrays, state, 2)[0]
            scores[text] = max(score, scores.get(text, -np.inf))
        for end in range(place + 1, len(line) + 1):
            for spelt, word, extra in entries_read_as(line[place:end]):
                gain, behind = score_word(arrays, state, word)
                follow(end, text + spelt, score + gain + extra, behind)

    def entries_read_as(kana):
        yield from counts.get(kana, ())
        letters = [hiragana_number(letter) for letter in kana]
        if 0 not in letters and len(kana) <= LONGEST:
            pairs = list(zip([0, *letters], [*letters, 0], strict=True))
            for script, spelt in enumerate((kana, to_katakana(kana))):
                yield spelt, 0, float(sum(SPELLING[script, a, b] for a, b in pairs))
        elif kana == SIGN:
            yield kana, 0, 0.0

    follow(0, "", 0.0, start_state(arrays))
    return scores


@settings(deadline=None, max_examples=25)
@given(
    *(entries, texts, st.none() | texts, st.floats(0, 1), st.integers(1, 3)),
    st.lists(st.text(LETTERS_OF_LINES + SIGN, max_size=5), min_size=1, max_size=3),
    *(st.sampled_from([1, 2, 5, 20]), st.booleans()),
)
def test_the_k_best_are_those_of_all_paths(words, text, more, weight, order, lines, k, weighed):
    lexicon = KanaLexicon.counted([word[:3] for word in words], [word[3] for word in words])
    vocabulary = WordVocabulary.from_words(sorted({word for sentence in text for word in sentence}))
    model = estimate(Sentences.from_words(vocabulary, text), vocabulary, order=order)
    parts = [(model.levels, 0.0)]
    if more is not None:  # a mixture, of more words
        longer = vocabulary.extended(word for sentence in more for word in sentence)
        model = Mixture(model, estimate(Sentences.from_words(longer, more), longer), weight)
        vocabulary = longer
        with np.errstate(divide="ignore"):
            weights = np.log([weight, 1 - weight])
        parts = [(model.background.levels, weights[0]), (model.adaptation.levels, weights[1])]
    how = ConverterSettings(weighed=weighed, unknown=(0.3, 0.3, 0.2, 0.2))
    tables, entry_order = build_lexicon_tables(lexicon, vocabulary, SPELLING, how)
    paths = LatticeDecoder(build_ngram_tables(parts, len(vocabulary)), tables).paths(lines, k)
    for i, line in enumerate(lines):
        wanted = every_path(line, lexicon, tables, entry_order, model.arrays)
        best = sorted(wanted.values(), reverse=True)[:k]
        rows = range(paths.offsets[i], paths.offsets[i + 1])
        written = [path_spelling(line, paths, row, lexicon, entry_order) for row in rows]
        assert len(written) == len({*written}) == len(best)
        np.testing.assert_allclose([paths.scores[row] for row in rows], best, atol=1e-5)
        np.testing.assert_allclose([wanted[one] for one in written], best, atol=1e-5)


def path_spelling(line, paths, row, lexicon, order):
    """Return the text of a candidate: its words, concatenated."""
    text, place = "", 0
    for kind, start, end in paths.words[paths.word_offsets[row] : paths.word_offsets[row + 1]].tolist():
        assert start == place < end
        place = end
        kana = line[start:end]
        if kind >= 0:
            assert lexicon.readings[order[kind]] == kana
        scripts = {HIRAGANA: kana, KATAKANA: to_katakana(kana)}
        text += lexicon.surfaces[order[kind]] if kind >= 0 else scripts.get(kind, kana)
    assert place == len(line)
    return text


def test_tables_of_the_lattice():
    for code in [*range(0x3030, 0x30FF), 0x41, 0x4E00]:
        assert letter(code) == hiragana_number(chr(code))
    assert letter(0x30FC) == LETTERS - 1
    vocabulary = WordVocabulary.from_words(["山"])
    model = estimate(Sentences.from_words(vocabulary, [["山"] * 5]), vocabulary, order=4)
    with pytest.raises(UserError, match="D673"):
        build_ngram_tables([(model.levels, 0.0)], len(vocabulary))
    rows = np.exp(SPELLING).sum(axis=2)
    np.testing.assert_allclose(rows[:, 0], 0.3)
    np.testing.assert_allclose(rows[:, 1:], 1.0)


CLASS_LINES = "わたしははしをわたる。|かれははしでたべる。|ねこはにわでなく。|2008ねんぬゎ||とり".split("|")
CLASS_WORDS = {
    ("わたし", "私"): [(1, 1, 2.0)],
    ("わたしは", "私は"): [(1, 2, 2.3)],
    ("は", "は"): [(2, 2, 0.1), (3, 3, 4.0)],
    ("はし", "橋"): [(1, 1, 5.0)],
    ("はし", "箸"): [(1, 1, 4.0), (3, 1, 1.0)],
    ("をわ", "を渡"): [(2, 3, 0.5)],
    ("る", "る"): [(3, 3, 0.5)],
    ("で", "で"): [(2, 2, 0.3)],
    ("。", "。"): [(2, 2, 0.0)],
}


def classes(weight=1.0, *, seed=0):
    """Return a class bigram of a few words, some of which end within words of the converter."""
    listed = [token for tokens in CLASS_WORDS.values() for token in tokens]
    connections = np.random.default_rng(seed).integers(0, 40, (4, 4)).astype(np.float32) / 4
    readings, surfaces = zip(*CLASS_WORDS, strict=True)
    sizes = np.array([len(tokens) for tokens in CLASS_WORDS.values()])
    words = readings, surfaces, sizes, np.array(listed, TOKEN)
    return ClassBigram(*words, connections, 1, (6.0, 0.5), weight)


def enumerated(model, words):
    """Return ln P of words (reading, spelling): the best of all segmentations into words of the model."""
    kana, text = ("".join(column) for column in zip(*words, strict=True)) if words else ("", "")
    steps = {(a, b): tokens for (a, b), tokens in CLASS_WORDS.items()}
    bounds = [(0, 0)]
    for reading, surface in words:
        bounds.append((bounds[-1][0] + len(reading), bounds[-1][1] + len(surface)))
    text_at = dict(bounds)
    follows = dict(itertools.pairwise(bounds))

    @cache
    def least(i, j, before):
        if i == len(kana):
            return float(model.connections[before, 0]) if j == len(text) else np.inf
        costs = [np.inf]
        for (reading, surface), tokens in steps.items():
            end, until = i + len(reading), j + len(surface)
            if not kana.startswith(reading, i) or not text.startswith(surface, j):
                continue
            if text_at.get(end, until) != until:
                continue
            for left, right, cost in tokens:
                costs.append(model.connections[before, left] + cost + least(end, until, right))
        if (i, j) in follows:
            end, until = follows[i, j]
            cost = model.unknown[0] + model.unknown[1] * (end - i)
            costs.append(model.connections[before, model.other] + cost + least(end, until, model.other))
        return float(min(costs))

    return -least(0, 0, 0)


READING = {surface: reading for sentence in sentences() for surface, reading, _ in sentence}


@pytest.mark.parametrize("seed", range(4))
def test_the_score_is_that_of_the_best_words_and_classes(seed):
    plain, model = converter(), classes(0.7, seed=seed)
    before = plain.nbest(CLASS_LINES, 40)
    after = replace(plain, classes=model).nbest(CLASS_LINES, 40)
    for number, line in enumerate(CLASS_LINES):
        wanted = {}
        for row in range(*before.offsets[number : number + 2]):
            words = before.words.candidate_words(row)
            pairs = [(READING.get(word, line if len(words) == 1 else word), word) for word in words]
            if "".join(reading for reading, _ in pairs) == line:  # else it has words in katakana
                wanted[before.texts[row]] = before.scores[row] + 0.7 * enumerated(model, pairs)
        assert wanted
        rows = range(*after.offsets[number : number + 2])
        score_by_text = {after.texts[row]: after.scores[row] for row in rows}
        for text, score in wanted.items():
            assert score_by_text[text] == pytest.approx(score, abs=1e-4)
        scores = [after.scores[row] for row in rows]
        assert scores == sorted(scores, reverse=True)


def test_the_class_bigram_decides_what_the_language_model_leaves_open():
    plain = converter()
    assert plain.best(["はしをわたる。"]) == ["橋を渡る。"]
    sure = replace(plain, classes=replace(classes(), connections=np.zeros((4, 4), np.float32), weight=9.0))
    assert sure.best(["はしをわたる。"]) == ["箸を渡る。"]
    assert sure.nbest(["はしをわたる。"], 3).texts[0] == "箸を渡る。"
    assert len(sure.nbest(["はしをわたる。"], 3).texts) == 3


def test_a_saved_class_bigram_is_loaded_unchanged(tmp_path):
    one = replace(converter(), classes=classes(0.4))
    converter().save(tmp_path / "plain")
    one.save(tmp_path / "one")
    again = Converter.load(tmp_path / "one")
    before, after = one.nbest(CLASS_LINES, 20), again.nbest(CLASS_LINES, 20)
    assert list(before.texts) == list(after.texts)
    np.testing.assert_allclose(before.scores, after.scores, atol=1e-4)
    assert converter_fingerprint(tmp_path / "plain") != converter_fingerprint(tmp_path / "one")
    again.save(tmp_path / "one")  # a folder with a class bigram is replaced as any other
    home = tmp_path / "one"
    birds = replace(classes(0.4), domain_weights={"law": 0.0, "news": 0.7})
    replace(converter(), classes=birds).save(home)
    again = Converter.load(home)
    mixture = Mixture(again.background, again.background, 0.5)
    for name, weight in (("law", None), ("news", 0.7), ("novels", 0.4)):
        save_domain(mixture, home, name)
        its = load_in_domain(again, home, name).classes
        assert (its and its.weight) == weight


def test_a_damaged_class_bigram_is_not_read(tmp_path):
    replace(converter(), classes=classes()).save(tmp_path / "one")
    header = tmp_path / "one" / "classes" / "header.json"
    contents = json.loads(header.read_text(encoding="utf8"))
    wrong = ({"digest": "0"}, {"other": 4}, {"other": None}, {"weight": -1}, {"weight": 10**400})
    for change in (*wrong, {"unknown": [1]}, {"domain_weights": {"a": -1}}):
        header.write_text(json.dumps({**contents, **change}), encoding="utf8")
        with pytest.raises(UserError, match="D674"):
            Converter.load(tmp_path / "one")
    header.write_text(json.dumps(contents), encoding="utf8")
    (tmp_path / "one" / "classes" / "classes.npz").unlink()
    with pytest.raises(UserError, match="D674"):
        Converter.load(tmp_path / "one")


def test_a_margin_leaves_out_bad_beginnings_only():
    exact = converter()
    near, wide = (replace(exact, settings=replace(exact.settings, margin=margin)) for margin in (1e-6, 100.0))
    assert list(wide.nbest(CLASS_LINES, 20).texts) == list(exact.nbest(CLASS_LINES, 20).texts)
    few, best = (made.nbest(CLASS_LINES, 1).scores for made in (near, exact))
    assert (np.asarray(few) <= np.asarray(best) + 1e-9).all()
    assert len(near.nbest(CLASS_LINES, 20).texts) < len(exact.nbest(CLASS_LINES, 20).texts)
    for margin in (0.0, -1.0, float("nan")):
        with pytest.raises(UserError, match="D675"):
            replace(exact.settings, margin=margin)
