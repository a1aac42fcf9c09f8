"""Converters by name: folders, domains, models that rank again, and what does not belong together."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
from commands import here
from disambig_boosted_lasso import load_converter
from disambig_boosted_lasso.kana import KanaKanji, converter_fingerprint, list_domains, locate_converter
from kana_folders import KANA, WRITTEN, folder_of
from kana_words import converter, segmented

from disambig.errors import UserError
from disambig.models import load


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return folder_of(tmp_path_factory.mktemp("kana"))


def test_candidates_are_ranked_again(home):
    ranked, plain = load_converter(home), load_converter(home, rerank=False)
    assert ranked.best(KANA) == WRITTEN
    assert plain.best(KANA) != WRITTEN
    assert plain.reranker is None
    assert ranked.best([]) == [] == ranked.nbest([])
    assert ranked.best(["", "ABC 12", "ﾈｺ"]) == ["", "ABC 12", "猫"]


def test_lists_have_the_best_first_with_their_scores(home):
    lists = load_converter(home).nbest(KANA, 3)
    for found, written in zip(lists, WRITTEN, strict=True):
        assert found[0].text == written == "".join(found[0].words)
        assert len(found[0].tags) == len(found[0].words)
        assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
        assert 1 <= len(found) <= 3
    assert any(found[0].rank > 0 for found in lists)
    plain = load_converter(home, rerank=False).nbest(KANA, 3)
    assert all(each.score == each.base and each.rank == n for found in plain for n, each in enumerate(found))
    assert {each.text for each in plain[2]} <= {each.text for each in load_converter(home).nbest(KANA)[2]}


def test_a_domain_is_mixed_in(home):
    line = ["はしをわたる。"]
    assert load_converter(home, rerank=False).best(line) == ["橋を渡る。"]
    assert load_converter(home, domain="eating", rerank=False).best(line) == ["箸を渡る。"]
    assert list_domains(home / "converter") == ["eating"]
    with pytest.raises(UserError, match=rf"no domain 'cooking' in {home}; available: eating"):
        load_converter(home, domain="cooking")


def test_a_converter_alone_and_a_model_are_names_too(home, tmp_path):
    assert locate_converter(home / "converter").reranker is None
    assert locate_converter(home / "kana_kanji").converter.resolve() == (home / "converter").resolve()
    assert load_converter(home / "kana_kanji").best(KANA) == WRITTEN
    alone = folder_of(tmp_path, reranker=False, domain=False)
    assert load_converter(alone).reranker is None
    with pytest.raises(UserError, match=r"D692.*none"):
        load_converter(alone, domain="news")


def test_both_can_be_moved_together(tmp_path):
    folder_of(tmp_path).rename(tmp_path / "moved")
    assert load_converter(tmp_path / "moved" / "kana_kanji").best(KANA) == WRITTEN
    said = (tmp_path / "moved" / "kana_kanji" / "config.cfg").read_text(encoding="utf8")
    assert 'converter = "../converter"' in said
    assert str(tmp_path) not in said


def test_weights_never_meet_the_candidates_of_another_converter(tmp_path):
    home = folder_of(tmp_path)
    other = converter(unit="spelling")
    other.save(home / "converter")
    for name in (home, home / "kana_kanji"):
        with pytest.raises(UserError, match=r"D693.*--no-rerank"):
            load_converter(name)
    assert load_converter(home, rerank=False).best(["ねこ"]) == ["猫"]
    with pytest.raises(UserError, match="D693"):
        load(home / "kana_kanji").task.lists(["ねこ"])


def test_what_tells_converters_apart(tmp_path):
    made = converter()
    found = set()
    for name, one in (
        ("a", made),
        ("b", made.adapted(segmented()[:4], weight=0.5)),
        ("c", made.adapted(segmented()[:4], weight=0.4)),
        ("d", made.adapted(segmented()[:5], weight=0.5)),
        ("e", converter(unknown=(0.1, 0.1, 0.3, 0.4))),
    ):
        one.save(tmp_path / name)
        assert converter_fingerprint(tmp_path / name) == converter_fingerprint(tmp_path / name)
        found.add(converter_fingerprint(tmp_path / name))
    assert len(found) == 5
    made.save(tmp_path / "again")
    assert converter_fingerprint(tmp_path / "again") == converter_fingerprint(tmp_path / "a")
    task = KanaKanji(str(tmp_path / "a"))
    assert task.learn_settings(()) == {"digest": converter_fingerprint(tmp_path / "a")}
    assert (
        KanaKanji().learn_settings(()) == {} == KanaKanji(str(tmp_path / "a"), digest="x").learn_settings(())
    )


@pytest.mark.slow
def test_the_doctor_reads_the_converter_as_well(home, tmp_path):
    done = here("doctor", "--model", home / "kana_kanji")
    assert re.search(r"my/kana_kanji: converter of \d+ words, \d+ n-grams; domains: eating", done.stdout)
    broken = folder_of(tmp_path, domain=False)
    (broken / "converter" / "lexicon.npz").write_bytes(b"")
    assert "D674" in here("doctor", "--model", broken / "kana_kanji").stdout
    assert KanaKanji().check_files() == "names no converter"


def test_names_of_nothing(tmp_path, home, monkeypatch):
    for brought, wanted in (((), "install the pack disambig_ja .*"), (("disambig_ja",), "")):
        found = {name: SimpleNamespace(name=name, folders={"converter": home}, models={}) for name in brought}
        monkeypatch.setattr("disambig.packs.packs", lambda found=found: found)
        with pytest.raises(
            UserError, match=rf"D901.*'nothing_ja', neither a folder nor a pack: {wanted}name a f"
        ):
            load_converter("nothing_ja")
    monkeypatch.undo()
    with pytest.raises(UserError, match=r"D943\] .*here\.txt is a file, but a converter is a folder"):
        (tmp_path / "here.txt").touch()
        load_converter(tmp_path / "here.txt")
    (tmp_path / "here.txt").unlink()
    with pytest.raises(UserError, match="D902"):
        load_converter(tmp_path)
    with pytest.raises(UserError, match="D336"):
        locate_converter("spelling")
    with pytest.raises(UserError, match="D902"):
        load_converter("disambig_en")
    header = tmp_path / "converter" / "header.json"
    folder_of(tmp_path / "x")
    (tmp_path / "x" / "mine" / "converter").rename(tmp_path / "converter")
    said = json.loads(header.read_text(encoding="utf8"))
    del said["digest"]
    header.write_text(json.dumps(said), encoding="utf8")
    with pytest.raises(UserError, match="D674"):
        converter_fingerprint(tmp_path / "converter")
