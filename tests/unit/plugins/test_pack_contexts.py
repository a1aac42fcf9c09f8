"""What the pack's model of words in context is learned from: shares of domains, rivals, toy data."""

from __future__ import annotations

import lzma
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from disambig.features import ContextPlaces, context_vectors, count_vocabulary, score_candidates
from disambig.text import START_HASH, Words

PACK = Path(__file__).parents[3] / "corpora" / "disambig_en"
TEXT = ("She has an apple.", "He was there.", "They have a pear. We were here.", "It was their house.")


@pytest.fixture
def contexts(monkeypatch):
    monkeypatch.syspath_prepend(str(PACK))
    for name in ("contexts", "material"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import contexts

    pairs = [("desks", "desk"), ("desks", "desk"), ("lamp", "lamps"), ("a b", "c"), ("Desks", "desk")]
    fixes = [SimpleNamespace(old=old, new=new, kind="replace") for old, new in pairs]
    fixes += [SimpleNamespace(old="", new="lamp", kind="insert")] * 3
    monkeypatch.setattr(contexts, "read_people", lambda data, part: (fixes, []) if part == "train" else None)
    yield contexts
    for name in ("contexts", "material"):
        sys.modules.pop(name, None)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "english"
    folder.mkdir()
    for domain in ("essays", "health"):
        with lzma.open(folder / f"{domain}.train.txt.xz", "wt", encoding="utf8") as file:
            file.writelines(f"{line}\n" for line in TEXT * 60)
    return tmp_path


def rivals_of(contexts, word, spellings, counts):
    offsets, numbers = contexts.rivals(Path(), spellings, np.array(counts))
    at = spellings.index(word)
    return [spellings[i] for i in numbers[offsets[at] : offsets[at + 1]].tolist()]


def test_rivals_are_what_people_mixed_up_then_forms_then_others_by_frequency(contexts):
    spellings = ["desk", "desks", "lamp", "lamps", "has", "have", "their", "there", "they're"]
    counts = [5, 4, 3, 2, 9, 9, 9, 8, 7]
    assert rivals_of(contexts, "desk", spellings, counts) == ["desks"]
    assert rivals_of(contexts, "has", spellings, counts) == ["have"]
    assert rivals_of(contexts, "their", spellings, counts)[:2] == ["there", "they're"]
    many = ["sea", *sorted({w for pair in (("see", "sees"), ("seas", "tea", "set")) for w in pair})]
    assert len(rivals_of(contexts, "sea", many, range(len(many)))) <= contexts.MOST_RIVALS


def test_pairs_that_one_person_wrote_are_no_rivals(contexts, monkeypatch):
    monkeypatch.setattr(contexts, "read_relations", lambda path: {})
    monkeypatch.setattr(contexts, "read_confusion_sets", lambda path: ())
    spellings = ["desk", "desks", "lamp", "lamps", "a", "b", "c"]
    assert rivals_of(contexts, "desk", spellings, [1] * 7) == ["desks"]
    assert rivals_of(contexts, "lamp", spellings, [1] * 7) == []


@pytest.mark.parametrize("share", [0.4, 1.0, 1.5, 2.0])
def test_shares_say_how_often_text_is_looked_at(contexts, share):
    view = Words()(list(TEXT) * 2000)
    vocabulary, _, _ = count_vocabulary([view], 100, 4)
    parts = list(contexts.stretches(iter([view]), vocabulary, share))
    assert sum(map(len, parts)) == pytest.approx(share * len(view), rel=0.12)
    start = vocabulary.hash_numbers(np.array([START_HASH], np.uint64))[0]
    assert all(part[0] == start for part in parts)
    assert max(map(len, parts)) < 2 * contexts.STRETCH
    if share == 1.0:
        assert np.concatenate(parts).tolist() == vocabulary.view_numbers(view).tolist()


def test_words_are_learned_from_counted_text_alone(contexts, data, monkeypatch):
    monkeypatch.setattr(contexts, "N_WORDS", 100)
    monkeypatch.setattr(contexts, "SHARES", {"essays": 2.0})
    domains = ("essays", "health")
    counted = dict(contexts.counted_words(data, domains))
    assert counted["was"] == 2 * 2 * 60
    model = contexts.learn_words(data, domains)
    assert model.header["sources"] == ["english/essays.train.txt.xz", "english/health.train.txt.xz"]
    view = Words()(["It was there."])
    candidates = model.numbers_of_candidates(["was", "were", "", "zebra"])
    assert (candidates >= 0).tolist() == [True, True, True, False]
    states = context_vectors(model, view, ContextPlaces(np.array([2]), np.array([3])))
    assert np.isfinite(score_candidates(model, states, np.zeros(3, int), candidates[:3])).all()


def test_the_model_is_saved_and_its_state_removed(contexts, data, monkeypatch, tmp_path):
    monkeypatch.setattr(contexts, "N_WORDS", 100)
    monkeypatch.setattr(contexts, "PACK_DOMAINS", ("health",))
    monkeypatch.setattr(contexts, "HOME", tmp_path)
    state = tmp_path / "kept" / "state.npz"
    monkeypatch.setattr(sys, "argv", ["contexts.py", str(data), "--checkpoint", str(state)])
    contexts.main()
    assert (tmp_path / "words" / "weights.npz").exists()
    assert not state.exists()


@pytest.fixture
def relations(monkeypatch):
    monkeypatch.syspath_prepend(str(PACK))
    names = ("relations", "contexts", "material")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    import relations

    yield relations
    for name in names:
        sys.modules.pop(name, None)


def test_forms_of_derived_words_are_related(relations):
    words = "create created creating creation creates creations secure security curse cursor part partial"
    counts = dict.fromkeys(words.split(), relations.LEAST_FAMILY)
    families = set(relations._families(counts))
    assert {("created", "creation"), ("creating", "creation"), ("creates", "creations")} <= families
    assert ("secure", "security") in families
    assert not families & {("curse", "cursor"), ("part", "partial")}  # unrelated, and too short
    rare = counts | {"security": relations.LEAST_FAMILY - 1}
    assert ("secure", "security") not in set(relations._families(rare))


def test_the_english_relations_contain_the_pairs_chosen_by_hand(relations):
    shipped = relations.read_relations(relations.ENGLISH_RELATIONS)
    chosen = relations.read_relations(relations.CONFUSED)
    assert len(chosen["slip"]) > 500
    for kind, pairs in chosen.items():
        assert {tuple(pair) for pair in pairs} <= {tuple(words) for words in shipped[kind]}
        assert all(len(pair) == 2 for pair in pairs)
