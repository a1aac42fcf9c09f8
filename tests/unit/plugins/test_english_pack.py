"""Build of the English pack: figures of its card, its model of words in context, its word relations."""

from __future__ import annotations

import gzip
import importlib
import lzma
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from disambig.features import ContextPlaces, context_vectors, count_vocabulary, score_candidates
from disambig.text import START_HASH, Words

PACK = Path(__file__).parents[3] / "corpora" / "disambig_en"
DOMAINS = ("essays", "health")


@contextmanager
def imported(monkeypatch, *names):
    """Import the first of the modules of the build, and forget all of them afterwards."""
    monkeypatch.syspath_prepend(str(PACK))
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module(names[0])
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def card(monkeypatch, tmp_path):
    for name in ("english.counts", "words", "models", "encoder"):  # the card lists the files of the pack
        (tmp_path / name).symlink_to(PACK / name)
    with imported(monkeypatch, "card") as card:
        yield card


def make_scores(accuracy, *, among=None):
    """Return the scores of one text; older ones have no `among`."""
    rates = {"0.3": {"errors_found": 0.5, "false_flags_per_1000": 0.31}}
    groups = {"preposition": {"accuracy": accuracy, "interval": (0.5, 0.9), "n": 100}}
    result = {"words": 1000, "groups": groups, "reliability": None, "rates": rates}
    if among is not None:
        result["among_words"] = {"n": 90, "majority": 0.3, "accuracy": among, "interval": (0.6, 0.8)}
    return result


def by_task(names, among=None):
    return {"preposition": {name: make_scores(0.7, among=among) for name in names}}


def write_card(card, tmp_path, **figures):
    card.write_card(tmp_path, figures)
    text = (tmp_path / "README.md").read_text(encoding="utf8")
    return [line for line in text.splitlines() if line.startswith(("| all |", "| mean of", "| essays"))], text


ALL = ("all", *DOMAINS)


def test_card_with_all_some_or_older_figures(card, tmp_path):
    whole = {"scores": by_task(ALL, 0.7), "all_counts": {**by_task(ALL, 0.8), "bytes": 1, "n_ngrams": 1}}
    lines, _ = write_card(card, tmp_path, **whole, left_out=by_task(DOMAINS, 0.6))
    assert "| all | 90 | 30.0 % | 70.0 % (60.0-80.0) | 80.0 % |  |" in lines
    assert "| essays | 90 | 30.0 % | 70.0 % (60.0-80.0) | 80.0 % | 60.0 % |" in lines
    assert "| mean of domains |  |  | 70.0 % | 80.0 % | 60.0 % |" in lines
    older = {"left_out": by_task(DOMAINS), "all_counts": by_task(ALL)}
    lines, _ = write_card(card, tmp_path, scores=by_task(ALL, 0.7), **older)
    assert "| essays | 90 | 30.0 % | 70.0 % (60.0-80.0) |  |  |" in lines
    assert "| mean of domains |  |  | 70.0 % |  |  |" in lines
    lines, _ = write_card(card, tmp_path, scores=by_task(ALL, 0.7), left_out=by_task(["essays"], 0.6))
    assert "| mean of domains |  |  | 70.0 % |  |  |" in lines


def test_card_with_kenlm(card, tmp_path):
    left_out = {"left_out": by_task(DOMAINS, 0.6), "left_out_kenlm": by_task(DOMAINS, 0.5)}
    lines, _ = write_card(card, tmp_path, scores=by_task(ALL, 0.7), **left_out)
    assert "| essays | 90 | 30.0 % | 70.0 % (60.0-80.0) |  | 60.0 % | 50.0 % |" in lines
    assert "| mean of domains |  |  | 70.0 % |  | 60.0 % | 50.0 % |" in lines
    from card import kenlm_section

    def result(**accuracy):
        return {name: {"n": 10, "accuracy": share} for name, share in accuracy.items()}

    ours = {"essays": {"groups": result(a=0.9, b=0.5, c=0.0)}, "health": {"groups": result(a=1.0)}}
    theirs = {"essays": {"groups": result(a=0.8, b=0.6)}}  # what one of the two did not decide stays out
    lines = kenlm_section("x", {"left_out": {"x": ours}, "left_out_kenlm": {"x": theirs}})
    assert "| essays | 20 | 70.0 % | 70.0 % |" in lines and "| all | 20 | 70.0 % | 70.0 % |" in lines
    assert kenlm_section("x", {"left_out": {"x": ours}}) == []


@pytest.mark.parametrize(
    "figures",
    [
        {"left_out": by_task(["essays"], 0.6)},
        {"all_counts": {**by_task(ALL, 0.8), "bytes": 1, "n_ngrams": 1}},
        {"left_out": by_task(["essays"], 0.6), "all_counts": by_task(ALL)},
    ],
)
@pytest.mark.parametrize("names", [ALL, ("all", "health")])
def test_card_with_older_scores(card, tmp_path, figures, names):
    lines, text = write_card(card, tmp_path, scores=by_task(names), **figures)
    assert not any(line.startswith("| mean of") for line in lines) and "Between the 34 words" not in text
    assert "## Task preposition" in text and "50.0 % (0.31)" in text


@pytest.mark.parametrize(
    "figures", [{}, {"left_out": by_task(DOMAINS, 0.6)}, {"all_counts": by_task(ALL, 0.8)}]
)
def test_card_without_scores(card, tmp_path, figures):
    assert "## Task" not in write_card(card, tmp_path, **figures)[1]


def test_card_names_weak_sets(card, tmp_path):
    def domain(**groups):
        result = {}
        for name, (n, right, most) in groups.items():
            result[name] = {"n": n, "accuracy": right / n, "majority": most / n}
        return {"groups": result}

    group = {"n": 50, "accuracy": 0.9, "interval": (0.8, 0.95)}
    scores = make_scores(0.9)
    scores["groups"] = dict.fromkeys((card.PAPER_FIVE[0], card.TWENTY[0], "weak", "good", "few"), group)

    def paragraph(**domains):
        """Return the paragraph of the card about the sets, as one line."""
        figures = {"scores": {"spelling": {"all": scores}}, "left_out": {"spelling": domains}}
        _, text = write_card(card, tmp_path, **figures)
        begin = "With the domain left out, always choosing"
        return " ".join(next((part for part in text.split("\n\n") if part.startswith(begin)), "").split())

    good = (50, 48, 40)
    # over both domains, 15 of 40 are right, and the more frequent word of each domain is right in 30
    message = paragraph(a=domain(weak=(30, 10, 25), good=good), b=domain(weak=(10, 5, 5), few=(5, 0, 5)))
    assert message.endswith("occurrences): weak (37.5 %).")
    assert paragraph(a=domain(good=good)) == ""


TEXT = ("She has an apple.", "He was there.", "They have a pear. We were here.", "It was their house.")


@pytest.fixture
def contexts(monkeypatch):
    pairs = [("desks", "desk"), ("desks", "desk"), ("lamp", "lamps"), ("a b", "c"), ("Desks", "desk")]
    fixes = [SimpleNamespace(old=old, new=new, kind="replace") for old, new in pairs]
    fixes += [SimpleNamespace(old="", new="lamp", kind="insert")] * 3
    people = {"train": (fixes, [])}
    with imported(monkeypatch, "contexts", "material") as contexts:
        monkeypatch.setattr(contexts, "read_people", lambda data, part: people.get(part))
        yield contexts


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "english"
    folder.mkdir()
    for domain in ("essays", "health"):
        with lzma.open(folder / f"{domain}.train.txt.xz", "wt", encoding="utf8") as file:
            file.writelines(f"{line}\n" for line in TEXT * 60)
    return tmp_path


def list_rivals(contexts, word, spellings, counts):
    offsets, numbers = contexts.rivals(Path(), spellings, np.array(counts))
    at = spellings.index(word)
    return [spellings[i] for i in numbers[offsets[at] : offsets[at + 1]].tolist()]


def test_order_and_frequency_of_rivals(contexts, monkeypatch):
    spellings = ["desk", "desks", "lamp", "lamps", "has", "have", "their", "there", "they're"]
    counts = [5, 4, 3, 2, 9, 9, 9, 8, 7]
    assert list_rivals(contexts, "desk", spellings, counts) == ["desks"]
    assert list_rivals(contexts, "has", spellings, counts) == ["have"]
    assert list_rivals(contexts, "their", spellings, counts)[:2] == ["there", "they're"]
    many = ["sea", *sorted({w for pair in (("see", "sees"), ("seas", "tea", "set")) for w in pair})]
    assert len(list_rivals(contexts, "sea", many, range(len(many)))) <= contexts.MAX_RIVALS
    monkeypatch.setattr(contexts, "read_relations", lambda path: {})
    monkeypatch.setattr(contexts, "read_confusion_sets", lambda path: ())
    spellings = ["desk", "desks", "lamp", "lamps", "a", "b", "c"]
    assert list_rivals(contexts, "desk", spellings, [1] * 7) == ["desks"]
    assert list_rivals(contexts, "lamp", spellings, [1] * 7) == []


@pytest.mark.parametrize("share", [0.4, 1.0, 1.5, 2.0])
def test_shares_of_text(contexts, share):
    view = Words()(list(TEXT) * 2000)
    vocabulary, _, _ = count_vocabulary([view], 100, 4)
    parts = list(contexts.stretches(iter([view]), vocabulary, share))
    assert sum(map(len, parts)) == pytest.approx(share * len(view), rel=0.12)
    start = vocabulary.hash_numbers(np.array([START_HASH], np.uint64))[0]
    assert all(part[0] == start for part in parts)
    assert max(map(len, parts)) < 2 * contexts.STRETCH
    if share == 1.0:
        assert np.concatenate(parts).tolist() == vocabulary.view_numbers(view).tolist()


def test_learn_words(contexts, data, monkeypatch):
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


def test_command_saves_the_model(contexts, data, monkeypatch, tmp_path):
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
    with imported(monkeypatch, "relations", "contexts", "material") as relations:
        yield relations


def test_families_and_chosen_pairs(relations, monkeypatch, tmp_path):
    for name in ("en_lemma_lookup", "en_lemma_exc"):
        with gzip.open(tmp_path / f"{name}.json.gz", "wt", encoding="utf8") as file:
            file.write("{}")
    words = "create created creating creation creates creations secure security curse cursor part partial"

    def related(**changes):
        """Return the pairs of derived words if all words are frequent, except for some."""
        counts = dict.fromkeys(words.split(), relations.MIN_FAMILY) | changes
        monkeypatch.setattr(relations, "counted_words", lambda data, domains: list(counts.items()))
        return set(relations.relations(Path(), tmp_path)["derived"])

    families = related()
    assert {("created", "creation"), ("creating", "creation"), ("creates", "creations")} <= families
    assert ("secure", "security") in families
    assert not families & {("curse", "cursor"), ("part", "partial")}  # unrelated, and too short
    assert ("secure", "security") not in related(security=relations.MIN_FAMILY - 1)
    shipped = relations.read_relations(relations.ENGLISH_RELATIONS)
    chosen = relations.read_relations(relations.CONFUSED)
    assert len(chosen["slip"]) > 500
    for kind, pairs in chosen.items():
        assert {tuple(pair) for pair in pairs} <= {tuple(words) for words in shipped[kind]}
        assert all(len(pair) == 2 for pair in pairs)
