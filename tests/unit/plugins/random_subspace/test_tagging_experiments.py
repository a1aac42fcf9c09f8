"""Tagged text in its formats, and table 2: which tokens count, how systems are compared, the experiment."""

from __future__ import annotations

import io
import itertools
import lzma
import os
import tarfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from disambig_random_subspace.experiments import (
    CHOSEN,
    CONLL2000,
    CRAFT,
    CRF,
    NOAD,
    PAPER,
    PENN,
    SPACY,
    TESTED,
    GoldTokens,
    KnownWords,
    Sogaard2012Table2,
    TaggerRun,
    attributes,
    claim_gains,
    compare_hits,
    compare_with_baselines,
    conll2000,
    craft_partly,
    crf_tagger,
    ewt,
    join_texts,
    load_sentences,
    noad_partly,
    our_runs,
    penn_archive,
    penn_sample,
    run_tagger,
    shape,
    spacy_tagger,
    table2,
    tagger_baselines as tagger_peers,
    train_baselines,
    treebank_part,
)
from disambig_random_subspace.experiments.table2 import DIFFERENT
from disambig_random_subspace.tagger import PLAIN, fill_in_tags, predict_tags, token_views, train_tagger
from hypothesis import given, strategies as st

from disambig.api.features import WordClasses
from disambig.api.text import hash_words
from disambig.errors import UserError
from disambig.experiments import EWT, EWT_GENRES, EWT_SPLITS, as_json, from_json, result_lines

DATA = os.environ.get("DISAMBIG_DATA")
TREES = """
( (S (NP-SBJ (DT The) (NN cat) )
    (VP (VBD slept) (NP (-NONE- *T*-1) ))
    (. .) ))
( (NP (-NONE- 0)) )
(FRAG (-LRB- -LRB-) (NN 1\\/2) (`` ``) (: --))
"""


def write_archive(path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:xz") as archive:
        for name, text in files:
            info = tarfile.TarInfo(name)
            data = text.encode()
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def test_sentences_of_an_archive_of_trees(tmp_path):
    path = write_archive(
        tmp_path / PENN, [("t/b.mrg", "((NN two))"), ("t/a.mrg", TREES), ("../README", "(NN one)")]
    )
    assert penn_archive(path) == {
        "a.mrg": [
            (["The", "cat", "slept", "."], ["DT", "NN", "VBD", "."]),
            (["(", "1/2", '"', "--"], ["-LRB-", "NN", "``", ":"]),
        ],
        "b.mrg": [(["two"], ["NN"])],
    }
    assert penn_sample(tmp_path) == penn_archive(path)
    with pytest.raises(UserError, match=r"D725.*\.mrg"):
        penn_archive(write_archive(tmp_path / "0.tar.xz", [("a", "b")]))


def write_xz(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wt", encoding="utf8") as out:
        out.write(text)
    return path


def test_conll2000(tmp_path):
    train, test = (tmp_path / CONLL2000.replace("*", part) for part in ("train", "test"))
    write_xz(train, "A DT B-NP\ncat NN I-NP\n\n-LRB- ( O\n-RRB- ) O\n\n\n")
    write_xz(test, "Dogs NNS B-NP")
    expected = [(["A", "cat"], ["DT", "NN"]), (["(", ")"], ["-LRB-", "-RRB-"]), (["Dogs"], ["NNS"])]
    assert conll2000(tmp_path) == expected
    write_xz(test, "A DT B-NP\ncat NN\n")
    with pytest.raises(UserError, match=r"D734.*line 2"):
        conll2000(tmp_path)


CONLLU = """# sent_id = 1
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
2.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_

# sent_id = 2
1\tNo\tno\tINTJ\tUH\t_\t0\troot\t_\t_
"""


def test_conllu_words_without_ranges_and_empty_nodes(tmp_path):
    for split in ("train", "test"):
        write_xz(tmp_path / EWT.replace("*", f"answers.{split}"), CONLLU)
    first = (["Do", "n't", "go"], ["VB", "RB", "VB"])
    assert ewt(tmp_path, ["answers"], ["train", "test"]) == [first, (["No"], ["UH"])] * 2


@pytest.mark.parametrize(
    ("row", "code", "problem"),
    [
        ("1\tgo\tgo\tVERB\tVB", "D324", "5 columns"),
        ("x\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_", "D324", "invalid id 'x'"),
        ("1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_", "D735", "without a tag"),
        ("1\t\tgo\tVERB\tVB\t_\t0\troot\t_\t_", "D324", "an empty form"),
    ],
)
def test_malformed_rows(tmp_path, row, code, problem):
    write_xz(tmp_path / EWT.replace("*", "answers.train"), f"# text = go\n{row}\n")
    with pytest.raises(UserError, match=rf"{code}.*line 2") as caught:
        ewt(tmp_path, ["answers"], ["train"])
    assert problem in str(caught.value)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_differences_between_the_treebanks():
    penn = [sentence for file in penn_sample(Path(str(DATA))).values() for sentence in file]
    assert (len(penn), sum(len(words) for words, _ in penn)) == (3914, 94_084)
    web = ewt(Path(str(DATA)))
    assert (len(web), sum(len(words) for words, _ in web)) == (16_622, 254_818)

    def count_tags(sentences):
        result: dict[str, Counter[str]] = {}
        for words, tags in sentences:
            for word, tag in zip(words, tags, strict=True):
                result.setdefault(word.lower(), Counter())[tag] += 1
        return result

    here, there = count_tags(penn), count_tags(web)
    penn_tags = {tag for counts in here.values() for tag in counts}
    assert {tag for counts in there.values() for tag in counts} - penn_tags == {
        "HYPH",
        "NFP",
        "ADD",
        "GW",
        "AFX",
    }
    # frequent in both, with a tag on the web that the Penn Treebank never gives the word, more often than not
    new = {
        word
        for word, counts in there.items()
        if counts.total() >= 60
        and word in here
        and here[word].total() >= 4
        and sum(n for tag, n in counts.items() if tag not in here[word]) > counts.total() / 2
    }
    assert {"-", "--", "...", ";", "both"} <= new
    # "visit" is a noun four times in the Penn Treebank, by chance; no other word is left in
    assert {word for word in new if not DIFFERENT.fullmatch(word)} == {"visit"}


SENTENCES = [
    ("the dog barks".split(), "DT NN VBZ".split()),
    ("a cat sleeps".split(), "DT NN VBZ".split()),
    ("dogs bark".split(), "NNS VBP".split()),
    ("the walks end".split(), "DT NNS VBP".split()),
    ("she walks".split(), "PRP VBZ".split()),
] * 3


@pytest.fixture(scope="module")
def model():
    return train_tagger(SENTENCES, SENTENCES, name="toy")


def test_taggers_of_partly_tagged_and_plain_text(model, tmp_path):
    words = "the walks end".split()
    possible = [(), (), ()], [(), ("NN", "VBZ"), ()], [("XX",), (), ()]
    free, bound, strange = fill_in_tags(model, [(words, tags) for tags in possible])
    assert free == strange == (words, "DT NNS VBP".split())
    assert bound[1][1] in ("NN", "VBZ") and bound[1][0] == "DT"
    more = [("the ferret sings".split(), "DT NN VBZ".split())] * 3
    tagger = train_tagger(SENTENCES, SENTENCES, name="toy", more=more)
    assert len(tagger.extractors[0].keys) > len(model.extractors[0].keys)
    assert tagger.provenance["groups"]["tag"]["more"] == 9
    seldom = train_tagger(SENTENCES, SENTENCES, name="toy", more=more, seldom=4)
    assert len(seldom.extractors[0].keys) == len(model.extractors[0].keys)
    path = tmp_path / "plain.txt"
    path.write_text("The dog barks. A cat sleeps.\n\nDogs bark.\n" * 3, encoding="utf8")
    views = list(token_views(path, 1_000))
    for view in views:
        np.testing.assert_array_equal(predict_tags(model, view), model.choose(view)[1])
    assert len(list(token_views(path, 0))) == 0 and sum(map(len, views)) > 30


def test_tags_from_senses(tmp_path):
    word = '<word text="{}" break_level="{}"/>'
    sense = '<word text="{}" lemma="{}" pos="{}" sense="/d/{}" break_level="{}"/>'
    lines = [
        '<SimpleWsdDoc name="/a.txt">',
        word.format("a.txt", "NO_BREAK"),
        word.format("We", "PARAGRAPH_BREAK"),
        sense.format("run", "run", "VERB", "s1", "SPACE_BREAK"),
        sense.format("races", "race", "NOUN", "s2", "LINE_BREAK"),
        word.format("No", "SENTENCE_BREAK"),
        "</SimpleWsdDoc>",
    ]
    write_archive(tmp_path / NOAD, [("masc/a.xml", "\n".join(lines))])
    ((words, may),) = noad_partly(tmp_path)
    assert words == ["We", "run", "races"]
    assert not may[0] and "VBP" in may[1] and "NN" not in may[1] and "NNS" in may[2]


def test_tags_from_trees(tmp_path):
    tree = "( (S (NP (DT The) (NN wnt-gene)) (VP (VBZ acts) (NP (-NONE- *T*)))  (: ;)) )\n((NP (NN Note)))"
    write_archive(tmp_path / CRAFT, [("penn/1.tree", tree), ("penn/readme", "no")])
    ((words, may),) = craft_partly(tmp_path)
    assert words == ["The", "wnt-gene", "acts", ";"]
    assert [tuple(item) for item in may] == [("DT",), ("NN", "NNP"), ("VBZ",), ()]
    write_archive(tmp_path / CRAFT, [("penn/1.txt", "no")])
    with pytest.raises(UserError, match="D725"):
        list(craft_partly(tmp_path))


TRAIN = [
    (["The", "cat", "went", "to", "Rome", "."], ["DT", "NN", "VBD", "TO", "NNP", "."]),
    (["Dogs", "bark", "--", "loudly", "."], ["NNS", "VBP", ":", "RB", "."]),
]
TEST = [
    (["The", "dog", "went", "to", "Oslo", "..."], ["DT", "NN", "VBD", "IN", "NNP", ","]),
    (["The", "e", "-", "mail", "."], ["DT", "AFX", "HYPH", "NN", "."]),
]


def test_equal_tokens_and_unknown_words():
    gold = GoldTokens.from_sentences(TEST, KnownWords.from_sentences(TRAIN))
    # not alike: "to", the dots, two tags that are never seen in training, one of them with a dash
    assert np.flatnonzero(~gold.alike).tolist() == [3, 5, 7, 8]
    assert gold.unknown.tolist() == [False, True, False, False, True, True, False, True, True, True, False]
    assert gold.sentence.tolist() == [0] * 6 + [1] * 5
    both = join_texts([gold, gold])
    assert both.sentence.tolist() == gold.sentence.tolist() + (gold.sentence + 2).tolist()
    assert both.alike.sum() == 2 * gold.alike.sum()
    assert len(both.tags) == 22


def test_words_of_another_rule():
    for word in "to To TO both Neither - -- \u2013 .. ... \u2026 ; / #".split():
        assert DIFFERENT.fullmatch(word), word
    for word in """. , ? : ( " $ too e-mail 1/2 toe a..""".split():
        assert not DIFFERENT.fullmatch(word), word


def test_accuracy_by_kind():
    gold = GoldTokens.from_sentences(TEST, KnownWords.from_sentences(TRAIN))
    wrong = [(words, ["DT"] * len(words)) for words, _ in TEST]
    hits = gold.hits([tags for _, tags in wrong])
    result = gold.accuracies(hits)
    assert result["all"] == pytest.approx(100 * 2 / 11)
    assert result["alike"] == pytest.approx(100 * 2 / 7)
    assert result["unknown words"] == 0.0
    assert result["known words"] == pytest.approx(100 * 2 / 5)
    assert result["tokens"] == {
        "all": 11, "alike": 7, "known words": 5, "unknown words": 6, "unknown words, alike": 3,
    }  # fmt: skip
    everything = GoldTokens.from_sentences(TEST, KnownWords.from_sentences(TEST))
    assert everything.accuracies(everything.hits([tags for _, tags in TEST]))["unknown words"] is None
    with pytest.raises(ValueError):
        gold.hits([["DT"], ["DT"]])


def make_gold(n_sentences, length):
    sentences = [([f"w{i}" for i in range(length)], ["NN"] * length)] * n_sentences
    return GoldTokens.from_sentences(sentences, KnownWords.from_sentences(sentences))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=12, max_size=12))
def test_comparing_is_symmetric(pairs):
    gold = make_gold(4, 3)
    first, second = (np.array(column) for column in zip(*pairs, strict=True))
    points, p = compare_hits(gold, first, second)
    assert points == pytest.approx(100 * (first.mean() - second.mean()))
    assert compare_hits(gold, second, first) == (-points, p)
    assert 0 < p <= 1


def test_exact_p_of_exchanges():
    gold = make_gold(3, 4)
    first, second = np.ones(12, bool), np.zeros(12, bool)
    # 3 sentences that each gain 4: 2 of the 8 exchanges differ by as much
    assert compare_hits(gold, first, second)[1] == pytest.approx(2 / 8, abs=0.02)
    assert compare_hits(gold, first, first) == (0.0, 1.0)
    nothing = replace(gold, alike=np.zeros(12, bool))
    assert compare_hits(nothing, first, second, alike=True) == (0.0, 1.0)
    some = replace(gold, alike=np.arange(12) < 4)
    assert compare_hits(some, first, second, alike=True) == (100.0, 1.0)


def test_shapes_and_attributes_of_words():
    shapes = [shape(word) for word in ("McCain", "1,000", "aaaaaaa", "U.S.")]
    assert shapes == ["XxXxxx", "d,ddd", "xxx", "X.X."]
    result = attributes(["Big", "cats"])
    assert {"w=big", "f=Big", "h=Xxx", "p=b", "s=ig", "-1=<s>", "+1=cats", "first"} <= set(result[0])
    assert {"-1=big", "+1=</s>", "s=cats", "last"} <= set(result[1])
    assert attributes([]) == []


def test_our_runs():
    text = [*TRAIN * 3, ([], [])]
    runs = our_runs(TRAIN * 3, {"web": text}, sizes=(2, 3), progress=lambda *_: None)
    assert [run.system for run in runs] == ["AP", "AP-RLRS, K=2", "AP-RLRS, K=3", "AP-RLRS, chosen"]
    assert runs[0].tags["web"] == [tags for _, tags in text]
    assert all([len(tags) for tags in run.tags["web"]] == [6, 5] * 3 + [0] for run in runs)
    assert all(run.training_seconds >= 0 for run in runs)
    classes = WordClasses(np.sort(hash_words(["cat", "dog"])), np.ones((2, 1), np.uint16))
    more = our_runs(TRAIN * 3, {"web": text}, sizes=(2,), progress=lambda *_: None, classes=classes)
    expected = ["AP", "AP-RLRS, K=2", "AP-RLRS, chosen", "AP-RLRS, K=2, word classes"]
    assert [run.system for run in more] == expected
    assert more[3].tags["web"] == runs[0].tags["web"]


def test_crfsuite():
    pytest.importorskip("pycrfsuite")
    tagger = crf_tagger(TRAIN * 5, iterations=30)
    assert tagger([words for words, _ in TRAIN] + [[]]) == [tags for _, tags in TRAIN] + [[]]


@pytest.mark.slow
def test_spacy():
    tagger = spacy_tagger(TRAIN * 20, TRAIN, max_steps=60)
    assert tagger([words for words, _ in TRAIN] + [[]]) == [tags for _, tags in TRAIN] + [[]]


def test_baselines_that_fail_or_are_not_installed(monkeypatch):
    def failing(command, **settings):
        return type("Done", (), {"returncode": 1, "stderr": "\nValueError: [E923] no labels\n", "stdout": ""})

    monkeypatch.setattr("subprocess.run", failing)
    with pytest.raises(UserError, match=r"D736.*E923"):
        spacy_tagger(TRAIN, TRAIN)
    monkeypatch.setattr(tagger_peers, "find_spec", lambda name: None)
    result = train_baselines(TRAIN, TRAIN, {"web": TEST})
    assert [run.system for run in result] == [SPACY, CRF]
    assert all(not run.tags and run.words_per_second is None for run in result)
    assert "pip install python-crfsuite" in result[1].note


def test_runs_hold_tags_and_speed():
    stages = []
    systems = {"all NN": lambda train, dev: lambda text: [["NN"] * len(words) for words in text]}
    settings = {"systems": systems, "progress": lambda *args: stages.append(args)}
    [run] = train_baselines(TRAIN, [], {"web": TEST, "no": []}, **settings)
    assert run.tags == {"web": [["NN"] * 6, ["NN"] * 5], "no": []}
    assert run.words_per_second > 0 and run.training_seconds >= 0
    assert stages == [("training and tagging: all NN", 0, 1)]
    assert run_tagger("x", lambda text: [], {"no": []}, training_seconds=1.0).words_per_second is None


def test_claims():
    good, bad = {"points": 0.4, "p": 0.001}, {"points": 0.4, "p": 0.2}
    texts = [f"{text}{kind}" for text in (*TESTED, "web") for kind in ("", ", alike")]
    gains = dict.fromkeys(texts, good) | {"reviews": bad, "web, alike": {"points": -1, "p": 0.01}}
    assert [claim.holds for claim in claim_gains({"AP-RLRS, K=2": gains})] == [False, True, True, False]
    gold = make_gold(4, 3)
    golds = dict.fromkeys((*TESTED, "web"), gold)
    hits = {name: {"web": np.arange(12) < n} for name, n in (("AP", 6), (CRF, 7), (SPACY, 5))}
    tags = {"web": [["NN"]]}
    speeds = {"AP": 800.0, SPACY: 100.0, CRF: 100.0}
    runs = [TaggerRun(name, tags, 1.0, speed) for name, speed in speeds.items()]
    result = list(compare_with_baselines(runs, hits, golds))
    assert [claim.holds for claim in result] == [False, False, True]
    assert CRF in result[0].claim and "8.0 times" in result[2].evidence
    assert [c.holds for c in compare_with_baselines(runs[:2], hits, golds)] == [True, True, True]
    assert list(compare_with_baselines(runs[:1], hits, golds)) == []
    better = "AP-RLRS, K=2, word classes"
    hits[better] = {"web": np.arange(12) < 9}
    result = list(compare_with_baselines([*runs, TaggerRun(better, tags, 1.0, 700.0)], hits, golds))
    assert [claim.holds for claim in result] == [False, False, True, True, True, False]
    assert result[3].claim.startswith(better)
    assert list(claim_gains(dict.fromkeys((better, CHOSEN), gains))) == []


@pytest.fixture
def place(tmp_path):
    """Return a directory with a small sample of trees and all genres."""
    text, rows = "( (S (DT The) (NN cat) (VP (VBD went) (TO to) (NNP Rome)) (. .)) )\n" * 3, ""
    write_archive(tmp_path / PENN, [(f"combined/wsj_{number:04}.mrg", text) for number in range(12)])
    for words, tags in TEST:
        for n, (word, tag) in enumerate(zip(words, tags, strict=True), 1):
            rows += f"{n}\t{word}\t_\tX\t{tag}\t_\t0\troot\t_\t_\n"
        rows += "\n"
    for genre, split in itertools.product(EWT_GENRES, EWT_SPLITS):
        write_xz(tmp_path / EWT.replace("*", f"{genre}.{split}"), rows)
    return tmp_path


def test_parts_of_the_sample(place):
    train, dev, tests = load_sentences(place, silver=False, quick=False)
    assert [treebank_part(number) for number in range(11)].count("train") == 9
    assert (len(train), len(dev), len(tests["Penn"])) == (30, 3, 3)
    assert {len(tests[genre]) for genre in EWT_GENRES} == {6}
    write_archive(place / PENN, [("a.mrg", "((NN a))")])
    with pytest.raises(UserError, match=r"D725.*dev, Penn"):
        load_sentences(place, silver=False, quick=True)


def test_experiment_with_constant_taggers(place, monkeypatch):
    def answering(tag, **others):
        return lambda text: [[others.get(word, tag) for word in words] for words in text]

    depths = []

    def ours(train, tests, *, sizes, progress, classes):
        depths.append(classes.depth)
        systems = {"AP": answering("NN")}
        systems |= {f"AP-RLRS, K={size}": answering("NN", The="DT") for size in sizes}
        return [run_tagger(name, tagger, tests, training_seconds=1.0) for name, tagger in systems.items()]

    text = " ".join("".join(letters) for letters in itertools.product("abcdefghijk", repeat=3))
    for name in PLAIN:
        write_xz(place / name, f"{text}.\n" * 3 if name == PLAIN[0] else "")
    monkeypatch.setattr(table2, "our_runs", ours)
    baselines = {"spaCy": lambda train, dev: answering("VBD")}
    monkeypatch.setattr(table2, "baseline_taggers", lambda quick: baselines)
    result = Sogaard2012Table2().run(data=place, quick=False, progress=lambda *_: None)
    cells = {(row.system, row.setting): row for row in result.rows}
    assert cells["AP", "answers"].paper == PAPER["AP"][0]
    assert cells["AP", "email"].paper is None and cells["AP", "answers, alike"].paper is None
    assert cells["AP", "web"].ours == pytest.approx(100 * 2 / 11)
    assert cells["AP-RLRS, K=25", "web"].ours == pytest.approx(100 * 4 / 11)
    assert cells["AP-RLRS, K=25", "web"].n == 4 * 6 * 11 / 2
    assert cells["AP", "Penn"].ours == pytest.approx(100 / 6)
    better = "AP-RLRS, K=25 is better than AP over"
    assert [claim.holds for claim in result.claims if claim.claim.startswith(better)] == [True, True]
    assert as_json("x", from_json(as_json("x", result))) == as_json("x", result)
    assert any("web" in line for line in result_lines("table", result))
    assert result.details["systems"]["AP"]["training_seconds"] == 1.0
    quick = Sogaard2012Table2().run(data=place, quick=True, progress=lambda *_: None)
    assert {row.system for row in quick.rows} == {"AP", "AP-RLRS, K=2", "AP-RLRS, K=5", "spaCy"}
    assert depths == [2, 1]  # a quick run learns word classes of one size
    plain, silver = Sogaard2012Table2().needs, Sogaard2012Table2(silver=True).needs
    assert PENN in plain and len(silver) == len(plain) + 1


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_sizes_of_the_treebanks():
    train, dev, tests = load_sentences(Path(str(DATA)), silver=True, quick=False)
    assert len(train) + len(dev) + len(tests["Penn"]) == 3914 + 10_948
    assert sum(len(tests[genre]) for genre in EWT_GENRES) == 16_622
    vocabulary = KnownWords.from_sentences(train)
    web = join_texts([GoldTokens.from_sentences(tests[genre], vocabulary) for genre in EWT_GENRES])
    assert 0.02 < 1 - web.alike.mean() < 0.06
    assert 0.1 < web.unknown.mean() < 0.3
