"""Table 2: which tokens count, how systems are compared, and the whole experiment on small treebanks."""

from __future__ import annotations

import io
import itertools
import lzma
import os
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from disambig_random_subspace.experiments import (
    CHOSEN,
    CRF,
    EWT,
    GENRES,
    PAPER,
    PENN,
    SPACY,
    SPLITS,
    TESTED,
    GoldTokens,
    KnownWords,
    Sogaard2012Table2,
    TaggerRun,
    attributes,
    claim_gains,
    compare_hits,
    compare_with_baselines,
    crf_tagger,
    join_texts,
    load_sentences,
    our_runs,
    run_tagger,
    shape,
    spacy_tagger,
    table2,
    tagger_baselines as tagger_peers,
    train_baselines,
    treebank_part,
)
from disambig_random_subspace.experiments.table2 import DIFFERENT
from disambig_random_subspace.tagger import PLAIN
from hypothesis import given, strategies as st

from disambig.api.features import WordClasses
from disambig.api.text import hash_words
from disambig.errors import UserError
from disambig.experiments import as_json, from_json, result_lines

DATA = os.environ.get("DISAMBIG_DATA")
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
    [run] = train_baselines(
        TRAIN, [], {"web": TEST, "no": []}, systems=systems, progress=lambda *args: stages.append(args)
    )
    assert run.tags == {"web": [["NN"] * 6, ["NN"] * 5], "no": []}
    assert run.words_per_second > 0 and run.training_seconds >= 0
    assert stages == [("training and tagging: all NN", 0, 1)]
    assert run_tagger("x", lambda text: [], {"no": []}, training_seconds=1.0).words_per_second is None


def test_claims():
    good, bad = {"points": 0.4, "p": 0.001}, {"points": 0.4, "p": 0.2}
    texts = [f"{text}{kind}" for text in (*TESTED, "web") for kind in ("", ", alike")]
    tests = {
        "AP-RLRS, K=2": {
            **dict.fromkeys(texts, good),
            "reviews": bad,
            "web, alike": {"points": -1, "p": 0.01},
        }
    }
    assert [claim.holds for claim in claim_gains(tests)] == [False, True, True, False]
    gold = make_gold(4, 3)
    golds = dict.fromkeys((*TESTED, "web"), gold)
    hits = {
        "AP": {"web": np.arange(12) < 6},
        CRF: {"web": np.arange(12) < 7},
        SPACY: {"web": np.arange(12) < 5},
    }
    tags = {"web": [["NN"]]}
    runs = [
        TaggerRun("AP", tags, 1.0, 800.0),
        TaggerRun(SPACY, tags, 1.0, 100.0),
        TaggerRun(CRF, tags, 1.0, 100.0),
    ]
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
    assert list(claim_gains(dict.fromkeys((better, CHOSEN), tests["AP-RLRS, K=2"]))) == []


@pytest.fixture
def place(tmp_path):
    """Return a directory with a small sample of trees and all genres."""
    (tmp_path / PENN).parent.mkdir(parents=True)
    with tarfile.open(tmp_path / PENN, "w:xz") as archive:
        for number in range(12):
            text = "( (S (DT The) (NN cat) (VP (VBD went) (TO to) (NNP Rome)) (. .)) )\n" * 3
            info = tarfile.TarInfo(f"combined/wsj_{number:04}.mrg")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    (tmp_path / EWT).parent.mkdir(parents=True)
    for genre in GENRES:
        for split in SPLITS:
            with lzma.open(tmp_path / EWT.replace("*", f"{genre}.{split}"), "wt", encoding="utf8") as out:
                for words, tags in TEST:
                    for n, (word, tag) in enumerate(zip(words, tags, strict=True), 1):
                        out.write(f"{n}\t{word}\t_\tX\t{tag}\t_\t0\troot\t_\t_\n")
                    out.write("\n")
    return tmp_path


def test_parts_of_the_sample(place):
    train, dev, tests = load_sentences(place, silver=False, quick=False)
    assert [treebank_part(number) for number in range(11)].count("train") == 9
    assert (len(train), len(dev), len(tests["Penn"])) == (30, 3, 3)
    assert {len(tests[genre]) for genre in GENRES} == {6}
    with tarfile.open(place / PENN, "w:xz") as archive:
        info = tarfile.TarInfo("a.mrg")
        info.size = 8
        archive.addfile(info, io.BytesIO(b"((NN a))"))
    with pytest.raises(UserError, match=r"D725.*dev, Penn"):
        load_sentences(place, silver=False, quick=True)


def test_experiment_with_constant_taggers(place, monkeypatch):
    def answering(tag, **others):
        return lambda text: [[others.get(word, tag) for word in words] for words in text]

    def ours(train, tests, *, sizes, progress, classes):
        assert classes.depth == 2
        systems = {
            "AP": answering("NN"),
            **{f"AP-RLRS, K={size}": answering("NN", The="DT") for size in sizes},
        }
        return [run_tagger(name, tagger, tests, training_seconds=1.0) for name, tagger in systems.items()]

    text = " ".join("".join(letters) for letters in itertools.product("abcdefghijk", repeat=3))
    (place / "english").mkdir()
    for name in PLAIN:
        with lzma.open(place / name, "wt", encoding="utf8") as out:
            out.write(f"{text}.\n" * 3 if name == PLAIN[0] else "")
    monkeypatch.setattr(table2, "our_runs", ours)
    monkeypatch.setattr(
        table2, "baseline_taggers", lambda quick: {"spaCy": lambda train, dev: answering("VBD")}
    )
    result = Sogaard2012Table2().run(data=place, quick=False, progress=lambda *_: None)
    cells = {(row.system, row.setting): row for row in result.rows}
    assert cells["AP", "answers"].paper == PAPER["AP"][0]
    assert cells["AP", "email"].paper is None and cells["AP", "answers, alike"].paper is None
    assert cells["AP", "web"].ours == pytest.approx(100 * 2 / 11)
    assert cells["AP-RLRS, K=25", "web"].ours == pytest.approx(100 * 4 / 11)
    assert cells["AP-RLRS, K=25", "web"].n == 4 * 6 * 11 / 2
    assert cells["AP", "Penn"].ours == pytest.approx(100 / 6)
    better = [
        claim for claim in result.claims if claim.claim.startswith("AP-RLRS, K=25 is better than AP over")
    ]
    assert [claim.holds for claim in better] == [True, True]
    assert as_json("x", from_json(as_json("x", result))) == as_json("x", result)
    assert any("web" in line for line in result_lines("table", result))
    assert result.details["systems"]["AP"]["training_seconds"] == 1.0
    assert (
        PENN in Sogaard2012Table2().needs
        and len(Sogaard2012Table2(silver=True).needs) == len(Sogaard2012Table2().needs) + 1
    )


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_sizes_of_the_treebanks():
    train, dev, tests = load_sentences(Path(str(DATA)), silver=True, quick=False)
    assert len(train) + len(dev) + len(tests["Penn"]) == 3914 + 10_948
    assert sum(len(tests[genre]) for genre in GENRES) == 16_622
    web = join_texts(
        [GoldTokens.from_sentences(tests[genre], KnownWords.from_sentences(train)) for genre in GENRES]
    )
    assert 0.02 < 1 - web.alike.mean() < 0.06
    assert 0.1 < web.unknown.mean() < 0.3
