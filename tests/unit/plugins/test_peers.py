"""The peers: KenLM's scores are those of whole sentences; the ratio rule is its formula."""

from __future__ import annotations

import math
import pickle
import sys

import numpy as np
import pytest
from disambig_variance_svm.external_systems import IMPOSSIBLE, KenLM, NgramRatio

from disambig.counts import CountTable, build_table
from disambig.data import CandidateFinder, Group, Instances
from disambig.errors import UserError
from disambig.evaluation import substitute
from disambig.features import transform_checked
from disambig.text import Words

GROUP = Group("than/then", ("than", "then", "as if"))
ARPA = """\\data\\
ngram 1=9
ngram 2=8
ngram 3=3

\\1-grams:
-1.6\t<unk>\t0
0\t<s>\t-0.4
-1.1\t</s>\t0
-1.3\tmore\t-0.31
-1.5\tthan\t-0.22
-1.7\tthen\t-0.27
-1.9\tas\t-0.12
-2.1\tenough\t-0.15
-2.2\tif\t-0.11

\\2-grams:
-0.4\t<s> more\t-0.13
-0.6\tmore than\t-0.17
-1.4\tmore then\t-0.19
-0.5\tthan enough\t-0.23
-0.7\tenough </s>
-0.9\tenough then\t-0.21
-0.8\tthen </s>
-0.3\tas if\t-0.29

\\3-grams:
-0.2\tmore than enough
-0.1\tthan enough </s>
-0.05\t<s> more than

\\end\\
"""
TEXTS = ["More than enough. Than more enough if than", "It went on and on and then more, then enough then."]


@pytest.fixture
def arpa(tmp_path):
    path = tmp_path / "tiny.arpa"
    path.write_text(ARPA, encoding="utf8")
    return path


def examples(texts):
    view = Words()(texts)
    instances = CandidateFinder.from_groups((GROUP,)).find(view)
    assert len(instances)
    return view, instances


def written(view, instances, i, candidate):
    """Return the sentence of instance i with the candidate in its place, as a string."""
    position, length = int(instances.positions[i]), int(instances.lengths[i])
    sentence = int(np.searchsorted(view.sentences, position, side="right")) - 1
    first, stop = view.sentences[sentence], view.sentences[sentence + 1]
    text = [view.texts[int(view.document_indices(np.array([p]))[0])] for p in range(first, stop)]
    words = [
        Words.normal_form(t[view.starts[p] : view.ends[p]])
        for t, p in zip(text, range(first, stop), strict=True)
    ]
    at = position - first
    return " ".join([*words[1:at], candidate, *words[at + length : -1]])


def test_scores_differ_as_those_of_whole_sentences(arpa):
    kenlm = pytest.importorskip("kenlm")
    view, instances = examples(TEXTS)
    values = transform_checked(
        KenLM(path=arpa).fit(view, instances, [GROUP]), view, instances, GROUP
    ).batch.values
    model = kenlm.Model(str(arpa))
    assert values.shape == (len(instances), 3, 1)
    for i in range(len(instances)):
        whole = [model.score(written(view, instances, i, candidate)) for candidate in GROUP.candidates]
        assert np.allclose(values[i, :, 0] - values[i, 0, 0], np.array(whole) - whole[0], atol=1e-5)
    assert np.ptp(values[:, :, 0], axis=1).min() > 0


def test_no_word_is_the_sentence_without_one(arpa):
    kenlm = pytest.importorskip("kenlm")
    view, instances = examples(["More than enough.", "Then if enough then more."])
    group = Group("than/then/-", ("than", "then", ""))
    empty = Instances(*(np.array([at]) for at in (2, 0, 0, 2)))  # before "than"
    model = kenlm.Model(str(arpa))
    for places in (instances, empty):
        values = transform_checked(
            KenLM(path=arpa).fit(view, places, [group]), view, places, group
        ).batch.values
        for i in range(len(places)):
            sentences = [written(view, places, i, candidate) for candidate in group.candidates]
            whole = [model.score(" ".join(sentence.split())) for sentence in sentences]
            assert np.allclose(values[i, :, 0] - values[i, 0, 0], np.array(whole) - whole[0], atol=1e-5)


def test_a_word_replaced_in_the_view_is_scored_as_replaced(arpa):
    pytest.importorskip("kenlm")
    view, instances = examples(["More then enough then"])
    other = substitute(view, instances.take([1]), [GROUP], share=1.0, rng=np.random.default_rng(0)).view
    there = Words()(["More then enough than"])
    extractor = KenLM(path=arpa).fit(view, instances, [GROUP])
    extractor = extractor.from_state(extractor.state())
    first = instances.take([0])
    plain, changed, written_so = (
        transform_checked(extractor, v, first, GROUP).batch.values.ravel() for v in (view, other, there)
    )
    assert np.array_equal(changed, written_so)
    assert not np.array_equal(changed, plain)


def test_kenlm_pickles_and_scores_nothing(arpa):
    pytest.importorskip("kenlm")
    view, instances = examples(TEXTS)
    extractor = pickle.loads(pickle.dumps(KenLM(path=arpa).fit(view, instances, [GROUP])))
    nothing = Words()([])
    assert transform_checked(
        extractor, nothing, CandidateFinder.from_groups((GROUP,)).find(nothing), GROUP
    ).batch.values.shape == (
        0,
        3,
        1,
    )
    known = transform_checked(extractor, view, instances, Group("x", ("than", "nevermore"))).found
    assert known.reshape(-1, 2).tolist() == [[1, 0]] * len(instances)


def test_missing_module_and_bad_file_are_named(arpa, tmp_path, monkeypatch):
    view, instances = examples(TEXTS)
    with monkeypatch.context() as patch, pytest.raises(UserError, match=r"D740.*pip install 'kenlm"):
        patch.setitem(sys.modules, "kenlm", None)
        transform_checked(KenLM(path=arpa), view, instances, GROUP)
    pytest.importorskip("kenlm")
    with pytest.raises(UserError, match="D741"):
        transform_checked(KenLM(path=tmp_path / "none.arpa"), view, instances, GROUP)
    (tmp_path / "bad.arpa").write_text("no model", encoding="utf8")
    with pytest.raises(UserError, match="D741"):
        transform_checked(KenLM(path=tmp_path / "bad.arpa"), view, instances, GROUP)


COUNTED = ["more than enough", "more than enough", "more than this", "and then more", "and then this", "than"]


@pytest.fixture
def table(tmp_path):
    return build_table(tmp_path / "t.counts", COUNTED, Words())


def by_hand(count, grams, tokens):
    """Return the rule's log product and how many of the 3-grams are covered, word by word."""
    logs, covered = [], 0
    for gram in grams:
        counts = [count(" ".join(gram[: i + 1])) for i in range(len(gram))]
        log = math.log((counts[0] + 1) / (tokens + 1))
        logs.append(log + sum(math.log((n + 1) / (counts[0] + 1)) for n in counts[1:]))
        covered += sum(n > 0 for n in counts) * 2 >= len(gram)
    if len(logs) == 2:
        logs.append(math.log((math.exp(logs[0]) + math.exp(logs[1])) / 2))
    return sum(logs) + (0.0 if covered else IMPOSSIBLE), covered


def test_the_rule_is_its_formula(table):
    view, instances = examples(["It is more than enough", "and then this was more than that then"])
    words = [
        ("is more", "enough </S>"),
        ("<S> and", "this was"),
        ("was more", "that then"),
        ("than that", "</S>"),
    ]
    features = transform_checked(NgramRatio(counts=table, tokens=50), view, instances, GROUP)
    count = CountTable.open(table).count
    for i, (before, after) in enumerate(words):
        left, right = before.split(), after.split()
        for r, candidate in enumerate(GROUP.candidates):
            parts = candidate.split()
            grams = [[*parts, *right], [left[-1], *parts, right[0]], [*left, *parts]]
            if len(parts) == 2:
                grams = [[*parts, right[0]], [left[-1], *parts]]
            expected, covered = by_hand(count, grams, 50)
            assert features.batch.values[i, r, 0] == pytest.approx(expected, rel=1e-5)
            assert features.found.reshape(-1, 3)[i, r] == covered


def test_the_rule_chooses_what_was_seen_and_leaves_out_what_was_not(table):
    view, instances = examples(["more then enough", "and than this", "yonder than yonder"])
    features = transform_checked(NgramRatio(counts=table), view, instances, GROUP)
    chosen = features.batch.values[:, :, 0].argmax(axis=1)
    assert [GROUP.candidates[r] for r in chosen[:2]] == ["than", "then"]
    assert features.found.reshape(-1, 3)[2, 2] == 0
    assert features.batch.values[2, 2, 0] < IMPOSSIBLE


def test_the_rule_never_chooses_no_word(table):
    view, instances = examples(["more then enough", "yonder than yonder"])
    group = Group("than/then/-", ("", "than", "then"))
    features = transform_checked(NgramRatio(counts=table), view, instances, group)
    values = features.batch.values[:, :, 0]
    assert (values[:, 0] < values[:, 1:].min(axis=1)).all()
    assert not features.found.reshape(-1, 3)[:, 0].any()
    among = transform_checked(NgramRatio(counts=table), view, instances, Group("than/then", ("than", "then")))
    assert np.array_equal(values[:, 1:], among.batch.values[:, :, 0])


def test_the_rule_on_nothing(table):
    nothing = Words()([])
    features = transform_checked(
        NgramRatio(counts=table), nothing, CandidateFinder.from_groups((GROUP,)).find(nothing), GROUP
    )
    assert features.batch.values.shape == (0, 3, 1)


@pytest.mark.parametrize("tokens", [-1, 0, float("nan"), float("inf"), "x", None, True])
def test_words_counted_must_be_a_number_of_words(tokens):
    with pytest.raises(UserError, match=r"NgramRatio\.tokens is") as caught:
        NgramRatio(counts="any", tokens=tokens)
    assert caught.value.code == "D452"
