"""Penn-style brackets: reading, writing and errors; binarisation; PARSEVAL with the rules of evalb."""

from __future__ import annotations

import gzip
import io
import tarfile

import numpy as np
import pytest
from disambig_exponentiated_gradient.treebank import (
    SPLITS,
    Binarisation,
    BracketF1,
    Parseval,
    Tree,
    TreeNodes,
    clean_trees,
    coarse_symbol,
    escape_word,
    fold_tree,
    format_indented,
    format_one_line,
    is_inside,
    node_label,
    quoted,
    read_raw_trees,
    read_treebank,
    read_trees,
    reading,
    reading as corpora,
    restore_tree,
    strip_label,
    unescape_word,
)
from examples import fewer_examples
from hypothesis import given, strategies as st
from made_trees import NAMES, PLAIN, TAGS, parse_tree, plain_trees, trees

from disambig.api.measures import CostsTexts, Outcomes
from disambig.errors import UserError


def read(text):
    return [format_one_line(tree) for tree in read_trees(text)]


def test_what_is_cleaned():
    text = "( (S (NP-SBJ-1 (PRP we)) (VP (VBP want) (S (NP-SBJ (-NONE- *-1)) (VP (-NONE- *?*)))) (. .)) )"
    assert read(text) == ["(TOP (S (NP (PRP we)) (VP (VBP want)) (. .)))"]
    assert not read("( (S (NP (-NONE- *))) )")
    assert clean_trees(next(read_raw_trees("((S (-NONE- 0)))"))) is None
    text = "((S (NP-SBJ-1=2 (-LRB- -LRB-) (PRP we)) (PP-LOC-PRD (IN in))))"
    assert read(text) == ["(TOP (S (NP (-LRB- -LRB-) (PRP we)) (PP (IN in))))"]
    same = "(TOP (S (UH yes)))"
    for text in ("((S (UH yes)))", "(ROOT (S (UH yes)))", "(S1 (S (UH yes)))", "(S (UH yes))", same):
        assert read(text) == [same]
    assert read("((UH yes) (. .))") == ["(TOP (UH yes) (. .))"]
    assert read("(UH yes)") == ["(TOP (UH yes))"]
    assert parse_tree("((NP (NN 5\N{NO-BREAK SPACE}mm)))").words() == ["5\N{NO-BREAK SPACE}mm"]
    assert read("(\n(NP\t(NN\r\nmm)))") == ["(TOP (NP (NN mm)))"]


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("NP-SBJ-1=4", "NP"),
        ("ADVP|PRT", "ADVP"),
        *((label, label) for label in ("-LRB-", "-NONE-", "PRP$", "#", ":", "=", "-")),
    ],
)
def test_labels(label, plain):
    assert strip_label(label) == plain


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("(S (NN a)", 1, "never closed"),
        ("((S (NN a)))\n\n((S (NN b))", 3, "never closed"),
        ("((S (NN a)))\n)", 2, "none opened"),
        ("((S\n(NN a b)))", 2, "'b' follows what"),
        ("((S (NN a)\nx))", 2, "'x' follows what"),
        ("((S\n(NN a (NN b))))", 2, "opens after the word 'a'"),
        ("((S\n\n()))", 3, "nothing in ("),
        ("((S (NP)))", 1, "nothing in (NP)"),
        ("((S\n((NN a))))", 2, "no label"),
        ("()", 1, "nothing in ()"),
        ("((S (NN a))) the end", 1, "'the' is outside"),
        ("((S (NN a)\n( (S (NN b)))", 2, "no label, in the tree that begins on line 1"),
        ("# 1\n((S (NN a)))\n(\n(S (NN b)", 4, "closed, in the tree that begins on line 3"),
        ("((S (NN a)))\n) # 1", 2, "none opened;"),
    ],
)
def test_brackets_that_do_not_match(text, line, message):
    with pytest.raises(UserError, match=r"D630.*home\.mrg, line " + str(line)) as error:
        list(read_trees(text, "home.mrg"))
    assert message in str(error.value)


def test_comments_between_trees():
    text = "*x* (C) *x*\n# 1 (a)\n((S (NN %) (NN #)))\n;; )\n((UH a)) % end\r\n\n((UH ;)) # ("
    assert read(text) == ["(TOP (S (NN %) (NN #)))", "(TOP (UH a))", "(TOP (UH ;))"]


def test_bounds(monkeypatch):
    for name, bound in (("DEEPEST", 4), ("MAX_WORDS_PER_TREE", 3), ("MAX_WORD_LENGTH", 5)):
        monkeypatch.setattr(reading, name, bound)
    assert read("((A (B (C cc))))") == ["(TOP (A (B (C cc))))"]
    for text, what in (
        ("((A (B (C (D d)))))", "brackets in each other"),
        ("((A (B b) (B b) (B b) (B b)))", "words in a tree"),
        ("((A abcdef))", "characters in a word"),
    ):
        with pytest.raises(UserError, match="D631") as error:
            read(text)
        assert what in str(error.value)


def test_deep_and_indented_trees():
    deep = "(" * 450 + "A a" + ")" * 450
    text = deep.replace("((", "(X (").replace("((", "(X (")
    tree = parse_tree(text)
    assert tree == parse_tree(format_one_line(tree))
    assert hash(tree) == hash(parse_tree(text))
    assert tree.words() == ["a"]
    assert format_indented(tree).count("\n") >= 448
    for make in (lambda: Tree("NP"), lambda: Tree("NP", (Tree("NN", (), "a"),), "a")):
        with pytest.raises(ValueError, match="either"):
            make()
    expected = "(TOP\n  (S\n    (NP (DT the) (NN cat))\n    (VP (VBZ sleeps)) (. .)))"
    assert format_indented(plain_trees()[0]) == expected


@given(st.text(alphabet="() \nABab-=|", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        trees_read = list(read_trees(text))
    except UserError as error:
        assert error.code == "D630"
    else:
        assert all(parse_tree(format_one_line(tree)).words() == tree.words() for tree in trees_read)


@fewer_examples
@given(trees())
def test_what_is_written_is_read(tree):
    assert list(read_raw_trees(format_one_line(tree))) == [tree]
    assert list(read_raw_trees(format_indented(tree))) == [tree]


@fewer_examples
@given(trees())
def test_nodes_and_their_words(tree):
    nodes, words = TreeNodes.from_tree(tree), tree.words()
    for node, start, end in zip(nodes.nodes, nodes.starts, nodes.ends, strict=True):
        assert node.words() == words[start:end]
    assert nodes.nodes == list(tree.preorder())
    for i, parent in enumerate(nodes.parents[1:], 1):
        assert nodes.nodes[i] in nodes.nodes[parent].children
    assert fold_tree(tree, lambda node, below: 1 + sum(below)) == len(nodes.nodes)


def test_words_as_people_write_them():
    for word, spelt in (("-LRB-", "("), ("1\\/2", "1/2"), ("\\*", "*"), ("it", "it"), ("''", "''")):
        assert unescape_word(word) == spelt
    for word, spelt in (("(", "-LRB-"), (")", "-RRB-"), ("f(x)", "f-LRB-x-RRB-"), ("a b", "a_b"), (" ", "_")):
        assert escape_word(word) == spelt


@given(st.text(max_size=8))
def test_any_word_can_be_in_brackets(word):
    written = escape_word(word.translate({c: "." for c in range(0x1C, 0x20)}))
    assert parse_tree(f"((X {written}))").words() == [written] or written == "-NONE-"


def write_archive(path, members, mode="w:xz"):
    with tarfile.open(path, mode) as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return path


def test_files_directories_and_archives(tmp_path):
    one, other = b"((S (UH yes)))", b"((S (UH no)))"
    archive = write_archive(tmp_path / "bank.tar.xz", {"b/2.mrg": other, "b/1.mrg": one, "b/README": b"[x]"})
    folder = tmp_path / "bank"
    (folder / "deep").mkdir(parents=True)
    (folder / "1.mrg").write_bytes(one)
    (folder / "deep" / "2.mrg").write_bytes(other)
    (folder / "notes.txt").write_bytes(b"[x]")
    assert read_treebank(archive) == read_treebank(folder)
    assert list(read_treebank(archive)) == ["1", "2"]
    assert read_treebank(folder / "1.mrg") == {"1": [parse_tree(one.decode())]}
    plain = tmp_path / "trees"
    plain.write_bytes(b"\xef\xbb\xbf" + one)
    assert read_treebank(plain) == {"trees": [parse_tree(one.decode())]}


def test_files_of_a_directory(tmp_path):
    for name in ("train/1.mrg", "test/1.MRG", "2.ptb.gz", "notes.txt", "test/3.tgrep", "4.psd"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        text = f"((S (UH {path.parent.name})) (ID {path.name},1))".encode()
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    notes = []
    trees = read_treebank(tmp_path, note=notes.append)
    assert list(trees) == ["test/1", "train/1", "2", "4"]
    assert trees["train/1"][0].words() == ["train"]
    assert len(notes) == 1 and notes[0].endswith(": notes.txt, ... (2)") and ".mrg" in notes[0]
    read_treebank(tmp_path / "train", note=notes.append)
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"README": b"x"}, "no file in it ends in"),
        ({"a/1.mrg": b"((S (UH a)))", "a/1.ptb": b"((S (UH a)))"}, "two files are called 'a/1'"),
    ],
)
def test_archives_that_are_refused(tmp_path, members, message):
    with pytest.raises(UserError, match="D632") as error:
        read_treebank(write_archive(tmp_path / "bank.tar.xz", members))
    assert message in str(error.value)


def test_files_that_cannot_be_read(tmp_path):
    path = write_archive(tmp_path / "bank.tar", {"wsj_0001.mrg": b"((S (UH yes)))\n(("}, "w")
    with pytest.raises(UserError, match=r"D630.*bank\.tar: wsj_0001\.mrg, line 2"):
        read_treebank(path)
    whole = write_archive(tmp_path / "bank.tar.xz", {"a.mrg": b"((S (UH yes)))" * 500})
    broken = tmp_path / "broken.tar.xz"
    broken.write_bytes(whole.read_bytes()[:100])
    latin = write_archive(tmp_path / "latin.tar.xz", {"a.mrg": b"((S (UH \xff)))"})
    for path, code in (
        (broken, "D308"),
        (tmp_path / "nowhere.mrg", "D300"),
        (latin, "D469.*a.mrg.*--encoding"),
    ):
        with pytest.raises(UserError, match=code):
            read_treebank(path)
    assert read_treebank(latin, encoding="latin-1") == {"a": [parse_tree("((S (UH \xff)))")]}
    with pytest.raises(UserError, match=r"D470.*a\.mrg.*'latin-99'"):
        read_treebank(latin, encoding="latin-99")


def test_sections_and_splits(tmp_path):
    (tmp_path / "labelled" / "ptb-sample").mkdir(parents=True)
    members = {f"c/wsj_{n:04}.mrg": PLAIN.encode() for n in (*range(1, 11), *range(100, 103))}
    write_archive(tmp_path / corpora.PENN, members)
    split = corpora.penn_split(tmp_path)
    assert [len(part) for part in (split.train, split.dev, split.test)] == [72, 8, 24]
    with pytest.raises(UserError, match=r"D632.*'02'.*00, 01"):
        corpora.penn_split(tmp_path, "00", "02")
    assert len(corpora.filter_by_length(split.test, 4)) == 3
    write_archive(tmp_path / corpora.PENN, {"brown.mrg": PLAIN.encode()})
    with pytest.raises(UserError, match=r"D632.*'brown'"):
        corpora.penn_split(tmp_path)
    (tmp_path / "labelled" / "craft").mkdir()
    write_archive(tmp_path / corpora.CRAFT, {f"penn/{n}.tree": PLAIN.encode() for n in range(20)})
    split = corpora.craft_split(tmp_path)
    assert [len(part) // 8 for part in (split.train, split.dev, split.test)] == [14, 2, 4]


SENTENCE = "((S (NP (DT the) (JJ big) (JJ grey) (NN dog)) (VP (VBZ is) (VP (VBN seen))) (. .)))"
ANY_SPLITS = st.lists(st.sampled_from(sorted(SPLITS)), unique=True).map(tuple)
YES_OR_NO = {"tag_parents": st.booleans(), "merge_questions": st.booleans()}
SETTINGS = st.builds(Binarisation, st.integers(0, 3), st.integers(1, 3), splits=ANY_SPLITS, **YES_OR_NO)


def made(text, *settings, **more):
    binarise = Binarisation(*settings, **{"splits": (), "tag_parents": False} | more)
    return format_one_line(binarise(parse_tree(text)))


def test_what_symbols_remember():
    assert made(SENTENCE, 0, 1) == (
        "(TOP (S (NP (DT the) (@NP (JJ big) (@NP (JJ grey) (NN dog))))"
        " (@S (VP (VBZ is) (VP (VBN seen))) (. .))))"
    )
    assert made(SENTENCE, 1, 2) == (
        "(TOP (S^TOP (NP^S (DT the) (@NP|DT (JJ big) (@NP|JJ (JJ grey) (NN dog))))"
        " (@S|NP (VP^S (VBZ is) (VP^VP (VBN seen))) (. .))))"
    )
    assert "(@NP|DT_JJ (JJ grey) (NN dog))" in made(SENTENCE, 2, 3)
    assert "(VBN^VP seen)" in made(SENTENCE, 1, 2, tag_parents=True)
    question = "((SBARQ (WHNP (WDT which) (NN dog)) (SQ (VP (VBD barked))) (. ?)))"
    assert made(question, 0, 2, tag_parents=True, merge_questions=True) == (
        "(TOP (SBARQ^TOP (WHNP^SBARQ (WDT^NP which) (NN^NP dog))"
        " (@SBARQ (SQ^SBARQ (VP^S (VBD^VP barked))) (.^SBARQ ?))))"
    )
    assert "(VP^SQ (VBD^VP barked))" in made(question, 0, 2, tag_parents=True)


@pytest.mark.parametrize(
    ("split", "text", "symbol"),
    [
        ("auxiliary", SENTENCE, "(VBZ~be is)"),
        ("auxiliary", "((VP (VBD had) (VP (VBN seen))))", "(VBD~have had)"),
        ("auxiliary", "((VP (MD 'd) (VP (VB go))))", "(MD 'd)"),
        ("preposition", "((PP (IN Of) (NP (NN tea))))", "(IN~of Of)"),
        ("preposition", "((PP (IN in) (NP (NN tea))))", "(IN in)"),
        ("alone", "((NP (DT this)))", "(DT~alone this)"),
        ("alone", "((NP (DT this) (NN dog)))", "(DT this)"),
        ("base", SENTENCE, "(NP~base (DT the)"),
        ("base", "((NP (NP (NN tea)) (PP (IN of) (NP (NN day)))))", "(TOP (NP (NP~base (NN tea))"),
        ("verb_form", SENTENCE, "(VP~fin (VBZ is) (VP~vbn (VBN seen)))"),
        ("verb_form", "((VP (TO to) (VP (VB go))))", "(VP~to (TO to) (VP~vb (VB go)))"),
        ("verb_form", "((VP (ADVP (RB up))))", "(VP (ADVP (RB up)))"),
        ("frequent_preposition", "((PP (IN With) (NP (NN tea))))", "(IN~with With)"),
        ("frequent_preposition", "((PP (IN near) (NP (NN tea))))", "(IN near)"),
        ("auxiliary_do", "((SQ (VBZ Does) (NP (NN tea)) (VP (VB help))))", "(VBZ~do Does)"),
        ("auxiliary_do", SENTENCE, "(VBZ is)"),
        ("wh_quantity", "((WHNP (WRB how) (JJ many)))", "(JJ~quantity many)"),
        ("wh_quantity", "((WHADJP (WRB how) (JJ old)))", "(JJ old)"),
        ("wh_quantity", "((NP (JJ many)))", "(JJ many)"),
        ("clause_form", "((S (VP (VB Go)) (. !)))", "(S~subjectless (VP"),
        ("clause_form", "((S (S (VP (VB Go))) (S (NP (NN tea)) (VP (VBZ is)))))", "(S~clauses (S~subj"),
        ("clause_form", "((S (NP (NN tea)) (VP (VBZ is))))", "(TOP (S (NP"),
    ],
)
def test_splits(split, text, symbol):
    assert symbol in made(text, 0, 1, splits=(split,))


@fewer_examples
@given(trees(), SETTINGS)
def test_round_trip(tree, settings):
    binarised = settings(tree)
    assert restore_tree(binarised) == tree
    assert binarised.words() == tree.words()
    for node in binarised.preorder():
        assert len(node.children) <= 2
        assert not is_inside(node.label) or len(node.children) == 2


@fewer_examples
@given(trees(), SETTINGS)
def test_coarse_symbols_are_those_of_the_plain_binarisation(tree, settings):
    plain = Binarisation(0, 1, tag_parents=False, splits=())(tree)
    fine = [coarse_symbol(node.label) for node in settings(tree).preorder()]
    assert fine == [node.label for node in plain.preorder()]
    assert fine == [coarse_symbol(symbol) for symbol in fine]


@given(st.one_of(NAMES, TAGS, st.text(max_size=5)))
def test_any_label_can_be_read_back(label):
    assert node_label(quoted(label) + "~one^X|Y") == label
    assert not is_inside(quoted(label))


def test_wide_and_deep_trees_and_all_splits():
    wide = Tree("TOP", tuple(Tree("NN", (), "a") for _ in range(3000)))
    assert restore_tree(Binarisation()(wide)) == wide
    deep = Tree("NN", (), "a")
    for _ in range(3000):
        deep = Tree("NP", (deep, Tree("CC", (), "and")))
    assert restore_tree(Binarisation(1, 3)(deep)) == deep
    default = ("auxiliary", "preposition", "alone", "base", "verb_form")
    assert Binarisation().splits == default
    assert set(SPLITS) == {*default, "frequent_preposition", "clause_form", "auxiliary_do", "wh_quantity"}
    assert [restore_tree(Binarisation()(tree)) for tree in plain_trees()] == plain_trees()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizontal": -1}, r"horizontal is -1: give a whole number from 0 to 9"),
        ({"horizontal": True}, "horizontal is True"),
        ({"vertical": 0}, r"vertical is 0: give a whole number from 1 to 9"),
        ({"vertical": 1.5}, "vertical is 1.5"),
        ({"splits": ("verbform",)}, "splits is 'verbform': give one of verb_form"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(UserError, match=rf"D633.*{message}"):
        Binarisation(**settings)


GOLD = "((S (NP (PRP we)) (VP (VBP eat) (NP (NN soup)) (PP (IN with) (NP (DT a) (NN spoon)))) (. .)))"


def row(gold, predicted):
    """Return brackets right, due and there, words and right tags."""
    counts = Parseval.from_trees([parse_tree(gold)], [None if predicted is None else parse_tree(predicted)])
    columns = ("matched", "gold", "predicted", "words", "right_tags")
    return tuple(int(getattr(counts, column)[0]) for column in columns)


HAND = {
    # gold: S[0,6] NP[0,1] VP[1,6] NP[2,3] PP[3,6] NP[4,6]; the full stop and TOP are no more
    "the same": (GOLD, GOLD, (6, 6, 6, 6, 6)),
    # there: S NP VP NP[2,6] NP[2,3] PP NP
    "attached lower": (
        GOLD,
        "((S (NP (PRP we)) (VP (VBP eat) (NP (NP (NN soup)) (PP (IN with) (NP (DT a) (NN spoon))))) (. .)))",
        (6, 6, 7, 6, 6),
    ),
    # there: S NP VP[1,3] NP[2,3] PP NP: VP is another span
    "attached higher": (
        GOLD,
        "((S (NP (PRP we)) (VP (VBP eat) (NP (NN soup))) (PP (IN with) (NP (DT a) (NN spoon))) (. .)))",
        (5, 6, 6, 6, 6),
    ),
    # there: S NP VP[1,6] X[2,4] NP[4,6]; X crosses PP
    "crossing": (
        GOLD,
        "((S (NP (PRP we)) (VP (VBP eat) (X (NN soup) (IN with)) (NP (DT a) (NN spoon))) (. .)))",
        (4, 6, 5, 6, 6),
    ),
    "another label": ("((S (NP (NN a)) (VP (VB b))))", "((S (NP (NN a)) (NP (NN b))))", (2, 3, 3, 2, 1)),
    # each bracket is matched once: NP NP beside NP
    "twice": ("((NP (NP (NN a))))", "((NP (NN a)))", (1, 2, 1, 1, 1)),
    "twice too much": ("((NP (NN a)))", "((NP (NP (NP (NN a)))))", (1, 1, 3, 1, 1)),
    "a particle is an adverb": ("((VP (VB a) (PRT (RP b))))", "((VP (VB a) (ADVP (RB b))))", (2, 2, 2, 2, 1)),
    # a bracket that only holds punctuation is none
    "only punctuation": ("((S (NP (NN a)) (PRN (: --))))", "((S (NP (NN a)) (: --)))", (2, 2, 2, 1, 1)),
    # where punctuation hangs says nothing: NP[0,1] either way
    "punctuation": (
        "((S (NP (NN a) (, ,)) (X (VB b))))",
        "((S (NP (NN a)) (, ,) (X (VB b))))",
        (3, 3, 3, 2, 2),
    ),
    "brackets are words": ("((NP (-LRB- -LRB-) (NN a)))", "((NP (-LRB- -LRB-) (NN a)))", (1, 1, 1, 2, 2)),
    "functions": ("((S (NP (NN a)) (VP (VB b))))", "((S (NP-SBJ (NN a)) (VP=2 (VB b))))", (3, 3, 3, 2, 2)),
    # a word that is punctuation for one tree alone stays: S[0,2] NP[0,1]
    "a wrong tag of punctuation": ("((S (NP (NN a)) (. .)))", "((S (NP (NN a)) (NN .)))", (2, 2, 2, 2, 1)),
    "several below the top": ("((NP (NN a)) (VP (VB b)))", "((S (NP (NN a)) (VP (VB b))))", (2, 2, 3, 2, 2)),
    "no parse": (GOLD, None, (0, 6, 0, 6, 0)),
    "other words": ("((NP (NN a)))", "((NP (NN b)))", (0, 1, 0, 1, 0)),
    "fewer words": ("((NP (NN a) (NN b)))", "((NP (NN a)))", (0, 1, 0, 2, 0)),
}


@pytest.mark.parametrize("name", HAND)
def test_by_hand(name):
    gold, predicted, expected = HAND[name]
    assert row(gold, predicted) == expected


def test_figures_of_several():
    gold = [parse_tree(text) for text in (GOLD, GOLD, GOLD, GOLD)]
    predicted = [parse_tree(HAND[name][1]) for name in ("the same", "attached lower", "crossing")]
    both = Parseval.from_trees(gold, [*predicted, None])
    assert both.precision == pytest.approx(16 / 18)
    assert both.recall == pytest.approx(16 / 24)
    assert both.f1 == pytest.approx(2 * 16 / (18 + 24))
    assert both.exact == 0.25
    assert both.errors.tolist() == [0, 1, 3, 6]
    assert both.failed.tolist() == [False, False, False, True]
    assert both.tagging == 18 / 24
    as_evalb = both.take(~both.failed)  # which leaves failed sentences out
    assert as_evalb.recall == pytest.approx(16 / 18)
    assert len(as_evalb) == 3
    assert Parseval.from_trees(plain_trees(), plain_trees()).f1 == 1.0
    nothing = Parseval.from_trees([], [])
    assert len(nothing) == 0
    assert np.isnan([nothing.f1, nothing.precision, nothing.recall, nothing.exact]).all()


@fewer_examples
@given(trees(), trees())
def test_properties_of_any_two_trees(one, other):
    same = Parseval.from_trees([one], [one])
    assert same.errors[0] == 0
    assert same.right_tags[0] == same.words[0]
    there, back = Parseval.from_trees([one], [other]), Parseval.from_trees([other], [one])
    if one.words() != other.words():
        assert there.failed[0]
        return
    assert there.matched[0] == back.matched[0] <= min(there.gold[0], there.predicted[0])
    assert (there.gold[0], there.predicted[0]) == (back.predicted[0], back.gold[0])
    assert there.errors[0] == back.errors[0] >= 0


def outcomes(lists, chosen, references):
    names, n = [text for candidates in lists for text in candidates], len(lists)
    costs, ids = np.zeros(len(names)), np.arange(len(names))
    offsets = np.concatenate([[0], np.cumsum([len(candidates) for candidates in lists])]).astype(np.int64)
    texts = names, ids, np.concatenate([np.arange(len(candidates)) for candidates in lists])
    return Outcomes(offsets, costs, np.array(chosen), np.full(n, -1), costs, *texts, np.arange(n), references)


def test_as_a_measure_of_lists():
    measure = BracketF1()
    gold = format_one_line(parse_tree(GOLD))
    lower, crossing = (format_one_line(parse_tree(HAND[name][1])) for name in ("attached lower", "crossing"))
    assert isinstance(measure, CostsTexts)
    assert measure.costs([gold, lower, crossing, "", "( () )"], [gold] * 5).tolist() == [0, 1, 3, 6, 6]
    lists = [[lower, gold], [crossing, lower]]
    picked = outcomes(lists, [0, 0], [gold, gold])
    assert measure.value(picked) == pytest.approx(2 * 10 / (6 + 7 + 6 + 5))
    assert measure.value(outcomes(lists, [1, 1], [gold, gold])) == pytest.approx(24 / 25)
    with pytest.raises(UserError, match="D433"):
        measure.value(outcomes(lists, [1, 1], None))
    for text in ("(S (NP", gold + gold):
        with pytest.raises(UserError, match="D630"):
            measure.costs([text], [gold])
    longer, other = "(TOP (S (NP (NN home) (NN town))))", "(TOP (S (NP (NN house))))"
    with pytest.raises(UserError, match=r"D636.*word 2 is 'town', and missing in the .*, in 2 of 3 trees"):
        measure.costs([longer, other, "(TOP (NP (NN home)))"], ["(TOP (S (NP (NN home))))"] * 3)
