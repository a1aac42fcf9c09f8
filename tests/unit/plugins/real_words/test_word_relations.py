"""Tables of related words and of sounds at the beginning of words: files, errors, the English ones."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
import re

import numpy as np
import pytest
from disambig_real_words import (
    COMPILED_KINDS,
    ENGLISH_RELATIONS,
    ENGLISH_SOUNDS,
    KINDS,
    MAX_LOG_ODDS,
    MAX_NUMBER_LOG_ODDS,
    MAX_WORDS,
    ZERO,
    Article,
    ArticleSound,
    Form,
    Slip,
    WordRelations,
    compile_relations,
    insertion_lists,
    is_word,
    load_relations,
    log_odds,
    log_odds_after,
    read_relations,
    read_sounds,
    sound_keys,
    write_relations,
)
from examples import fewer_examples
from hypothesis import given, strategies as st
from toy_cloze import articles

from disambig.data import Group
from disambig.errors import UserError
from disambig.features import transform_checked
from disambig.testing import check_extractor
from disambig.text import HIDDEN, Words, hash_word, hash_words

any_words = st.from_regex(r"[a-zäéßжक]{1,6}('[a-z]{1,3})?", fullmatch=True)
any_sets = st.lists(any_words, min_size=2, max_size=MAX_WORDS, unique=True)
any_kinds = {kind: st.lists(any_sets, min_size=1, max_size=4) for kind in KINDS}
any_content = st.fixed_dictionaries({}, optional=any_kinds)


@given(any_content, st.lists(st.text(max_size=20), max_size=3))
@fewer_examples
def test_relations_round_trip(tmp_path_factory, content, about):
    path = tmp_path_factory.mktemp("relations") / "new" / "xx.tsv"
    write_relations(path, content, about)
    assert read_relations(path) == {kind: content.get(kind, []) for kind in KINDS}


@given(st.lists(any_sets, min_size=1, max_size=4), st.data())
@fewer_examples
def test_equivalent_lines(tmp_path_factory, content, data):
    path = tmp_path_factory.mktemp("relations") / "xx.tsv"
    lines = []
    for item in content:
        lines += data.draw(st.sampled_from([[], [""], ["# slip\ta remark"], ["  "]]))
        line = data.draw(st.sampled_from([" ", "  ", "\t"])).join(item)
        line = data.draw(st.sampled_from([line, f"{line} ", f"{line} {item[0]}" if len(item) < 9 else line]))
        curly = data.draw(st.sampled_from(["'", "\N{RIGHT SINGLE QUOTATION MARK}"]))
        lines.append("slip\t" + line.replace("'", curly))
    mark, end = data.draw(st.sampled_from(["", "\ufeff"])), data.draw(st.sampled_from(["\n", "\r\n"]))
    path.write_bytes((mark + end.join(lines)).encode())
    assert read_relations(path)["slip"] == content


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("slip form from", "'slip form from' is not one of form, derived, possessive, slip"),
        ("slips\tform from", "'slips' is not one of"),
        ("\tform from", "'' is not one of"),
        ("slip\tform", "expected 2 to 16 different words, found 1"),
        ("slip\tform Form", "found 1"),
        ("slip\t", "found 0"),
        ("form\t" + " ".join("abcdefghijklmnopq"), "found 17"),
        ("slip\twell-known known", "'well-known' is not a word"),
        ("slip\ta1 b", "'a1' is not a word"),
        ("slip\tdogs' dogs", '"dogs\'" is not a word'),
        ("slip\t. a", "'.' is not a word"),
    ],
)
def test_invalid_sets(tmp_path, line, message):
    path = tmp_path / "xx.tsv"
    path.write_text(f"# mine\nslip\tform from\n{line}\n", encoding="utf8")
    with pytest.raises(UserError) as caught:
        read_relations(path)
    assert caught.value.code == "D995" and "\n" not in str(caught.value)
    assert str(path) in str(caught.value) and "line 3: " in str(caught.value) and message in str(caught.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"caf\xe9"])
def test_unreadable_relations(tmp_path, content):
    path = tmp_path / "xx.tsv"
    if content is not None:
        path.write_bytes(content)
    for read in (read_relations, lambda path: Form(relations=path).related):
        with pytest.raises(UserError, match="D995") as caught:
            read(path)
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    for path in (tmp_path, "nul\0byte"):
        with pytest.raises(UserError, match="D995"):
            read_relations(path)


def test_kinds_of_pairs(tmp_path):
    path = tmp_path / "xx.tsv"
    path.write_text("# none\n\nslip\tform from\n")
    assert len(Slip(relations=path).related.words) == 2
    with pytest.raises(UserError, match=r"D995.*no line of kind form or derived or possessive"):
        _ = Form(relations=path).related
    for kinds in ([], ["slips"], "slip", ["slip", 3]):
        with pytest.raises(UserError, match=r"D997.*form, derived, possessive, slip"):
            _ = Form(kinds=kinds).related
    (tmp_path / "pairs.tsv").write_text("form\tgo goes went\nslip\tgo goes\nslip\tgo no\nslip\tform from\n")
    form = load_relations(str(tmp_path / "pairs.tsv"), ("form",))
    slip = load_relations(str(tmp_path / "pairs.tsv"), ("slip",))
    assert sorted(form.spellings) == ["go", "goes", "went"]
    assert sorted(slip.spellings) == ["form", "from", "go", "no"]
    both = load_relations(str(tmp_path / "pairs.tsv"), ("form", "slip"))
    assert sorted(both.spellings) == ["form", "from", "go", "goes", "no", "went"]


def test_english_relations():
    content = read_relations(ENGLISH_RELATIONS)
    assert all(content[kind] for kind in KINDS)
    flat = sorted({word for kind in content.values() for item in kind for word in item})
    assert all(map(is_word, flat))
    view = Words()(flat)
    assert np.array_equal(np.diff(view.documents), np.full(len(flat), 3))  # one word between two boundaries
    forms = load_relations(str(ENGLISH_RELATIONS), ("form",))
    number = int(forms.find(hash_words(["is"]))[0])
    assert {"are", "was"} <= {forms.spellings[i] for i in forms.others[number]}


def test_the_arrays_of_the_english_relations_are_those_of_the_file():
    digest = hashlib.sha256(ENGLISH_RELATIONS.read_bytes()).hexdigest()
    for kinds in COMPILED_KINDS:
        folder = ENGLISH_RELATIONS.with_suffix(".compiled") / "-".join(kinds)
        assert json.loads((folder / "header.json").read_text())["source"] == digest
        same_relations(load_relations(str(ENGLISH_RELATIONS), kinds), of_kinds(ENGLISH_RELATIONS, kinds))


def of_kinds(path, kinds) -> WordRelations:
    sets, before = read_relations(path), KINDS[: min(map(KINDS.index, kinds))]
    return WordRelations.from_sets(
        *([words for kind in some for words in sets[kind]] for some in (kinds, before))
    )


def same_relations(one: WordRelations, other: WordRelations) -> None:
    assert one.words.tolist() == other.words.tolist() and list(one.spellings) == list(other.spellings)
    assert one.others.values.dtype == other.others.values.dtype == np.int64
    assert one.others.values.tolist() == other.others.values.tolist()
    assert one.others.offsets.tolist() == other.others.offsets.tolist()


def test_compiled_relations(tmp_path):
    path, other = tmp_path / "xx.tsv", tmp_path / "yy.tsv"
    write_relations(path, {"form": [["go", "goes"]], "slip": [["go", "no"], ["form", "from"]]})
    compile_relations(path)
    same_relations(load_relations(str(path), ("slip",)), of_kinds(path, ("slip",)))
    # arrays of another file are not used, and damaged ones are named
    write_relations(other, {"form": [["go", "goes"]], "slip": [["new", "now"]]})
    (tmp_path / "xx.compiled").rename(tmp_path / "yy.compiled")
    same_relations(load_relations(str(other), ("slip",)), of_kinds(other, ("slip",)))
    (tmp_path / "yy.compiled" / "form-derived-possessive" / "arrays.npz").write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"D995.*yy\.compiled"):
        load_relations(str(other), ("form", "derived", "possessive"))


def test_insertion_lists():
    related = insertion_lists("missing", ["To", "isn\N{RIGHT SINGLE QUOTATION MARK}t"])
    assert set(related.spellings) == {"to", "isn't", ZERO}
    assert np.array_equal(np.diff(related.others.offsets), [2, 2, 2])
    for words in ([], "a an", ["a", ""], ["in front"], ["well-known"], ["a", 3], ["a."]):
        with pytest.raises(UserError, match=r"D996.*articles"):
            insertion_lists("articles", words)


def test_lines_in_the_readme(tmp_path):
    guide = (ENGLISH_RELATIONS.parents[1] / "README.md").read_text(encoding="utf8")
    lines = re.findall(r"^    (\w+\t.*)$", guide, re.MULTILINE)
    (tmp_path / "xx.tsv").write_text("\n".join(lines), encoding="utf8")
    shown = read_relations(tmp_path / "xx.tsv")
    assert all(len(shown[kind]) == 1 for kind in KINDS)
    assert f"A line has 2 to {MAX_WORDS} words".lower() in guide.lower()


letters = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=4, unique=True)


@given(st.lists(letters, max_size=6) | st.lists(any_sets, max_size=5), st.data())
@fewer_examples
def test_relations_of_any_sets(content, data):
    without = data.draw(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=3, unique=True), max_size=2))
    expected = {}
    for words in content:
        for one in words:
            for other in words:
                if one != other and not any({one, other} <= set(item) for item in without):
                    expected.setdefault(one, {})[other] = None
    related = WordRelations.from_sets(content, without)
    shown = {}
    for k, word in enumerate(related.spellings):
        shown[word] = [related.spellings[i] for i in related.others[k]]
    assert shown == {word: list(others) for word, others in expected.items()}
    assert (np.diff(related.words.astype(object)) > 0).all()
    assert related.words.tolist() == [hash_word(word) for word in related.spellings]
    assert related.find(related.words).tolist() == list(range(len(expected)))
    assert related.find(hash_words(["unheard"])).tolist() == [-1]


WORDS_AFTER_AN = (
    "hour honest heir apple umbrella unknown egg 8 18 11 80 800 1800 18,000 8-bit MRI HTTP LSTM RBAC X-ray "
    "ExecutorJob unblurred iPhone e-mail eBPF XMLParser A4 ssl svg usher "
    "onerous includes annotations appears URI-less"
).split()[:-1]
WORDS_AFTER_A = (
    "house European user unicorn university one once 1 10 110 180 1,800 1,100,000 URL UUID NASA JSON YAML 2D "
    "UserInterface hypothesis website word_count station knot gnome psalm schema"
).split()


def article_log_odds(text, at):
    return read_sounds(ENGLISH_SOUNDS).article_log_odds(text, at)


def test_words_after_a_and_an():
    for word in WORDS_AFTER_AN:
        assert article_log_odds(f"is a {word} here", 4) > 1, word
    for word in WORDS_AFTER_A:
        assert article_log_odds(f"is a {word} here", 4) < -1, word
    with_two = "lru lzma mbox mkdir rsync SQL sql SQLite sqlmap rpy and is sa1100 mac80211 SVN sftp"
    for word in with_two.split():  # pronunciations
        assert math.isnan(article_log_odds(f"is a {word} here", 4)), word
    assert article_log_odds("an nfs server", 2) > 0 > article_log_odds("a pkg file", 1)  # spelt out
    assert article_log_odds("a step", 1) < -3


def test_punctuation_after_the_article():
    for between in (' "', " \N{LEFT DOUBLE QUOTATION MARK}", " (", " `", " *", "\n", " [", " **_"):
        assert article_log_odds(f"a{between}hour", 1) == article_log_odds("a hour", 1) > 1
    for text in ("a", "a.", "a, hour", "a - hour", "a) hour", "a  \N{EM DASH}", "a '", "a ..."):
        assert article_log_odds(text, 1) == 0  # no word follows
    for text in ("a -x flag", "an -x flag", "a .exe file", "an #include line", 'an "=head" block', "a @user"):
        assert math.isnan(article_log_odds(text, len(text.split()[0]))), text  # the sign may be spoken or not
    for text in ("a @array", "a =over line"):
        assert article_log_odds(text, 1) > 1, text  # "an", with the name of the sign or without it
    for text in ("an .name library", "an -verbose flag"):
        assert article_log_odds(text, 2) < -1, text
    hidden = HIDDEN * 200  # a long link
    assert article_log_odds(f"an {hidden}\ufffc is known", 2) != 0.0  # unknown, but not no word
    assert article_log_odds(f"an {hidden}hour", 2) > 3
    for text in (
        'a "\ufffc" as a sign',
        "an (\ufffc) sign",
    ):  # nobody knows how code in quotation marks is spoken
        assert math.isnan(article_log_odds(text, len(text.split()[0])))


@pytest.mark.parametrize(
    ("word", "keys"),
    [
        ("Hours", "=hours hours- hour- hou- ho- h-"),
        ("ExecutorJob", "=executor execu- exec- exe- ex- e-"),
        ("max_size", "=max max- ma- m-"),
        ("HTTPServer", "=HTTP +h."),
        ("FAQ", "=FAQ +f"),
        ("l2", "+l =l +l l-"),
        ("x", "=x +x x-"),
        ("Is", "=is is- i-"),
        ("1,800", "#1"),
        ("18,000", "#18"),
        ("1800", "#1800"),
        ("118", "#1"),
        ("80", "#8"),
        ("__init__", "=init init- ini- in- i-"),
        ("_", "=_ +_ _-"),
    ],
)
def test_keys(word, keys):
    assert list(sound_keys(word)) == keys.split()


@given(st.from_regex(r"\w+", fullmatch=True))
def test_keys_of_any_word(word):
    keys = list(sound_keys(word))
    assert keys and all("\t" not in key and "\n" not in key for key in keys)


def test_odds_of_keys(tmp_path):
    assert log_odds(3, 3) == 0
    assert log_odds(0, 4) == pytest.approx(np.log(4.25 / 0.25))
    assert log_odds(10**6, 0) == -MAX_LOG_ODDS
    # the odds of a number are relative to those of all numbers
    (tmp_path / "xx.tsv").write_text("m-\t4\t8\n+m.\t4\t8\n#8\t10\t40\n#2\t90\t10\n", encoding="utf8")
    sounds, once = read_sounds(tmp_path / "xx.tsv"), log_odds(4, 8)
    assert sounds.article_log_odds("a mile", 1) == pytest.approx(once)
    assert sounds.article_log_odds("a MRI", 1) == pytest.approx(2 * once)
    assert sounds.article_log_odds("a 8", 1) == pytest.approx(3 * log_odds(10, 40) - log_odds(100, 50))
    assert sounds.article_log_odds("a 2", 1) == pytest.approx(3 * log_odds(90, 10) - log_odds(100, 50))
    assert (
        -MAX_NUMBER_LOG_ODDS
        < sounds.article_log_odds("a 2", 1)
        < -1
        < 1
        < sounds.article_log_odds("a 8", 1)
        < MAX_NUMBER_LOG_ODDS
    )
    specific = "// said\n\nu-\t5\t5\nuni-\t90\t1\n=unit\t1\t90\n"
    (tmp_path / "specific.tsv").write_text(specific, encoding="utf8")
    sounds = read_sounds(tmp_path / "specific.tsv")
    assert len(sounds) == 3
    assert sounds.article_log_odds("a unicorn", 1) < 0 < sounds.article_log_odds("a unit", 1)
    assert sounds.article_log_odds("a user", 1) == sounds.article_log_odds("a pear", 1) == 0


def test_invalid_sounds(tmp_path):
    for line in ("u-\t5", "u-\t5\t-1", "\t5\t5", "u-\t5\t5\t5", "u-\t5\t\N{SUPERSCRIPT TWO}"):
        (tmp_path / "xx.tsv").write_text(f"e-\t1\t2\n{line}\n", encoding="utf8")
        with pytest.raises(UserError, match=r"D998.*xx\.tsv.*line 2"):
            read_sounds(tmp_path / "xx.tsv")
    with pytest.raises(UserError, match=r"D998.*gone\.tsv"):
        read_sounds(tmp_path / "gone.tsv")


@pytest.fixture(scope="module")
def article(tmp_path_factory):
    home = tmp_path_factory.mktemp("sounds")
    articles().save(home / "words")
    return Article(words=home / "words", least=50.0, least_missing=50.0)


def test_articles_by_their_sound(article):
    view = Words()(["She saw a hour, an hour, a house, an house, the hour, and a 8-core XMLParser."])
    result = article.instances(view)
    shown = [view.texts[0][view.starts[p] : view.ends[p] + 6] for p in result.positions]
    assert shown == ["a hour,", "an house", "a 8-cor"]
    assert [result.lists.instance_candidates(i) for i in range(3)] == [("a", "an"), ("an", "a"), ("a", "an")]
    view = Words()(["She saw a a hour and the the house."])
    assert not len(article.instances(view)) and not (article.examples(view).lengths > 0).any()
    view, place, values = scores_of_candidates(article, "We know that a hour is long.", 13)
    odds = log_odds_after(read_sounds(ENGLISH_SOUNDS), view, place.positions)[0]
    assert values == {"a": np.float32(-odds / 2), "an": np.float32(odds / 2), "the": 0, "": 0}
    _, _, values = scores_of_candidates(article, "She saw hour.", 8)  # an empty place
    assert values["an"] > 1 > -1 > values["a"]


def scores_of_candidates(article, text, start):
    """Return the place at an offset of a text, and the scores of its candidates by their sound."""
    view = Words()([text])
    place = article.examples(view)
    place = place.take(np.flatnonzero(view.starts[place.positions] == start))
    values = transform_checked(ArticleSound(), view, place, Group("article", ())).batch.values[:, 0]
    return view, place, dict(zip(place.lists.texts, values, strict=True))


def test_contract_of_the_extractor(article):
    texts = ["She saw a hour. He ate an apple and a pear.", "It was a day."]
    for check in check_extractor(ArticleSound(), article, texts):
        check()
    assert pickle.loads(pickle.dumps(ArticleSound())).sounds is None
