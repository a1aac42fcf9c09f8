"""The experiment `real_words.cloze`: figures by hand, the same places for all systems, KenLM if named."""

from __future__ import annotations

import json
import lzma
import math

import numpy as np
import pytest
from disambig_real_words import WordRelations
from disambig_real_words.experiments import COUNTS, MEAN, OURS, ClozeFigures, cloze, find_cloze_places

from disambig.counts import build_table
from disambig.data import Columns, DenseBlocks
from disambig.errors import UserError
from disambig.features import count_vocabulary, learn_cloze, open_cloze
from disambig.text import Words
from disambig.types import Features

DOMAINS = ("essays", "health")
RELATED = WordRelations.from_sets([("walk", "walks", "walked"), ("pear", "pears")])


def make_lines(seed, n):
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(n):
        who, verb = (("The girl", "walks"), ("The girls", "walk"))[rng.integers(2)]
        result.append(f"{who} {verb} home with {('a pear', 'two pears')[rng.integers(2)]}.")
    return result


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a directory with held-out text, a model of words in context and a count table."""
    home = tmp_path_factory.mktemp("cloze")
    (home / "english").mkdir()
    for seed, domain in enumerate(DOMAINS):
        with lzma.open(home / "english" / f"{domain}.heldout.txt.xz", "wt", encoding="utf8") as file:
            file.writelines(f"{line}\n" for line in make_lines(seed, 40))
    view = Words()(make_lines(9, 300))
    vocabulary, _, _ = count_vocabulary([view], 40, 2)
    blocks = np.split(vocabulary.view_numbers(view), view.sentences[8:-1:8])
    nobody = np.zeros(len(vocabulary) + 1, np.int64), np.zeros(0, np.int64)
    settings = {"dimensions": 8, "hidden": 16, "batch": 200, "rate": 0.02, "epochs": 10}
    model = learn_cloze(blocks, vocabulary, nobody, none_beside=np.zeros(0, np.int64), **settings)
    model.save(home / "words")
    build_table(home / "t.counts", make_lines(8, 300), Words())
    return home


@pytest.fixture
def experiment(data, monkeypatch):
    monkeypatch.setattr(cloze, "load_relations", lambda path, kinds: RELATED)
    return ClozeFigures(words=data / "words", counts=data / "t.counts")


def run_experiment(experiment, data, **settings):
    settings = {"data": data, "quick": False, "progress": lambda *_: None, **settings}
    return experiment.run(**settings)


def test_list_figures():
    scores = np.array([2.0, 2.0, 1.0, 0.0, 3.0, 1.0, 5.0])
    result = cloze.list_figures(scores, np.array([0, 3, 6, 7]))  # it ties; it is last; it is alone
    assert result["n"] == 3
    assert result["right"] == pytest.approx(100 / 3)
    assert result["rank"] == pytest.approx((1.5 + 3 + 1) / 3)
    losses = (math.log(2 * math.e**2 + math.e) - 2, math.log(1 + math.e**3 + math.e), 0.0)
    assert result["loss"] == pytest.approx(100 * sum(losses) / 3)


def test_cloze_places(data):
    path = data / "english" / "essays.heldout.txt.xz"
    model = open_cloze(data / "words")
    ground = find_cloze_places(path, model, RELATED, paragraphs=30, places=1000)
    own, view = ground.instances.own, ground.view
    assert len(view.texts) == 30
    assert len(ground.instances) == 60
    for i, position in enumerate(ground.instances.positions.tolist()):
        text = view.texts[view.document_indices(np.array([position]))[0]]
        candidates = own.texts[own.offsets[i] : own.offsets[i + 1]]
        assert candidates[0] == text[view.starts[position] : view.ends[position]]
        assert "walked" not in candidates  # the model has not seen it
        assert len(candidates) == 2
    assert 0 < ground.learns.sum() < 60
    fewer = find_cloze_places(path, model, RELATED, paragraphs=30, places=7)
    assert len(fewer.instances) == 7
    assert (np.diff(fewer.instances.positions) > 0).all()


def test_systems_decide_the_same_places(experiment, data):
    result = run_experiment(experiment, data)
    figures = result.details["figures"]
    assert set(figures) == {OURS, COUNTS}
    for system in figures.values():
        assert set(system) == {*DOMAINS, MEAN}
        assert system["essays"]["n"] == figures[OURS]["essays"]["n"]
        assert system["essays"]["right"] > 95
        assert system[MEAN]["loss"] == pytest.approx(np.mean([system[name]["loss"] for name in DOMAINS]))
    assert all(row.paper is None for row in result.rows)
    expected = [f"{MEAN}: {name}" for name in ("right", "rank", "loss")]
    assert [row.setting for row in result.rows[:3]] == expected
    (claim,) = result.claims
    assert claim.holds == (figures[OURS][MEAN]["loss"] < figures[COUNTS][MEAN]["loss"])
    assert any("KenLM is left out" in note for note in result.notes)


class ShortWords:
    """Replaces KenLM: it scores candidates of groups by their length."""

    describes = "group"

    def fit(self, view, instances, groups):
        self.known = {word for group in groups for word in group.candidates}
        return self

    def transform(self, view, instances, group):
        assert set(group.candidates) <= self.known
        assert instances.own is None
        n, k = len(instances), len(group.candidates)
        values = np.array([[-len(word) for word in group.candidates]] * n, np.float32)
        columns = Columns(np.full(1, -1, np.int32), np.zeros(1, np.int32), ("short",), ["short"])
        batch = DenseBlocks(
            values[:, :, None], np.zeros((k, 1), np.int64), columns, np.zeros((n, k), np.float32)
        )
        none = np.zeros(n * k, np.int32)
        return Features(batch, none, none)


def test_extractors_of_groups(data):
    ground = find_cloze_places(
        data / "english" / "essays.heldout.txt.xz",
        open_cloze(data / "words"),
        RELATED,
        paragraphs=30,
        places=1000,
    )
    batch = cloze.transform_candidates(ShortWords(), ground)
    assert batch.values[:, 0].tolist() == [-len(word) for word in ground.instances.own.texts]
    assert batch.offsets.tolist() == ground.instances.own.offsets.tolist()
    assert (batch.cost[batch.offsets[:-1]] == 0).all()
    assert batch.cost.sum() == len(batch.cost) - len(ground.instances)


def test_kenlm_models_of_the_settings(monkeypatch, tmp_path):
    monkeypatch.setattr(cloze, "find_spec", lambda name: object())
    monkeypatch.delenv(cloze.SETTINGS, raising=False)
    models, (note,) = cloze.kenlm_models()
    assert not models
    assert cloze.SETTINGS in note
    settings = tmp_path / "peers.json"
    monkeypatch.setenv(cloze.SETTINGS, str(settings))
    settings.write_text(json.dumps({"kenlm": {"KenLM, pruned": "pruned.bin"}}), encoding="utf8")
    assert cloze.kenlm_models() == ({"KenLM, pruned": "pruned.bin"}, [])
    for message in ("[]", "{", '{"kenlm": 3}'):
        settings.write_text(message, encoding="utf8")
        with pytest.raises(UserError, match=r"D743.*peers\.json"):
            cloze.kenlm_models()
