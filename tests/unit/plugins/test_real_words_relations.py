"""Files of words that are mistaken for each other: kept as written, bad lines named; the English one."""

from __future__ import annotations

import re

import numpy as np
import pytest
from disambig_real_words import (
    ENGLISH_RELATIONS,
    KINDS,
    MAX_WORDS,
    ZERO,
    Form,
    Slip,
    WordRelations,
    insertion_lists,
    is_word,
    load_relations,
    read_relations,
    write_relations,
)
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.text import Words, hash_word, hash_words

words = st.from_regex(r"[a-zäéßжक]{1,6}('[a-z]{1,3})?", fullmatch=True)
sets = st.lists(words, min_size=2, max_size=MAX_WORDS, unique=True)
files = st.fixed_dictionaries({}, optional={kind: st.lists(sets, min_size=1, max_size=4) for kind in KINDS})


@given(files, st.lists(st.text(max_size=20), max_size=3))
def test_sets_come_back_as_they_were_written(tmp_path_factory, content, about):
    path = tmp_path_factory.mktemp("relations") / "new" / "xx.tsv"
    write_relations(path, content, about)
    assert read_relations(path) == {kind: content.get(kind, []) for kind in KINDS}


@given(st.lists(sets, min_size=1, max_size=4), st.data())
def test_how_a_line_is_written_does_not_matter(tmp_path_factory, content, data):
    path = tmp_path_factory.mktemp("relations") / "xx.tsv"
    lines = []
    for each in content:
        lines += data.draw(st.sampled_from([[], [""], ["# slip\ta remark"], ["  "]]))
        line = data.draw(st.sampled_from([" ", "  ", "\t"])).join(each)
        line = data.draw(st.sampled_from([line, f"{line} ", f"{line} {each[0]}" if len(each) < 9 else line]))
        curly = data.draw(st.sampled_from(["'", "\N{RIGHT SINGLE QUOTATION MARK}"]))
        lines.append("slip\t" + line.replace("'", curly))
    mark, end = data.draw(st.sampled_from(["", "\ufeff"])), data.draw(st.sampled_from(["\n", "\r\n"]))
    path.write_bytes((mark + end.join(lines)).encode())
    assert read_relations(path)["slip"] == content


@pytest.mark.parametrize(
    ("line", "said"),
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
def test_what_is_no_set_is_refused_with_its_line(tmp_path, line, said):
    path = tmp_path / "xx.tsv"
    path.write_text(f"# mine\nslip\tform from\n{line}\n", encoding="utf8")
    with pytest.raises(UserError) as caught:
        read_relations(path)
    assert caught.value.code == "D995" and "\n" not in str(caught.value)
    assert str(path) in str(caught.value) and "line 3: " in str(caught.value) and said in str(caught.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"caf\xe9"])
def test_a_file_of_relations_that_cannot_be_read(tmp_path, content):
    path = tmp_path / "xx.tsv"
    if content is not None:
        path.write_bytes(content)
    for read in (read_relations, lambda path: Form(relations=path).related):
        with pytest.raises(UserError, match="D995") as caught:
            read(path)
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(UserError, match="D995"):
        read_relations(tmp_path)
    with pytest.raises(UserError, match="D995"):
        read_relations("nul\0byte")


def test_a_file_without_the_kinds_that_are_asked_for(tmp_path):
    path = tmp_path / "xx.tsv"
    path.write_text("# none\n\nslip\tform from\n")
    assert len(Slip(relations=path).related.words) == 2
    with pytest.raises(UserError, match=r"D995.*no line of kind form or derived or possessive"):
        _ = Form(relations=path).related


@pytest.mark.parametrize("kinds", [[], ["slips"], "slip", ["slip", 3]])
def test_kinds_that_there_are_not(kinds):
    with pytest.raises(UserError, match=r"D997.*form, derived, possessive, slip"):
        _ = Form(kinds=kinds).related


@given(st.lists(sets, max_size=5))
def test_the_words_of_a_set_are_related_to_each_other(content):
    related = WordRelations.from_sets(content)
    for word in {word for each in content for word in each}:
        number = int(related.find(hash_words([word]))[0])
        assert related.spellings[number] == word and related.words[number] == hash_word(word)
        others = [related.spellings[i] for i in related.others[number]]
        expected = {other for each in content if word in each for other in each} - {word}
        assert set(others) == expected and len(others) == len(expected)
    assert related.find(hash_words(["unheard"])).tolist() == [-1]


def test_the_english_file():
    content = read_relations(ENGLISH_RELATIONS)
    assert all(content[kind] for kind in KINDS)
    flat = sorted({word for kind in content.values() for each in kind for word in each})
    assert all(map(is_word, flat))
    view = Words()(flat)
    assert np.array_equal(np.diff(view.documents), np.full(len(flat), 3))  # one word between two boundaries
    forms = load_relations(str(ENGLISH_RELATIONS), ("form",))
    number = int(forms.find(hash_words(["is"]))[0])
    assert {"are", "was"} <= {forms.spellings[i] for i in forms.others[number]}


def test_a_list_of_words_and_none():
    related = insertion_lists("missing", ["To", "isn\N{RIGHT SINGLE QUOTATION MARK}t"])
    assert set(related.spellings) == {"to", "isn't", ZERO}
    assert np.array_equal(np.diff(related.others.offsets), [2, 2, 2])


@pytest.mark.parametrize(
    "given_words", [[], "a an", ["a", ""], ["in front"], ["well-known"], ["a", 3], ["a."]]
)
def test_what_is_no_list_of_words_is_refused(given_words):
    with pytest.raises(UserError, match=r"D996.*articles"):
        insertion_lists("articles", given_words)


def test_the_readme_shows_lines_of_such_a_file(tmp_path):
    guide = (ENGLISH_RELATIONS.parents[1] / "README.md").read_text(encoding="utf8")
    lines = re.findall(r"^    (\w+\t.*)$", guide, re.MULTILINE)
    (tmp_path / "xx.tsv").write_text("\n".join(lines), encoding="utf8")
    shown = read_relations(tmp_path / "xx.tsv")
    assert all(len(shown[kind]) == 1 for kind in KINDS)
    assert f"A line has 2 to {MAX_WORDS} words".lower() in guide.lower()


def test_a_pair_is_of_the_first_of_its_kinds(tmp_path):
    (tmp_path / "xx.tsv").write_text("form\tgo goes went\nslip\tgo goes\nslip\tgo no\nslip\tform from\n")
    form = load_relations(str(tmp_path / "xx.tsv"), ("form",))
    slip = load_relations(str(tmp_path / "xx.tsv"), ("slip",))
    assert sorted(form.spellings) == ["go", "goes", "went"]
    assert sorted(slip.spellings) == ["form", "from", "go", "no"]
    both = load_relations(str(tmp_path / "xx.tsv"), ("form", "slip"))
    assert sorted(both.spellings) == ["form", "from", "go", "goes", "no", "went"]


@given(
    st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=4, unique=True), max_size=6), st.data()
)
def test_relations_are_those_of_the_sets(sets, data):
    without = data.draw(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=3, unique=True), max_size=2))
    wanted = {}
    for words in sets:
        for one in words:
            for other in words:
                if one != other and not any({one, other} <= set(each) for each in without):
                    wanted.setdefault(one, {})[other] = None
    found = WordRelations.from_sets(sets, without)
    assert {
        word: [found.spellings[i] for i in found.others[k]] for k, word in enumerate(found.spellings)
    } == {word: list(others) for word, others in wanted.items()}
    assert (np.diff(found.words.astype(object)) > 0).all()
    assert found.find(found.words).tolist() == list(range(len(wanted)))
