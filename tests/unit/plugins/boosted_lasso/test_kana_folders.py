"""Converters in folders: written, found by name, damaged, reranked and adapted."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from commands import here
from disambig_boosted_lasso import load_converter
from disambig_boosted_lasso.kana import (
    CONVERTER,
    Converter,
    ConverterLocation,
    KanaKanji,
    adapt_converter,
    converter_fingerprint,
    is_converter,
    list_domains,
    locate_converter,
    save_domain,
)
from kana_words import KANA, WRITTEN, converter, make_folder, segmented, sentences

from disambig.errors import UserError
from disambig.files import ArrayFolder, saving as swapping
from disambig.models import load
from disambig.testing import check_standalone


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("kana"))


def test_candidates_are_ranked_again(home):
    ranked, plain = load_converter(home), load_converter(home, rerank=False)
    assert ranked.best(KANA) == WRITTEN
    assert plain.best(KANA) != WRITTEN
    assert plain.reranker is None
    assert ranked.best([]) == [] == ranked.nbest([])
    assert ranked.best(["", "ABC 12", "ﾈｺ"]) == ["", "ABC 12", "猫"]
    lists = load_converter(home).nbest(KANA, 3)
    for candidates, written in zip(lists, WRITTEN, strict=True):
        assert candidates[0].text == written == "".join(candidates[0].words)
        assert len(candidates[0].tags) == len(candidates[0].words)
        assert [candidate.score for candidate in candidates] == sorted(
            (candidate.score for candidate in candidates), reverse=True
        )
        assert 1 <= len(candidates) <= 3
    assert any(candidates[0].rank > 0 for candidates in lists)
    plain = load_converter(home, rerank=False).nbest(KANA, 3)
    assert all(
        candidate.score == candidate.base and candidate.rank == n
        for candidates in plain
        for n, candidate in enumerate(candidates)
    )
    assert {candidate.text for candidate in plain[2]} <= {
        candidate.text for candidate in load_converter(home).nbest(KANA)[2]
    }


def test_names_and_domains_of_converters(home, tmp_path):
    line = ["はしをわたる。"]
    assert load_converter(home, rerank=False).best(line) == ["橋を渡る。"]
    assert load_converter(home, domain="eating", rerank=False).best(line) == ["箸を渡る。"]
    assert list_domains(home / "converter") == ["eating"]
    with pytest.raises(UserError, match=rf"no domain 'cooking' in {home}; available: eating"):
        load_converter(home, domain="cooking")
    assert locate_converter(home / "converter").reranker is None
    assert locate_converter(home / "kana_kanji").converter.resolve() == (home / "converter").resolve()
    assert load_converter(home / "kana_kanji").best(KANA) == WRITTEN
    alone = make_folder(tmp_path, reranker=False, domain=False)
    assert load_converter(alone).reranker is None
    with pytest.raises(UserError, match=r"D692.*none"):
        load_converter(alone, domain="news")


def test_both_can_be_moved_together(tmp_path):
    make_folder(tmp_path).rename(tmp_path / "moved")
    assert load_converter(tmp_path / "moved" / "kana_kanji").best(KANA) == WRITTEN
    saved_config = (tmp_path / "moved" / "kana_kanji" / "config.cfg").read_text(encoding="utf8")
    assert 'converter = "../converter"' in saved_config
    assert str(tmp_path) not in saved_config


def test_weights_never_meet_the_candidates_of_another_converter(tmp_path):
    home = make_folder(tmp_path)
    other = converter(unit="spelling")
    other.save(home / "converter")
    for name in (home, home / "kana_kanji"):
        with pytest.raises(UserError, match=r"D693.*--no-rerank"):
            load_converter(name)
    assert load_converter(home, rerank=False).best(["ねこ"]) == ["猫"]
    with pytest.raises(UserError, match="D693"):
        load(home / "kana_kanji").task.lists(["ねこ"])


def test_different_converters_have_different_codes(tmp_path):
    made = converter()
    codes = set()
    for name, one in (
        ("a", made),
        ("b", made.adapted(segmented()[:4], weight=0.5)),
        ("c", made.adapted(segmented()[:4], weight=0.4)),
        ("d", made.adapted(segmented()[:5], weight=0.5)),
        ("e", converter(unknown=(0.1, 0.1, 0.3, 0.4))),
    ):
        one.save(tmp_path / name)
        assert converter_fingerprint(tmp_path / name) == converter_fingerprint(tmp_path / name)
        codes.add(converter_fingerprint(tmp_path / name))
    assert len(codes) == 5
    made.save(tmp_path / "again")
    assert converter_fingerprint(tmp_path / "again") == converter_fingerprint(tmp_path / "a")
    task = KanaKanji(str(tmp_path / "a"))
    assert task.learn_settings(()) == {"digest": converter_fingerprint(tmp_path / "a")}
    assert KanaKanji().learn_settings(()) == {}
    assert KanaKanji(str(tmp_path / "a"), digest="x").learn_settings(()) == {}


@pytest.mark.slow
def test_the_doctor_reads_the_converter_as_well(home, tmp_path):
    done = here("doctor", "--model", home / "kana_kanji")
    assert re.search(r"my/kana_kanji: converter of \d+ words, \d+ n-grams; domains: eating", done.stdout)
    broken = make_folder(tmp_path, domain=False)
    (broken / "converter" / "lexicon.npz").write_bytes(b"")
    assert "D674" in here("doctor", "--model", broken / "kana_kanji").stdout
    assert KanaKanji().check_files() == "names no converter"


def test_names_of_nothing(tmp_path, home, monkeypatch):
    for brought, wanted in (((), "install the pack disambig_ja .*"), (("disambig_ja",), "")):
        packs = {name: SimpleNamespace(name=name, folders={"converter": home}, models={}) for name in brought}
        monkeypatch.setattr("disambig.packs.packs", lambda packs=packs: packs)
        message = rf"D901.*'nothing_ja', neither a folder nor a pack: {wanted}name a f"
        with pytest.raises(UserError, match=message):
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
    make_folder(tmp_path / "x")
    (tmp_path / "x" / "mine" / "converter").rename(tmp_path / "converter")
    description = json.loads(header.read_text(encoding="utf8"))
    del description["digest"]
    header.write_text(json.dumps(description), encoding="utf8")
    with pytest.raises(UserError, match="D674"):
        converter_fingerprint(tmp_path / "converter")


STORED_LINES = ["わたしははしをわたる。", "ぬゎ2008", "とりはにわでなく。"]


@pytest.mark.parametrize("mixed", [False, True])
def test_a_saved_converter_is_loaded_unchanged(tmp_path, mixed):
    one = converter(unit="pair", weighed=False)
    if mixed:
        one = one.adapted(segmented()[2:9], weight=0.4)
    one.save(tmp_path / "it")
    again = Converter.load(tmp_path / "it")
    before, after = one.nbest(STORED_LINES, 20), again.nbest(STORED_LINES, 20)
    assert list(before.texts) == list(after.texts)
    np.testing.assert_array_equal(before.scores, after.scores)
    np.testing.assert_array_equal(before.words.tags, after.words.tags)
    assert again.settings == one.settings
    expected = after.instance_candidates(2)[:5]
    assert KanaKanji(str(tmp_path / "it"), 5).lists(STORED_LINES).instance_candidates(2) == expected


def test_what_is_damaged_or_another_ones_is_not_read(tmp_path):
    for name in ("one", "other"):
        converter().adapted(segmented()[:8], weight=0.5).save(tmp_path / name)
    converter(unit="spelling").save(tmp_path / "spellings")
    with pytest.raises(UserError, match="D674"):
        Converter.load(tmp_path / "none")
    header = tmp_path / "one" / "header.json"
    description = json.loads(header.read_text(encoding="utf8"))
    changes = [{"settings": {"unit": "none"}}, {"settings": {"what": 1}}, {"words": "0"}]
    for change in (*changes, {"format": "another"}, {"digest": "0"}, {"tags": ["one"]}):
        header.write_text(json.dumps({**description, **change}), encoding="utf8")
        with pytest.raises(UserError, match="D674") as caught:
            Converter.load(tmp_path / "one")
        assert str(caught.value).count("[D") == 1
    header.write_text("[]", encoding="utf8")
    with pytest.raises(UserError, match="D674"):
        Converter.load(tmp_path / "one")
    (tmp_path / "spellings" / "model").rename(tmp_path / "spellings" / "old")
    (tmp_path / "other" / "model").rename(tmp_path / "spellings" / "model")
    with pytest.raises(UserError, match="D674"):
        Converter.load(tmp_path / "spellings")
    with pytest.raises(UserError, match="D655"):
        Converter.load(tmp_path / "other")


def test_nothing_of_another_converter_stays(tmp_path):
    made, home = converter(), tmp_path / "it"
    mixed = made.adapted(segmented()[2:9], weight=0.4)
    mixed.save(home)
    save_domain(mixed.model, home, "birds")
    mixed.save(home)
    assert list_domains(home) == ["birds"], "the same one again keeps its domains"
    made.save(home)
    assert sorted(path.name for path in home.iterdir()) == ["header.json", "lexicon.npz", "model"]
    assert Converter.load(home).best(STORED_LINES) == made.best(STORED_LINES)
    assert [path.name for path in tmp_path.iterdir()] == ["it"]


def test_saving_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    made, home = converter(), tmp_path / "it"
    made.save(home)

    def full(*_, **__):
        raise OSError(28, "disk full")

    monkeypatch.setattr(ArrayFolder, "write", full)
    with pytest.raises(UserError, match=r"D309.*disk full"):
        converter(unit="spelling").adapted(segmented()[:8], weight=0.5).save(home)
    assert Converter.load(home).settings == made.settings
    assert [path.name for path in tmp_path.iterdir()] == ["it"]


def test_a_folder_of_other_things_is_not_replaced(tmp_path):
    (tmp_path / "chapter.txt").write_text("kept")
    with pytest.raises(UserError, match=r"D697.*chapter\.txt"):
        converter().save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["chapter.txt"]
    assert not is_converter(tmp_path)


def test_contract_of_standalone_models():
    assert repr(converter()) == f"<{converter().describe()}>"
    for check in check_standalone(converter(), ["きょうは", "はな\nいぬ"]):
        check()


@pytest.fixture
def place(tmp_path):
    converter().save(tmp_path / "base" / CONVERTER)
    return ConverterLocation(tmp_path / "base" / CONVERTER)


class KnownSentences:
    """Takes the place of SudachiPy's dictionary, which is optional: it knows the words of `sentences()`."""

    def __init__(self, dict):
        self.words = {"".join(word[0] for word in words): words for words in sentences()}

    def create(self):
        return self

    def tokenize(self, text, mode):
        for surface, reading, tag in self.words[text]:
            methods = {"surface": surface, "reading_form": reading, "part_of_speech": (*tag.split("-"), "*")}
            methods |= {"part_of_speech_id": hash(tag)}
            yield SimpleNamespace(**{name: lambda value=value: value for name, value in methods.items()})


@pytest.fixture
def adapt(place, monkeypatch):
    """Adapt to sentences; `adapt.begun` has an entry for each long step that was started."""
    sudachi = SimpleNamespace(Dictionary=KnownSentences, SplitMode=SimpleNamespace(A="A"))
    monkeypatch.setitem(sys.modules, "sudachipy", sudachi)
    begun = []
    texts = ["".join(word[0] for word in words) for words in sentences()] * 6

    def run(output, weight=0.5):
        options = {"weight": weight, "rerank": False}
        return adapt_converter(texts, place, output, progress=lambda *step: begun.append(step), **options)

    run.begun = begun
    return run


@pytest.fixture
def adapted(adapt, tmp_path):
    """Return a folder that was adapted before, and the fingerprint of its converter."""
    adapt(tmp_path / "new")
    return tmp_path / "new", converter_fingerprint(tmp_path / "new" / CONVERTER)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def unfinished(monkeypatch, output, problem):
    """Let renaming a new folder to the output fail, on a system that cannot exchange names."""
    monkeypatch.setattr(swapping, "exchange_names", lambda one, other: False)
    for name in ("rename", "replace"):
        real = getattr(os, name)

        def fail(source, target, real=real):
            if Path(target) == output and ".old-" not in str(source):
                raise problem
            real(source, target)

        monkeypatch.setattr(os, name, fail)


def test_one_that_was_adapted_before_is_replaced(adapt, adapted, tmp_path):
    output, first = adapted
    assert adapt.begun
    adapt(output, 0.25)
    assert converter_fingerprint(output / CONVERTER) != first
    assert names(output) == ["README.md", CONVERTER]
    assert names(tmp_path) == ["base", "new"]


def test_a_folder_is_recovered_after_a_kill_between_two_renames(adapt, adapted, monkeypatch):
    output, first = adapted
    with monkeypatch.context() as killed:
        unfinished(killed, output, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            adapt(output, 0.25)
    assert not output.exists()
    assert converter_fingerprint(locate_converter(output).converter) == first


@pytest.mark.parametrize("what", ["folder", "file"])
def test_other_folders_are_not_replaced(adapt, tmp_path, what):
    output = tmp_path / "thesis"
    if what == "folder":
        output.mkdir()
    kept = output / "chapter.txt" if what == "folder" else output
    kept.write_text("kept")
    with pytest.raises(UserError, match=r"D696.*thesis"):
        adapt(output)
    assert kept.read_text() == "kept"
    assert names(tmp_path) == ["base", "thesis"]
    assert not adapt.begun


def test_an_unwritable_output_is_reported_before_the_work(adapt, tmp_path):
    (tmp_path / "file").write_text("")
    for output in (tmp_path / "file" / "new", Path("/proc/none/new")):
        with pytest.raises(UserError, match="D309"):
            adapt(output)
    assert not adapt.begun
