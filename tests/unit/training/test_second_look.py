"""A second look at proposals: what it learns, how the density of mistakes shifts it, how it is saved."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import brentq, minimize
from test_error_corpus_training import MISTAKES, fix, train_pairs
from toy_texts import CONFIG

from disambig.api import annotate, by_group
from disambig.api.features import one_score
from disambig.config import read_config
from disambig.decision import (
    EVERYWHERE,
    ExpectedMistakes,
    LabelledProposals,
    Mistakes,
    SecondLook,
    paragraph_shifts,
    passage_shifts,
)
from disambig.errors import UserError
from disambig.formats import Clean
from disambig.models import load_model, save_model
from disambig.text import view_of_texts
from disambig.training import fit_second_look
from disambig.training.trainer import label_proposals
from disambig.types import RaisesFlags

N_FEATURES = 6
"""Number of features without evidence."""


@dataclass(frozen=True, eq=False)
class PlaceEvidence:
    """The score of "quiet" is 1 before "place" and -1 elsewhere, whatever else may be there."""

    requires = ()

    def fit(self, view, instances, groups):
        return self

    @by_group
    def transform(self, view, instances, group):
        assert instances.lists is not None
        texts = [view.texts[i] for i in view.document_indices(instances.positions)]
        ends = view.ends[instances.positions]
        here = [text[end:].startswith(" place") for text, end in zip(texts, ends, strict=True)]
        sign = np.repeat(2.0 * np.array(here, bool) - 1, np.diff(instances.lists.offsets))
        quiet = np.array([text.lower() == "quiet" for text in instances.lists.texts])
        return one_score((sign * quiet).astype(np.float32), instances, group, "before")

    def state(self):
        return {}

    def from_state(self, arrays):
        return self


@pytest.fixture(scope="module")
def proposals():
    """Proposals whose log-odds say little and whose evidence says much."""
    rng = np.random.default_rng(1)
    n = 400
    right = rng.random(n) < 0.3
    odds = rng.normal(-2.0, 1.0, n) + 0.5 * right
    evidence = rng.normal(0.0, 1.0, n) + 2.0 * right
    features = np.zeros((n, N_FEATURES + 1))
    features[:, 0], features[:, 3], features[:, -1] = odds, odds**2 / 10, evidence
    columns = features, right, ~right, np.arange(n) % 40, np.arange(n)
    passages = np.full(n + 200, 100), np.arange(n + 200)
    return LabelledProposals(*columns, *passages, 200, 20_000, 40_000)


def test_weights_agree_with_a_penalised_logistic_regression(proposals):
    weights = SecondLook(Mistakes()).fit_proposals(proposals).weights
    spread = proposals.features.std(axis=0)
    spread[spread == 0] = 1.0
    standard = np.column_stack([np.ones(len(proposals.right)), proposals.features / spread])
    # 200 mistakes stand in 40,000 words at 5 in 1,000: each clean word counts twice
    importance = np.where(proposals.clean, 2.0, 1.0)
    sign = np.where(proposals.right, 1.0, -1.0)

    def loss(x):
        odds = proposals.features[:, 0] + standard @ x
        return importance @ np.logaddexp(0, -sign * odds) + 2.5 * (x[1:] @ x[1:])

    reference = minimize(loss, np.zeros(standard.shape[1]), method="BFGS").x
    assert weights[0] == pytest.approx(reference[0], abs=0.02)
    # the ridge pulls the weight of the first rule's log-odds to 1
    assert (weights - np.eye(len(weights))[1])[1:] * spread == pytest.approx(reference[1:], abs=0.02)


def test_thresholds_and_recall_are_cross_fitted(proposals):
    rule = SecondLook(Mistakes()).fit_proposals(proposals)
    assert rule.operating.is_valid() and (np.diff(rule.recall) >= 0).all()
    assert 0 < rule.recall[-1] <= proposals.right.sum() / proposals.n_mistakes
    assert rule.gains()[1] is rule.recall
    # without the evidence fewer are found at the same rates
    blind = SecondLook(Mistakes()).fit_proposals(replace(proposals, features=proposals.features[:, :-1]))
    assert rule.recall.sum() > 1.5 * blind.recall.sum()
    assert isinstance(rule, RaisesFlags)
    assert rule.limit(0.5) > rule.limit(2.0)


@pytest.mark.parametrize("kind", ["right", "clean"])
def test_rejects_proposals_of_one_kind(proposals, kind):
    none = np.zeros_like(proposals.right)
    with pytest.raises(ValueError, match="second look needs"):
        SecondLook(Mistakes()).fit_proposals(replace(proposals, **{kind: none}))


@given(
    odds=st.lists(st.floats(-6, 6), min_size=1, max_size=6),
    n_words=st.integers(1, 5000),
    strength=st.floats(0.1, 5),
    per_1000=st.floats(0.5, 60),
)
def test_shift_of_a_paragraph_is_a_fixed_point(odds, n_words, strength, per_1000):
    odds, mean = np.array(odds), per_1000 / 5
    part = ExpectedMistakes(odds, np.zeros(len(odds), np.int64), 0.004, mean, strength)
    (shift,) = paragraph_shifts([part], np.array([n_words]))
    assert shift.shape == (1,)

    def excess(log_ratio):
        probable = (1 / (1 + np.exp(-odds - log_ratio))).sum()
        return np.log((strength + probable) / (strength / mean + n_words * 0.004)) - log_ratio

    # the iteration starts at the mean of the prior and goes monotonically to the nearest fixed point
    assert abs(excess(shift[0])) < 0.02
    if excess(np.log(mean)) > 0:
        upper = np.log((strength + len(odds)) / (strength / mean + n_words * 0.004)) + 1e-9
        assert np.log(mean) <= shift[0] <= upper
        assert brentq(excess, np.log(mean), upper) >= shift[0] - 0.05


@given(
    odds=st.lists(st.tuples(st.integers(0, 2), st.floats(-8, 8)), min_size=1, max_size=12),
    n_words=st.lists(st.integers(1, 3000), min_size=3, max_size=3),
    strength=st.one_of(st.floats(0.1, 50), st.just(float("inf"))),
    densities=st.tuples(st.floats(0.1, 100), st.floats(0.1, 100)),
)
def test_shift_is_monotone_in_the_density(odds, n_words, strength, densities):
    documents = np.array(sorted(number for number, _ in odds), np.int64)
    log_odds = np.array([item for _, item in odds])
    parts = [ExpectedMistakes(log_odds, documents, 0.004, item, strength) for item in sorted(densities)]
    fewer, more = (paragraph_shifts([part], np.array(n_words))[0] for part in parts)
    assert (fewer <= more + 1e-12).all()


def test_rule_assumes_the_fitted_or_given_density():
    assert SecondLook(Mistakes()).mistakes_per_1000 is None
    rule = replace(SecondLook(Mistakes()), weights=np.zeros(6))
    assert rule.mistakes_per_1000 == 5.0
    assert rule.density == 1.0 and rule.with_mistakes_per_1000(20.0).density == 4.0


def test_paragraphs_and_tasks_of_infinite_strength_are_independent():
    def shifts(odds, paragraphs, n_tokens):
        part = ExpectedMistakes(np.array(odds), np.array(paragraphs), 0.002, 1.0, 0.5)
        return paragraph_shifts([part], np.array(n_tokens))[0].tolist()

    together = shifts([1.0, 1.0, -3.0], [0, 0, 1], [20, 4000])
    assert together == [*shifts([1.0, 1.0], [0, 0], [20]), *shifts([-3.0], [0], [4000])]
    assert together[0] > 0 > together[1]
    none = np.zeros(3, np.int64)
    certain = ExpectedMistakes(np.full(3, 9.0), none, 0.001, 2.0, float("inf"))
    open_one = ExpectedMistakes(np.full(3, -4.0), none, 0.001, 2.0, 0.5)
    alone = paragraph_shifts([open_one], np.array([50]))[0]
    both = paragraph_shifts([certain, open_one], np.array([50]))
    assert both[0] == pytest.approx(np.log(2.0)) and both[1].tolist() == alone.tolist()


@given(
    odds=st.lists(st.floats(-6, 6), min_size=2, max_size=8),
    n_words=st.integers(1, 3000),
    strength=st.floats(0.1, 5),
    density=st.floats(0.1, 20),
)
def test_two_tasks_shift_like_their_union(odds, n_words, strength, density):
    odds, n_tokens = np.array(odds), np.array([n_words])
    none = np.zeros(len(odds), np.int64)
    halves = [
        ExpectedMistakes(half, none[: len(half)], 0.002, density, strength)
        for half in (odds[::2], odds[1::2])
    ]
    whole = paragraph_shifts([ExpectedMistakes(odds, none, 0.004, density, strength)], n_tokens)[0]
    for shift in paragraph_shifts(halves, n_tokens):
        assert shift == pytest.approx(whole, abs=1e-9)


FINDERS, TIRED = "Ida Jan Lea Max Nora".split(), "Oda Pia Udo Zoe".split()
MORE = [fix(f"{who} found a quite place at home.", "quite", "quiet") for who in FINDERS]
RIGHT = [Clean(f"{who} was quite tired, and {who} had a quiet place.", who) for who in TIRED]


@pytest.fixture(scope="module")
def second_look_model():
    """A model with a second look that knows what stands before "place"."""
    model = train_pairs()
    assert isinstance(model.judge, Mistakes)
    fitted = fit_second_look(model, {"least": 1e-6}, MORE, RIGHT)
    rule = replace(fitted.judge, evidence={"before": PlaceEvidence()}, weights=None)
    labelled = label_proposals(model, rule, MORE, RIGHT)
    return replace(fitted, judge=rule.fit_proposals(labelled)), labelled


def test_labels_proposals_by_the_corrected_text(second_look_model):
    _, labelled = second_look_model
    assert (labelled.n_mistakes, labelled.n_clean_words) == (5, 40)
    assert labelled.right.sum() == 5 and labelled.clean.sum() == 8
    # the evidence is the difference between the proposed and the observed word
    assert set(labelled.features[labelled.right, -1]) == {1.0}
    assert set(labelled.features[labelled.clean, -1]) == {-1.0}


def test_density_of_passages():
    def shifts(passages, paragraphs):
        odds = np.full(len(passages), 1.0)
        part = ExpectedMistakes(odds, np.array(passages, np.int64), 0.004, 1.0, 0.7)
        return passage_shifts([part], np.full(len(paragraphs), 100), np.array(paragraphs))[0]

    alone = shifts([], [0])
    # a long paragraph with few mistakes says no more than its passages do
    assert np.array_equal(shifts([], [0] * 50), np.repeat(alone, 50)) and alone[0] < 0
    one = shifts([7], [0] * 50)
    assert np.array_equal(np.delete(one, 7), np.repeat(alone, 49)) and one[7] == shifts([0], [0])[0] > 0
    # one with many mistakes makes them probable in all passages, but not in other paragraphs
    many = shifts([0, 0, 1, 1, 3, 3], [0, 0, 0, 0, 1])
    assert many[2] > 0 and many[4] == alone[0]


def test_skips_batches_without_proposals(second_look_model, monkeypatch):
    model, labelled = second_look_model
    monkeypatch.setattr("disambig.training.trainer._BATCH_CHARACTERS", 1)
    unfitted = replace(model.judge, weights=None)
    clean = [*RIGHT, Clean("Nothing to decide.", "r")]
    again = label_proposals(replace(model, judge=model.judge.first), unfitted, MORE, clean)
    assert again.features.tolist() == labelled.features.tolist()
    assert again.right.tolist() == labelled.right.tolist()
    assert again.n_tokens.tolist()[: len(labelled.n_tokens)] == labelled.n_tokens.tolist()
    assert len(again.n_tokens) == len(MORE) + len(clean)  # all are short
    assert again.n_clean_tokens == again.n_tokens[len(MORE) :].sum()


def test_evidence_decides_and_final_flags_change_the_choice(second_look_model):
    model, _ = second_look_model
    texts = ["Eve saw a quite place there.", "Eve was quite happy then, in a quiet place."]
    (decisions,) = annotate(texts, [model])
    assert decisions.flagged.tolist() == [True, False, False]
    chosen = [decisions.candidate_texts(i)[decisions.chosen[i]] for i in range(3)]
    assert chosen == ["quiet", "quite", "quiet"]
    assert (decisions.probabilities[0] > decisions.probabilities[1:]).all()
    (none,) = annotate(texts, [model], flags_per_1000={"pairs": 0.0})
    assert not none.flagged.any() and none.probabilities == pytest.approx(decisions.probabilities)


def test_unfitted_rule_decides_like_the_first():
    first = train_pairs()
    model = train_pairs(judge=SecondLook(Mistakes()))
    assert not model.judge.is_fitted and model.judge.gains() is None
    texts = [item.before for item in MISTAKES]
    ours, theirs = annotate(texts, [model])[0], annotate(texts, [first])[0]
    assert ours.flagged.tolist() == theirs.flagged.tolist()
    assert ours.probabilities == pytest.approx(theirs.probabilities)
    assert model.judge.limit() == pytest.approx(first.judge.limit())


def test_saved_model_decides_the_same(tmp_path, load_with):
    load_with(toys="toy_plugin")
    (tmp_path / "a.cfg").write_text(CONFIG)
    sections = read_config(tmp_path / "a.cfg")
    config = {name: sections[name] for name in sections if name not in ("model", "training")}
    model = fit_second_look(train_pairs(config=config), {"least": 1e-6, "prior_strength": 0.5}, MORE, RIGHT)
    assert model.config["judge"]["first"] == {"@disambig_judges": "disambig.Mistakes.v1"}
    save_model(model, tmp_path / "twice")
    again = load_model(tmp_path / "twice")
    assert again.judge.prior_strength == 0.5 and again.flags_per_1000 == 4.0
    texts = [item.before for item in [*MISTAKES, *MORE]]
    ours, theirs = annotate(texts, [model])[0], annotate(texts, [again])[0]
    assert ours.flagged.tolist() == theirs.flagged.tolist()
    assert ours.probabilities.tolist() == theirs.probabilities.tolist()
    state = model.judge.state()
    for name, wrong in [
        ("weights", np.full(6, np.nan)),
        ("weights", np.ones((6, 2))),
        ("weights", np.ones(5)),
        ("weights", np.ones(7)),  # as if there were evidence
        ("found", np.ones(3)),
        ("expected", np.array([-1.0])),
        ("floor", np.array([1.5])),
        ("rates", state["rates"][::-1]),
    ]:
        with pytest.raises(ValueError, match="second look"):
            model.judge.from_state({**state, name: wrong}, model.task.groups)


def test_rejects_states_and_text_without_what_it_needs(second_look_model):
    model, _ = second_look_model
    rule, state = model.judge, model.judge.state()
    assert rule.from_state(state, model.task.groups).weights.tolist() == rule.weights.tolist()
    with pytest.raises(ValueError, match="second look"):
        rule.from_state({**state, "weights": rule.weights[:-1]}, model.task.groups)
    with pytest.raises(UserError, match="D428"):
        fit_second_look(train_pairs(), {}, MORE, [Clean("Nothing to decide.", "r")])


def test_mistakes_of_a_paragraph_do_not_shift_others(second_look_model):
    model, _ = second_look_model
    model = replace(model, judge=replace(model.judge, prior_strength=0.1, expected=0.01))
    texts = [item.before for item in MORE]
    dense = f"{texts[0]} {texts[1]} {texts[2]}"
    separate = annotate([texts[3], dense, texts[4]], [model])[0]
    together = annotate([f"{texts[3]}\n\n{dense}\n \n{texts[4]}"], [model])[0]
    assert together.probabilities == pytest.approx(separate.probabilities)
    in_one = annotate([f"{texts[3]} {dense} {texts[4]}"], [model])[0]
    assert in_one.probabilities[0] > together.probabilities[0]


def test_evidence_for_replacements_is_optional(second_look_model):
    model, _ = second_look_model
    plain = replace(model.judge, evidence=None, weights=None)
    view = view_of_texts([MORE[0].before], model.tokenisation, protected=True)
    columns = {}
    for replacements in (True, False):
        rule = replace(model.judge, replacements=replacements)
        proposing = replace(model, judge=rule.as_proposer())
        instances = proposing.instances(view)
        decisions = proposing.decide_at(instances, view)
        columns[replacements] = rule.features(view, instances, decisions)[1]
    n_columns = plain.features(view, instances, decisions)[1].shape[1]
    assert columns[True][:, n_columns:].any() and not columns[False][:, n_columns:].any()
    assert columns[True][:, :n_columns].tolist() == columns[False][:, :n_columns].tolist()


def test_does_not_weigh_places_far_from_a_proposal(second_look_model):
    model, _ = second_look_model
    rule = model.judge
    assert np.isfinite(rule.weighed_from) and rule.weighed_from > EVERYWHERE
    texts = [*(item.before for item in MORE), *(paragraph.text for paragraph in RIGHT)]
    everywhere = replace(model, judge=replace(rule, weighed_from=EVERYWHERE))
    nowhere = replace(model, judge=replace(rule, weighed_from=1e6))
    ours, theirs, none = (annotate(texts, [part_odds])[0] for part_odds in (model, everywhere, nowhere))
    assert ours.flagged.any() and ours.flagged.tolist() == theirs.flagged.tolist()
    assert ours.chosen.tolist() == theirs.chosen.tolist()
    is_proposed = theirs.probabilities >= rule.least
    assert ours.probabilities[is_proposed] == pytest.approx(theirs.probabilities[is_proposed])
    assert not none.flagged.any()
    again = rule.from_state(rule.state(), model.task.groups)
    assert again.weighed_from == rule.weighed_from
    older = {name: array for name, array in rule.state().items() if name != "weighed_from"}
    assert rule.from_state(older, model.task.groups).weighed_from == EVERYWHERE


def test_mistakes_of_one_model_raise_probabilities_of_another(second_look_model):
    model, _ = second_look_model
    open_rule = replace(model.judge, prior_strength=0.1, expected=0.01)
    ours = replace(model, judge=open_rule)
    other = replace(ours, name="other")
    texts = [" ".join(item.before for item in MORE[:3])]
    alone = annotate(texts, [ours])[0]
    both = annotate(texts, [ours, other])
    # twice as many mistakes are found where twice as many were expected; the assumption counts for less
    assert (both[0].probabilities[alone.flagged] > alone.probabilities[alone.flagged]).all()
    separate = [ours.decide(view_of_texts(texts, ours.tokenisation, protected=True))]
    assert separate[0].probabilities == pytest.approx(alone.probabilities)


def test_dense_mistakes_lower_the_floor(second_look_model):
    model, labelled = second_look_model
    odds = np.sort(labelled.features[labelled.right, 0])
    floor = 1 / (1 + np.exp(-odds[-1] - 1e-6))  # above all proposals
    rule = replace(model.judge, floor=floor, prior_strength=0.1, expected=0.01)
    text = [MORE[0].before]
    sparse = annotate(text, [replace(model, judge=rule)])[0]
    assert not sparse.flagged.any()
    dense = annotate(text, [replace(model, judge=rule.with_mistakes_per_1000(500.0))])[0]
    assert dense.flagged.sum() == 1


def test_floor_keeps_nearly_all_flags(proposals):
    rule = SecondLook(Mistakes(), flags_per_1000=4.0).fit_proposals(proposals)
    everywhere = replace(rule, floor=0.0)
    assert 0 < rule.floor < 1 and everywhere.floor == 0
    odds = proposals.features @ rule.weights[1:] + rule.weights[0]
    flagged = proposals.right & (odds > rule.operating.threshold(4.0))
    first = 1 / (1 + np.exp(-proposals.features[:, 0]))
    assert (first[flagged] >= rule.floor).mean() > 0.95
